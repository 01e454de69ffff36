package search

import (
	"slices"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/usage"
)

// Take makes a candidate a victim.
func (s *Search) Take(v right.Victim) {
	s.Move(&v, -1, s.Taken)
	s.Taken = append(s.Taken, v)
}

// takeAlike takes as many more replicas alike the victim taken last as candidates come next, until the request fits or
// their queue gives nothing. It reports whether the request fits.
func takeAlike(s *Search, m source.Mode) (fits bool) {
	last := &s.Taken[len(s.Taken)-1]
	next := s.Source.Alike(last)
	if next == 0 {
		return false
	}
	v := *last
	n := least.Most(next, func(n int64) bool { // it is taken
		MoveLast(s, v.Count+n-1)
		return !s.Fits(m) && (v.Cohort < 0 || s.NotGiving(v.Queue, v.Cohort) < 0)
	})
	s.Source.Skip(&s.Case, n)
	MoveLast(s, v.Count+n)
	return s.Fits(m)
}

// MoveLast makes so many replicas the victim taken last, which is replicas.
func MoveLast(s *Search, count int64) {
	last := len(s.Taken) - 1
	v := s.Taken[last]
	s.Taken[last].Count, v.Count = count, count-v.Count
	s.Move(&v, -1, s.Taken[:last])
}

// PutLastBack puts back the victim taken last.
func (s *Search) PutLastBack() {
	last := len(s.Taken) - 1
	v := s.Taken[last]
	s.Taken = s.Taken[:last]
	s.Move(&v, 1, s.Taken)
}

// PutAllBack puts back all victims.
func (s *Search) PutAllBack() {
	for len(s.Taken) > 0 {
		s.PutLastBack()
	}
}

// Move removes a victim from the usage and the room (times -1) or puts it back (1), beside other
// victims. For a whole workload it moves what those do not have of it.
func (s *Search) Move(v *right.Victim, times int64, beside []right.Victim) {
	if s.Request.Room != nil {
		s.room.move(s.Request.Room, v, times)
	}
	s.MoveQuota(v, times, beside)
}

// MoveQuota is [Search.Move] without the room.
func (s *Search) MoveQuota(v *right.Victim, times int64, beside []right.Victim) {
	if v.Set >= 0 {
		s.View.Move(usage.Victims, v.Queue, v.Workload.Surplus[v.Set].Loads, times*v.Count)
		return
	}
	if v.Workload.Leaving > 0 && right.GoesWhole(v.Workload, beside) {
		return // moved with its workload
	}
	s.View.Move(usage.Victims, v.Queue, v.Workload.Loads, times)
	if len(v.Workload.Surplus) > 0 {
		for i := range beside {
			if o := &beside[i]; o.Workload == v.Workload && o.Set >= 0 {
				s.View.Move(usage.Victims, v.Queue, o.Workload.Surplus[o.Set].Loads, -times*o.Count)
			}
		}
	}
	for _, part := range v.Workload.Parts {
		taken := func(o right.Victim) bool { return o.Workload.Leaving == part.Leaving && o.Workload.Is(v.Workload) }
		if !slices.ContainsFunc(beside, taken) {
			s.View.Move(usage.Victims, v.Queue, part.Loads, times)
		}
	}
}

// AllLeave reports whether all victims were told to leave before.
func (s *Search) AllLeave() bool {
	for i := range s.Taken {
		if !s.Taken[i].Workload.Facts.Evicted {
			return false
		}
	}
	return len(s.Taken) > 0
}
