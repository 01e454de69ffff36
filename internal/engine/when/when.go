package when

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/search"
)

// Finder is the state of the search for an instant. The zero value is ready; it may be used
// again, by one goroutine at a time.
type Finder struct {
	s         *search.Search
	donors    []search.Donor
	intervals []interval
	kept      []int64 // by interval and slot: what is kept, and all before it in its lane
	moved     []int64 // by donor and slot: what has been moved in the view
	scanned   []scanned
	instants  []int64
	changed   []int // donors, since the instant tried last
	before    []int64
	sum       []quotatree.Load
}

// RetryAt returns the first instant after now at which the request, which is impossible
// now, succeeds with nothing but time changed; ok is false when there is none. It is
// exact although a greedy search need not be monotone in time: a decision can change
// only at an instant at which somebody's verdict or place in the order does, and those
// are tried in turn. succeeds says whether the request does at the Now of the search.
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
func (f *Finder) RetryAt(s *search.Search, succeeds func() bool) (at int64, ok bool) {
	f.s = s
	defer f.release()
	if f.hopelessForEver() {
		return 0, false
	}
	f.donors = s.AppendDonors(f.donors[:0])
	if s.Request.SkipRetryAt {
		return 0, f.timeMayHelp()
	}
	sure, isSure := f.firstFitOfOwn()
	if isSure && len(f.donors) == 1 {
		return sure, true
	}
	if at, ok = f.firstFitOfAny(); !ok {
		return 0, false
	}
	f.queueEvents(at)
	if at == s.Now {
		at, ok = f.nextEvent(false)
	}
	now, bounded := s.Now, false
	for spent := s.Steps; ok; at, ok = f.nextEvent(bounded) {
		if isSure && at >= sure || s.Steps-spent > s.Request.MaxRetrySteps {
			break
		}
		s.Now = at
		if bounded && !f.boundFits() {
			continue
		}
		if f.try(bounded, succeeds) {
			break
		}
		bounded = bounded || f.startBound()
	}
	if s.Now = now; bounded {
		f.shiftAll(-1)
	}
	return at, ok
}

// try tries the request as it is, without what the bound has moved.
func (f *Finder) try(bounded bool, succeeds func() bool) bool {
	if !bounded {
		return succeeds()
	}
	f.shiftAll(-1)
	found := succeeds()
	f.shiftAll(1)
	return found
}

// NextChange returns the first instant after now at which the outcome of a search may be
// another than now, with nothing but time changed; ok is false when there is none.
func (f *Finder) NextChange(s *search.Search) (at int64, ok bool) {
	f.s = s
	defer f.release()
	s.CollectLevels()
	f.donors = s.AppendDonors(f.donors[:0])
	f.firstFitOfAny() // for its intervals
	f.queueEvents(s.Now)
	return f.nextEvent(false)
}

// release lets go of the cluster.
func (f *Finder) release() {
	f.s = nil
	clear(f.intervals)
	clear(f.scanned)
}

// hopelessForEver reports whether every attempt is proven to fail at any time: time
// changes who may yield among those of permitted priority only.
func (f *Finder) hopelessForEver() bool {
	s := f.s
	return s.OverPotential() || s.Hopeless(true) && (!s.MayPermitMore() || s.Hopeless(false))
}

// timeMayHelp reports whether RetryAt would try any instant.
func (f *Finder) timeMayHelp() bool {
	at, ok := f.firstFitOfAny()
	if !ok || at > f.s.Now {
		return ok
	}
	f.queueEvents(at)
	_, ok = f.nextEvent(false)
	return ok
}

// running returns a lane of a donor.
func (f *Finder) running(donor int, lane cluster.Lane) *cluster.LaneSet {
	return f.s.Cluster.Running(f.donors[donor].Queue).Lane(lane)
}
