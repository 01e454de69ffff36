package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
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
	FairShare
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

// findBlockers lists who stood in the way, in the order of the walk: the own queue,
// then the queues of each cohort upwards, before those of its child cohorts, by
// name. Above the node that bounds the request nobody's leaving would help.
func (s *Searcher) findBlockers(most int) {
	top := -1
	for _, sh := range s.shortages {
		if s.request.Amounts[sh.Slot] > s.view.Potential(s.request.Queue, sh.Slot) {
			return // more than there is, whoever leaves
		}
		if top < 0 || s.view.Tree.Depth(sh.Bound) < s.view.Tree.Depth(top) {
			top = sh.Bound
		}
	}
	if top < 0 {
		return
	}
	s.blockersIn(s.request.Queue, -1, own, most)
	s.rest = append(s.rest[:0], s.request.Amounts...)
	advantage := s.request.Fair.enabled() || s.restFits(s.request.Queue)
	for from := s.request.Queue; from != top && len(s.blockers) < most; {
		n := s.view.Tree.Parent(from)
		class := priority
		if advantage {
			class = hierarchical
		}
		s.blockersUnder(n, level{n, from, class, nil}, most)
		if s.restFits(n) {
			advantage = true
		}
		from = n
	}
}

func (s *Searcher) blockersUnder(cohort int, l level, most int) {
	for _, q := range s.cluster.ChildQueues[cohort] {
		if len(s.blockers) >= most {
			return
		}
		if int(q) != l.except {
			s.blockersIn(int(q), l.cohort, l.class, most)
		}
	}
	for _, child := range s.cluster.ChildCohorts[cohort] {
		if int(child) == l.except || len(s.blockers) >= most || !s.holdsShort(int(child)) {
			continue
		}
		if s.view.WithinNominalAtFirst(int(child), s.request.Needs) && !s.request.Fair.enabled() {
			s.blockers = append(s.blockers, Blocker{Rule: WithinNominal, Node: int(child)})
			continue
		}
		s.blockersUnder(int(child), l, most)
	}
}

// blockersIn lists the queue if it holds what is short.
func (s *Searcher) blockersIn(q, lca int, c class, most int) {
	if len(s.blockers) >= most || !s.holdsShort(q) {
		return
	}
	if c != own && s.view.WithinNominalAtFirst(q, s.request.Needs) {
		s.blockers = append(s.blockers, Blocker{Rule: WithinNominal, Node: q})
		return
	}
	if b, ok := s.firstKept(q, lca, c); ok {
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
	} else if w := s.firstUser(q); w != nil && s.request.Fair.enabled() {
		s.blockers = append(s.blockers, Blocker{Rule: FairShare, Node: q, Workload: w})
	}
}

// firstUser returns the first workload of a queue that uses what is short.
func (s *Searcher) firstUser(q int) *cluster.Workload {
	running := s.cluster.Running(q)
	return s.firstWhole(func(lane cluster.Lane) *cluster.Workload {
		var cursor cluster.LaneCursor
		for cursor.First(*running.Lane(lane)); ; cursor.NextIn(s.holdShort) {
			s.steps++
			if w, ok := cursor.Item(); !ok || s.holdShort(w.Loads) {
				return w
			}
		}
	})
}

// firstKept returns the first workload, in the order of candidates, that uses what is
// short and would be a candidate if its guaranteed time were over or no guard kept it.
func (s *Searcher) firstKept(q, lca int, c class) (Blocker, bool) {
	g, p, running := s.guaranteeOf(q, lca), s.permission(c, false), s.cluster.Running(q)
	w := s.firstWhole(func(lane cluster.Lane) *cluster.Workload {
		switch {
		case p == nobody:
			return nil
		case s.request.Guard != nil:
			return s.firstKeptOneByOne(running.Lane(lane), g, c, p)
		case g.minimum > 0 && lane == cluster.Active: // those evicted or without start are not protected
			return s.firstProtected(running.Lane(lane), g, c, p)
		}
		return nil
	})
	switch {
	case w == nil:
		return Blocker{}, false
	case s.protected(g, w):
		until, _ := g.protects(w)
		return Blocker{GuaranteedRuntime, q, w, until, g.setBy}, true
	}
	return Blocker{Guarded, q, w, s.request.Guard(w), -1}, true
}

// firstKeptOneByOne asks the guards about everybody whom the policies permit and no
// minimum runtime protects.
func (s *Searcher) firstKeptOneByOne(lane *cluster.LaneSet, g guarantee, c class, p permission) *cluster.Workload {
	var cursor cluster.LaneCursor
	for cursor.First(*lane); ; cursor.NextIn(s.holdShort) {
		w, ok := cursor.Item()
		if !ok || !s.mayBePermitted(w, c, p) {
			return nil
		}
		s.steps++
		if s.holdShort(w.Loads) && (p.permits(w) || s.ownMayYield(w)) && (s.protected(g, w) || s.guarded(w)) {
			return w
		}
	}
}

// firstProtected looks, of each priority, at those who were reserved last: where the first
// is not protected, none is.
func (s *Searcher) firstProtected(lane *cluster.LaneSet, g guarantee, c class, p permission) *cluster.Workload {
	var cursor cluster.LaneCursor
	for cursor.First(*lane); ; {
		w, ok := cursor.Item()
		if !ok || !s.mayBePermitted(w, c, p) {
			return nil
		}
		s.steps++
		switch {
		case !s.protected(g, w):
			cursor.Seek(*lane, func(o *cluster.Workload) bool { return o.Priority <= w.Priority })
		case s.holdShort(w.Loads) && (p.permits(w) || s.ownMayYield(w)):
			return w
		default:
			cursor.NextIn(s.holdShort)
		}
	}
}

// mayBePermitted reports whether the policies may permit a workload or one after it in its
// lane.
func (s *Searcher) mayBePermitted(w *cluster.Workload, c class, p permission) bool {
	return p.permits(w) || c == own && s.equalsMayYield() && w.Priority <= s.request.Priority
}

// holdsShort reports whether a node uses any of what is short.
func (s *Searcher) holdsShort(node int) bool {
	row := s.view.AtFirst.Row(node) // nobody is gone
	for _, sh := range s.shortages {
		if quotatree.AmountIn(row, s.request.Columns[sh.Slot]) > 0 {
			return true
		}
	}
	return false
}

// firstRefused returns the first workload, in the order of candidates, that uses
// what is short and may not yield.
func (s *Searcher) firstRefused(q int, c class, borrowing bool) *cluster.Workload {
	p := s.permission(c, borrowing)
	if p.all {
		return nil
	}
	running := s.cluster.Running(q)
	return s.firstWhole(func(lane cluster.Lane) *cluster.Workload { return s.firstRefusedIn(running.Lane(lane), c, p) })
}

func (s *Searcher) firstRefusedIn(lane *cluster.LaneSet, c class, p permission) *cluster.Workload {
	if lane.Len() == 0 {
		return nil
	}
	var cursor cluster.LaneCursor
	for cursor.Seek(*lane, p.permits); ; cursor.NextIn(s.holdShort) {
		w, ok := cursor.Item()
		if !ok {
			return nil
		}
		s.steps++
		if (c != own || !s.ownMayYield(w)) && s.holdShort(w.Loads) {
			return w
		}
	}
}

// holdShort reports whether loads are any of what is short.
func (s *Searcher) holdShort(loads []quotatree.Load) bool {
	for _, sh := range s.shortages {
		if quotatree.AmountIn(loads, s.request.Columns[sh.Slot]) > 0 {
			return true
		}
	}
	return false
}
