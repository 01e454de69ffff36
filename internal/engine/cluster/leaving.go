package cluster

import (
	"cmp"

	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/workload"
)

// Replicas that were told to stop are like an evicted workload: they hold their quota until
// they are gone, and they are the first candidates of a later decision. So the leaving
// replicas of each pod set have a record of their own among the evicted workloads of the
// queue. It has the ID, the priority and the times of its workload; the record of the
// workload is about the replicas that stay.

// leavingOf returns the template of the record of one pod set's leaving replicas.
func leavingOf(podSets []workload.PodSet, i int, columns *Columns) *Template {
	p := podSets[i]
	p.Count, p.Terminating, p.MinCount = p.Terminating, 0, workload.PodSet{}.MinCount
	t := &Template{PodSets: []workload.PodSet{p}, Leaving: 1 + i}
	t.Loads = addAmounts(t.few[:0], p.Count, p.Requests, columns)
	return t
}

// Is reports whether two records belong to the same workload.
func (w *Workload) Is(other *Workload) bool {
	return w == other || w.Leaving+other.Leaving > 0 && w.Facts.ID == other.Facts.ID
}

// Divides reports whether a part of the record's workload may yield alone.
func (w *Workload) Divides() bool { return len(w.Surplus)+len(w.Parts)+w.Leaving > 0 }

// Whole returns the record of the workload that a record belongs to.
func (c *Cluster) Whole(w *Workload) *Workload {
	if w.Leaving > 0 {
		w, _ = c.Find(w.Facts.ID)
	}
	return w
}

// parts returns the records of the workload's leaving replicas; none if it is nil.
func (w *Workload) parts() []*Workload {
	if !w.leaves() {
		return nil
	}
	list := make([]*Workload, len(w.Parts))
	for i, t := range w.Parts {
		part := *w
		part.Template, part.Facts.Evicted, part.Facts.NeverYields = t, true, false
		list[i] = &part
	}
	return list
}

// withParts returns changes of workloads and of the records of their leaving replicas.
func withParts(changes []change) []change {
	list := changes
	for _, ch := range changes {
		old, now := ch.old.parts(), ch.now.parts()
		if len(old)+len(now) > 0 && len(list) == len(changes) {
			list = append(make([]change, 0, len(changes)+len(old)+len(now)), changes...)
		}
		for len(old) > 0 || len(now) > 0 {
			part := change{node: ch.node, moves: ch.moves}
			switch {
			case len(now) == 0 || len(old) > 0 && old[0].Leaving < now[0].Leaving:
				part.old, old = old[0], old[1:]
			case len(old) == 0 || now[0].Leaving < old[0].Leaving:
				part.now, now = now[0], now[1:]
			default:
				part.old, part.now, old, now = old[0], now[0], old[1:], now[1:]
			}
			list = append(list, part)
		}
	}
	return list
}

// leavers are the queues in which something leaves, by node.
type leavers struct{ ordered.Set[int32, none] }

var leaverOrder = &ordered.Order[int32, none]{Compare: cmp.Compare[int32]}

// with returns the set after a change of the workloads of the queue at a node.
func (l leavers) with(node int, now *Running) leavers {
	n := int32(node)
	_, known := l.Get(func(other int32) int { return cmp.Compare(other, n) })
	switch leaves := now.leaves(); {
	case leaves && !known:
		return leavers{l.Insert(n)}
	case !leaves && known:
		rest, _ := l.Delete(n)
		return leavers{rest}
	}
	return l
}

// leaves reports whether something in the queue was told to leave.
func (r *Running) leaves() bool { return r.Lane(Evicted).Len()+r.Lane(EvictedUnreserved).Len() > 0 }

// findLeavers finds the queues in which something leaves.
func (c *Cluster) findLeavers() {
	var list []int32
	for i := range c.Queues {
		if c.running.At(i).leaves() {
			list = append(list, int32(len(c.Cohorts)+i))
		}
	}
	c.leavers = leavers{ordered.Of(leaverOrder, list)}
}

// EachLeaving walks the records of what was told to leave, queue by queue.
func (c *Cluster) EachLeaving(yield func(node int, w *Workload) bool) {
	var queues ordered.Cursor[int32, none]
	for queues.First(c.leavers.Set); ; queues.Next() {
		node, ok := queues.Item()
		if !ok {
			return
		}
		for _, lane := range [...]Lane{Evicted, EvictedUnreserved} {
			var cursor LaneCursor
			for cursor.First(*c.Running(int(node)).Lane(lane)); ; cursor.Next() {
				w, ok := cursor.Item()
				if !ok {
					break
				}
				if !yield(int(node), w) {
					return
				}
			}
		}
	}
}
