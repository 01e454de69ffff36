package search

import (
	"slices"
	"sort"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/unit"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/quota"
)

// retryAt returns the first instant after now at which the request, which has no place now, succeeds if nothing but
// time changes; ok is false if there is none. It is exact: a decision can change only at an instant at which a
// protection has ended or the wait for a pod ends, and these instants are tried in turn. Trials end when they have
// looked at more than MaxRetrySteps pods: then the answer is the first instant that was not tried.
func (s *Search) retryAt() (at int64, ok bool) {
	instants := s.instants()
	if len(instants) == 0 || s.Request.MaxRetrySteps < 0 {
		return 0, len(instants) > 0
	}
	looked := 0
	for _, at := range instants {
		if looked > s.Request.MaxRetrySteps {
			return at, true
		}
		succeeds := s.succeedsAt(at)
		if t := s.trace; t != nil {
			t.Add(trace.Step{Kind: trace.Instant, At: at, Fits: succeeds})
		}
		if succeeds {
			return at, true
		}
		looked += 1 + s.Cluster.Running.Len()
	}
	return 0, false
}

// succeedsAt decides at another instant.
func (s *Search) succeedsAt(at int64) bool {
	if s.then == nil {
		s.then = new(then)
	}
	then := s.then
	then.request = *s.Request
	then.request.Now, then.request.Trace = instant.Time(at), nil
	if then.request.Rules.Guard != nil {
		then.request.Rules.Guard = s.GuardUntil // it was asked already
	}
	then.Begin(s.Config, s.Cluster, &then.request)
	defer then.end()
	then.ShareTrials(&s.Board)
	then.begin()
	r := then.decide()
	s.spent = s.spent.Plus(then.Cost)
	return r.Outcome == Fits || r.Outcome == Preempt
}

// instants lists, rising, the instants after now at which a decision may change. It leaves out instants at which it
// certainly fails: without all units that may yield then, and all terminating pods, the request must fit. With fewer
// units more fits, so the first such instant is found by halving. (The test counts amounts. A placement may fail with
// fewer units where it succeeded with more.)
func (s *Search) instants() []int64 {
	list := s.changes()
	if len(list) == 0 {
		return nil
	}
	s.findUsable()
	first := sort.Search(len(list), func(i int) bool { return s.mayFitAt(list[i]) })
	s.Forget()
	return list[first:]
}

// changes lists, rising, the instants after now at which a protection has ended or the wait for a pod ends.
func (s *Search) changes() []int64 {
	var list []int64
	add := func(at int64) {
		if at > s.Now && at < unit.Never {
			list = append(list, at)
		}
	}
	if timeout := int64(s.Request.TerminationTimeout); timeout > 0 {
		for p := range s.Cluster.Running.All {
			if since := instant.Of(p.Facts.TerminatingSince); p.Facts.Terminating && since != instant.Unset {
				add(quota.Add(since, timeout))
			}
		}
	}
	isOneByOne := s.Config.IsOneByOne(s.Cluster, s.Request.Group)
	if !s.Request.Never && s.AnyEnds() {
		for _, n := range s.Nodes {
			for _, p := range n.Pods {
				if p.Priority >= s.Priority {
					continue
				}
				u, v := s.VerdictOf(p, s.Now)
				last := int64(unit.Never)
				switch {
				case v.Rule != 0:
					last = v.Last
				case isOneByOne: // the victims of one pod may make it part of the minimum for the next
					last = s.SurplusUntil(u)
				}
				if last < unit.Never {
					add(last + 1)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// mayFitAt reports whether the least number of members fits in a domain by counting: that many have room on some
// node, and there are that many places for the smallest. The units that are protected at the instant stay.
func (s *Search) mayFitAt(at int64) bool {
	s.Forget()
	floor := int64(room.NoFloor)
	if !s.Request.Never {
		s.KeepProtected(at)
		floor = s.Highest()
	}
	s.Open(floor, false)
	for _, d := range s.usableDomains() {
		if s.placesIn(d) >= int64(s.AtLeast) && s.fitAlone(d) >= s.AtLeast {
			return true
		}
	}
	return false
}

// placesIn counts the places in a domain for the smallest member.
func (s *Search) placesIn(d room.Domain) (places int64) {
	for i := d.From; i < d.To && places < int64(s.AtLeast); i++ {
		if !s.isUsable[i] {
			continue
		}
		here, free := int64(s.AtLeast), s.FreeOn(i)
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
func (s *Search) fitAlone(d room.Domain) (count int) {
	for m := range s.Members {
		member := &s.Members[m]
		for i := d.From; i < d.To; i++ {
			if s.HasRoom(member, i) && s.IsPossible(member, s.Nodes[i]) {
				count++
				break
			}
		}
		if count >= s.AtLeast {
			break
		}
	}
	return count
}
