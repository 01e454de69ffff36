package moves

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// with empties one domain more; nil: blocked says why it can not be emptied, and more when more units may leave.
func (f *clearing) with(done *cleared, d *placement.Domain, now time.Time) (x *cleared, blocked *Blocked, more time.Time, err error) {
	for _, node := range d.Nodes {
		if pod, promised := f.promised[node]; promised && !f.within {
			return nil, &Blocked{Domain: d.Name, Cause: Promised, Pod: pod}, more, nil
		}
	}
	leave, blocked, more, err := f.leaves(done.left, d, now)
	if err != nil || blocked != nil {
		return nil, blocked, more, err
	}
	list, planner := f.victimsOf(done, leave), f.config.newPlanner(f.before, func(string) bool { return false })
	for i := range list {
		if !planner.mayStop(&list[i], nil) { // not in any step
			return nil, blockedBy(d, Budget, &list[i]), more, nil
		}
	}
	after, err := f.without(done.now, d, leave)
	if err != nil {
		return nil, nil, more, err
	}
	isPlaced, err := f.config.findPlaces(f.preemptor, after, placement.Beside{}, list)
	if err != nil {
		return nil, nil, more, err
	}
	if !isPlaced {
		at := slices.IndexFunc(list, func(l victim) bool { return l.mustMove() && l.to == nil })
		return nil, blockedBy(d, NoPlace, &list[at]), more, nil
	}
	x = &cleared{list: merged(done.list, list, f.before)}
	if l := planner.overBudget(x.list); l != nil {
		return nil, blockedBy(d, Budget, l), more, nil
	}
	steps, stuck := planner.plan(x.list, nil)
	if len(stuck) > 0 {
		return nil, blockedBy(d, Budget, stuck[0]), more, nil
	}
	x.steps, x.cost = steps, costOf(x.list)
	x.adds = Cleared{Domain: d.Name, Cost: x.cost.minus(done.cost)}
	x.adds.Moves, x.adds.Yields = countOf(x.list, true), countOf(x.list, false)
	var edits []placement.Edit
	for i := range list {
		for k, to := range list[i].to {
			pod := list[i].Pods[k] // its start is that of before: it has not moved yet
			pod.Node = to
			edits = append(edits, placement.Run(pod))
		}
	}
	if x.now, err = after.With(edits...); err != nil || done.left == done.now {
		x.left = x.now
		return x, nil, more, err
	}
	if after, err = f.without(done.left, d, leave); err == nil {
		x.left, err = after.With(edits...)
	}
	return x, nil, more, err
}

// countOf counts the units that move, or yield.
func countOf(list []victim, moves bool) (n int) {
	for i := range list {
		if (list[i].to != nil) == moves {
			n++
		}
	}
	return n
}

// merged joins the units that left for the domains before with those that leave for one more. Each leaves the nodes of the
// beginning. A pod may leave again: by itself, or with its group, if it was surplus the first time and others have yielded.
func merged(list, more []victim, before *placement.Snapshot) []victim {
	again := map[string]bool{}
	for i := range more {
		for _, p := range more[i].Pods {
			again[p.ID] = true
		}
	}
	out := slices.DeleteFunc(slices.Clone(list), func(l victim) bool {
		return slices.ContainsFunc(l.Pods, func(p workload.Pod) bool { return again[p.ID] })
	})
	for _, l := range more {
		l.Pods = slices.Clone(l.Pods)
		for k := range l.Pods {
			p, _ := before.Find(l.Pods[k].ID)
			l.Pods[k].Node = p.Node
		}
		out = append(out, l)
	}
	return out
}

func blockedBy(d *placement.Domain, cause Cause, v *victim) *Blocked {
	return &Blocked{Domain: d.Name, Cause: cause, Group: v.Group, Pod: v.Pods[0].ID}
}

// victimsOf prices the victims, whatever budgets they violate: the steps keep them.
func (f *clearing) victimsOf(done *cleared, victims []placement.Victim) []victim {
	victims = slices.Clone(victims)
	for i := range victims {
		victims[i].Violations = 0
	}
	return f.config.victimsOf(done.now, victims)
}

// without returns the snapshot without victims, with a domain closed if it is to be empty.
func (f *clearing) without(s *placement.Snapshot, d *placement.Domain, victims []placement.Victim) (*placement.Snapshot, error) {
	edits := gone(victims)
	for _, node := range d.Nodes {
		if f.within {
			break
		}
		n, _ := s.Node(node)
		n.Unschedulable = true
		edits = append(edits, placement.SetNode(n))
	}
	return s.With(edits...)
}
