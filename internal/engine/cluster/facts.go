package cluster

import (
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/workload"
)

// Facts is a [workload.Workload] that takes less: few have gates, and a cluster holds
// many.
type Facts struct {
	ID, UID, Queue              string
	Priority, PriorityBoost     int64
	Created, Queued, ReservedAt time.Time
	Evicted, NeverPreempts      bool
	PodSets                     []workload.PodSet
	gates                       *gate.Gates // nil: the zero value
}

// factsOf keeps what w holds.
func factsOf(w *workload.Workload) Facts {
	f := Facts{
		w.ID, w.UID, w.Queue, w.Priority, w.PriorityBoost, w.Created, w.Queued, w.ReservedAt,
		w.Evicted, w.NeverPreempts, w.PodSets, nil,
	}
	if !w.Gates.IsZero() {
		gates := w.Gates // not &w.Gates, for which all of w would be kept
		f.gates = &gates
	}
	return f
}

// Workload returns the facts in their usual form. It shares the pod sets and gates, which
// must not be changed.
func (f *Facts) Workload() workload.Workload {
	w := workload.Workload{
		ID: f.ID, UID: f.UID, Queue: f.Queue, Priority: f.Priority, PriorityBoost: f.PriorityBoost,
		Created: f.Created, Queued: f.Queued, ReservedAt: f.ReservedAt,
		Evicted: f.Evicted, NeverPreempts: f.NeverPreempts, PodSets: f.PodSets,
	}
	if f.gates != nil {
		w.Gates = *f.gates
	}
	return w
}

// Clone returns a copy that shares nothing with f.
func (f *Facts) Clone() workload.Workload {
	w := f.Workload()
	return w.Clone()
}
