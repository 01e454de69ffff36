package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// print prints the answer, then the queue tree that it comes from.
func (a *answer) print(b *cli.Page, all, tree bool) {
	a.printVerdict(b)
	switch {
	case a.decision == nil:
	case a.ByFairShares():
		b.Gap()
		a.printFairShares(b, a.sharesAsked(all, tree))
	default:
		b.Gap()
		a.printTree(b, all, tree)
	}
	a.printNotes(b)
}

// printNotes prints the notes, but for the one that the verdict says.
func (a *answer) printNotes(b *cli.Page) {
	most, id := maxNotes, a.request.Workload.ID
	notes := slices.DeleteFunc(slices.Clone(a.notes), func(n string) bool { return n == a.verdict.Why })
	if a.brief { // what is about another workload comes last
		others := func(n string) bool {
			return strings.HasPrefix(n, "Workload ") && !strings.HasPrefix(n, "Workload "+id+":")
		}
		about := slices.DeleteFunc(slices.Clone(notes), others)
		notes = append(about, slices.DeleteFunc(notes, func(n string) bool { return !others(n) })...)
		most = min(2, len(about))
	}
	printSomeNotes(b, notes, most, a.brief)
}

// printSampleHint says that the answer is about the embedded sample.
func (c *cluster) printSampleHint(b *cli.Page, verb string) {
	if c.Sample != "" {
		b.Gap()
		b.WriteString("This is an embedded sample. For your cluster:\n  " + cmp.Or(c.command, "go run ./examples/whatif") + " " + verb + "\n")
	}
}

// maxNotes limits the notes on a screen.
const maxNotes = 6

func printNotes(b *cli.Page, notes []string) { printSomeNotes(b, notes, maxNotes, false) }

// printSomeNotes prints the first notes where lines are short, or if only the answer is wanted.
func printSomeNotes(b *cli.Page, notes []string, most int, brief bool) {
	if len(notes) > 0 {
		b.Gap()
	}
	for i, n := range notes {
		if brief && i == 0 && most == 0 {
			b.Say("%s; -o wide has all.\n", plural(len(notes), "1 note is about another workload", "%d notes are about other workloads"))
			break
		}
		if brief && i == most || b.Screen.Width > 0 && i == most && len(notes) > most+1 {
			b.Say("... and %s; -o wide has all.\n", plural(len(notes)-i, "1 more note", "%d more notes"))
			break
		}
		b.Say("Note: %s.\n", strings.TrimSuffix(n, "."))
	}
}

func (a *answer) printTree(b *cli.Page, all, tree bool) {
	nodes := a.nodes()
	a.fill(nodes, "ClusterQueue", all)
	queues, cohorts := 0, 0
	if !tree {
		nodes, queues, cohorts = a.elide(nodes)
	}
	a.fill(nodes, "Cohort", all) // only those that are shown: each costs O(cohorts above it)
	t := &cli.Table{Columns: []cli.Column{
		{Name: "queue tree", Least: 28, Cut: true}, {Name: "flavor/resource", Least: 15, Cut: true}, {Name: "usage", Right: true}, {Name: "nominal", Right: true},
		{Name: "borrowed", Right: true}, {Name: "available", Right: true}, {Name: "share", Right: true},
	}}
	resources := 0
	if b.Screen.Width > 0 && !all {
		resources = a.oneColumn(nodes)
	}
	shares, apart := false, false
	var over []string
	for _, n := range nodes {
		name := n.Name
		if n.apart {
			name, apart = "…/"+name, true
		}
		name = strings.Repeat("  ", n.Depth) + name
		switch {
		case n.Kind == "Cohort":
			name += " (cohort)"
		case n.Name == a.request.Workload.Queue:
			name += " <- asks"
		}
		share := n.Share.text()
		shares = shares || share != "-"
		if len(n.Quota) == 0 {
			t.Row(name, "", "", "", "", "", share)
		}
		for _, r := range n.Quota {
			nominal := r.Nominal
			if n.Kind == "Cohort" {
				nominal = r.SubtreeQuota
			}
			t.Row(name, r.FlavorResource, units.Amount(r.Resource, r.Usage), units.Amount(r.Resource, nominal),
				orDash(r.Resource, r.Borrowed), units.Amount(r.Resource, max(0, r.Available)), share)
			if more := quota.Sub(r.Usage, r.SubtreeQuota); n.Kind == "Cohort" && n.parent == "" && more > 0 {
				over = append(over, fmt.Sprintf("Cohort %s uses %s of %v more than it has.", n.Name, units.Amount(r.Resource, more), r.FlavorResource))
			}
			name, share = "", ""
		}
	}
	if column, one := onlyColumn(nodes); one && !b.Fits(t) {
		t.Drop(1)
		b.Say("QUOTA OF %s\n", column)
	}
	b.Table(t)
	var legend []string
	var elided []string
	for _, n := range []struct {
		count     int
		one, many string
	}{{queues, "1 more queue", "%d more queues"}, {cohorts, "1 more cohort", "%d more cohorts"}} {
		if n.count > 0 {
			elided = append(elided, plural(n.count, n.one, n.many))
		}
	}
	if len(elided) > 0 {
		legend = append(legend, "... and "+strings.Join(elided, " and ")+"; -tree shows them.")
	}
	if resources > 0 {
		legend = append(legend, plural(resources, "1 more resource is asked for; -all shows it.", "%d more resources are asked for; -all shows them."))
	}
	if apart {
		legend = append(legend, "Behind …/ stands what is in a cohort that is left out.")
	}
	legend = append(legend, over...)
	if len(nodes) > 1 {
		legend = append(legend, "A cohort's nominal is its own quota and what its members lend.")
	}
	if a.keepsQuota(nodes) {
		legend = append(legend, "A cohort's usage leaves out what its members use of quota that they do not lend.")
	}
	if shares {
		legend = append(legend, "A share is what is borrowed of the dominant resource, per 1000 that could be lent, divided by the weight.")
	}
	if hidden := len(a.requested()) - len(a.contested()); hidden > 0 && !all {
		legend = append(legend, "There is room for the rest of the request; -all shows it.")
	}
	if len(legend) > 0 {
		for _, line := range legend {
			b.Say("%s\n", line)
		}
		b.Gap()
	}
}

