package preemptiontest_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

func decide(st preemption.State, r preemption.Request) (preemption.Decision, error) {
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		return preemption.Decision{}, err
	}
	return new(preemption.Preemptor).Decide(s, r)
}

// The preemptor of the library passes. One that names one victim too few does not, and the
// error says which record shows it.
func TestDecider(t *testing.T) {
	if err := preemptiontest.TestDecider(preemption.Config{}, decide, 100); err != nil {
		t.Error(err)
	}
	rapid.Check(t, func(t *rapid.T) { preemptiontest.CheckDecider(t, preemption.Config{}, decide) })
	wrong := 0
	err := preemptiontest.TestDecider(preemption.Config{}, func(st preemption.State, r preemption.Request) (preemption.Decision, error) {
		d, err := decide(st, r)
		if len(d.Victims) > 1 {
			d.Victims = d.Victims[1:]
			wrong++
		}
		return d, err
	}, 100)
	if err == nil || wrong == 0 || strings.Count(err.Error(), "record ") != wrong {
		t.Errorf("%d decisions lack a victim: %v", wrong, err)
	}
}

func TestPlacementDecider(t *testing.T) {
	decide := func(st placement.State, r placement.Request) (placement.Decision, error) {
		s, err := placement.NewSnapshot(st)
		if err != nil {
			return placement.Decision{}, err
		}
		return new(placement.Preemptor).Decide(s, r)
	}
	if err := preemptiontest.TestPlacementDecider(placement.Config{}, decide, 100); err != nil {
		t.Error(err)
	}
	rapid.Check(t, func(t *rapid.T) { preemptiontest.CheckPlacementDecider(t, placement.Config{}, decide) })
	wrong := 0
	err := preemptiontest.TestPlacementDecider(placement.Config{}, func(st placement.State, r placement.Request) (placement.Decision, error) {
		d, err := decide(st, r)
		if len(d.Victims) > 0 {
			d.Victims[0].Priority++
			wrong++
		}
		return d, err
	}, 100)
	if err == nil || wrong == 0 || strings.Count(err.Error(), "record ") != wrong {
		t.Errorf("%d decisions have a wrong priority: %v", wrong, err)
	}
}
