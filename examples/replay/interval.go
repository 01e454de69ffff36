package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// interval is where the change of what is lost is with 95 % confidence, in percent. Seeds are compared one by one, as all
// policies replay the same jobs in a seed; the change is that of the mean (Student's t of the differences).
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
	if n < 2 || base == 0 {
		return interval{}, false
	}
	sum, squares := 0.0, 0.0
	for _, d := range differences {
		sum += d
	}
	middle := sum / float64(n)
	for _, d := range differences {
		off := float64(d - middle)
		squares += float64(off * off) // no fused multiplication: the same on every machine
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	half := t * math.Sqrt(squares/float64(n-1)/float64(n))
	base /= float64(n)
	return interval{max(-100, 100*(middle-half)/base), 100 * (middle + half) / base}, true // no policy loses less than nothing
}

func (i interval) String() string { return fmt.Sprintf("%+.0f%% to %+.0f%%", i.low, i.high) }

// mayBeChance reports whether there may be no change at all.
func (s *summary) mayBeChance(first *summary) bool {
	i, ok := s.interval(first)
	return ok && i.low <= 0 && i.high >= 0
}
