package why

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
)

// A blocker names the first workload, in the order of candidates, that uses what is short and that
// a rule keeps.

// keeps returns the verdict on a workload, without stable sharing, which has a rule of its own.
func (a *Asker) keeps(d *right.Donor, w *cluster.Workload) right.Verdict {
	v := a.Verdict(d, w)
	if v.Rule == trace.Unstable {
		v = right.Verdict{}
	}
	if v.Rule == trace.NeverYields {
		v.Until = 0
	}
	return v
}

// firstOf returns the first workload of a queue that uses what is short and of which a test holds.
func (a *Asker) firstOf(q int, test func(*cluster.Workload) bool) *cluster.Workload {
	running := a.Cluster.Running(q)
	return source.FirstUser(&a.Case, func(lane cluster.Lane) *cluster.Workload {
		var cursor cluster.LaneCursor
		cursor.First(*running.Lane(lane))
		return a.firstFrom(&cursor, test)
	})
}

// firstKept returns the first workload that would be a candidate if it were not for its minimum
// runtime, the guards, or because it never yields.
func (a *Asker) firstKept(d *right.Donor) *cluster.Workload {
	p, running := a.Permission(d.Class, false), a.Cluster.Running(d.Queue)
	if p == right.None {
		return nil
	}
	return source.FirstUser(&a.Case, func(lane cluster.Lane) *cluster.Workload {
		switch {
		case !lane.Yields(), a.Request.Guard != nil, d.FromAdmission():
			return a.firstPermitted(running.Lane(lane), d, p, func(w *cluster.Workload) bool { return !a.keeps(d, w).MayYield() })
		case d.Minimum >= 0 && lane == cluster.Active: // evicted workloads and those without start are not protected
			return a.firstProtected(running.Lane(lane), d, p)
		}
		return nil
	})
}

// firstPermitted returns the first workload of a lane that the policies permit and of which a test holds.
func (a *Asker) firstPermitted(lane *cluster.LaneSet, d *right.Donor, p right.Permission, test func(*cluster.Workload) bool) *cluster.Workload {
	var cursor cluster.LaneCursor
	for cursor.First(*lane); ; cursor.NextIn(a.short) {
		w, ok := cursor.Item()
		if !ok || !a.mayBePermitted(d, p, w) {
			return nil
		}
		if a.Steps++; a.short(w.Loads) && a.permits(d, p, w) && test(w) {
			return w
		}
	}
}

// firstProtected looks, at each priority, at the workloads reserved last: if the first of
// them is not protected, none is.
func (a *Asker) firstProtected(lane *cluster.LaneSet, d *right.Donor, p right.Permission) *cluster.Workload {
	var cursor cluster.LaneCursor
	for cursor.First(*lane); ; {
		w, ok := cursor.Item()
		if !ok || !a.mayBePermitted(d, p, w) {
			return nil
		}
		a.Steps++
		switch {
		case !d.ByReservation(w, a.Now):
			cursor.Seek(*lane, func(o *cluster.Workload) bool { return o.Priority <= w.Priority })
		case a.short(w.Loads) && a.permits(d, p, w):
			return w
		default:
			cursor.NextIn(a.short)
		}
	}
}

// firstFrom returns the first workload, from a cursor on, that uses what is short and of which a
// test holds.
func (a *Asker) firstFrom(cursor *cluster.LaneCursor, test func(*cluster.Workload) bool) *cluster.Workload {
	for ; ; cursor.NextIn(a.short) {
		w, ok := cursor.Item()
		if !ok {
			return nil
		}
		if a.Steps++; a.short(w.Loads) && test(w) {
			return w
		}
	}
}

// permits reports whether the policies permit a workload of a donor.
func (a *Asker) permits(d *right.Donor, p right.Permission, w *cluster.Workload) bool {
	return p.Permits(w) || d.Class == right.Own && a.OwnMayYield(w)
}

// mayBePermitted reports whether the policies may permit the workload or a later one in its
// lane.
func (a *Asker) mayBePermitted(d *right.Donor, p right.Permission, w *cluster.Workload) bool {
	return p.Permits(w) || d.Class == right.Own && a.EqualsMayYield() && w.Priority <= a.Request.Priority
}

// firstRefused returns the first workload that the policies do not permit.
func (a *Asker) firstRefused(d *right.Donor, borrowing bool) *cluster.Workload {
	p := a.Permission(d.Class, borrowing)
	if p.All {
		return nil
	}
	running := a.Cluster.Running(d.Queue)
	return source.FirstUser(&a.Case, func(lane cluster.Lane) *cluster.Workload {
		if running.Lane(lane).Len() == 0 {
			return nil
		}
		var cursor cluster.LaneCursor
		cursor.Seek(*running.Lane(lane), p.Permits)
		return a.firstFrom(&cursor, func(w *cluster.Workload) bool { return !a.permits(d, p, w) })
	})
}

// firstUnstable returns the first workload of the own queue that the policy permits, but stable
// sharing keeps: always, or as the only victim. Nil: there is none.
func (a *Asker) firstUnstable(d *right.Donor) *cluster.Workload {
	p := a.Permission(right.Own, false)
	if !a.Request.Fair.Stable || p == right.None {
		return nil
	}
	running := a.Cluster.Running(d.Queue)
	return source.FirstUser(&a.Case, func(lane cluster.Lane) *cluster.Workload {
		return a.firstPermitted(running.Lane(lane), d, p, func(w *cluster.Workload) bool {
			return a.VerdictOfSurplus(d, w).Rule == trace.Unstable || !a.MayTake(&right.Victim{Workload: w, Set: -1, Count: 1, Cohort: -1, Queue: d.Queue})
		})
	})
}
