package search

import "math"

// Limits are limits on the number of victims; see package limits.
type Limits interface {
	// Refuses reports whether a limit keeps a victim from being taken at an instant, after those
	// taken. Of fewer victims none is refused.
	Refuses(v Victim, taken []Victim, now int64) bool
	// Groups yields the groups in which limits count a victim of policies: the number of each, from
	// 1 on, and how many of it may yield at an instant. What limits count of the victim alone is a
	// group only if the victim is refused.
	Groups(v *Victim, now int64, yield func(group int, most int64))
	// Next returns the first instant after now at which fewer count; ok is false if there is
	// none.
	Next(now int64) (at int64, ok bool)
	// Explained says that those refused from now on do not explain the decision.
	Explained()
}

// Limited reports whether a limit keeps a victim from being taken. Who is being evicted already
// was counted.
func (s *Search) Limited(v *Victim) bool {
	return s.Request.Limits != nil && !v.Workload.Facts.Evicted && s.Request.Limits.Refuses(*v, s.Taken, s.Now)
}

// Groups yields the groups in which limits count a victim.
func (s *Search) Groups(v *Victim, yield func(group int, most int64)) {
	if s.Request.Limits != nil && !v.Workload.Facts.Evicted {
		s.Request.Limits.Groups(v, s.Now, yield)
	}
}

// NoteLimits lets the limits note whom they refuse if everybody else who may yield does, in the
// documented order. Nobody may be taken.
func (s *Search) NoteLimits() {
	if s.Request.Limits == nil {
		return
	}
	for _, c := range s.AppendCandidates(nil, math.MaxInt) {
		if !s.Limited(&c.Victim) {
			s.Taken = append(s.Taken, c.Victim)
		}
	}
	s.Taken = s.Taken[:0]
}
