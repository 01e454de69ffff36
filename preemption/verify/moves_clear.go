package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Clear judges an answer of [moves.Clear] from the state, the request and the configurations alone. It returns nil, or [preemption.Faults] of
// everything that is wrong. A state that is not valid is an error.
//
//   - Each cleared domain is one of the request, once, and none of its nodes is promised. When all is done, only pods that stay or
//     terminate are there.
//   - Each unit that leaves has a pod in a cleared domain, and nothing protects it. Its places, prices and steps are judged as by [Moves]:
//     no step stops more pods of a budget than it allows, also of those that yield.
//   - Cost is the sum of the prices, and what the domains add; it is no less than LowerBound.
//   - Outcome says whether Count domains are cleared, and whether a unit leaves for it. Where domains are missing, each that is Blocked is
//     none that is cleared; RetryAt is after Now.
func Clear(st placement.State, r moves.ClearRequest, pc placement.Config, c moves.Config, a moves.ClearAnswer) error {
	if _, err := placement.NewSnapshot(st); err != nil {
		return err
	}
	st = told(st)
	j := newMovesJudge(st, placement.Request{Priority: math.MaxInt32, Now: r.Now}, pc, c)
	j.stays = func(p workload.Pod) bool { return p.Terminating || r.Stays != nil && r.Stays(p) }
	domains := r.Domains
	if len(domains) == 0 {
		for _, n := range st.Nodes {
			if r.Within && isOver(st, n) || !r.Within && !n.Unschedulable {
				domains = append(domains, placement.Domain{Name: n.Name, Nodes: []string{n.Name}})
			}
		}
	}
	var sum moves.Cost
	cleared, on := map[string]bool{}, []string{}
	for i, x := range a.Cleared {
		at := slices.IndexFunc(domains, func(d placement.Domain) bool { return d.Name == x.Domain })
		if at < 0 || cleared[x.Domain] {
			j.wrong(fmt.Sprintf("cleared[%d]", i), "%q is no domain of the request, or is cleared before", x.Domain)
			continue
		}
		cleared[x.Domain], on = true, append(on, domains[at].Nodes...)
		sum.Lost, sum.Pods = sum.Lost+x.Cost.Lost, sum.Pods+x.Cost.Pods
	}
	if j.isLater = len(a.Cleared) > 1; !r.Within {
		j.closed = on
	}
	leave := slices.Clone(a.Victims)
	for i := range leave {
		leave[i].Violations = 0 // the steps keep the budgets
	}
	for _, m := range a.Moves {
		v := placement.Victim{Group: m.Group}
		for _, p := range m.Pods {
			v.Pods = append(v.Pods, p.Pod)
		}
		leave = append(leave, v)
	}
	j.leave(leave, a.Moves)
	for _, u := range j.units {
		if !slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return slices.Contains(on, p.Node) }) {
			j.wrong("cleared", "%v leave, but have no pod in a domain that is cleared", podIDs(u))
		}
	}
	j.places()
	j.cost(a.Cost)
	j.steps(a.Steps)
	if sum != a.Cost {
		j.wrong("cleared", "the domains add %+v, not %+v", sum, a.Cost)
	}
	if j.empty(r.Stays); r.Within {
		j.within(on)
	}
	j.outcome(cmp.Or(r.Count, len(domains)), r.Now, &a)
	return j.with(nil)
}

// without returns a unit without the pods that need not leave with it, unless they are listed.
func (j *movesJudge) without(u placement.Unit, listed []string) placement.Unit {
	if j.stays != nil {
		u.Pods = slices.DeleteFunc(slices.Clone(u.Pods), func(p workload.Pod) bool {
			return j.stays(p) && !slices.Contains(listed, p.ID)
		})
	}
	return u
}

// empty judges that cleared nodes are empty, and promised to no pod.
func (j *movesJudge) empty(stays func(workload.Pod) bool) {
	for _, p := range j.after() {
		isPromised := slices.ContainsFunc(j.st.Nominated, func(o workload.Pod) bool { return o.ID == p.ID })
		switch {
		case !slices.Contains(j.closed, p.Node), !isPromised && (p.Terminating || stays != nil && stays(p)):
		default:
			j.wrong("cleared", "%q is on node %q", p.ID, p.Node)
		}
	}
	for i := range j.units {
		u := j.units[i]
		if stays != nil && slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return stays(p) && slices.Contains(j.closed, p.Node) }) {
			j.wrong("cleared", "%v leave, but one of them stays", podIDs(u))
		}
	}
}

// within judges that nodes are within their capacity, and that no unit leaves in vain.
func (j *movesJudge) within(domains []string) {
	st := j.st
	st.Pods = slices.DeleteFunc(j.running(), func(p workload.Pod) bool { return p.Terminating })
	over := func(st placement.State) bool {
		return slices.ContainsFunc(st.Nodes, func(n workload.Node) bool { return slices.Contains(domains, n.Name) && isOver(st, n) })
	}
	if over(st) {
		j.wrong("cleared", "some of %v is over its capacity", domains)
	}
	for i := range j.units {
		back := st
		back.Pods = slices.DeleteFunc(slices.Clone(st.Pods), func(p workload.Pod) bool { return slices.Contains(podIDs(j.units[i]), p.ID) })
		if back.Pods = append(back.Pods, j.units[i].Pods...); !over(back) && !j.isLater {
			j.wrong("cleared", "%v leave in vain", podIDs(j.units[i]))
		}
	}
}

// isOver reports whether the pods on a node that do not terminate take more than its capacity.
func isOver(st placement.State, n workload.Node) bool {
	for resource, amount := range usedOn(st, n.Name) {
		if most, limited := n.Capacity[resource]; amount > most && (limited || resource != workload.PodsResource) {
			return true
		}
	}
	return false
}

// told returns the state with what budgets allow beside the pods that were told to stop before.
func told(st placement.State) placement.State {
	st.Budgets = slices.Clone(st.Budgets)
	for i := range st.Budgets {
		b := &st.Budgets[i]
		for k := range st.Pods {
			if p := &st.Pods[k]; p.Terminating && p.Preempted && charges(b, []workload.Pod{*p}) > 0 {
				b.Allowed, b.Disrupted = max(0, b.Allowed-1), append(slices.Clone(b.Disrupted), p.ID)
			}
		}
	}
	return st
}

// outcome judges whether enough domains are cleared.
func (j *movesJudge) outcome(count int, now time.Time, a *moves.ClearAnswer) {
	switch isDone := len(a.Cleared) == count; {
	case len(a.Cleared) > count, isDone != a.Outcome.Succeeds(), isDone && (a.Outcome == preemption.Preempt) != (len(j.units) > 0),
		(a.Outcome == preemption.Wait) == a.RetryAt.IsZero(), !a.RetryAt.IsZero() && !a.RetryAt.After(now):
		j.wrong("outcome", "%v, with %d of %d domains, RetryAt %v", a.Outcome, len(a.Cleared), count, a.RetryAt)
	case isDone && (len(a.Blocked) > 0 || a.Cost.Compare(a.LowerBound) < 0):
		j.wrong("outcome", "%v costs %+v, at least %+v, blocked %v", a.Outcome, a.Cost, a.LowerBound, a.Blocked)
	}
	for i, b := range a.Blocked {
		if slices.ContainsFunc(a.Cleared, func(x moves.Cleared) bool { return x.Domain == b.Domain }) || i > 0 && b.Domain <= a.Blocked[i-1].Domain {
			j.wrong(fmt.Sprintf("blocked[%d]", i), "%q is cleared, or out of order", b.Domain)
		}
	}
}
