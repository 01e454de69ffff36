package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func (a *answer) print(b *cli.Page, all bool) {
	a.printTree(b, all)
	a.printVerdict(b)
	printNotes(b, a.notes)
}

// printSampleHint says that the answer is about the embedded sample.
func (c *cluster) printSampleHint(b *cli.Page, verb string) {
	if c.IsSample {
		b.WriteString("This is the embedded sample. For your cluster:\n  go run ./examples/whatif " + verb + "\n\n")
	}
}

func printNotes(b *cli.Page, notes []string) {
	for _, n := range notes {
		b.Say("Note: %s.\n", strings.TrimSuffix(n, "."))
	}
}

func (a *answer) printTree(b *cli.Page, all bool) {
	nodes := a.nodes()
	a.fill(nodes, "ClusterQueue", all)
	nodes, queues, cohorts := a.elide(nodes)
	a.fill(nodes, "Cohort", all) // only those that are shown: each costs O(cohorts above it)
	t := &cli.Table{Columns: []cli.Column{
		{Name: "queue tree", Least: 20, Cut: true}, {Name: "flavor/resource", Least: 15}, {Name: "usage", Right: true}, {Name: "nominal", Right: true},
		{Name: "borrowed", Right: true}, {Name: "available", Right: true}, {Name: "share", Right: true},
	}}
	shares := false
	for _, n := range nodes {
		name := strings.Repeat("  ", n.Depth) + n.Name
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
				orDash(r.Resource, r.Borrowed), units.Amount(r.Resource, r.Available), share)
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
		legend = append(legend, "... and "+strings.Join(elided, " and ")+".")
	}
	if len(nodes) > 1 {
		legend = append(legend, "A cohort's nominal is its own quota and what its members lend.")
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
		b.WriteByte('\n')
	}
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

// printVerdict prints the answer in words, then who yields, or why nobody does.
func (a *answer) printVerdict(b *cli.Page) {
	w := &a.request.Workload
	b.Say("%s asks for %s in queue %s, with priority %d.%s\n", w.ID, a.asks(), w.Queue, w.EffectivePriority(), canStart(answers.Partial(&a.decision, w)))
	switch a.decision.Outcome {
	case preemption.Fits:
		b.SayIn(printable.Green, "It fits now; nobody has to yield.%s\n", a.borrows())
	case preemption.Preempt:
		n := len(a.decision.Victims)
		b.SayIn(printable.Green, "It fits once %s.%s\n\n", plural(n, "this workload has yielded", "these %d workloads have yielded"), a.borrows())
		a.printVictims(b)
	case preemption.Gated:
		n := len(a.decision.Victims)
		b.SayIn(printable.Yellow, "It would fit once %s, but a gate of it is closed: it may not preempt.%s\n\n",
			plural(n, "this workload has yielded", "these %d workloads have yielded"), a.borrows())
		a.printVictims(b)
	case preemption.Wait:
		b.SayIn(printable.Yellow, "It does not fit now, and nobody may yield yet. Time alone makes room at %s, in %s.\n\n",
			a.decision.RetryAt.Format(time.RFC3339Nano), duration.HumanDuration(a.decision.RetryAt.Sub(a.request.Now)))
		a.printShortage(b)
		a.printBlockers(b)
	case preemption.Impossible:
		if c, ok := a.unassigned(); ok {
			b.SayIn(printable.Red, "It does not fit in any flavor of the queue.\n\n")
			a.printLack(b, c)
		} else {
			b.SayIn(printable.Red, "It does not fit, and no permitted set of victims makes room.\n\n")
			a.printShortage(b)
		}
		a.printBlockers(b)
	}
	a.printFlavors(b)
}

