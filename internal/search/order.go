package search

import (
	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/internal/ordered"
)

// Candidates come in six phases: those evicted already, then the others; in each
// first the hierarchical class, then the priority class, then the preemptor's own
// queue. Inside a phase (KEP-83, Preemption, step 3; ties as built in Kueue): lower
// effective priority, later reservation (a missing one counts as now), lower UID,
// lower ID.
var phases = [...]struct {
	lanes [2]cluster.Lane
	class class
}{
	{[2]cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved}, hierarchical},
	{[2]cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved}, priority},
	{[2]cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved}, own},
	{[2]cluster.Lane{cluster.Active, cluster.ActiveUnreserved}, hierarchical},
	{[2]cluster.Lane{cluster.Active, cluster.ActiveUnreserved}, priority},
	{[2]cluster.Lane{cluster.Active, cluster.ActiveUnreserved}, own},
}

// stream is the candidates of one lane of one donor, in order.
type stream struct {
	cursor     ordered.Cursor[*cluster.Workload]
	head       *cluster.Workload
	reserved   int64 // of head
	donor      donor
	permission permission
	unreserved bool
}

// queueUp opens the streams of a phase and orders them by their heads.
func (s *Searcher) queueUp(phase int, borrowing bool) {
	s.streams, s.heap = s.streams[:0], s.heap[:0]
	p := s.permission(phases[phase].class, borrowing)
	if p == nobody {
		return
	}
	for _, d := range s.donors {
		if d.class != phases[phase].class {
			continue
		}
		running := s.cluster.Running(d.queue)
		for _, lane := range phases[phase].lanes {
			if running.Lane(lane).Len() == 0 {
				continue
			}
			st := s.push()
			st.donor, st.permission, st.unreserved = d, p, lane&1 != 0
			st.cursor.First(*running.Lane(lane))
			if !s.settle(st) {
				s.streams = s.streams[:len(s.streams)-1]
			}
		}
	}
	for i := range s.streams {
		s.heap = append(s.heap, int32(i))
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.siftDown(i)
	}
}

// push appends a stream in place: cursors are too large to copy for each queue.
func (s *Searcher) push() *stream {
	if n := len(s.streams); n < cap(s.streams) {
		s.streams = s.streams[:n+1]
	} else {
		s.streams = append(s.streams, stream{})
	}
	return &s.streams[len(s.streams)-1]
}

// settle moves a stream to its next candidate: one that uses what needs preemption
// and may yield. It returns false at the end.
func (s *Searcher) settle(st *stream) bool {
	for ; ; st.cursor.Next() {
		w, ok := st.cursor.Item()
		if !ok {
			return false
		}
		s.steps++
		ok, past := st.permission.permits(w, s.request.Queued)
		if past {
			return false
		}
		if ok && s.usesNeeded(w) {
			st.head, st.reserved = w, w.Reserved
			if st.unreserved {
				st.reserved = s.request.Now
			}
			return true
		}
	}
}

// usesNeeded reports whether the workload's assignment names a column that needs
// preemption, be it with zero.
func (s *Searcher) usesNeeded(w *cluster.Workload) bool {
	for slot, needs := range s.request.Needs {
		if needs && w.Uses(s.request.Columns[slot]) {
			return true
		}
	}
	return false
}

// next returns the first candidate of the phase; ok is false when there is none
// left. A donor that has nothing left to reclaim is dropped.
func (s *Searcher) next() (w *cluster.Workload, d donor, ok bool) {
	for len(s.heap) > 0 {
		st := &s.streams[s.heap[0]]
		w, d = st.head, st.donor
		gone := s.nothingToReclaim(d)
		st.cursor.Next()
		if gone || !s.settle(st) {
			last := len(s.heap) - 1
			s.heap[0] = s.heap[last]
			s.heap = s.heap[:last]
		}
		s.siftDown(0)
		if !gone {
			return w, d, true
		}
	}
	return nil, donor{}, false
}

func (s *Searcher) siftDown(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.heap); child++ {
			if before(&s.streams[s.heap[child]], &s.streams[s.heap[first]]) {
				first = child
			}
		}
		if first == i {
			return
		}
		s.heap[i], s.heap[first] = s.heap[first], s.heap[i]
		i = first
	}
}

// before is the order inside a phase.
func before(a, b *stream) bool {
	switch {
	case a.head.Priority != b.head.Priority:
		return a.head.Priority < b.head.Priority
	case a.reserved != b.reserved:
		return a.reserved > b.reserved
	}
	return cluster.CompareIDs(a.head, b.head) < 0
}
