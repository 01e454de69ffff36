package search

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
)

// RetryAt returns the first instant after now at which the request, which is impossible
// now, succeeds with nothing but time changed; ok is false when there is none. It is
// exact although a greedy search need not be monotone in time: a decision can change
// only at an instant at which somebody's verdict or place in the order does, and those
// are tried in turn.
//
// Two tests keep the trials few. With everybody gone whom some attempt permits the request
// must fit, or there is no such instant. And with everybody gone who may yield at an instant
// it must fit then; who may yield only grows with time, so the first instant at which it
// does is found by halving, and no earlier one is tried. Both let more go than an attempt
// can take: some use nothing that needs preemption, or have nothing left to reclaim. With
// more gone more fits, so that neither passes over an instant of success.
//
// Trials end when they have looked at more than MaxRetrySteps workloads; then the answer
// is the first instant that was not tried, which is never too late.
func (s *Searcher) retryAt() (at int64, ok bool) {
	if s.hopelessForEver() {
		return 0, false
	}
	s.donors = s.donors[:0]
	s.eachDonor(func(d donor) { s.donors = append(s.donors, d) })
	now := s.request.Now
	defer func() {
		s.stopDraining()
		s.request.Now = now
	}()
	if s.request.SkipRetryAt {
		return 0, s.timeMayHelp()
	}
	sure, isSure := s.firstFitOfOwn()
	if isSure && len(s.donors) == 1 {
		return sure, true
	}
	at, ok = s.firstFit(true)
	if s.mayPermitMore() { // who may yield while borrowing may without
		if other, found := s.firstFit(false); found && (!ok || other < at) {
			at, ok = other, true
		}
	}
	if !ok {
		return 0, false
	}
	s.queueInstants(at)
	if at == now {
		at, ok = s.nextInstant()
	}
	for spent := s.steps; ok; at, ok = s.nextInstant() {
		if isSure && at >= sure || s.steps-spent > s.request.MaxRetrySteps {
			return at, true
		}
		if s.succeedsAt(at) {
			return at, true
		}
	}
	return 0, false
}

// timeMayHelp reports whether retryAt would try any instant.
func (s *Searcher) timeMayHelp() bool {
	at, ok := s.firstFit(true)
	if s.mayPermitMore() {
		if other, found := s.firstFit(false); found && (!ok || other < at) {
			at, ok = other, true
		}
	}
	if !ok || at > s.request.Now {
		return ok
	}
	s.queueInstants(at)
	_, ok = s.nextInstant()
	return ok
}

// NextChange returns the first instant after now at which the outcome of Search may be
// another than now, with nothing but time changed; ok is false when there is none.
func (s *Searcher) NextChange(c *cluster.Cluster, r *Request) (at int64, ok bool) {
	s.begin(c, r)
	defer s.end()
	s.collectLevels()
	s.donors = s.donors[:0]
	s.eachDonor(func(d donor) { s.donors = append(s.donors, d) })
	s.firstFit(true)
	if s.mayPermitMore() {
		s.firstFit(false)
	}
	s.queueInstants(r.Now)
	return s.nextInstant()
}

// firstFitOfOwn is firstFit with those of the own queue alone. In every attempt all of them
// are candidates to the end, so that one succeeds then. ok is false as well where that is not
// proven: where some go who free nothing that needs preemption but something else that is
// asked for, or count as newer too early, or there is no answer from the room.
func (s *Searcher) firstFitOfOwn() (at int64, ok bool) {
	if len(s.donors) == 0 || s.donors[0].class != own || s.request.NewerByReservation || s.request.Room != nil {
		return 0, false
	}
	for slot, needs := range s.request.Needs {
		if !needs && s.request.Amounts[slot] > 0 {
			return 0, false
		}
	}
	all := s.donors
	s.donors = all[:1]
	at, ok = s.firstFit(true)
	s.donors = all
	return at, ok
}

// mayPermitMore reports whether time can bring findInOrder to an attempt without borrowing
// that permits more than the one with it. Where it permits the same it succeeds no earlier.
func (s *Searcher) mayPermitMore() bool {
	if s.request.Fair.enabled() || s.policy().BorrowWithinCohort.Policy == queue.Never && !s.underNominal() {
		return false
	}
	return slices.ContainsFunc(s.levels, func(l level) bool {
		return s.permission(l.class, false) != s.permission(l.class, true)
	})
}

// firstFit returns the first instant from now on at which the request fits with everybody
// gone who may yield then in an attempt.
func (s *Searcher) firstFit(borrowing bool) (at int64, ok bool) {
	if s.request.Guard != nil || s.request.Room != nil {
		return s.firstFitOneByOne(borrowing)
	}
	s.collectRuns(borrowing)
	defer s.shiftAll(-1)
	now := s.request.Now
	_, until := s.moveTo(now)
	if s.fits(borrowing) {
		return now, true
	}
	since, _ := s.moveTo(math.MaxInt64)
	if !s.fits(borrowing) {
		return 0, false
	}
	for low, high := until+1, since; ; { // the ends are instants of change
		if low == high {
			return high, true
		}
		since, until = s.moveTo(low + int64(uint64(high-low)/2))
		if s.fits(borrowing) {
			high = since
		} else {
			low = until + 1
		}
	}
}
