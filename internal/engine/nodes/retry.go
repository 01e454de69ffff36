package nodes

import (
	"slices"
	"sort"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/quota"
)

// retryAt returns the first instant after now at which the request, which has no place now,
// succeeds if nothing but time changes; ok is false if there is none. It is exact: a decision
// can change only at an instant at which a protection has ended or the wait for a pod ends,
// and those are tried in turn. Trials end when they have looked at more than MaxRetrySteps
// pods: then the answer is the first instant that was not tried.
func (s *Searcher) retryAt() (at int64, ok bool) {
	instants := s.instants()
	if len(instants) == 0 || s.r.SkipRetryAt {
		return 0, len(instants) > 0
	}
	t := s.r.Trace
	t.Silence() // of the searches at other times the results will do
	defer t.Resume()
	then, steps := *s.r, 0
	for _, at := range instants {
		if steps > then.MaxRetrySteps {
			return at, true
		}
		then.Now = instant.Time(at)
		s.forget()
		s.enter(s.config, s.c, &then)
		found := s.decide()
		succeeds := found.Outcome == Fits || found.Outcome == Preempt
		if t != nil {
			t.AddAnyway(trace.Step{Kind: trace.Instant, At: at, Fits: succeeds})
		}
		if succeeds {
			return at, true
		}
		steps += 1 + s.c.pods.Len()
	}
	return 0, false
}

// instants lists, rising, the instants after now at which a decision may change. It leaves
// out those at which it certainly fails: without all units that may yield then, and all
// terminating pods, the request must fit. With fewer units more fits, so the first such
// instant is found by halving. (The test counts amounts. A placement may fail with fewer
// units where it succeeded with more.)
func (s *Searcher) instants() []int64 {
	list := s.changes()
	if len(list) == 0 {
		return nil
	}
	now := s.time
	s.findUsable()
	defer func() {
		s.time = now
		s.forget()
	}()
	first := sort.Search(len(list), func(i int) bool {
		s.time = list[i]
		return s.mayFit()
	})
	return list[first:]
}

// changes lists, rising, the instants after now at which a protection has ended or the wait
// for a pod ends.
func (s *Searcher) changes() []int64 {
	var list []int64
	add := func(at int64) {
		if at > s.time && at < never {
			list = append(list, at)
		}
	}
	if timeout := int64(s.r.TerminationTimeout); timeout > 0 {
		for p := range s.c.pods.All {
			if since := instant.Of(p.Facts.TerminatingSince); p.Facts.Terminating && since != instant.Unset {
				add(quota.Add(since, timeout))
			}
		}
	}
	if !s.r.Never && (s.r.Guard != nil || s.anyMinimums()) {
		for _, n := range s.nodes {
			for _, p := range n.pods {
				u := s.unitOf(p)
				if p.priority >= s.priority || u == nil {
					continue
				}
				for _, until := range [...]int64{s.runtimeUntil(u), s.guardUntil(u)} {
					if until != instant.Unset && until < never {
						add(until + 1)
					}
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// mayFit reports whether the least number of members fits in a domain by counting: that many
// have room on some node, and there are that many places for the smallest.
func (s *Searcher) mayFit() bool {
	s.forget()
	floor := int64(nobody)
	if !s.r.Never {
		s.keepAll()
		floor = s.everybody()
	}
	s.open(floor, false)
	for _, d := range s.usableDomains() {
		if s.placesIn(d) >= int64(s.atLeast) && s.fitAlone(d) >= s.atLeast {
			return true
		}
	}
	return false
}

// placesIn counts the places in a domain for the smallest member.
func (s *Searcher) placesIn(d span) (places int64) {
	for i := d.from; i < d.to && places < int64(s.atLeast); i++ {
		if !s.usable[i] {
			continue
		}
		here, free := int64(s.atLeast), s.freeOn(i)
		for slot, need := range s.smallest {
			if need > 0 {
				here = min(here, max(0, free[slot])/need)
			}
		}
		places += here
	}
	return places
}

// fitAlone counts the members that have room on some node of a domain when placed alone.
func (s *Searcher) fitAlone(d span) (count int) {
	for m := range s.members {
		one := &s.members[m]
		for i := d.from; i < d.to; i++ {
			free := s.freeOn(i)
			short := false
			for slot, need := range one.needs {
				short = short || need > 0 && need > free[slot]
			}
			if !short && s.possible(one, s.nodes[i]) {
				count++
				break
			}
		}
		if count >= s.atLeast {
			break
		}
	}
	return count
}
