package cluster

import (
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/workload"
)

// Facts holds the fields of a [workload.Workload] except its pod sets, in little memory: a
// cluster has many.
type Facts struct {
	ID, UID                string
	home                   *home
	created                int64   // an instant
	seldom                 *seldom // nil: no such field is set
	Evicted, NeverPreempts bool
	NeverYields            bool
	local                  bool // times are in the local zone; else in UTC, or as seldom says
}

// home is where a workload was submitted and runs. Workloads share theirs.
type home struct{ queue, localQueue string }

// local returns the home of the workloads of a local queue, itself for those without.
func (h *home) local(name string) *home {
	if name == "" {
		return h
	}
	return &home{h.queue, name}
}

// seldom holds the fields that few workloads set.
type seldom struct {
	boost                       int64 // part of the effective priority
	priority                    int64 // only if there is a boost
	gates                       gate.Gates
	loss                        workload.Loss
	labels                      map[string]string
	priorityClass               string
	created, queued, reservedAt *time.Location // nil: UTC
}

// factsOf returns the facts of w, created at an instant. It shares the gates, the loss and the
// labels.
func factsOf(w *workload.Workload, at *home, created int64) Facts {
	f := Facts{
		ID: w.ID, UID: w.UID, home: at, created: created,
		Evicted: w.Evicted, NeverPreempts: w.NeverPreempts, NeverYields: w.NeverYields,
	}
	others := false
	if w.Created.Location() != time.UTC || w.Queued.Location() != time.UTC || w.ReservedAt.Location() != time.UTC {
		f.local = isLocal(w.Created) && isLocal(w.Queued) && isLocal(w.ReservedAt)
		others = !f.local
	}
	if others || w.PriorityBoost != 0 || !w.Gates.IsZero() || !w.Loss.IsZero() || len(w.Labels) > 0 || w.PriorityClass != "" {
		f.seldom = &seldom{
			boost: w.PriorityBoost, priority: w.Priority, gates: w.Gates, loss: w.Loss,
			labels: w.Labels, priorityClass: w.PriorityClass,
		}
		if others {
			f.seldom.created, f.seldom.queued, f.seldom.reservedAt = zone(w.Created), zone(w.Queued), zone(w.ReservedAt)
		}
	}
	return f
}

func isLocal(t time.Time) bool { return t.Location() == time.Local || t.IsZero() }

// zone returns the zone of a time; nil for UTC.
func zone(t time.Time) *time.Location {
	if at := t.Location(); at != time.UTC {
		return at
	}
	return nil
}

func timeIn(at int64, zone *time.Location) time.Time {
	if t := instant.Time(at); zone != nil && at != instant.Unset {
		return t.In(zone)
	} else {
		return t
	}
}

// Queue returns the name of the workload's queue.
func (f *Facts) Queue() string { return f.home.queue }

// LocalQueue returns the name of the workload's local queue; empty if it has none.
func (f *Facts) LocalQueue() string { return f.home.localQueue }

// Workload returns the workload in its usual form. It shares the pod sets, gates,
// loss and labels, which must not be changed. Times have no monotonic clock reading.
func (w *Workload) Workload() workload.Workload {
	f := &w.Facts
	out := workload.Workload{
		ID: f.ID, UID: f.UID, Queue: f.home.queue, LocalQueue: f.home.localQueue, Priority: w.Priority,
		Evicted: f.Evicted, NeverPreempts: f.NeverPreempts, NeverYields: f.NeverYields, PodSets: w.PodSets,
	}
	var created, queued, reservedAt *time.Location
	if f.local {
		created, queued, reservedAt = time.Local, time.Local, time.Local
	}
	if s := f.seldom; s != nil {
		out.Gates, out.Loss = s.gates, s.loss
		out.Labels, out.PriorityClass = s.labels, s.priorityClass
		if s.boost != 0 {
			out.Priority, out.PriorityBoost = s.priority, s.boost
		}
		if !f.local {
			created, queued, reservedAt = s.created, s.queued, s.reservedAt
		}
	}
	out.Created, out.Queued, out.ReservedAt = timeIn(f.created, created), timeIn(w.Queued, queued), timeIn(w.Reserved, reservedAt)
	return out
}

// Clone returns a copy that shares nothing with w.
func (w *Workload) Clone() workload.Workload {
	out := w.Workload()
	return out.Clone()
}
