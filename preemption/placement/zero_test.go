package placement_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// What fails leaves the receiver, and nothing panics that was not made.
func TestZeroAndNil(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("a", 4)}})
	if next, err := s.With(placement.Remove("nobody")); err == nil || next != s {
		t.Errorf("a failed edit returns %p with %v, want the receiver", next, err)
	}
	if next, err := (*placement.Snapshot)(nil).With(placement.Remove("nobody")); err == nil || next != nil {
		t.Errorf("%v, %v", next, err)
	}
	r := placement.Request{Pods: []workload.Pod{cpu("in", "", 0, 1)}}
	for name, p := range map[string]*placement.Preemptor{"nil": nil, "zero": new(placement.Preemptor)} {
		if d, err := p.Decide(s, r); err != nil || d.Outcome != preemption.Fits {
			t.Errorf("the %s preemptor: %v, %v, want Fits", name, d.Outcome, err)
		}
		if list, err := p.Placements(s, r); err != nil || len(list) != 0 {
			t.Errorf("the %s preemptor: %v, %v, want no candidates", name, list, err)
		}
		if fit, err := p.Fit(s, r); err != nil || !fit.Fits() {
			t.Errorf("the %s preemptor: %v: want that it fits", name, err)
		}
	}
	if d, err := new(placement.Preemptor).Decide(nil, r); err != nil || d.Outcome != preemption.Impossible {
		t.Errorf("on a nil snapshot: %v, %v, want Impossible", d.Outcome, err)
	}
	for _, fit := range []*placement.Fit{nil, {}} {
		fit.Remove("g")
		fit.Restore("g")
		if fit.Fits() || fit.Nominations() != nil {
			t.Error("a fit that was not made fits")
		}
	}
	if len(placement.Decision{}.Edits()) > 0 {
		t.Error("the zero decision has edits")
	}
}

// Empty lists and nil ones are the same.
func TestEmptyIsNil(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("a", 4)}})
	for _, r := range []placement.Request{
		{Pods: []workload.Pod{{ID: "in", Nodes: []string{}}}, Domains: []placement.Domain{}},
		{Group: "g", Pods: []workload.Pod{{ID: "in", Nodes: []string{}}}, Domains: []placement.Domain{}, Prefer: []string{}},
	} {
		if d := decide(t, placement.Config{}, s, r); d.Outcome != preemption.Fits {
			t.Errorf("group %q: %s, want Fits", r.Group, text(d))
		}
	}
	r := placement.Request{Pods: []workload.Pod{{ID: "in", Nowhere: true, Nodes: []string{"a"}}}}
	if d := decide(t, placement.Config{}, s, r); d.Outcome != preemption.Impossible {
		t.Errorf("nowhere: %s, want Impossible", text(d))
	}
}
