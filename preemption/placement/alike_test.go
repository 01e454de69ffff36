package placement_test

import (
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// "Importance: higher priority; groups of groups before groups and their pods, these before other pods; more pods; …" (step 3)
func TestUnitsAreAlike(t *testing.T) {
	pods := func(groups ...string) (list []workload.Pod) {
		for _, g := range groups {
			list = append(list, workload.Pod{ID: "p", Group: g})
		}
		return list
	}
	group := placement.Unit{Group: "g", Pods: pods("g", "g")}
	for name, c := range map[string]struct {
		a, b placement.Unit
		want bool
	}{
		"pods":                       {placement.Unit{Pods: pods("")}, placement.Unit{Pods: pods("")}, true},
		"another priority":           {placement.Unit{Pods: pods("")}, placement.Unit{Pods: pods(""), Priority: 1}, false},
		"a pod that names a group":   {placement.Unit{Pods: pods("")}, placement.Unit{Pods: pods("x")}, false},
		"a group, and pods of one":   {placement.Unit{Group: "g", Pods: pods("g")}, placement.Unit{Pods: pods("x")}, true},
		"groups":                     {group, placement.Unit{Group: "h", Pods: pods("h", "h")}, true},
		"another number of pods":     {group, placement.Unit{Group: "h", Pods: pods("h")}, false},
		"a group, and one of groups": {group, placement.Unit{Group: "h", Pods: pods("h", "below")}, false},
	} {
		if got := c.a.IsAlike(&c.b); got != c.want || c.b.IsAlike(&c.a) != got {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if id := group.ID(); id != "g" {
		t.Errorf("the ID of a group: %q", id)
	}
	if id := (&placement.Unit{Pods: pods("x")}).ID(); id != "p" {
		t.Errorf("the ID of a pod: %q", id)
	}
	if id := new(placement.Unit).ID(); id != "" {
		t.Errorf("no unit has the ID %q", id)
	}
}
