package cluster

import (
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Workload is a running workload in dense form. It is immutable.
type Workload struct {
	// The fields that a search reads come first, in one cache line.
	Priority int64 // effective
	Reserved int64 // an instant; instant.Unset: no reservation time
	*Template
	Queued int64 // an instant
	Facts  Facts
}

// Template holds pod sets and what follows from them, shared by the workloads that have the
// same. It is immutable.
type Template struct {
	Loads   []quotatree.Load // by column, with zeros; in few where there is room
	few     [2]quotatree.Load
	Surplus []Surplus // of elastic pod sets, the last one first; only for workloads that may give some
	PodSets []workload.PodSet
	// Leaving is 0 for a workload; n: a record of the leaving replicas of its pod set n-1 (see leaving.go).
	Leaving int
	// Parts are the templates of such records. Loads is without them.
	Parts []*Template
}

// Surplus is the number of replicas of an elastic pod set over its minimum.
type Surplus struct {
	PodSet int
	Count  int64
	Loads  []quotatree.Load // of one replica
}

// Uses reports whether the assignment of a replica names the column.
func (s *Surplus) Uses(column int) bool {
	for _, l := range s.Loads {
		if l.Column == column {
			return true
		}
	}
	return false
}

// newWorkload returns the record of w, which must be a copy: it keeps its parts. All columns
// that w uses must have numbers.
func newWorkload(w *workload.Workload, at *home, columns *Columns) *Workload {
	return recordOf(w, at.local(w.LocalQueue), newTemplate(w.PodSets, columns).of(w))
}

func recordOf(w *workload.Workload, at *home, template *Template) *Workload {
	return &Workload{
		Facts:    factsOf(w, at, instant.Of(w.Created)),
		Priority: w.EffectivePriority(),
		Queued:   instant.Of(w.Queued),
		Reserved: instant.Of(w.ReservedAt),
		Template: template,
	}
}

// newTemplate returns the template of pod sets, which it keeps, for workloads that may give
// surplus.
func newTemplate(podSets []workload.PodSet, columns *Columns) *Template {
	t := &Template{PodSets: podSets}
	t.Loads = t.few[:0]
	for i := range podSets {
		p := &podSets[i]
		if p.Terminating > 0 {
			t.Parts = append(t.Parts, leavingOf(podSets, i, columns))
			t.Loads = addAmounts(t.Loads, p.Count-p.Terminating, p.Requests, columns)
		} else {
			t.Loads = addAmounts(t.Loads, p.Total(1), p.Requests, columns)
		}
	}
	t.Surplus = surplusOf(podSets, columns)
	return t
}

// of returns the template for a workload with these pod sets.
func (t *Template) of(w *workload.Workload) *Template {
	switch {
	case w.Evicted:
		return t.whole()
	case w.NeverYields:
		return t.rigid()
	}
	return t
}

// rigid returns the template of workloads that give no surplus.
func (t *Template) rigid() *Template {
	if len(t.Surplus) == 0 {
		return t
	}
	return &Template{Loads: t.Loads, PodSets: t.PodSets, Parts: t.Parts}
}

// whole returns the template of workloads that leave as a whole.
func (t *Template) whole() *Template {
	if len(t.Parts) == 0 {
		return t.rigid()
	}
	loads := slices.Clone(t.Loads)
	for _, part := range t.Parts {
		loads = quotatree.AddLoads(loads, part.Loads)
	}
	return &Template{Loads: loads, PodSets: t.PodSets}
}

func surplusOf(podSets []workload.PodSet, columns *Columns) (surplus []Surplus) {
	for i := range slices.Backward(podSets) {
		if n := podSets[i].Surplus(); n > 0 {
			surplus = append(surplus, Surplus{i, n, addAmounts(nil, 1, podSets[i].Requests, columns)})
		}
	}
	return surplus
}

// addAmounts adds times × amounts in place; see [quotatree.AddLoads].
func addAmounts(loads []quotatree.Load, times int64, amounts []quota.Amount, columns *Columns) []quotatree.Load {
	for i := range amounts {
		a := &amounts[i]
		loads = quotatree.AddLoads(loads, []quotatree.Load{{Column: columns.Number(a.FlavorResource()), Amount: quota.Mul(times, a.Amount)}})
	}
	return loads
}

// record returns the record of w, which runs in the queue of a home, in place of old, if that is
// not nil, and its columns. It keeps parts of w, which must be a copy.
func (c *Cluster) record(w *workload.Workload, at *home, old *Workload) *Workload {
	if !old.takesAs(w) {
		c.Columns = c.Columns.with(w)
		return newWorkload(w, at, c.Columns)
	}
	if at.queue == old.Facts.home.queue && w.LocalQueue == old.Facts.home.localQueue {
		at = old.Facts.home
	} else {
		at = at.local(w.LocalQueue)
	}
	return recordOf(w, at, old.Template.of(w))
}

// takesAs reports whether other can share the template of the workload, which may be nil.
func (w *Workload) takesAs(other *workload.Workload) bool {
	return w != nil && samePodSets(w.PodSets, other.PodSets) && (other.Evicted || !w.Facts.Evicted) &&
		(other.Evicted || other.NeverYields || !w.Facts.NeverYields)
}

// evicted returns the workload marked as evicted.
func (w *Workload) evicted() *Workload {
	e := *w
	e.Facts.Evicted = true
	e.Template = w.Template.whole()
	return &e
}

// leaves reports whether some replicas are leaving and the workload is not evicted.
func (w *Workload) leaves() bool { return w != nil && len(w.Parts) > 0 }

func idOf(w *Workload) string { return w.Facts.ID }
