package search

import (
	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Request is a request in dense form. Its slots are the columns that it asks for or
// needs preemption in.
type Request struct {
	Queue    int   // node of the preemptor's queue
	Priority int64 // effective
	Queued   int64 // see cluster.Workload
	Created  int64
	Now      int64
	Columns  []int   // by slot; -1 for one that the cluster does not know
	Amounts  []int64 // by slot
	Needs    []bool  // by slot: whether it needs preemption
	// MinAdmit is the minAdmitDuration of the queue in nanoseconds; zero is none.
	MinAdmit int64
	// NewerByReservation: see Searcher.newer.
	NewerByReservation bool
	MinRuntime         MinRuntime
}

// Victim is a workload taken.
type Victim struct {
	Workload *cluster.Workload
	// Cohort is the node reclaimed through; -1 for the preemptor's own queue.
	Cohort int
	// WhileBorrowing: taken by the right of borrowWithinCohort.
	WhileBorrowing bool
	// Expired: taken for nothing but that its time is over.
	Expired bool

	queue int
}

// Result is what a search found. Its slices belong to the searcher and are good
// until its next use.
type Result struct {
	// Fits: no victim is needed.
	Fits bool
	// Victims is empty when the request fits, or cannot.
	Victims []Victim
	// BorrowHeight is that of the request with the victims gone.
	BorrowHeight int
	// Shortages and Blockers are there when the request does not fit and has no
	// victims.
	Shortages []Shortage
	Blockers  []Blocker
	// RetryAt is, where Waits is true, the first instant at which time alone makes
	// the request possible.
	RetryAt int64
	Waits   bool
	// Steps counts the workloads that were looked at.
	Steps int
}

// Searcher searches. The zero value is ready.
type Searcher struct {
	cluster   *cluster.Cluster
	request   *Request
	scratch   scratch
	donors    []donor
	rest      []int64
	streams   []stream
	heap      []int32
	taken     []Victim
	shortages []Shortage
	blockers  []Blocker
	instants  []int64
	// firstShortages is the shortages of the decision itself, not of a trial.
	firstShortages []Shortage
	unreserved     bool // some donor has workloads without reservation time
	steps          int
}

// Search decides about a request. At most maxBlockers blockers are listed.
func (s *Searcher) Search(c *cluster.Cluster, r *Request, maxBlockers int) Result {
	s.cluster, s.request, s.steps, s.unreserved = c, r, 0, false
	s.scratch.reset(c, r.Columns)
	s.taken, s.shortages, s.blockers = s.taken[:0], s.shortages[:0], s.blockers[:0]
	var result Result
	switch {
	case s.fits(true):
		result.Fits = true
	case s.findVictims():
		result.Victims = s.taken
	default:
		s.findBlockers(maxBlockers)
		s.firstShortages = append(s.firstShortages[:0], s.shortages...) // trials have their own
		result.Shortages, result.Blockers = s.firstShortages, s.blockers
		result.RetryAt, result.Waits = s.retryAt()
	}
	result.BorrowHeight = s.borrowHeight()
	result.Steps = s.steps
	s.cluster, s.request, s.scratch.usage, s.scratch.tree = nil, nil, quota.Usage{}, nil
	return result
}

// findVictims runs the attempts in which the request may or may not take its queue
// over nominal, and stops at the first that succeeds, even where a later one would
// take less.
func (s *Searcher) findVictims() bool {
	s.collectDonors()
	switch {
	case s.policy().BorrowWithinCohort.Policy != queue.Never:
		return s.attempt(true) || s.attempt(false)
	case !s.underNominal() || !s.hasCandidate(hierarchical) && !s.hasCandidate(priority):
		return s.attempt(true)
	case !s.hasCandidate(hierarchical):
		return s.attempt(false) || s.attempt(true)
	default:
		return s.attempt(true) || s.attempt(false)
	}
}

// hasCandidate reports whether a class has any candidate before anything is taken.
func (s *Searcher) hasCandidate(c class) bool {
	for phase := range phases {
		if phases[phase].class == c {
			s.queueUp(phase, false)
			if len(s.heap) > 0 {
				return true
			}
		}
	}
	return false
}

// attempt takes candidates in order until the request fits, then gives back what is
// not needed (KEP-83, Preemption, steps 4 and 5). When it fails it leaves the
// scratch as it was and, if borrowing is permitted, notes what was short.
func (s *Searcher) attempt(borrowing bool) bool {
	for phase := range phases {
		s.queueUp(phase, borrowing)
		for {
			w, d, ok := s.next()
			if !ok {
				break
			}
			s.scratch.remove(d.queue, w)
			s.taken = append(s.taken, Victim{
				Workload: w, Cohort: d.lca, queue: d.queue,
				WhileBorrowing: d.class == priority && s.whileBorrowing(w),
				Expired:        d.class == own && w.Priority == s.request.Priority && !s.newer(w),
			})
			if s.fits(borrowing) {
				s.giveBack(borrowing)
				return true
			}
		}
	}
	if borrowing {
		s.shortages = s.listShortages(s.shortages[:0])
	}
	s.restore()
	return false
}

// restore puts everything back that is taken.
func (s *Searcher) restore() {
	for _, v := range s.taken {
		s.scratch.putBack(v.queue, v.Workload)
	}
	s.taken = s.taken[:0]
}

// giveBack puts back, latest first, each victim without which the request still
// fits. The last one taken is needed: it did not fit without.
func (s *Searcher) giveBack(borrowing bool) {
	needed := len(s.taken) - 1
	for i := len(s.taken) - 2; i >= 0; i-- {
		v := s.taken[i]
		s.scratch.putBack(v.queue, v.Workload)
		if s.fits(borrowing) {
			continue
		}
		s.scratch.remove(v.queue, v.Workload)
		needed--
		s.taken[needed] = v
	}
	s.taken = s.taken[needed:]
}
