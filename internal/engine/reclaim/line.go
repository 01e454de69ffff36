package reclaim

import (
	"cmp"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
)

// line holds the candidates of a queue, in order.
type line struct {
	units []right.Unit // of which those after the head come next
	donor right.Donor
	// below is the priority that the policy permits; see right.Permission.
	below right.Permission
	// head is the next candidate, if there are more: all replicas of a surplus as one. taken is how many of them are.
	head  right.Victim
	more  bool
	taken int64
}

// lineAt returns the line of another queue.
func (t *Taker) lineAt(queue, level, side int) (of line) {
	if t.s.Cluster.Queue(queue).Inactive {
		return of
	}
	l := &t.s.Levels[level]
	of = line{units: t.of.UnitsOf(t.s.Cluster, queue, compareUnits), donor: t.s.DonorAt(l, queue), below: t.s.Permission(l.Class, true)}
	of.head = right.Victim{Queue: queue, Cohort: l.Cohort, Fair: true, Level: int32(level), Side: side}
	t.seek(&of)
	return of
}

// ownLine returns the line of the preemptor's queue.
func (t *Taker) ownLine() (of line) {
	d, ok := t.s.OwnDonor()
	if !ok || t.s.Cluster.Queue(d.Queue).Inactive {
		return of
	}
	of = line{units: t.of.UnitsOf(t.s.Cluster, d.Queue, compareUnits), donor: d, below: t.s.Permission(right.Own, true)}
	of.head = right.Victim{Queue: d.Queue, Cohort: -1}
	t.seek(&of)
	return of
}

// advance goes past so many replicas of the head, or past it.
func (t *Taker) advance(of *line, n int64) {
	of.taken = 0
	if of.head.Count -= n; of.head.Count == 0 {
		t.seek(of)
	}
}

// seek moves the head to the next unit that may yield.
func (t *Taker) seek(of *line) {
	s := t.s
	for len(of.units) > 0 {
		u := of.units[0]
		if of.units = of.units[1:]; !of.below.Permits(u.Workload) {
			break // so are all after it
		}
		s.Steps++
		verdict, loads := right.Verdict{}, u.Loads
		if u.Set >= 0 {
			verdict, loads = s.VerdictOfSurplus(&of.donor, u.Workload), u.Surplus[u.Set].Loads
		} else {
			verdict = s.Verdict(&of.donor, u.Workload)
		}
		if !s.UsesNeeded(loads) {
			continue
		}
		if !verdict.MayYield() {
			if trc := s.Request.Trace; trc != nil {
				trc.Skip(trace.Step{Verdict: verdict, Node: of.donor.Queue, Workload: u.Facts.ID, Count: 1})
			}
			continue
		}
		of.head.Workload, of.head.Set, of.head.Count, of.more = u.Workload, u.Set, 1, true
		if u.Set >= 0 {
			of.head.Count = u.Surplus[u.Set].Count
		}
		return
	}
	of.units, of.more = nil, false
}

// compareUnits is the order in which what runs in a queue yields: lower priority first, surplus before whole workloads, later
// creation, then the larger name (KAI, the reverse of the order in which jobs are served).
func compareUnits(a, b right.Unit) int {
	switch {
	case a.Priority != b.Priority:
		return cmp.Compare(a.Priority, b.Priority)
	case (a.Set >= 0) != (b.Set >= 0):
		if a.Set >= 0 {
			return -1
		}
		return 1
	case a.Facts.Created() != b.Facts.Created():
		return cmp.Compare(b.Facts.Created(), a.Facts.Created())
	}
	return cmp.Or(cluster.CompareIDs(b.Workload, a.Workload), cmp.Compare(a.Set, b.Set))
}
