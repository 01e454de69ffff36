package search

import (
	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
)

// merge holds the candidates of a phase: the streams of its donors, merged by a heap. A
// cohort whose queues come later is in the heap as a source, which is opened when it reaches
// the top.
type merge struct {
	streams []stream
	sources []source
	heap    []item
	sorted  []Victim // in another order: all candidates, the next one last
}

func (m *merge) clear() {
	m.streams, m.sources, m.heap, m.sorted = m.streams[:0], m.sources[:0], m.heap[:0], m.sorted[:0]
}

// source is a cohort of which only the first candidate of each child is known (see
// cluster.Head).
type source struct {
	cursor     cluster.HeadCursor
	lane       cluster.Lane
	level      *Level
	permission Permission
}

// item is a stream or a source in the heap. The place of a source is no later than that of
// any candidate under it.
type item struct {
	Position
	at int32 // index of the stream, or of the source as ofSource encodes it
}

// ofSource encodes the index of a source so that it differs from those of streams: 0 is -1, 1
// is -2.
func ofSource(n int) int32 { return int32(-1 - n) }

func (it *item) isSource() bool { return it.at < 0 }

// source returns the index of the source.
func (it *item) source() int { return int(-1 - it.at) }

func before(a, b *item) bool { return a.Position.Before(&b.Position) }

func (s *Search) itemOf(st *stream, at int) item {
	return item{s.PositionOf(st.head, st.surplus), int32(at)}
}

// openInOrder opens the candidates of a phase of an attempt in their order.
func (s *Search) openInOrder(n int, mode Mode) {
	if s.byUsage() {
		s.openByUsage(n, mode)
	} else {
		s.openPhase(n, mode)
	}
}

// openPhase opens the streams and the sources of a phase and orders them by their first
// candidates. The order by usage of local queues is another one: see openByUsage.
func (s *Search) openPhase(n int, mode Mode) {
	s.merge.clear()
	ph := &phases[n]
	p := s.Permission(ph.class, mode.Borrowing)
	if t := s.Request.Trace; t != nil {
		s.tracePhase(t, ph, p)
	}
	if p == Nobody || !s.hasTier(ph.tier) {
		return
	}
	if ph.class == Own {
		d, _ := s.OwnDonor() // ok: the policy permits somebody
		s.pushLanes(&d, ph, p)
		return
	}
	for i := range s.Levels {
		l := &s.Levels[i]
		if l.Class != ph.class {
			continue
		}
		for _, lane := range ph.lanes {
			s.pushSource(l.Reach, l, lane, p)
		}
	}
	if mode.LargestFirst {
		s.sortPhase()
	}
}

// openPhaseOf opens the streams of one donor in a phase of an attempt with borrowing.
func (s *Search) openPhaseOf(n int, d Donor) {
	s.merge.clear()
	ph := &phases[n]
	if p := s.Permission(d.Class, true); ph.class == d.Class && p != Nobody && s.hasTier(ph.tier) {
		s.pushLanes(&d, ph, p)
	}
}

// hasCandidate reports whether a class has a candidate before anything is taken.
func (s *Search) hasCandidate(c Class) bool {
	m := &s.merge
	s.Request.Trace.Silence()
	defer s.Request.Trace.Resume()
	for n := range phases {
		if phases[n].class != c {
			continue
		}
		s.openPhase(n, Mode{})
		for len(m.streams) == 0 && len(m.heap) > 0 {
			s.expand()
		}
		if len(m.streams) > 0 { // any stream has a candidate, though perhaps not the first of all
			return true
		}
	}
	return false
}

// pushLanes adds the lanes of a donor to the heap.
func (s *Search) pushLanes(d *Donor, ph *phase, p Permission) {
	running := s.Cluster.Running(d.Queue)
	for _, lane := range ph.lanes {
		s.pushStream(running, d, lane, p, ph.tier)
	}
}

// pushStream adds a lane of a donor to the heap if it has a candidate.
func (s *Search) pushStream(of *cluster.Running, d *Donor, lane cluster.Lane, p Permission, t tier) {
	if it, ok := s.openStream(of, d, lane, p, t); ok {
		s.merge.heap = heap.Push(s.merge.heap, it, before)
	}
}

