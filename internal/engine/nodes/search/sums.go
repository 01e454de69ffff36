package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/budget"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/trace"
)

// A single pod has every node as a domain. Most nodes are refused or beaten by the sums that they keep by priority;
// what runs on them is looked at only on the others.

// outlook is what the sums of a node say about preempting there.
type outlook struct {
	known    bool
	hopeless bool        // there is no room even without all units of lower priority
	anyLower bool        // some unit is of lower priority
	score    place.Score // if not hopeless: no victims there have a better one
}

// look returns what the sums of a node say. known is false for a node on which pods terminate, or where the pod may fit
// beside all that run.
//
// The bounds of the score: some unit of the highest level above which there is room beside the rest must yield. Each
// victim frees at most what the largest pod uses. No unit of that level started later than the latest of its pods,
// and the unit of a pod started no later than the pod.
func (s *domains) look(n *state.Node) (o outlook) {
	lower, needs := n.LevelsUpTo(s.Highest()), s.Members[0].Needs
	if o.anyLower = lower > 0; n.Leaves {
		return o
	}
	if !s.HasRoomAbove(n, lower, needs) {
		o.known, o.hopeless = true, true
		return o
	}
	gone := 0 // so many levels
	for gone < lower && !s.HasRoomAbove(n, gone, needs) {
		gone++
	}
	if gone == 0 {
		return o
	}
	victims := s.LeastPods(n, s.missingOn(n))
	top, bottom := n.Levels[gone-1], n.Levels[0]
	o.known = true
	o.score = place.Score{Highest: top.Priority, Pods: victims, Started: top.Latest}
	o.score.Sum = place.Weight(top.Priority) + (victims-1)*place.Weight(bottom.Priority)
	return o
}

// missingOn returns what the pod lacks on a node beside all that run, by slot.
func (s *domains) missingOn(n *state.Node) []int64 {
	s.sums.missing = s.MissingOn(s.sums.missing, n, s.Members[0].Needs)
	return s.sums.missing
}

// isBeaten reports whether preempting in a domain cannot be better than the best so far.
func (s *domains) isBeaten(d room.Domain, best *place.Placement) bool {
	if s.Request.MaxDomains > 0 {
		return false
	}
	n, clean := s.Nodes[max(0, min(d.From, len(s.Nodes)-1))], best.Score.Violations == 0
	if s.Request.Group != "" || n.Leaves {
		return s.isBeatenByRows(d, best.Score)
	}
	if clean && !s.HasRoomAbove(n, n.LevelsUpTo(int64(best.Score.Highest)), s.Members[0].Needs) {
		return true // a unit of a higher priority would have to yield
	}
	o := s.look(n)
	switch {
	case !o.known:
		return false
	case o.hopeless || o.score.Compare(best.Score) >= 0:
		return true
	}
	if bound, ok := s.boundByBriefs(n, best.Score); !ok || bound.Compare(best.Score) >= 0 {
		return true
	}
	bound, ok := s.boundByPods(n, best.Score)
	return !ok || bound.Compare(best.Score) >= 0
}

// isBeatenByRows reports whether no victims of the domain are better than the best so far, from what runs on its nodes by
// priority.
func (s *domains) isBeatenByRows(d room.Domain, best place.Score) bool {
	s.Forget() // units that stay in the domain before
	b := s.LeastVictims(d, s.sums.least, place.Weight)
	if b.Pods == 0 {
		return false
	}
	bound := place.Score{Violations: s.leastViolations(d, b.Pods), Highest: b.Highest, Sum: b.Sum, Pods: b.Pods, Started: state.JustNow}
	if bound.Compare(best) >= 0 {
		return true
	}
	if bound.Violations < best.Violations {
		return false
	}
	need := s.SmallestNeed(b.Slot)
	if need == 0 {
		return false
	}
	if bound.Highest = max(bound.Highest, s.LeastHighest(d, b.Slot, need, s.AtLeast)); bound.Highest < best.Highest {
		return false // the sum decides nothing
	}
	bound.Sum = max(bound.Sum, s.LeastSum(d, b.Slot, need, s.AtLeast, place.Weight))
	return bound.Compare(best) >= 0
}

// leastViolations returns how many of so many pods of a domain violate a budget at least: a pod under a budget that allows
// nothing violates it.
func (s *domains) leastViolations(d room.Domain, pods int64) int64 {
	if len(s.Cluster.BudgetOrder) == 0 || s.Config.HardBudgets {
		return 0
	}
	for _, n := range s.Nodes[d.From:d.To] {
		for _, b := range n.Briefs {
			yields := b.Priority < s.Priority && (s.AsBuilt || !b.Leaving)
			if yields && !budget.IsSpent(s.Cluster, b) {
				pods--
			}
		}
	}
	return max(0, pods)
}

