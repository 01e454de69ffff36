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
	// The fields that a search reads come first, in few cache lines.
	Priority int64            // effective
	Reserved int64            // an instant; instant.Unset: no reservation time
	Queued   int64            // an instant
	Loads    []quotatree.Load // by column, with zeros
	few      [2]quotatree.Load
	*Template
	Facts Facts
}

// Template holds pod sets, shared by the workloads that have the same. It is immutable.
type Template struct {
	PodSets []workload.PodSet
	Surplus []Surplus // of elastic pod sets, the last one first; only for workloads that may give some
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
func newWorkload(w *workload.Workload, queue *string, columns *Columns) *Workload {
	d := &Workload{
		Facts:    factsOf(w, queue),
		Priority: w.EffectivePriority(),
		Queued:   instant.Of(w.Queued),
		Reserved: instant.Of(w.ReservedAt),
		Template: &Template{PodSets: w.PodSets},
	}
	d.Loads = d.few[:0]
	for i := range w.PodSets {
		d.Loads = addAmounts(d.Loads, w.PodSets[i].Count, w.PodSets[i].Requests, columns)
	}
	if !w.Evicted && !w.NeverYields {
		d.Surplus = surplusOf(w.PodSets, columns)
	}
	return d
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

// evicted returns the workload marked as evicted.
func (w *Workload) evicted() *Workload {
	e := *w // the loads are shared: records are immutable
	e.Facts.Evicted = true
	if len(w.Surplus) > 0 {
		e.Template = &Template{PodSets: w.PodSets}
	}
	return &e
}

// leaves reports whether some replicas are leaving and the workload is not evicted.
func (w *Workload) leaves() bool {
	return !w.Facts.Evicted && slices.ContainsFunc(w.PodSets, func(p workload.PodSet) bool { return p.Leaving > 0 })
}

func idOf(w *Workload) string { return w.Facts.ID }

// newTemplate copies pod sets.
func newTemplate(podSets []workload.PodSet) *Template {
	w := workload.Workload{PodSets: podSets}
	return &Template{PodSets: w.Clone().PodSets}
}
