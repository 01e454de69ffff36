package when

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/trace"
)

// RetryAt returns the first instant after now at which the request, which does not succeed
// now, succeeds if nothing but time changes; ok is false if there is none. It is exact
// although a greedy search need not be monotone in time: a decision can change only at an
// instant at which a verdict or a place in the order changes, and those are tried in turn.
// succeeds reports whether the request succeeds at the Now of the search.
//
// Two tests keep the number of trials small. First, the request must fit without all
// workloads that some attempt permits at any time, or there is no such instant. Second, at an
// instant it must fit without all workloads that may yield then. These only become more with
// time, so the first such instant is found by halving, and no earlier one is tried. Both
// tests remove at least as much as an attempt can take, and removing more never makes a
// request stop fitting: so neither test skips an instant of success.
//
// When trials have looked at more than MaxRetrySteps workloads, the answer is the first
// instant that was not tried, which is never too late.
func (f *Finder) RetryAt(s *search.Search, succeeds func() bool) (at int64, ok bool) {
	f.s = s
	defer f.release()
	leaves := f.equalsLeave()
	if !leaves && f.hopelessForEver() {
		return 0, false
	}
	t := s.Request.Trace
	t.Silence() // of the attempts at other times the verdicts will do
	defer t.Resume()
	f.donors = s.AppendDonors(f.donors[:0])
	if s.Request.Retry.Skip {
		return 0, f.timeMayHelp()
	}
	sure, isSure := f.firstFitOfOwn()
	if isSure && len(f.donors) == 1 && !leaves {
		return sure, true
	}
	if at, ok = f.firstFitOfAny(); leaves {
		at, ok = s.Now, true
	}
	if !ok {
		return at, false
	}
	f.queueEvents(at)
	if at == s.Now {
		at, ok = f.nextEvent(false)
	}
	now, bounded := s.Now, false
	for spent := s.Steps; ok; at, ok = f.nextEvent(bounded) {
		if isSure && at >= sure || s.Steps-spent > s.Request.Retry.MaxSteps {
			break
		}
		s.BeginAt(at)
		if bounded && !f.boundFits() {
			continue
		}
		found := f.try(bounded, succeeds)
		if t != nil {
			t.AddAnyway(trace.Step{Kind: trace.Instant, At: at, Fits: found})
		}
		if found {
			break
		}
		bounded = bounded || f.startBound()
	}
	if s.BeginAt(now); bounded {
		f.shiftAll(-1)
	}
	return at, ok
}

// try makes a trial without what the bound has moved.
func (f *Finder) try(bounded bool, succeeds func() bool) bool {
	if !bounded {
		return succeeds()
	}
	f.shiftAll(-1)
	found := succeeds()
	f.shiftAll(1)
	return found
}

// NextChange returns the first instant after now at which the result of a search may change
// if nothing but time changes; ok is false if there is none.
func (f *Finder) NextChange(s *search.Search) (at int64, ok bool) {
	f.s = s
	defer f.release()
	s.CollectLevels()
	f.donors = s.AppendDonors(f.donors[:0])
	f.collectOfAny()
	f.queueEvents(s.Now)
	return f.nextEvent(false)
}

// release drops the references to the cluster.
func (f *Finder) release() {
	f.s = nil
	f.view.Release()
	clear(f.intervals)
	clear(f.scanned)
}

// hopelessForEver reports whether the bounds prove that every attempt fails at any time: time
// changes only who may yield among workloads of permitted priority.
func (f *Finder) hopelessForEver() bool {
	s := f.s
	return s.OverPotential() || s.Hopeless(true) && (!s.MayPermitMore() || s.Hopeless(false))
}

// equalsLeave reports whether something of the own queue leaves that may count only later, when its time is
// over. What leaves needs no queue that borrows, so the bounds say nothing about it. To fair shares everything counts
// that leaves, whatever the policies permit.
func (f *Finder) equalsLeave() bool {
	if f.s.Request.Entitled != nil {
		return f.s.AnyLeaving()
	}
	own := f.s.Cluster.Running(f.s.Request.Queue)
	return f.s.EqualsMayYield() && own.Lane(cluster.Evicted).Len()+own.Lane(cluster.EvictedUnreserved).Len() > 0
}

// timeMayHelp reports whether RetryAt would try any instant.
func (f *Finder) timeMayHelp() bool {
	at, ok := f.firstFitOfAny()
	if f.equalsLeave() {
		at, ok = f.s.Now, true
	}
	if !ok || at > f.s.Now {
		return ok
	}
	f.queueEvents(at)
	_, ok = f.nextEvent(false)
	return ok
}