// refusal returns the result of a domain where by its sums there is no room; ok is false if they do not say. With
// rules that protect units, a look at these decides why there is none.
func (s *domains) refusal(d room.Domain) (found trace.Found, ok bool) {
	if s.Request.Group != "" {
		return 0, false
	}
	o := s.look(s.Nodes[d.From])
	switch {
	case !o.hopeless || o.anyLower && s.AnyRule():
		return 0, false
	case o.anyLower:
		return trace.NoRoom, true
	}
	return trace.NoVictims, true
}

// boundByBriefs is boundByPods by the briefs of the pods alone, which lie next to each other in memory: it supposes
// that each pod frees what the largest pod does, and started with the last pod of its level.
func (s *domains) boundByBriefs(n *state.Node, best place.Score) (bound place.Score, ok bool) {
	list, spared := s.sums.priorities[:0], 0 // pods that may violate no budget
	for _, b := range n.Briefs {
		if b.Priority >= s.Priority {
			continue
		}
		if !budget.ExhaustsAlone(s.Cluster, b) {
			spared++
		} else if best.Violations == 0 {
			continue
		}
		list = append(list, b.Priority)
	}
	s.sums.priorities = list
	least := int(s.LeastPods(n, s.missingOn(n)))
	if len(list) < least {
		return bound, false
	}
	slices.Sort(list)
	bound = place.Score{Violations: int64(max(0, least-spared)), Highest: list[least-1], Pods: int64(least), Started: math.MinInt64}
	for _, priority := range list[:least] {
		bound.Sum += place.Weight(priority)
	}
	for _, l := range n.Levels {
		if l.Priority == bound.Highest {
			bound.Started = max(bound.Started, l.Latest)
		}
	}
	return bound, true
}

// boundByPods looks at the pods of a node and returns a score: no victims there have a better one. ok is false if
// they cannot be better than the best so far: if that violates no budget, all victims there violate one or have a
// higher priority. The outlook of the node must be known.
//
// A pod under a budget that allows nothing violates it. The lowest priorities that together free what is missing must
// yield: of the highest of them, enough pods to free what the lower ones leave missing.
func (s *domains) boundByPods(n *state.Node, best place.Score) (bound place.Score, ok bool) {
	missing := s.missingOn(n)
	victims, violations := s.LeastPods(n, missing), int64(0)
	s.sums.yielding = s.listYielding(s.sums.yielding[:0], n, best, missing)
	list := s.sums.yielding
	if best.Violations > 0 {
		violations = s.LeastPods(n, missing)
		missing = s.missingOn(n)
	}
	slices.SortFunc(list, func(a, b yielding) int {
		return cmp.Or(cmp.Compare(a.pod.Priority, b.pod.Priority), cmp.Compare(b.started, a.started))
	})
	for from := 0; from < len(list); {
		rest, to := s.LeastPods(n, missing), from
		for ; to < len(list) && list[to].pod.Priority == list[from].pod.Priority; to++ {
			s.Free(missing, list[to].pod)
		}
		if s.LeastPods(n, missing) == 0 {
			high, low := place.Weight(list[from].pod.Priority), place.Weight(list[0].pod.Priority)
			return place.Score{
				Violations: violations, Highest: list[from].pod.Priority, Pods: victims,
				Started: list[from+int(rest)-1].started, Sum: rest*high + (victims-rest)*low,
			}, true
		}
		from = to
	}
	return place.Score{}, false
}

// listYielding appends the pods of a node that may be better victims than the best so far. If that one violates a
// budget, what the pods free that violate none is taken from what is missing.
func (s *domains) listYielding(list []yielding, n *state.Node, best place.Score, missing []int64) []yielding {
	for k, b := range n.Briefs {
		if b.Priority >= s.Priority {
			continue
		}
		if best.Violations == 0 && b.Priority > best.Highest {
			continue
		}
		p := n.Pods[k]
		u := s.UnitOf(p)
		switch {
		case best.Violations > 0:
			if !s.exhausts(p) {
				s.Free(missing, p)
			}
		case u.Covered && slices.ContainsFunc(u.Pods, s.exhausts):
			continue
		}
		list = append(list, yielding{p, u.Started})
	}
	return list
}

// exhausts reports whether a pod violates a budget, whatever else yields.
func (s *domains) exhausts(p *state.Pod) bool { return budget.Exhausts(s.Cluster, p) }
