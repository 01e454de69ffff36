package nodes

import (
	"slices"
	"sort"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// retryAt returns the first instant after now at which the request, which gets no place
// now, succeeds with nothing but time changed; ok is false when there is none. It is exact:
// a decision can change only at an instant at which somebody may yield from then on or has
// terminated for too long, and those are tried in turn. Trials end when they have looked at
// more than MaxRetrySteps pods: then the answer is the first instant that was not tried.
func (s *Searcher) retryAt() (at int64, ok bool) {
	instants := s.instants()
	if len(instants) == 0 || s.r.SkipRetryAt {
		return 0, len(instants) > 0
	}
	then, steps := *s.r, 0
	for _, at := range instants {
		if steps > then.MaxRetrySteps {
			return at, true
		}
		then.Now = instant.Time(at)
		s.forget()
		s.enter(s.config, s.c, &then)
		if found := s.decide(); found.Outcome == Fits || found.Outcome == Preempt {
			return at, true
		}
		steps += 1 + s.c.pods.Len()
	}
	return 0, false
}

// instants lists the instants after now at which a decision may change, rising, without
// those at which it is known to fail: with everybody gone who may yield then, and all that
// terminates, it must fit. With more gone more fits, so that the first one is found by
// halving. (The test is not that of a placement, which may fail with more gone.)
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

// changes lists the instants after now at which a protection has ended or somebody has
// terminated for too long, rising.
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
	if !s.r.Never && (s.r.Guard != nil || s.config.MinRuntime > 0 || s.c.minimums > 0) {
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

// mayFit reports whether as many members as must have a place fit in a domain by numbers:
// so many of them have room on some node, and there are so many places for the smallest.
func (s *Searcher) mayFit() bool {
	s.forget()
	floor := int64(nobody)
	if !s.r.Never {
		s.keepAll()
		floor = s.everybody()
	}
	s.open(span{"", 0, len(s.nodes)}, floor, false)
	for _, d := range s.usableDomains() {
		if s.placesIn(d) >= int64(s.atLeast) && s.fitAlone(d) >= s.atLeast {
			return true
		}
	}
	return false
}

// placesIn counts the places of a domain for a member that needs as little as the smallest.
func (s *Searcher) placesIn(d span) (places int64) {
	width := len(s.slots)
	for i := d.from; i < d.to && places < int64(s.atLeast); i++ {
		here := int64(s.atLeast)
		for slot, need := range s.smallest {
			if free := s.free[i*width+slot]; need > 0 {
				here = min(here, max(0, free)/need)
			}
		}
		if s.usable[i] {
			places += here
		}
	}
	return places
}

// fitAlone counts the members that have room on some node of a domain by themselves.
func (s *Searcher) fitAlone(d span) (count int) {
	width := len(s.slots)
	for m := range s.members {
		one := &s.members[m]
		for i := d.from; i < d.to; i++ {
			free := s.free[i*width:][:width]
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
