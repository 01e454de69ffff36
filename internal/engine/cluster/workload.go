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
	// What a search looks at comes first, in few cache lines.
	Priority int64            // effective
	Reserved int64            // an instant; instant.Unset without reservation time
	Queued   int64            // an instant
	Loads    []quotatree.Load // by column, zeros kept
	Surplus  []Surplus        // of elastic pod sets, the last one first; only of active workloads
	few      [2]quotatree.Load
	Facts    Facts
}

// Surplus is the replicas of an elastic pod set over its minimum.
type Surplus struct {
	PodSet int
	Count  int64
	Loads  []quotatree.Load // of one replica
}

// Uses reports whether a replica's assignment names the column.
func (s *Surplus) Uses(column int) bool {
	for _, l := range s.Loads {
		if l.Column == column {
			return true
		}
	}
	return false
}

// newWorkload keeps what w holds. The columns have a number for all that it uses.
func newWorkload(w *workload.Workload, columns *Columns) *Workload {
	d := &Workload{
		Facts:    factsOf(w),
		Priority: w.EffectivePriority(),
		Queued:   instant.Of(w.Queued),
		Reserved: instant.Of(w.ReservedAt),
	}
	d.Loads = d.few[:0]
	for i := range w.PodSets {
		d.Loads = addAmounts(d.Loads, w.PodSets[i].Count, w.PodSets[i].Requests, columns)
	}
	for i := range slices.Backward(w.PodSets) {
		if n := w.PodSets[i].Surplus(); n > 0 && !w.Evicted {
			d.Surplus = append(d.Surplus, Surplus{i, n, addAmounts(nil, 1, w.PodSets[i].Requests, columns)})
		}
	}
	return d
}

// addAmounts adds amounts, taken so often, in place; see [addLoads].
func addAmounts(loads []quotatree.Load, times int64, amounts []quota.Amount, columns *Columns) []quotatree.Load {
	for i := range amounts {
		a := &amounts[i]
		loads = addLoads(loads, []quotatree.Load{{Column: columns.Number(a.FlavorResource()), Amount: quota.Mul(times, a.Amount)}})
	}
	return loads
}

// leaves reports whether some replicas are leaving, and the rest stays.
func (w *Workload) leaves() bool {
	return !w.Facts.Evicted && slices.ContainsFunc(w.Facts.PodSets, func(p workload.PodSet) bool { return p.Leaving > 0 })
}

func idOf(w *Workload) string { return w.Facts.ID }
