package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// PlacementText is [Text] for a decision about nodes.
func PlacementText(e PlacementExplanation) string { return Printer{}.PlacementText(e) }

// PlacementText is [PlacementText] with other amounts and width.
func (pr Printer) PlacementText(e PlacementExplanation) string {
	p, now := &page{Printer: pr}, e.Question.Now
	p.line(0, "%s, priority %d", pods(&e.Question), e.Question.Priority)
	p.needs(&e.Question)
	p.line(0, "%s", placementAnswer(&e))
	for _, s := range e.Decision.Shortage {
		p.line(2, "short of %s on a node, in %s", p.amount(s.Missing, quota.FlavorResource{Resource: s.Resource}), count(int64(s.Domains), "domain"))
	}
	if e.MayYield.Count > 0 || len(e.Kept) > 0 {
		p.head("Who may yield")
		if e.MayYield.Count > 0 {
			p.line(2, "%d may yield: %s", e.MayYield.Count, names(e.MayYield))
		}
		for i := range e.Kept {
			p.line(2, "%d %s: %s", e.Kept[i].Count, unitRule(&e.Kept[i], now), names(e.Kept[i].Counted))
		}
	}
	p.domains(&e)
	if !e.Decision.Outcome.Succeeds() {
		p.changes(texts(e.Ways, func(w *Way) string { return p.placementWay(w, now) }))
	}
	return p.String()
}

func pods(q *PlacementQuestion) string {
	switch {
	case q.Group == "":
		return "pod " + q.Pod
	case q.MinCount > 0 && q.MinCount < q.Pods:
		return fmt.Sprintf("group %s of %s, at least %d", q.Group, count(int64(q.Pods), "pod"), q.MinCount)
	}
	return fmt.Sprintf("group %s of %s", q.Group, count(int64(q.Pods), "pod"))
}

// needs lists what the groups of a request need.
func (p *page) needs(q *PlacementQuestion) {
	if q.MinGroups > 0 {
		p.line(2, "needs %s in it", count(int64(q.MinGroups), "group"))
	}
	for _, g := range q.Nested {
		var list []string
		if g.MinCount > 0 {
			list = append(list, count(int64(g.MinCount), "pod"))
		}
		if g.MinGroups > 0 {
			list = append(list, count(int64(g.MinGroups), "group"))
		}
		text := strings.Join(list, " and ")
		if text == "" {
			text = "a pod"
		}
		if n := len(g.Domains); n > 0 {
			text += " in one of " + count(int64(n), "domain")
			if g.DomainsPreferred {
				text += ", or in all of them"
			}
		}
		p.line(2, "group %s in it needs %s", g.Group, text)
	}
}

// placementAnswer is the decision in a sentence.
func placementAnswer(e *PlacementExplanation) string {
	d := &e.Decision
	switch d.Outcome {
	case preemption.Fits:
		return "It has a place now" + partly(e) + "."
	case preemption.Preempt:
		var list Counted
		for _, v := range d.Victims {
			if list.Count++; list.Count <= 4 {
				list.Samples = append(list.Samples, v.Pods[0])
				if v.Group != "" {
					list.Samples[list.Count-1] = "group " + v.Group
				}
			}
		}
		verb := "yield"
		if list.Count == 1 {
			verb = "yields"
		}
		return "It has a place once " + names(list) + " " + verb + partly(e) + "."
	case preemption.Wait:
		if !d.RetryAt.IsZero() {
			return "It waits: time alone helps at " + clock(d.RetryAt, e.Question.Now) + "."
		}
		return "It waits until pods that terminate are gone" + partly(e) + "."
	}
	return "It has no place, and time alone does not help: " + map[placement.Reason]string{
		placement.ReasonPolicyNever: "its priority class does not preempt",
		placement.ReasonNoVictims:   "no unit in reach may yield",
		placement.ReasonNoRoom:      "there is too little room without all that may yield",
		placement.ReasonBudgets:     "disruption budgets do not allow it",
	}[d.Reason] + "."
}

// partly says how many pods of a group have a place, if not all.
func partly(e *PlacementExplanation) string {
	if n := len(e.Decision.Nominations); n > 0 && n < e.Question.Pods {
		return fmt.Sprintf(", for %d of %s", n, count(int64(e.Question.Pods), "pod"))
	}
	return ""
}

