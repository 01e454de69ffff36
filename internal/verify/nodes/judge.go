package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/workload"
)

func everybody(workload.Pod) bool { return true }

// Judge returns everything that is wrong with an answer, as a [fault.List], or nil.
func Judge(q *Question, a *Answer) error {
	var faults fault.List
	w := newWorld(q)
	if a.Outcome != Fits && a.Outcome != Preempt && a.Outcome != Wait && a.Outcome != Impossible {
		faults.Add("decision.outcome", "%d is unknown", a.Outcome)
		return faults.Err()
	}
	switch {
	case a.Outcome == Preempt && len(a.Victims) == 0:
		faults.Add("decision.victims", "Preempt without victims")
	case a.Outcome != Preempt && len(a.Victims) > 0:
		faults.Add("decision.victims", "%v with victims", a.Outcome)
	}
	if a.Outcome != Wait && !a.RetryAt.IsZero() {
		faults.Add("decision.retryAt", "%v is set", a.RetryAt)
	}
	domain := w.nominations(&faults, a)
	victims := w.victims(&faults, a, domain)
	if q.Each {
		return faults.Err()
	}
	w.room(&faults, a, victims)
	w.proof(&faults, a, victims)
	if !q.SkipFit {
		w.outcome(&faults, a)
	}
	return faults.Err()
}

// nominations judges where the pods go and returns the domain that holds them all.
func (w *world) nominations(faults *fault.List, a *Answer) []string {
	seen := map[string]bool{}
	keeps := a.Outcome == Wait && !w.Design // as built, a pod that waits keeps its promise, whatever it is worth
	var nodes []string
	for i, n := range a.Nominations {
		path := fmt.Sprintf("decision.nominations[%d]", i)
		known := slices.ContainsFunc(w.Members, func(m workload.Pod) bool { return m.ID == n[0] })
		node := w.byName[n[1]]
		usable := node != nil && (!node.Unschedulable || keeps)
		if keeps && !w.Each { // one of a Basic group may have the room of another one's nomination
			known = known && slices.ContainsFunc(w.Nominated, func(p workload.Pod) bool { return p.ID == n[0] && p.Node == n[1] })
		}
		if !known || seen[n[0]] || !usable {
			faults.Add(path, "%q on %q: no pod of the request, or twice, or no node to use", n[0], n[1])
		}
		seen[n[0]] = true
		nodes = append(nodes, n[1])
	}
	if (a.Outcome == Fits || a.Outcome == Preempt) && len(seen) < max(1, w.MinCount) {
		faults.Add("decision.nominations", "%d pods have a place, want %d", len(seen), max(1, w.MinCount))
	}
	if w.Single || keeps {
		return nodes
	}
	for _, domain := range w.domains() {
		if !slices.ContainsFunc(nodes, func(n string) bool { return !slices.Contains(domain, n) }) {
			return domain
		}
	}
	faults.Add("decision.nominations", "%v are in no domain", nodes)
	return nil
}

// victims judges who yields: whole units that may, charged to budgets, in order.
func (w *world) victims(faults *fault.List, a *Answer, domain []string) (found []unit) {
	potential, all := w.potential(domain), w.units()
	charged := 0
	over := map[int]int64{}
	for i, v := range a.Victims {
		path := fmt.Sprintf("decision.victims[%d]", i)
		is := func(u unit) bool { return len(v.Pods) > 0 && u.group == v.Group && slices.Equal(ids(u), v.Pods) }
		at := slices.IndexFunc(all, is)
		if at < 0 {
			faults.Add(path, "group %q, pods %v: no unit that runs, or not all of one", v.Group, v.Pods)
			continue
		}
		u := all[at]
		if i > 0 && len(a.Victims[i-1].Pods) > 0 && v.Pods[0] <= a.Victims[i-1].Pods[0] {
			faults.Add(path, "%v do not come after %v", v.Pods, a.Victims[i-1].Pods)
			continue
		}
		if v.Priority != u.priority {
			faults.Add(path+".priority", "%d, want %d", v.Priority, u.priority)
		}
		if why := w.keeps(u); why != "" {
			faults.Add(path, "%v may not yield: %s", v.Pods, why)
		} else if at := slices.IndexFunc(potential, is); at < 0 && !w.Each {
			faults.Add(path, "%v are not in the domain", v.Pods)
		} else if at >= 0 {
			u = potential[at]
		}
		if charged += v.Violations; !w.HardBudgets && !w.OwnImportance && !w.Each && v.Violations != u.violations {
			faults.Add(path+".violations", "%d, want %d", v.Violations, u.violations)
		}
		for _, p := range u.pods {
			for _, b := range w.covering(p) {
				over[b]++
			}
		}
		found = append(found, u)
	}
	if a.Violations != charged {
		faults.Add("decision.violations", "%d, want %d", a.Violations, charged)
	}
	for b := range w.Budgets {
		if w.HardBudgets && over[b] > max(0, w.Budgets[b].Allowed) {
			faults.Add("decision.victims", "%d pods of budget %q, which allows %d", over[b], w.Budgets[b].Name, w.Budgets[b].Allowed)
		}
	}
	w.order(faults, a)
	return found
}

