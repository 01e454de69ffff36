package reclaim

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/quota"
)

// allows is allowed for the victims that remain when one is put back.
func (t *Taker) allows(_ *right.Victim, others, needed []right.Victim) bool {
	return t.allowed(t.s.Remaining(others, needed))
}

// allowed reports whether victims, all of them gone, may yield together: there is an order in which
// each finds its side over what it may keep, and in the end no side of the preemptor is saturated. What a
// side holds only falls, so of its victims the last one alone decides.
func (t *Taker) allowed(victims []right.Victim) bool {
	for i := range victims {
		v := &victims[i]
		if !v.Fair || slices.ContainsFunc(victims[:i], func(o right.Victim) bool { return o.Fair && o.Side == v.Side }) {
			continue
		}
		if !t.hasLast(v, victims) || t.saturates(v, victims) {
			return false
		}
	}
	return true
}

// holdsBeside returns what a node holds of a resource without victims, all of them gone. What was told to leave holds
// nothing, whether it is a victim or not.
func (t *Taker) holdsBeside(node, resource int, victims []right.Victim) int64 {
	if !t.s.AnyLeaving() {
		return t.holds(node, resource)
	}
	sum := t.asked.Held(node, resource)
	for i := range victims {
		if v := &victims[i]; !v.Workload.Facts.Evicted && t.isBelow(v.Queue, node) {
			sum = quota.Sub(sum, t.frees(v, resource))
		}
	}
	return sum
}

func (t *Taker) isBelow(queue, node int) bool {
	for ; queue >= 0 && queue != node; queue = t.s.View.Tree.Parent(queue) {
	}
	return queue == node
}

// frees returns what a victim frees of a resource.
func (t *Taker) frees(v *right.Victim, resource int) int64 {
	if v.Set >= 0 {
		return quota.Mul(v.Count, t.unit(v, resource))
	}
	return t.of.Amount(v.Workload.Loads, resource)
}

// hasLast reports whether one of the victims of a side may be the last of them to yield.
func (t *Taker) hasLast(of *right.Victim, victims []right.Victim) bool {
	for i := range victims {
		v := &victims[i]
		if v.Fair && v.Side == of.Side && t.of.Yields(of.Side, t.guaranteed[of.Level], func(i int) int64 {
			return quota.Add(t.holdsBeside(of.Side, i, victims), t.together(v, i, victims))
		}) {
			return true
		}
	}
	return false
}

// together returns what yields at once if a victim is the last: of a surplus as many replicas as the minimum, for KAI takes the first of
// them singly and the rest together.
func (t *Taker) together(v *right.Victim, resource int, victims []right.Victim) int64 {
	if v.Set < 0 {
		return t.unit(v, resource)
	}
	n := int64(0)
	for i := range victims {
		if o := &victims[i]; o.Workload == v.Workload && o.Set == v.Set {
			n += o.Count
		}
	}
	p := &v.Workload.PodSets[v.Workload.Surplus[v.Set].PodSet]
	return quota.Mul(max(1, min(n, p.Count-p.Surplus())), t.unit(v, resource))
}

// unit returns what a victim frees of a resource if it yields last: one replica, or the rest of a workload whose surplus yields
// before.
func (t *Taker) unit(v *right.Victim, resource int) int64 {
	if v.Set >= 0 {
		return t.of.Amount(v.Workload.Surplus[v.Set].Loads, resource)
	}
	return t.of.Rest(v.Workload, resource)
}

// saturates reports whether the preemptor's side would be over its share, and as full as the side of a victim.
func (t *Taker) saturates(v *right.Victim, victims []right.Victim) bool {
	own := t.s.Levels[v.Level].Except
	frees := func(loads []quotatree.Load, i int) bool { return t.of.Amount(loads, i) > 0 }
	counts := func(i int) bool {
		return t.asked.Requests[i] > 0 || slices.ContainsFunc(victims, func(o right.Victim) bool { return o.Fair && frees(o.Workload.Loads, i) })
	}
	ours := func(i int) int64 { return t.holdsBeside(own, i, victims) }
	theirs := func(i int) int64 { return t.holdsBeside(v.Side, i, victims) }
	return t.asked.Saturated(own, v.Side, counts, ours, theirs) >= 0
}