func unitRule(k *Kept[placement.Rule], now time.Time) string {
	text := map[placement.Rule][2]string{
		placement.RulePriority:    {"is not of lower priority", "are not of lower priority"},
		placement.RuleMinRuntime:  {"has not run for its minimum runtime", "have not run for their minimum runtime"},
		placement.RuleGuarded:     {"is kept by a guard", "are kept by a guard"},
		placement.RuleTerminating: {"was told to stop already", "were told to stop already"},
	}[k.Rule][min(k.Count-1, 1)]
	if k.SetBy != "" {
		text += ", set by " + k.SetBy
	}
	return text + until(k.From, k.Until, now)
}

func (p *page) domains(e *PlacementExplanation) {
	if e.Searched == 0 {
		return
	}
	p.head("Where victims were looked for")
	for i := range e.Domains {
		d := &e.Domains[i]
		p.line(2, "%s: %s", domainName(d), found(d))
	}
	for _, r := range [...]struct {
		n    Counted
		text string
	}{{e.NoVictims, "no unit may yield"}, {e.NoRoom, "too little room"}, {e.BudgetsBar, "only against a budget"}, {e.WithVictims, "room without victims"}} {
		if r.n.Count > 0 && e.Searched > int64(len(e.Domains)) {
			p.line(2, "in total %s: %s", count(r.n.Count, "domain"), r.text)
		}
	}
	if e.Skipped > 0 {
		p.line(2, "%s not searched: nothing better there", count(e.Skipped, "domain"))
	}
}

func domainName(d *ExplainedDomain) string {
	name := d.Name
	if name == "" {
		name = "all nodes"
	}
	if d.WithinBudgets {
		name += ", within the budgets"
	}
	return name
}

// found is the result of a domain.
func found(d *ExplainedDomain) string {
	switch d.Reason {
	case placement.ReasonNoVictims:
		return "no unit may yield"
	case placement.ReasonNoRoom:
		return fmt.Sprintf("%d of %s placed without all that may yield", d.Placed, count(d.Needed, "pod"))
	case placement.ReasonBudgets:
		return "only against a budget"
	}
	text := count(d.Victims, "victim")
	if d.Victims > 0 {
		text += fmt.Sprintf(" up to priority %d", d.Highest)
	}
	if d.Violations > 0 {
		text += ", " + count(int64(d.Violations), "pod") + " against a budget"
	}
	if d.PutBack.Count > 0 {
		text += fmt.Sprintf(", %d put back", d.PutBack.Count)
	}
	if d.Chosen {
		text += "; chosen"
	}
	return text
}

// placementWay says what a change is, and what follows.
func (pr Printer) placementWay(w *Way, now time.Time) string {
	text := w.Kind.String()
	switch w.Kind {
	case WayTime:
		text = "Wait until " + clock(w.At, now)
	case WayPriority:
		text = fmt.Sprintf("Raise the priority to %d", w.Priority)
	case WayMinCount:
		text = "Start with " + count(int64(w.MinCount), "pod")
	case WayCapacity:
		var parts []string
		for _, resource := range slices.Sorted(maps.Keys(w.Capacity)) {
			parts = append(parts, pr.amount(w.Capacity[resource], quota.FlavorResource{Resource: resource}))
		}
		text = fmt.Sprintf("Give node %s %s more", w.Node, strings.Join(parts, " and "))
	case WayMayPreempt:
		text = "Let the priority class preempt"
	}
	if w.Outcome == preemption.Preempt {
		return text + ": it preempts " + count(int64(w.Victims), "unit")
	}
	return text + ": it has a place"
}

// PlacementMessage is [Message] for a decision about nodes.
func PlacementMessage(e PlacementExplanation) string { return Printer{}.PlacementMessage(e) }

// PlacementMessage is [PlacementMessage] with other amounts.
func (pr Printer) PlacementMessage(e PlacementExplanation) string {
	text := strings.TrimSuffix(placementAnswer(&e), ".")
	var parts []string
	for _, s := range e.Decision.Shortage {
		parts = append(parts, pr.amount(s.Missing, quota.FlavorResource{Resource: s.Resource}))
	}
	if len(parts) > 0 {
		text += "; " + strings.Join(parts, ", ") + " more needed on a node"
	}
	return cut(text)
}
