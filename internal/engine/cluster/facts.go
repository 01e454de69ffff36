package cluster

import (
	"math"
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
	local                  bool  // times are in the local zone; else in UTC, or as seldom says
	admitted               int32 // see Workload.Admitted
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
	admitted                    int64          // an instant, if Facts.admitted says so
	created, queued, reservedAt *time.Location // nil: UTC
	admittedAt                  *time.Location
}

// factsOf returns the facts of w, created at an instant. It shares the gates, the loss and the
// labels.
func factsOf(w *workload.Workload, at *home, created int64) Facts {
	f := Facts{
		ID: w.ID, UID: w.UID, home: at, created: created,
		Evicted: w.Evicted, NeverPreempts: w.NeverPreempts, NeverYields: w.NeverYields,
	}
	others := false
	admitted := instant.Unset
	if !w.AdmittedAt.IsZero() {
		admitted = instant.Of(w.AdmittedAt)
		f.admitted = admittedAfter(instant.Of(w.ReservedAt), admitted)
	}
	if w.Created.Location() != time.UTC || w.Queued.Location() != time.UTC || w.ReservedAt.Location() != time.UTC || w.AdmittedAt.Location() != time.UTC {
		f.local = isLocal(w.Created) && isLocal(w.Queued) && isLocal(w.ReservedAt) && isLocal(w.AdmittedAt)
		others = !f.local
	}
	if others || f.admitted == admittedApart || w.PriorityBoost != 0 || !w.Gates.IsZero() || !w.Loss.IsZero() || len(w.Labels) > 0 || w.PriorityClass != "" {
		f.seldom = &seldom{
			boost: w.PriorityBoost, priority: w.Priority, gates: w.Gates, loss: w.Loss,
			labels: w.Labels, priorityClass: w.PriorityClass, admitted: admitted,
		}
		if others {
			f.seldom.created, f.seldom.queued, f.seldom.reservedAt = zone(w.Created), zone(w.Queued), zone(w.ReservedAt)
			f.seldom.admittedAt = zone(w.AdmittedAt)
		}
	}
	return f
}

// admittedApart, as Facts.admitted, says that the instant is in seldom.
const admittedApart = -1

// admittedAfter returns Facts.admitted: whole seconds from the reservation to the admission,
// and one; zero is for no admission. Kubernetes has times in whole seconds.
func admittedAfter(reserved, admitted int64) int32 {
	const second = int64(time.Second)
	if after := admitted - reserved; reserved != instant.Unset && after >= 0 && after%second == 0 && after/second < math.MaxInt32 {
		return int32(after/second) + 1
	}
	return admittedApart
}

// Admitted returns when the workload was admitted; instant.Unset: it is not, or that is not
// known.
func (w *Workload) Admitted() int64 {
	switch after := w.Facts.admitted; after {
	case 0:
		return instant.Unset
	case admittedApart:
		return w.Facts.seldom.admitted
	default:
		return w.Reserved + int64(after-1)*int64(time.Second)
	}
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

// Created returns when the workload was created, an instant.
func (f *Facts) Created() int64 { return f.created }

// Labels returns the workload's labels, which must not be changed.
func (f *Facts) Labels() map[string]string {
	if f.seldom == nil {
		return nil
	}
	return f.seldom.labels
}

// PriorityClass returns the name of the workload's priority class; empty if it has none.
func (f *Facts) PriorityClass() string {
	if f.seldom == nil {
		return ""
	}
	return f.seldom.priorityClass
}

// BasePriority returns the workload's priority and the boost on top of it.
func (w *Workload) BasePriority() (priority, boost int64) {
	if s := w.Facts.seldom; s != nil && s.boost != 0 {
		return s.priority, s.boost
	}
	return w.Priority, 0
}

// Workload returns the workload in its usual form. It shares the pod sets, gates,
// loss and labels, which must not be changed. Times have no monotonic clock reading.
func (w *Workload) Workload() workload.Workload {
	f := &w.Facts
	out := workload.Workload{
		ID: f.ID, UID: f.UID, Queue: f.home.queue, LocalQueue: f.home.localQueue, Priority: w.Priority,
		Evicted: f.Evicted, NeverPreempts: f.NeverPreempts, NeverYields: f.NeverYields, PodSets: w.PodSets,
	}
	var created, queued, reservedAt, admittedAt *time.Location
	if f.local {
		created, queued, reservedAt, admittedAt = time.Local, time.Local, time.Local, time.Local
	}
	if s := f.seldom; s != nil {
		out.Gates, out.Loss = s.gates, s.loss
		out.Labels, out.PriorityClass = s.labels, s.priorityClass
		if s.boost != 0 {
			out.Priority, out.PriorityBoost = s.priority, s.boost
		}
		if !f.local {
			created, queued, reservedAt, admittedAt = s.created, s.queued, s.reservedAt, s.admittedAt
		}
	}
	out.Created, out.Queued, out.ReservedAt = timeIn(f.created, created), timeIn(w.Queued, queued), timeIn(w.Reserved, reservedAt)
	out.AdmittedAt = timeIn(w.Admitted(), admittedAt)
	return out
}

// Clone returns a copy that shares nothing with w.
func (w *Workload) Clone() workload.Workload {
	out := w.Workload()
	return out.Clone()
}