// keepsQuota reports whether a node uses quota that it does not lend: then the usage of the cohort above is
// less than the sum of its members'.
func (a *answer) keepsQuota(nodes []node) bool {
	for i := range nodes {
		n := &nodes[i]
		entries := a.quotas(n)
		for _, r := range n.Quota {
			for _, e := range entries {
				if limit, limited := e.LendingLimit.Get(); limited && e.FlavorResource() == r.FlavorResource && limit < r.SubtreeQuota && r.Usage > 0 && n.parent != "" {
					return true
				}
			}
		}
	}
	return false
}

// oneColumn leaves, of many columns, the one that is counted in the fewest units, devices for instance, and returns how many it left out.
func (a *answer) oneColumn(nodes []node) (left int) {
	columns := a.contested()
	if len(columns) <= 2 {
		return 0
	}
	asked := map[quota.FlavorResource]int64{}
	for _, u := range a.assigned.Usage() {
		asked[u.FlavorResource()] = u.Amount
	}
	told := slices.MinFunc(columns, func(x, y quota.FlavorResource) int { return cmp.Compare(asked[x], asked[y]) })
	for i := range nodes {
		nodes[i].Quota = slices.DeleteFunc(slices.Clone(nodes[i].Quota), func(r preemption.QuotaStatus) bool { return r.FlavorResource != told })
	}
	return len(columns) - 1
}

// onlyColumn returns the flavor and resource that all rows are about, if it is one.
func onlyColumn(nodes []node) (column quota.FlavorResource, one bool) {
	for _, n := range nodes {
		for _, r := range n.Quota {
			if column, one = r.FlavorResource, column.Resource == "" || column == r.FlavorResource; !one {
				return column, false
			}
		}
	}
	return column, one
}

