package place

import (
	"cmp"
	"math"
)

// Score rates victims; smaller is better, the first field first, and a later start. The functions are as in
// kube-scheduler for the victims on a node, applied to units instead of pods (KEP-5710, "we score scheduling
// decisions for each of the domains").
type Score struct {
	Violations int64 // pods evicted against a budget
	Highest    int32 // the highest priority of a victim
	Sum        int64 // over the pods of victims: their weight
	Pods       int64
	Started    int64 // the earliest start of a victim of the highest priority
}

// NoVictims is the score of no victims.
var NoVictims = Score{Highest: math.MinInt32, Started: math.MaxInt64}

// Weight is what a pod of a victim adds to the sum. It is not negative, so fewer pods are better.
func Weight(priority int32) int64 { return int64(priority) + 1<<31 }

// Add adds a victim.
func (s *Score) Add(priority int32, pods, violations, started int64) {
	switch {
	case s.Pods == 0 || priority > s.Highest:
		s.Highest, s.Started = priority, started
	case priority == s.Highest:
		s.Started = min(s.Started, started)
	}
	s.Violations, s.Sum, s.Pods = s.Violations+violations, s.Sum+pods*Weight(priority), s.Pods+pods
}

// Compare compares scores; negative: a is better.
func (s Score) Compare(other Score) int {
	return cmp.Or(
		cmp.Compare(s.Violations, other.Violations),
		cmp.Compare(s.Highest, other.Highest),
		cmp.Compare(s.Sum, other.Sum),
		cmp.Compare(s.Pods, other.Pods),
		cmp.Compare(other.Started, s.Started),
	)
}