// order judges the numbers: the most important first; where the pods are placed anew with each
// unit, those that violate a budget come before the others.
func (w *world) order(faults *fault.List, a *Answer) {
	list := slices.Clone(a.Victims)
	slices.SortStableFunc(list, func(x, y Victim) int { return cmp.Compare(x.Order, y.Order) })
	if len(list) == 0 || list[len(list)-1].Order == 0 {
		return
	}
	all := w.units()
	rank := func(v Victim) int {
		return slices.IndexFunc(all, func(u unit) bool { return slices.Equal(ids(u), v.Pods) })
	}
	for i := range list {
		if list[i].Order != i+1 {
			faults.Add("decision.victims", "number %d in place of %d", list[i].Order, i+1)
			return
		}
		if i == 0 || w.OwnImportance || w.Each || w.Replace && w.HardBudgets {
			continue
		}
		x, y := list[i-1], list[i]
		violating := 0
		if w.Replace {
			violating = cmp.Compare(min(1, y.Violations), min(1, x.Violations))
		}
		if cmp.Or(violating, cmp.Compare(rank(x), rank(y))) > 0 {
			faults.Add("decision.victims", "%v are chosen before %v", x.Pods, y.Pods)
		}
	}
}

func ids(u unit) (list []string) {
	for _, p := range u.pods {
		list = append(list, p.ID)
	}
	slices.Sort(list)
	return list
}

// room judges whether the nominated pods have room without the victims, and whether some
// victim could stay.
func (w *world) room(faults *fault.List, a *Answer, victims []unit) {
	if a.Outcome == Impossible || a.Outcome == Wait && !w.Design {
		return
	}
	w.only(func(p workload.Pod) bool { return a.Outcome == Fits || w.stays(p) || !w.Design })
	defer w.only(everybody)
	for _, u := range victims {
		for _, p := range u.pods {
			w.leave(p)
		}
	}
	defer w.unplace()
	w.putAll(a, func(workload.Pod, string) bool { return true })
	for _, m := range w.placed {
		if m.Nowhere || len(m.Nodes) > 0 && !slices.Contains(m.Nodes, m.Node) {
			faults.Add("decision.nominations", "%q may not run on %q", m.ID, m.Node)
		}
	}
	if !w.stands() {
		w.unplace() // those that may keep the place of their nomination may have been placed first
		kept := map[string]bool{}
		w.putAll(a, func(m workload.Pod, node string) bool {
			kept[m.ID] = w.keepsPlace(m, node) && w.mayRun(m, node)
			return kept[m.ID]
		})
		w.putAll(a, func(m workload.Pod, _ string) bool { return !kept[m.ID] })
	}
	if !w.stands() {
		faults.Add("decision.nominations", "there is no room for them")
		return
	}
	for _, u := range victims {
		for _, p := range u.pods {
			w.come(p)
		}
		if !w.Replace && w.Allows == nil && w.stands() { // there the pods are placed anew with each unit
			faults.Add("decision.victims", "%v can stay", ids(u))
		}
		for _, p := range u.pods {
			w.leave(p)
		}
	}
}

// putAll places the members on the nodes of those nominations that are wanted.
func (w *world) putAll(a *Answer, wanted func(m workload.Pod, node string) bool) {
	for _, n := range a.Nominations {
		for _, m := range w.Members {
			if m.ID == n[0] && w.byName[n[1]] != nil && wanted(m, n[1]) {
				w.put(m, n[1])
			}
		}
	}
}

// keepsPlace reports whether a pod was nominated for the same node before.
func (w *world) keepsPlace(m workload.Pod, node string) bool {
	return slices.ContainsFunc(w.Nominated, func(p workload.Pod) bool { return p.ID == m.ID && p.Node == node })
}

