package search

import "github.com/cedesched/cede/internal/engine/cluster"

// Rule is a rule that keeps the workloads of a queue from yielding. The numbers are those of
// the exported preemption.Rule.
type Rule uint8

const (
	WithinClusterQueue Rule = 1 + iota
	ReclaimWithinCohort
	WithinNominal
	BorrowWithinCohort
	GuaranteedRuntime
	Guarded
	FairShare
	NeverYields
	QueueInactive
)

// Blocker is a queue, or a whole cohort, that uses what is short and may not be preempted
// from.
type Blocker struct {
	Rule     Rule
	Node     int               // a cohort, for WithinNominal only
	Workload *cluster.Workload // the first workload that the rule keeps; nil for WithinNominal and QueueInactive
	// Until is, for GuaranteedRuntime and Guarded, the last instant of the protection. SetBy
	// is the node that sets it; -1 for the default; SetByProtection.
	Until int64
	SetBy int
}

// FindBlockers lists the blockers, no more than most, in the order of the walk: the own
// queue; then, for each cohort upwards, its queues before those of its child cohorts, by
// name. Above the node whose limit is exceeded no victim would help. The list is valid until
// the next use of the search.
func (s *Search) FindBlockers(most int) []Blocker {
	top := -1
	for _, sh := range s.WhyNot.Shortages {
		if s.Request.Amounts[sh.Slot] > s.View.Potential(s.Request.Queue, sh.Slot) {
			return s.blockers // the request is over what could ever be available
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

// blockersUnder lists the queues of a level. A whole cohort that borrows nothing is listed in
// place of its queues.
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

// blockersIn lists the queue if it uses what is short.
func (s *Search) blockersIn(q, lca int, c Class, most int) {
	if len(s.blockers) >= most || !s.holdsShort(q) {
		return
	}
	if c != Own && s.View.WithinNominalAtFirst(q, s.Needs) {
		s.blockers = append(s.blockers, Blocker{Rule: WithinNominal, Node: q})
		return
	}
	if s.Cluster.Queue(q).Inactive {
		s.blockers = append(s.blockers, Blocker{Rule: QueueInactive, Node: q})
		return
	}
	if b, ok := s.firstKept(q, lca, c); ok {
		s.blockers = append(s.blockers, b)
		return
	}
	if c == Own {
		if w := s.firstRefused(q, c, true); w != nil {
			s.blockers = append(s.blockers, Blocker{Rule: WithinClusterQueue, Node: q, Workload: w})
		} else if w := s.firstUnstable(q); w != nil {
			s.blockers = append(s.blockers, Blocker{Rule: FairShare, Node: q, Workload: w})
		}
		return
	}
	if w := s.firstRefused(q, c, false); w != nil {
		s.blockers = append(s.blockers, Blocker{Rule: ReclaimWithinCohort, Node: q, Workload: w})
	} else if w := s.firstRefused(q, c, true); w != nil {
		s.blockers = append(s.blockers, Blocker{Rule: BorrowWithinCohort, Node: q, Workload: w})
	} else if w := s.firstHolder(q); w != nil && s.Request.Fair.Enabled() {
		s.blockers = append(s.blockers, Blocker{Rule: FairShare, Node: q, Workload: w})
	}
}
