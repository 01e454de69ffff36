package cluster

import "github.com/cedesched/cede/workload"

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