// outcome judges the outcome by whether the pods have room now, have room once others are
// gone that were told to stop, or could preempt, now or later.
func (w *world) outcome(faults *fault.List, a *Answer) {
	fits, leaves := w.hasPlace(everybody), w.Design && w.hasPlace(w.stays)
	// Placed without those that may yield, the pods may get places that have room beside them, too, but
	// that are not found when these are there. Whether they have room is judged above.
	stands := len(a.Nominations) > 0 && (a.Outcome == Fits || a.Outcome == Wait && (w.Place != nil || w.Exact))
	switch {
	case fits && a.Outcome != Fits:
		faults.Add("decision.outcome", "%v, but there is room now", a.Outcome)
	case !fits && !leaves && a.Outcome == Fits && !stands:
		faults.Add("decision.outcome", "Fits, but there is no room now")
	}
	if fits || stands {
		return
	}
	if a.Outcome == Preempt {
		switch {
		case w.NeverPreempts:
			faults.Add("decision.outcome", "somebody yields to pods that preempt nobody")
		case leaves:
			faults.Add("decision.outcome", "somebody yields although there is room once others are gone that were told to stop")
		}
		return
	}
	may := w.mayPreempt(w.Now)
	if may && (a.Outcome == Impossible && !leaves || a.Outcome == Wait && len(a.Nominations) == 0) && !a.NoBudget {
		faults.Add("decision.outcome", "%v, but there is room without those that may yield", a.Outcome)
	}
	if leaves && a.Outcome != Wait {
		faults.Add("decision.outcome", "%v, but there is room once others are gone that were told to stop", a.Outcome)
	}
	if w.HardBudgets || w.SkipRetryAt || w.Place != nil || faults.Err() != nil {
		return // what hard budgets leave, and what a placer finds later, is not judged
	}
	if may && len(a.Nominations) > 0 {
		return // such places beside all that stay: when somebody has to yield for others is not judged
	}
	if !a.RetryAt.IsZero() && !a.RetryAt.After(w.Now) {
		faults.Add("decision.retryAt", "%v is not after now, %v", a.RetryAt, w.Now)
		return
	}
	for _, at := range w.instants() {
		if !a.RetryAt.IsZero() && !at.Before(a.RetryAt) {
			break
		}
		if w.mayPreempt(at) {
			faults.Add("decision.retryAt", "%v, but at %v there is room without those that may yield", a.RetryAt, at)
			return
		}
	}
	if !a.RetryAt.IsZero() && !w.RetryAtIsBound && !w.Exact && !w.mayPreempt(a.RetryAt) {
		faults.Add("decision.retryAt", "at %v time has not helped", a.RetryAt)
	}
	if a.Outcome == Wait && a.RetryAt.IsZero() && !leaves && !w.blocked() {
		faults.Add("decision.outcome", "nothing is waited for")
	}
}

// hasPlace reports whether enough members have a place beside those for whom keep holds.
func (w *world) hasPlace(keep func(workload.Pod) bool) bool {
	w.only(keep)
	defer w.only(everybody)
	return slices.ContainsFunc(w.domains(), func(domain []string) bool {
		return w.place(domain, true) >= max(1, w.MinCount) || w.place(domain, false) >= max(1, w.MinCount)
	})
}

// mayPreempt reports whether at an instant the pods have a place without those that may
// yield, and do not wait for others.
func (w *world) mayPreempt(at time.Time) bool {
	now := w.Now
	w.Now = at
	defer func() { w.Now = now }()
	if w.NeverPreempts || w.blocked() || w.Design && w.hasPlace(w.stays) {
		return false
	}
	domains := w.domains()
	if w.Single {
		domains = slices.DeleteFunc(oneByOne(domains[0]), func(d []string) bool {
			m := w.Members[0]
			m.Node = d[0]
			infeasible := func(f Filter) bool { return !f.Rule.Feasible(m, *w.byName[m.Node]) }
			return m.Nowhere || len(m.Nodes) > 0 && !slices.Contains(m.Nodes, d[0]) || slices.ContainsFunc(w.Filters, infeasible)
		})
	}
	defer w.only(everybody)
	return slices.ContainsFunc(domains, func(domain []string) bool {
		potential := w.potential(domain)
		w.only(w.stays)
		for _, u := range potential {
			for _, p := range u.pods {
				w.leave(p)
			}
		}
		return len(potential) > 0 && w.place(domain, false) >= max(1, w.MinCount)
	})
}

func oneByOne(names []string) (list [][]string) {
	for _, n := range names {
		list = append(list, []string{n})
	}
	return list
}

// blocked reports whether, in the modes as built, a victim of lower priority still terminates
// on a node that a pod of the request is nominated to.
func (w *world) blocked() bool {
	for _, n := range w.Nominated {
		i := slices.IndexFunc(w.Members, func(m workload.Pod) bool { return m.ID == n.ID })
		if i < 0 || w.Design {
			continue
		}
		m, node := w.Members[i], w.byName[n.Node]
		m.Node = n.Node
		possible := !node.Unschedulable && !m.Nowhere && (len(m.Nodes) == 0 || slices.Contains(m.Nodes, n.Node))
		for _, f := range w.Filters {
			possible = possible && f.Rule.Feasible(m, *node)
		}
		for _, p := range w.Pods {
			if (possible || !w.Single) && p.Node == n.Node && p.Preempted && !w.stuck(p) && w.priorityOf(p) < w.Priority {
				return true
			}
		}
	}
	return false
}

// instants lists, in order, the instants after now at which anything that depends on time
// changes.
func (w *world) instants() (list []time.Time) {
	add := func(at time.Time) {
		for _, at := range []time.Time{at, at.Add(1)} {
			if at.After(w.Now) && instant.Valid(at) {
				list = append(list, at)
			}
		}
	}
	for _, p := range w.Pods {
		if until, ok := w.minimumRuntime(p); ok {
			add(until)
		}
		if p.Terminating && !p.TerminatingSince.IsZero() && w.Timeout > 0 {
			add(p.TerminatingSince.Add(w.Timeout))
		}
	}
	for _, u := range w.units() {
		if w.Guard != nil {
			if until, never := w.Guard(u.group, u.pods, u.priority); !never && !until.IsZero() {
				add(until)
			}
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
