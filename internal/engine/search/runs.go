package search

import (
	"math"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/usage"
)

// run is the workloads of one priority in a lane that are kept for the same time from
// their reservation on. They stand by falling reservation, so those kept at an instant
// come first, and the sums tell what they hold.
type run struct {
	lane     *cluster.LaneSet // nil: one instant only
	donor    int
	priority int64
	delay    int64
	// times is 1 where what is kept stays, -1 where it goes: the surplus of workloads that
	// do not go whole. 0: nothing, only the order of candidates changes.
	times int64
	// Nothing changes from since to until, both included.
	since, until int64
}

// keptUntil is the last instant at which a workload of the run is kept.
func (r *run) keptUntil(w *cluster.Workload) int64 {
	if r.delay > 0 && w.Reserved > math.MaxInt64-r.delay {
		return math.MaxInt64
	}
	return w.Reserved + r.delay
}

// before holds for those that are kept at an instant, and all before the run.
func (r *run) before(at int64) func(w *cluster.Workload) bool {
	return func(w *cluster.Workload) bool {
		return w.Priority < r.priority || w.Priority == r.priority && at <= r.keptUntil(w)
	}
}

// lastBefore is the last instant, from one on, before anything changes; the highest when
// nothing does.
func (r *run) lastBefore(at int64) int64 {
	if r.lane == nil {
		if at <= r.until {
			return r.until
		}
	} else if w, ok := r.lane.Last(r.before(at)); ok && w.Priority == r.priority {
		return r.keptUntil(w)
	}
	return math.MaxInt64
}

// collectRuns takes everybody out of the scratch who may ever yield in an attempt, and
// collects the runs of those who are kept now.
func (s *Searcher) collectRuns(borrowing bool) {
	s.runs, s.kept = s.runs[:0], s.kept[:0]
	s.clearMoved()
	for i := range s.donors {
		d := &s.donors[i]
		p := s.permission(d.class, borrowing)
		running := s.cluster.Running(d.queue)
		for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
			s.letGo(i, running.Lane(lane), p)
		}
		if d.minimum > 0 {
			s.addRuns(i, running.Lane(cluster.Active), p, d.minimum, 1)
			s.addRuns(i, running.Lane(cluster.SurplusReserved), p, d.minimum, -1)
		}
		if d.class == own && s.equalsMayYield() {
			s.addEquals(i)
		}
	}
}

// addEquals does so for those of equal priority in the own queue. Newer ones may yield once
// they are not protected, the others once their time is over as well, which it never is in
// the lanes without reservation, the odd ones.
func (s *Searcher) addEquals(donor int) {
	d := &s.donors[donor]
	everybody := permission{all: true}
	for lane := cluster.Active; lane <= cluster.SurplusReserved; lane++ {
		newer, older := s.splitEquals(d.queue, lane)
		minimum, times := int64(0), int64(1)
		if lane == cluster.Active || lane == cluster.SurplusReserved {
			minimum = d.minimum
		}
		if lane == cluster.SurplusReserved {
			times = -1
		} else {
			s.letGo(donor, newer, everybody)
		}
		if minimum > 0 {
			s.addRuns(donor, newer, everybody, minimum, times)
		}
		switch held := s.request.MinAdmit; {
		case held == 0 || lane&1 == 1:
		case lane != cluster.SurplusReserved:
			s.letGo(donor, older, everybody)
			s.addRuns(donor, older, everybody, max(minimum, held), times)
		case held < minimum:
			s.addRuns(donor, older, everybody, minimum, times)
			s.addRuns(donor, older, everybody, held, -times)
		}
	}
}

// splitEquals returns the equals in a lane of the own queue that are newer than the
// preemptor, or without reservation and become so with time, and the others.
func (s *Searcher) splitEquals(q int, lane cluster.Lane) (newer, older *cluster.LaneSet) {
	var lists [2][]*cluster.Workload
	set := s.cluster.Running(q).Lane(lane)
	var cursor cluster.LaneCursor
	for cursor.Seek(*set, func(w *cluster.Workload) bool { return w.Priority < s.request.Priority }); ; cursor.Next() {
		w, ok := cursor.Item()
		if !ok || w.Priority != s.request.Priority {
			break
		}
		s.steps++
		list := &lists[1]
		if s.newer(w) || s.request.NewerByReservation && lane&1 == 1 {
			list = &lists[0]
		}
		*list = append(*list, w)
	}
	a, b := cluster.LaneOf(lane, lists[0]), cluster.LaneOf(lane, lists[1])
	return &a, &b
}

