package main

import (
	"fmt"

	means "github.com/cedesched/cede/examples/internal/interval"
)

// interval is where the change of what is lost is with 95 % confidence, in percent. Seeds are compared one by one, as all
// policies replay the same jobs in a seed; the change is that of the mean.
type interval struct{ low, high float64 }

// interval returns the interval of a policy; ok is false with fewer than two seeds, or where nothing is lost.
func (s *summary) interval(first *summary) (_ interval, ok bool) {
	n := min(len(s.runs), len(first.runs))
	var differences []float64
	base := 0.0
	for i := range n {
		base += float64(first.runs[i].Lost())
		differences = append(differences, float64(s.runs[i].Lost())-float64(first.runs[i].Lost()))
	}
	low, high, ok := means.Of(differences)
	if !ok || base == 0 {
		return interval{}, false
	}
	base /= float64(n)
	return interval{max(-100, 100*low/base), 100 * high / base}, true // no policy loses less than nothing
}

func (i interval) String() string { return fmt.Sprintf("%+.0f%% to %+.0f%%", i.low, i.high) }

// mayBeChance reports whether there may be no change at all.
func (s *summary) mayBeChance(first *summary) bool {
	i, ok := s.interval(first)
	return ok && i.low <= 0 && i.high >= 0
}