// pushSource adds a lane of a cohort's children to the heap if it has a head.
func (s *Search) pushSource(reach *cluster.Reach, l *Level, lane cluster.Lane, p Permission) {
	if !reach.Has(lane) {
		return
	}
	m := &s.merge
	n := len(m.sources)
	m.sources = Grown(m.sources)
	src := &m.sources[n]
	src.lane, src.level, src.permission = lane, l, p
	cluster.SeekLane(&src.cursor, reach.Heads, lane)
	head, ok := src.head()
	if !ok {
		if t := s.Request.Trace; t != nil {
			s.TraceRefused(t, src.cursor, l.Class, l.Except, lane)
		}
		m.sources = m.sources[:n]
		return
	}
	m.heap = heap.Push(m.heap, item{s.PositionOf(head.Workload, lane.Surplus()), ofSource(n)}, before)
}

// head returns the head of the next child that may be a donor.
func (src *source) head() (head cluster.Head, ok bool) {
	for ; ; src.cursor.Next() {
		head, ok = src.cursor.Item()
		if !ok || head.Lane != src.lane || !src.permission.Permits(head.Workload) {
			return head, false
		}
		if int(head.Node) != src.level.Except {
			return head, true
		}
	}
}

// expand opens the next child of the source at the top of the heap, unless the child borrows
// nothing of what needs preemption.
func (s *Search) expand() {
	m := &s.merge
	top := &m.heap[0]
	src := &m.sources[top.source()]
	l, lane, p := src.level, src.lane, src.permission
	head, _ := src.head()
	src.cursor.Next()
	if next, ok := src.head(); ok {
		top.Position = s.PositionOf(next.Workload, lane.Surplus())
		heap.Fix(m.heap, 0, before)
	} else {
		if t := s.Request.Trace; t != nil {
			s.TraceRefused(t, src.cursor, l.Class, l.Except, lane)
		}
		m.heap = heap.Drop(m.heap, before)
	}
	switch child := int(head.Node); {
	case s.View.WithinNominal(child, s.Needs) && (s.Cluster.IsQueue(child) || !s.Request.Fair.Enabled()):
		if t := s.Request.Trace; t != nil {
			t.Skip(trace.Step{Rule: trace.WithinNominal, Node: child, Workload: head.Workload.Facts.ID, Count: 1})
		}
	case s.Cluster.IsQueue(child):
		d := s.DonorAt(l, child)
		s.pushStream(s.Cluster.Running(child), &d, lane, p, everybody)
	default:
		s.pushSource(s.Cluster.Reach(child), l, lane, p)
	}
}

// settleHeap opens children until a stream is at the top. It returns false at the end.
func (s *Search) settleHeap() bool {
	m := &s.merge
	for len(m.heap) > 0 && m.heap[0].isSource() {
		s.expand()
	}
	return len(m.heap) > 0
}

// next returns the first candidate of the phase; ok is false if none is left. A donor with
// nothing left to reclaim is dropped.
func (s *Search) next() (v Victim, ok bool) {
	m := &s.merge
	if len(m.sorted) > 0 {
		return s.nextSorted()
	}
	for s.settleHeap() {
		at := int(m.heap[0].at)
		st := &m.streams[at]
		v = s.victim(st)
		gone := s.nothingToReclaim(&st.donor)
		if t := s.Request.Trace; t != nil && gone {
			s.traceWithinNominal(t, &st.donor, v.Workload)
		}
		if gone || !s.advance(st) {
			m.heap = heap.Drop(m.heap, before)
		} else {
			m.heap[0] = s.itemOf(st, at)
			heap.Fix(m.heap, 0, before)
		}
		if !gone {
			return v, true
		}
	}
	return Victim{}, false
}

// victim returns the candidate at the head of a stream as a victim.
func (s *Search) victim(st *stream) Victim {
	w, d := st.head, &st.donor
	v := Victim{
		Workload: w, Set: -1, Count: 1, Cohort: d.LCA, Queue: d.Queue,
		WhileBorrowing: d.Class == Priority && s.whileBorrowing(w),
		Expired:        d.Class == Own && w.Priority == s.Request.Priority && !s.Newer(w),
	}
	if st.surplus {
		v.Set = st.set
	}
	return v
}