// addRuns adds the runs of a lane, as far as any are kept now.
func (s *Searcher) addRuns(donor int, lane *cluster.LaneSet, p permission, delay, times int64) {
	var cursor cluster.LaneCursor
	for cursor.First(*lane); ; {
		w, ok := cursor.Item()
		if !ok || !p.permits(w) {
			return
		}
		s.steps++
		r := run{lane, donor, w.Priority, delay, times, math.MaxInt64, math.MinInt64}
		if s.request.Now <= r.keptUntil(w) {
			s.runs = append(s.runs, r)
			s.kept = s.appendSum(s.kept, lane, func(w *cluster.Workload) bool { return w.Priority < r.priority })
		}
		cursor.Seek(*lane, func(w *cluster.Workload) bool { return w.Priority <= r.priority })
	}
}

// appendSum appends what those at the front of a lane hold, by slot of the request.
func (s *Searcher) appendSum(list []int64, lane *cluster.LaneSet, before func(*cluster.Workload) bool) []int64 {
	n := len(list)
	for range s.request.Amounts {
		list = append(list, 0)
	}
	s.sum = s.sum[:0]
	lane.Sum(&s.sum, before)
	for _, l := range s.sum {
		if slot := s.view.Slot(l.Column); slot >= 0 && n+slot < len(list) {
			list[n+slot] += l.Amount
		}
	}
	return list
}

// letGo takes everybody in a lane who is permitted out of the scratch.
func (s *Searcher) letGo(donor int, lane *cluster.LaneSet, p permission) {
	if lane.Len() == 0 {
		return
	}
	n := len(s.kept)
	s.kept = s.appendSum(s.kept, lane, p.permits)
	for slot, amount := range s.kept[n:] {
		s.shift(donor, slot, -amount)
	}
	s.kept = s.kept[:n]
}

// moveTo brings the scratch to what is left at an instant with everybody gone who may yield
// then. From since to until, both included, that is the same.
func (s *Searcher) moveTo(at int64) (since, until int64) {
	since, until = math.MinInt64, math.MaxInt64
	for i := range s.runs {
		r := &s.runs[i]
		if at < r.since || at > r.until {
			s.moveRun(i, at)
		}
		since, until = max(since, r.since), min(until, r.until)
	}
	return since, until
}

func (s *Searcher) moveRun(i int, at int64) {
	s.steps++
	r := &s.runs[i]
	before, slots, n := r.before(at), len(s.request.Amounts), len(s.kept)
	s.kept = s.appendSum(s.kept, r.lane, before)
	kept, now := s.kept[i*slots:][:slots], s.kept[n:]
	for slot := range kept {
		s.shift(r.donor, slot, r.times*(now[slot]-kept[slot]))
		kept[slot] = now[slot]
	}
	s.kept = s.kept[:n]
	var cursor cluster.LaneCursor
	cursor.Seek(*r.lane, before)
	r.since, r.until = math.MinInt64, r.lastBefore(at)
	if w, ok := cursor.Item(); ok && w.Priority == r.priority {
		r.since = r.keptUntil(w) + 1
	}
}

// clearMoved begins with nothing moved.
func (s *Searcher) clearMoved() {
	s.moved = append(s.moved[:0], make([]int64, len(s.donors)*len(s.request.Amounts))...)
}

// shift moves an amount into a donor's queue, and notes it.
func (s *Searcher) shift(donor, slot int, change int64) {
	s.moved[donor*len(s.request.Amounts)+slot] += change
	s.view.MoveSlot(usage.Victims, s.donors[donor].queue, slot, change)
}

// shiftAll moves all that was moved once more, or back (times -1).
func (s *Searcher) shiftAll(times int64) {
	slots := len(s.request.Amounts)
	for i, change := range s.moved {
		s.view.MoveSlot(usage.Victims, s.donors[i/slots].queue, i%slots, times*change)
	}
}