// text returns the share with one decimal.
func (s share) text() string {
	v, err := strconv.ParseFloat(s.Weighted, 64)
	switch {
	case err != nil || v == 0:
		return "-"
	case math.IsInf(v, 1):
		return "infinite"
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func orDash(resource string, amount int64) string {
	if amount == 0 {
		return "-"
	}
	return units.Amount(resource, amount)
}

// printVerdict prints the verdict, what is asked for, then who yields, or why no workload does.
func (a *answer) printVerdict(b *cli.Page) {
	a.printSentence(b)
	a.printEvidence(b)
}

// printSentence prints the verdict and what is asked for.
func (a *answer) printSentence(b *cli.Page) {
	w := &a.request.Workload
	sentence := strings.Replace(a.Sentence(a.verdict, a.decision, &a.request), w.ID, b.Short(w.ID), 1)
	b.SayIn(answers.ColourOf(a.verdict.Outcome), "%s\n", sentence)
	if a.decision == nil {
		return
	}
	b.Say("It asks for %s in queue %s, with priority %d.\n", a.asks(), w.Queue, w.EffectivePriority())
	if text := a.verdict.Otherwise(a.decision, &a.request); text != "" {
		b.Say("%s\n", text)
	}
	if a.decision.Outcome == preemption.Fits || a.decision.Outcome == preemption.Preempt || a.decision.Outcome == preemption.Gated {
		a.sayBorrows(b)
	}
}

// printEvidence prints who yields, or why no workload does.
func (a *answer) printEvidence(b *cli.Page) {
	if a.decision == nil {
		return
	}
	switch {
	case a.decision.Outcome == preemption.Fits:
	case len(a.decision.Victims) > 0:
		b.Gap()
		a.printVictims(b)
		printReasons(b, a.reasons(), a.reasonText)
	default:
		b.Gap()
		if c, ok := answers.Unassigned(a.decision); ok {
			a.printLack(b, c)
		} else {
			a.printShortage(b)
		}
		a.printBlockers(b)
	}
	a.printFlavors(b)
}

// sayBorrows says whether the queue borrows with the request.
func (a *answer) sayBorrows(b *cli.Page) {
	if text := a.borrows(); text != "" {
		b.Say("%s\n", text)
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

func (a *answer) asks() string {
	usage := slices.DeleteFunc(a.assigned.Usage(), func(u quota.Amount) bool { return u.Amount == 0 })
	if len(usage) == 0 {
		return "nothing"
	}
	var parts []string
	one := !slices.ContainsFunc(usage, func(u quota.Amount) bool { return u.Flavor != usage[0].Flavor })
	of := func(u *quota.Amount) string {
		if u.Flavor == "" {
			return ""
		}
		return " of " + u.Flavor
	}
	for i := range usage {
		part := units.Amount(usage[i].Resource, usage[i].Amount) + " " + usage[i].Resource
		if !one {
			part += of(&usage[i])
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, ", ")
	if one {
		text += of(&usage[0])
	}
	return a.Words(text)
}

// borrows says whether the queue borrows with the request what is asked for, and from which cohort.
func (a *answer) borrows() string {
	cohorts, heights := a.ancestors()
	switch {
	case len(cohorts) == 0, a.ByFairShares():
		return ""
	case a.decision.BorrowHeight == 0 && a.borrowsElse():
		return "Its queue stays within its nominal quota of what it asks for."
	case a.decision.BorrowHeight == 0:
		return "Its queue stays within its nominal quota."
	}
	for i, c := range cohorts {
		if heights[i] >= a.decision.BorrowHeight {
			return fmt.Sprintf("Its queue then borrows within cohort %s.", c)
		}
	}
	return fmt.Sprintf("Its queue then borrows within cohort %s.", cohorts[len(cohorts)-1])
}

// borrowsElse reports whether the queue borrows something that is not asked for, in another flavor too.
func (a *answer) borrowsElse() bool {
	rows, _ := a.Snapshot.QueueStatus(a.request.Workload.Queue)
	return slices.ContainsFunc(rows, func(r preemption.QuotaStatus) bool { return r.Borrowed > 0 })
}

// printReasons says what the reasons of victims mean.
func printReasons(b *cli.Page, reasons []preemption.VictimReason, text func(preemption.VictimReason) string) {
	for _, r := range reasons {
		b.Say("%s: %s.\n", r, text(r))
	}
}

// reasonOf returns the reason of a victim, and by which rules it is one.
func reasonOf(v *preemption.Victim) string {
	if len(v.Rules) == 0 {
		return v.Reason.String()
	}
	return explain.RulesText(v.Rules)
}

// reasons lists the reasons of the victims, in their order.
func (a *answer) reasons() []preemption.VictimReason {
	var list []preemption.VictimReason
	for r := preemption.InClusterQueue; r <= preemption.ConfigurablePreemption; r++ {
		for _, v := range a.decision.Victims {
			if v.Reason == r {
				list = append(list, r)
				break
			}
		}
	}
	return list
}

func (a *answer) printShortage(b *cli.Page) {
	if a.ByFairShares() {
		a.printMissing(b)
		return
	}
	if a.brief {
		a.printShort(b)
		return
	}
	for _, s := range a.decision.Shortage {
		asked := int64(0)
		for _, u := range a.assigned.Usage() {
			if u.FlavorResource() == s.FlavorResource {
				asked = u.Amount
			}
		}
		if asked > s.PotentialAvailable {
			b.Say("It asks for %s %s of %s, and queue %s can never have more than %s.\n",
				units.Amount(s.Resource, asked), s.Resource, s.Flavor, a.request.Workload.Queue, units.Amount(s.Resource, s.PotentialAvailable))
			continue
		}
		bound := "queue " + a.request.Workload.Queue
		if s.Cohort != "" {
			bound = "cohort " + s.Cohort
		}
		who := "that may be preempted now"
		if ruled, alone := a.ruled(); alone {
			who = "that the rules permit now"
		} else if ruled {
			who = "that the policies permit now" // what is missing is said of them alone
		}
		b.Say("%s %s of %s are still missing without all workloads %s; the limit is the quota of %s.\n",
			units.Amount(s.Resource, s.Missing), s.Resource, s.Flavor, who, bound)
	}
}

// printShort lists what is missing, if it is more than the sentence says.
func (a *answer) printShort(b *cli.Page) {
	var parts []string
	for _, s := range a.decision.Shortage {
		parts = append(parts, fmt.Sprintf("%s %s of %s", units.Amount(s.Resource, s.Missing), s.Resource, s.Flavor))
	}
	if len(parts) > 1 || len(parts) == 1 && a.verdict.Outcome != preemption.Impossible.String() {
		b.Say("Missing even after all preemption: %s.\n", strings.Join(parts, ", "))
	}
}

// queue returns the queue of the request.
func (a *answer) queue() *queue.Queue {
	return cmp.Or(a.findQueue(a.request.Workload.Queue), &queue.Queue{Name: a.request.Workload.Queue})
}
