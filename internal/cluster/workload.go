package cluster

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/instant"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Workload is a running workload in dense form. It is immutable.
type Workload struct {
	Facts    workload.Workload // this cluster's own copy
	Priority int64             // effective
	Queued   int64             // an instant
	Reserved int64             // an instant; instant.Unset without reservation time
	Loads    []quota.Load      // by column, zeros kept
	Surplus  []Surplus         // of elastic pod sets, the last one first; only of active workloads
}

// Surplus is the replicas of an elastic pod set over its minimum.
type Surplus struct {
	PodSet int
	Count  int64
	Loads  []quota.Load // of one replica
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

func newWorkload(w workload.Workload, usage []quota.Amount, columns *Columns) *Workload {
	d := &Workload{
		Facts:    w,
		Priority: w.EffectivePriority(),
		Queued:   instant.Of(w.Queued),
		Reserved: instant.Of(w.ReservedAt),
		Loads:    loadsOf(usage, columns),
	}
	for i := range slices.Backward(w.PodSets) {
		if n := w.PodSets[i].Surplus(); n > 0 && !w.Evicted {
			d.Surplus = append(d.Surplus, Surplus{i, n, loadsOf(w.PodSets[i].Requests, columns)})
		}
	}
	return d
}

func loadsOf(amounts []quota.Amount, columns *Columns) []quota.Load {
	loads := make([]quota.Load, len(amounts))
	for i, a := range amounts {
		loads[i] = quota.Load{Column: columns.Number(a.FlavorResource()), Amount: a.Amount}
	}
	slices.SortFunc(loads, func(a, b quota.Load) int { return cmp.Compare(a.Column, b.Column) })
	return loads
}

// Uses reports whether the workload's assignment names the column, be it with
// zero.
func (w *Workload) Uses(column int) bool {
	for _, l := range w.Loads {
		if l.Column == column {
			return true
		}
	}
	return false
}

// Lane is a part of a queue's running workloads: those evicted already come before
// those that are not, and those without reservation time stand, at each decision,
// where its time puts them. The surplus lanes hold, once more, those active workloads
// that run more replicas than they need.
type Lane int

const (
	Active Lane = iota
	ActiveUnreserved
	Evicted
	EvictedUnreserved
	SurplusReserved
	SurplusUnreserved
	lanes
)

// lanesOf calls yield with each lane that the workload is in.
func (w *Workload) lanesOf(yield func(Lane) bool) {
	lane := w.lane()
	if yield(lane) && len(w.Surplus) > 0 {
		yield(SurplusReserved + lane&1)
	}
}

func (w *Workload) lane() Lane {
	lane := Active
	if w.Facts.Evicted {
		lane = Evicted
	}
	if w.Facts.ReservedAt.IsZero() {
		lane++
	}
	return lane
}

// compareInLane is the order of candidates inside a lane (KEP-83, Preemption, step
// 3): lower priority first, then shortest running; ties by UID, then ID.
func compareInLane(a, b *Workload) int {
	switch {
	case a.Priority != b.Priority:
		return cmp.Compare(a.Priority, b.Priority)
	case a.Reserved != b.Reserved:
		return cmp.Compare(b.Reserved, a.Reserved)
	}
	return CompareIDs(a, b)
}

// CompareIDs orders by UID, then ID.
func CompareIDs(a, b *Workload) int {
	if c := cmp.Compare(a.Facts.UID, b.Facts.UID); c != 0 {
		return c
	}
	return cmp.Compare(a.Facts.ID, b.Facts.ID)
}

func compareByID(a, b *Workload) int { return cmp.Compare(a.Facts.ID, b.Facts.ID) }
