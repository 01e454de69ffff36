package search

import "github.com/cedesched/cede/internal/engine/cluster"

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

// FindBlockers lists who stood in the way, at most so many, in the order of the walk: the
// own queue, then the queues of each cohort upwards, before those of its child cohorts, by
// name. Above the node that bounds the request nobody's leaving would help. The list is
// valid until the next use of the search.
func (s *Search) FindBlockers(most int) []Blocker {
	top := -1
	for _, sh := range s.WhyNot.Shortages {
		if s.Request.Amounts[sh.Slot] > s.View.Potential(s.Request.Queue, sh.Slot) {
			return s.blockers // more than there is, whoever leaves
		}
		if top < 0 || s.View.Tree.Depth(sh.Bound) < s.View.Tree.Depth(top) {
			top = sh.Bound
		}
	}
	if top < 0 {
		return s.blockers
	}
	s.blockersIn(s.Request.Queue, -1, Own, most)
	if top == s.Request.Queue {
		return s.blockers
	}
	for l := range s.eachLevel {
		s.blockersUnder(&l, most)
		if l.Cohort == top || len(s.blockers) >= most {
			break
		}
	}
	return s.blockers
}

// blockersUnder lists the queues of a level, and in place of a whole cohort that borrows
// nothing the cohort.
func (s *Search) blockersUnder(l *Level, most int) {
	enter := func(cohort int) bool {
		if len(s.blockers) >= most || !s.holdsShort(cohort) {
			return false
		}
		if s.View.WithinNominalAtFirst(cohort, s.Needs) && !s.Request.Fair.Enabled() {
			s.blockers = append(s.blockers, Blocker{Rule: WithinNominal, Node: cohort})
			return false
		}
		return true
	}
	s.Cluster.EachQueueUnder(l.Cohort, l.Except, enter, func(q int) bool {
		s.blockersIn(q, l.Cohort, l.Class, most)
		return len(s.blockers) < most
	})
}

// blockersIn lists the queue if it holds what is short.
func (s *Search) blockersIn(q, lca int, c Class, most int) {
	if len(s.blockers) >= most || !s.holdsShort(q) {
		return
	}
	if c != Own && s.View.WithinNominalAtFirst(q, s.Needs) {
		s.blockers = append(s.blockers, Blocker{Rule: WithinNominal, Node: q})
		return
	}
	if b, ok := s.firstKept(q, lca, c); ok {
		s.blockers = append(s.blockers, b)
		return
	}
	if c == Own {
		if w := s.firstRefused(q, c, true); w != nil {
			s.blockers = append(s.blockers, Blocker{Rule: WithinClusterQueue, Node: q, Workload: w})
		}
		return
	}
	if w := s.firstRefused(q, c, false); w != nil {
		s.blockers = append(s.blockers, Blocker{Rule: ReclaimWithinCohort, Node: q, Workload: w})
	} else if w := s.firstRefused(q, c, true); w != nil {
		s.blockers = append(s.blockers, Blocker{Rule: BorrowWithinCohort, Node: q, Workload: w})
	} else if w := s.firstUser(q); w != nil && s.Request.Fair.Enabled() {
		s.blockers = append(s.blockers, Blocker{Rule: FairShare, Node: q, Workload: w})
	}
}
