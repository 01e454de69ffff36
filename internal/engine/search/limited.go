package search

import (
	"math"

	"github.com/cedesched/cede/internal/engine/trace"
)

// Limits are limits on the number of victims; see package limits.
type Limits interface {
	// Refuses returns the name of the first limit that keeps a victim from being taken at an instant,
	// after those taken; empty: none does. Of fewer victims none is refused.
	Refuses(v Victim, taken []Victim, now int64) (limit string)
	// Groups yields the groups in which limits count a victim of policies: the number of each, from
	// 1 on, and how many of it may yield at an instant. What limits count of the victim alone is a
	// group only if the victim is refused.
	Groups(v *Victim, now int64, yield func(group int, most int64))
	// Begin says that a search at an instant begins.
	Begin(now int64)
	// Next returns the first instant after now at which an answer to that search may change; ok is
	// false if there is none. If none began now, it is the first instant at which any answer may.
	Next(now int64) (at int64, ok bool)
	// Looks returns how many events were looked at since Looks was asked last.
	Looks() int
	// Explained says that those refused from now on do not explain the decision.
	Explained()
}

// Limited reports whether a limit keeps a victim from being taken. Who is being evicted already
// was counted.
func (s *Search) Limited(v *Victim) bool {
	limit := s.limitOn(v)
	if t := s.Request.Trace; t != nil && limit != "" {
		step := StepOf(trace.Limited, v)
		step.Limit = limit
		t.Add(step)
	}
	return limit != ""
}

// limitOn returns the name of the first limit that does; empty: none.
func (s *Search) limitOn(v *Victim) (limit string) {
	if s.Request.Limits == nil || v.Workload.Facts.Evicted {
		return ""
	}
	limit = s.Request.Limits.Refuses(*v, s.Taken, s.Now)
	s.Steps += s.Request.Limits.Looks()
	return limit
}

// BeginLimits says that a search at the Now of s begins: [Search.NextOfLimits] is about it.
func (s *Search) BeginLimits() {
	if s.Request.Limits != nil {
		s.Request.Limits.Begin(s.Now)
	}
}

// NextOfLimits returns the first instant after the Now of s at which limits may give the last search
// another answer; ok is false if there is none.
func (s *Search) NextOfLimits() (at int64, ok bool) {
	if s.Request.Limits == nil {
		return 0, false
	}
	at, ok = s.Request.Limits.Next(s.Now)
	s.Steps += s.Request.Limits.Looks()
	return at, ok
}

// Groups yields the groups in which limits count a victim.
func (s *Search) Groups(v *Victim, yield func(group int, most int64)) {
	if s.Request.Limits != nil && !v.Workload.Facts.Evicted {
		s.Request.Limits.Groups(v, s.Now, yield)
		s.Steps += s.Request.Limits.Looks()
	}
}

// NoteLimits lets the limits note whom they refuse if everybody else who may yield does, in the
// documented order. Nobody may be taken.
func (s *Search) NoteLimits() {
	if s.Request.Limits == nil {
		return
	}
	for _, c := range s.AppendCandidates(nil, math.MaxInt) {
		if s.limitOn(&c.Victim) == "" {
			s.Taken = append(s.Taken, c.Victim)
		}
	}
	s.Taken = s.Taken[:0]
}
