package search

import (
	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/internal/ordered"
)

// Rule is what keeps a queue's workloads from yielding.
type Rule uint8

const (
	WithinClusterQueue Rule = 1 + iota
	ReclaimWithinCohort
	WithinNominal
	BorrowWithinCohort
	GuaranteedRuntime
	Guarded
)

// Blocker is a queue, or a whole cohort, that holds what the request lacks and may
// not be taken from.
type Blocker struct {
	Rule     Rule
	Node     int               // a cohort only for WithinNominal
	Workload *cluster.Workload // the first that the rule keeps; nil for WithinNominal
	// Until is, for GuaranteedRuntime and Guarded, the last instant of its time, which SetBy sets;
	// -1 for the default.
	Until int64
	SetBy int
}

// lookAhead bounds how many workloads of a queue are looked at for a blocker.
const lookAhead = 64

// findBlockers lists who stood in the way, in the order of the walk: the own queue,
// then the queues of each cohort upwards, before those of its child cohorts, by
// name. Above the node that bounds the request nobody's leaving would help.
func (s *Searcher) findBlockers(most int) {
	top := -1
	for _, sh := range s.shortages {
		if s.request.Amounts[sh.Slot] > s.scratch.tree.PotentialAvailable(s.request.Queue, s.request.Columns[sh.Slot]) {
			return // more than there is, whoever leaves
		}
		if top < 0 || s.scratch.tree.Depth(sh.Bound) < s.scratch.tree.Depth(top) {
			top = sh.Bound
		}
	}
	if top < 0 {
		return
	}
	s.blockersIn(s.request.Queue, own, most)
	s.rest = append(s.rest[:0], s.request.Amounts...)
	advantage := s.restFits(s.request.Queue)
	for from := s.request.Queue; from != top && len(s.blockers) < most; {
		n := s.scratch.tree.Parent(from)
		class := priority
		if advantage {
			class = hierarchical
		}
		s.blockersUnder(n, from, class, most)
		if s.restFits(n) {
			advantage = true
		}
		from = n
	}
}

func (s *Searcher) blockersUnder(cohort, except int, c class, most int) {
	for _, q := range s.cluster.ChildQueues[cohort] {
		if int(q) != except {
			s.blockersIn(int(q), c, most)
		}
	}
	for _, child := range s.cluster.ChildCohorts[cohort] {
		if int(child) == except || len(s.blockers) >= most || !s.holdsShort(int(child)) {
			continue
		}
		if s.withinNominal(int(child)) {
			s.blockers = append(s.blockers, Blocker{Rule: WithinNominal, Node: int(child)})
			continue
		}
		s.blockersUnder(int(child), except, c, most)
	}
}

// blockersIn lists the queue if it holds what is short.
func (s *Searcher) blockersIn(q int, c class, most int) {
	if len(s.blockers) >= most || !s.holdsShort(q) {
		return
	}
	if c != own && s.withinNominal(q) {
		s.blockers = append(s.blockers, Blocker{Rule: WithinNominal, Node: q})
		return
	}
	if b, ok := s.firstProtected(q, c); ok {
		s.blockers = append(s.blockers, b)
		return
	}
	if c == own {
		if w := s.firstRefused(q, c, true); w != nil {
			s.blockers = append(s.blockers, Blocker{Rule: WithinClusterQueue, Node: q, Workload: w})
		}
		return
	}
	if w := s.firstRefused(q, c, false); w != nil {
		s.blockers = append(s.blockers, Blocker{Rule: ReclaimWithinCohort, Node: q, Workload: w})
	} else if w := s.firstRefused(q, c, true); w != nil {
		s.blockers = append(s.blockers, Blocker{Rule: BorrowWithinCohort, Node: q, Workload: w})
	}
}

// firstProtected returns the first workload, in the order of candidates, that uses what
// is short and would be a candidate if its guaranteed time were over or no guard kept it.
func (s *Searcher) firstProtected(q int, c class) (Blocker, bool) {
	for _, d := range s.donors {
		if d.queue != q || d.minimum <= 0 && s.request.Guard == nil {
			continue
		}
		p := s.permission(c, false)
		var cursor ordered.Cursor[*cluster.Workload]
		cursor.First(*s.cluster.Running(q).Lane(cluster.Active)) // those evicted or without start are not protected
		for range lookAhead {
			w, ok := cursor.Item()
			if !ok {
				break
			}
			s.steps++
			if s.usesShort(w) && (p.permits(w) || c == own && s.ownMayYield(w)) {
				if s.guarded(w) {
					return Blocker{Guarded, q, w, s.request.Guard(w), -1}, true
				}
				if s.protected(d.guarantee, w) {
					until, _ := d.protects(w)
					return Blocker{GuaranteedRuntime, q, w, until, d.setBy}, true
				}
			}
			cursor.Next()
		}
	}
	return Blocker{}, false
}

// holdsShort reports whether a node uses any of what is short.
func (s *Searcher) holdsShort(node int) bool {
	for _, sh := range s.shortages {
		if s.scratch.node(node)[sh.Slot].usage > 0 {
			return true
		}
	}
	return false
}

// firstRefused returns the first workload, in the order of candidates, that uses
// what is short and may not yield.
func (s *Searcher) firstRefused(q int, c class, borrowing bool) *cluster.Workload {
	running := s.cluster.Running(q)
	for _, lanes := range [...][]cluster.Lane{evictedLanes, {cluster.Active, cluster.ActiveUnreserved}} {
		var first stream
		for _, lane := range lanes {
			var st stream
			if s.settleRefused(&st, *running.Lane(lane), c, borrowing) && (first.head == nil || before(&st, &first)) {
				first = st
			}
		}
		if first.head != nil {
			return first.head
		}
	}
	return nil
}

func (s *Searcher) settleRefused(st *stream, lane ordered.Set[*cluster.Workload], c class, borrowing bool) bool {
	p := s.permission(c, borrowing)
	if p.all {
		return false
	}
	st.cursor.Seek(lane, func(w *cluster.Workload) bool { return w.Priority < p.below })
	for range lookAhead {
		w, ok := st.cursor.Item()
		if !ok {
			return false
		}
		s.steps++
		if (c != own || !s.ownMayYield(w)) && s.usesShort(w) {
			st.head, st.reserved = w, s.reservedAt(w)
			return true
		}
		st.cursor.Next()
	}
	return false
}

func (s *Searcher) usesShort(w *cluster.Workload) bool {
	for _, sh := range s.shortages {
		for _, l := range w.Loads {
			if l.Column == s.request.Columns[sh.Slot] && l.Amount > 0 {
				return true
			}
		}
	}
	return false
}