func canStart(with string) string {
	if with == "" {
		return ""
	}
	return " It can start" + with + "."
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

func (a *answer) asks() string {
	var parts []string
	for _, u := range a.assigned.Usage() {
		part := units.Amount(u.Resource, u.Amount) + " " + u.Resource
		if u.Flavor != "" {
			part += " of " + u.Flavor
		}
		if u.Amount > 0 {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// borrows says whether the queue borrows with the request, and from which cohort.
func (a *answer) borrows() string {
	cohorts, heights := a.ancestors()
	switch {
	case len(cohorts) == 0:
		return ""
	case a.decision.BorrowHeight == 0:
		return " Its queue stays within its nominal quota."
	}
	for i, c := range cohorts {
		if heights[i] >= a.decision.BorrowHeight {
			return fmt.Sprintf(" Its queue then borrows within cohort %s.", c)
		}
	}
	return fmt.Sprintf(" Its queue then borrows within cohort %s.", cohorts[len(cohorts)-1])
}

func (a *answer) printVictims(b *cli.Page) {
	t := &cli.Table{Columns: []cli.Column{
		{Name: "victim", Least: 24}, {Name: "queue", Least: 8}, {Name: "reason", Least: 19}, {Name: "priority", Right: true}, {Name: "age", Right: true}, {Name: "holds", Least: 12},
	}}
	for _, v := range a.victims() {
		name := v.Workload
		if v.Evicted {
			name += " (leaving already)"
		}
		for _, r := range v.Replicas {
			name += fmt.Sprintf(", %s of %s", plural(int(r.Count), "1 replica", "%d replicas"), r.PodSet)
		}
		var holds []string
		for _, h := range v.Holds {
			holds = append(holds, units.Amount(h.Resource, h.Amount)+" "+h.Resource)
		}
		t.Row(name, v.Queue, reasonOf(&v.Victim), v.Priority, units.Age(a.request.Now, v.ReservedAt), strings.Join(holds, ", "))
	}
	reasons := a.reasons()
	if len(reasons) == 1 && reasons[0] != preemption.ConfigurablePreemption {
		t.Drop(2) // the line below says it of all
	}
	b.Table(t)
	for _, r := range reasons {
		b.Say("%s: %s.\n", r, reasonText[r])
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

var reasonText = map[preemption.VictimReason]string{
	preemption.InClusterQueue:                "it runs in the same queue, and the queue's withinClusterQueue policy lets it be preempted",
	preemption.InClusterQueueTimeBased:       "it runs in the same queue with the same priority, for longer than the queue's minAdmitDuration",
	preemption.InCohortReclamation:           "its queue uses more than its nominal quota, which is reclaimed (reclaimWithinCohort)",
	preemption.InCohortFairSharing:           "its side of the cohort borrows the larger share (fair sharing)",
	preemption.ConfigurablePreemption:        "a selector of a rule of the preemptor's queue accepts it",
	preemption.InCohortReclaimWhileBorrowing: "its queue uses more than its nominal quota, and the preemptor may reclaim though it borrows itself (borrowWithinCohort)",
}

func (a *answer) printShortage(b *cli.Page) {
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
		if a.queue().Rules != "" {
			who = "that the policies permit now" // what is missing is said of them alone
		}
		b.Say("%s %s of %s are still missing without all workloads %s; the limit is the quota of %s.\n",
			units.Amount(s.Resource, s.Missing), s.Resource, s.Flavor, who, bound)
	}
}

func (a *answer) printBlockers(b *cli.Page) {
	if len(a.decision.Blockers) == 0 {
		return
	}
	b.WriteString("\n")
	t := &cli.Table{Columns: []cli.Column{{Name: "blocker", Least: 20}, {Name: "priority", Right: true}, {Name: "why it may not yield", Least: 30}}}
	policy := a.queue().Preemption
	for _, k := range a.decision.Blockers {
		name, prio := "queue "+k.Queue, ""
		if k.Cohort != "" {
			name = "cohort " + k.Cohort
		}
		why := whyItStays(k.Rule, policy)
		if k.Workload != "" {
			w := a.find(k.Workload)
			name, prio = k.Workload+" in queue "+k.Queue, fmt.Sprint(w.EffectivePriority())
			if ours := a.request.Workload.EffectivePriority(); w.EffectivePriority() >= ours && k.Rule != preemption.RuleMinRuntime && !strings.HasSuffix(why, "Never") {
				why += fmt.Sprintf(", and its priority is not below %d", ours)
			}
		}
		if k.Rule == preemption.RuleMinRuntime {
			why = a.protection(k)
		} else if k.Rule == preemption.RuleLimit {
			why = fmt.Sprintf("the limit %s on preemptions is reached", k.SetBy)
		} else if !k.Until.IsZero() {
			why += fmt.Sprintf(", %s more", duration.HumanDuration(k.Until.Sub(a.request.Now)))
		}
		t.Row(name, prio, why)
	}
	b.Table(t)
}

// protection says how long a workload is still protected, by what, and which node sets it.
func (a *answer) protection(k preemption.Blocker) string {
	right := "reclaim"
	if k.Queue == a.request.Workload.Queue {
		right = "preempt"
	}
	return fmt.Sprintf("protected for another %s: %s-min-runtime %s of %s", duration.HumanDuration(k.Until.Sub(a.request.Now)),
		right, duration.HumanDuration(k.Until.Sub(a.find(k.Workload).ReservedAt)), strings.ReplaceAll(k.SetBy, `"`, ""))
}

func whyItStays(r preemption.Rule, p queue.PreemptionPolicy) string {
	switch r {
	case preemption.RuleWithinClusterQueue:
		if d, ok := p.MinAdmitDuration.Get(); ok {
			return fmt.Sprintf("withinClusterQueue is %v, of equals after %v", p.WithinClusterQueue, d)
		}
		return fmt.Sprintf("withinClusterQueue is %v", p.WithinClusterQueue)
	case preemption.RuleReclaimWithinCohort:
		return fmt.Sprintf("reclaimWithinCohort is %v", p.ReclaimWithinCohort)
	case preemption.RuleWithinNominal:
		return "it uses no more than its quota: nothing to reclaim"
	case preemption.RuleFairShare:
		return "fair sharing does not permit it to yield"
	case preemption.RuleQueueInactive:
		return "it is inactive: nothing in it is admitted, and nobody preempts from it"
	case preemption.RuleNeverYields:
		return "it is not preemptible"
	case preemption.RuleBorrowWithinCohort:
		if threshold, ok := p.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok && p.BorrowWithinCohort.Policy != queue.Never {
			return fmt.Sprintf("the request would borrow, and borrowWithinCohort is %v up to priority %d", p.BorrowWithinCohort.Policy, threshold)
		}
		return fmt.Sprintf("the request would borrow, and borrowWithinCohort is %v", p.BorrowWithinCohort.Policy)
	}
	return r.String()
}

// queue returns the queue of the request, which must exist.
func (a *answer) queue() *queue.Queue {
	for i := range a.State.Queues {
		if a.State.Queues[i].Name == a.request.Workload.Queue {
			return &a.State.Queues[i]
		}
	}
	return &queue.Queue{Name: a.request.Workload.Queue}
}

// find returns the admitted workload with the ID, which must exist.
func (a *answer) find(id string) *workload.Workload {
	for i := range a.State.Admitted {
		if a.State.Admitted[i].ID == id {
			return &a.State.Admitted[i]
		}
	}
	return &workload.Workload{ID: id}
}
