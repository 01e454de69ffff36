package answers

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A change is better or worse by the first point in which two answers differ.
func TestChangeOf(t *testing.T) {
	waits := Short{Outcome: "Impossible", Missing: 4, Words: "4 gpu missing"}
	less, other := waits, waits
	less.Missing, less.Words = 2, "2 gpu missing"
	other.Missing, other.Words = 0, "borrows"
	one := Short{Outcome: "Preempt", Victims: []string{"a"}}
	two := Short{Outcome: "Preempt", Victims: []string{"a", "b"}}
	swapped := Short{Outcome: "Preempt", Victims: []string{"b"}}
	for _, c := range []struct {
		before, after *Short
		want          string
	}{
		{&waits, &waits, ""},
		{&waits, &one, "better"},
		{&one, &waits, "worse"},
		{&one, &two, "worse"},
		{&two, &one, "better"},
		{&one, &swapped, "other"},
		{&waits, &less, "better"},
		{&less, &waits, "worse"},
		{&waits, &other, "other"},
		{&other, &waits, "other"},
		{nil, &one, "other"},
	} {
		if got := ChangeOf(c.before, c.after); got != c.want {
			t.Errorf("%+v, then %+v: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

// A no names the resource of which most is missing of what is asked for, in the flavor in which least is: units do not count.
func TestNoNamesTheScarcest(t *testing.T) {
	r := &preemption.Request{Workload: workload.Workload{ID: "a/x", Queue: "q", PodSets: []workload.PodSet{{Name: "main", Count: 2, Requests: []quota.Amount{
		{Resource: "cpu", Amount: 32_000}, {Resource: "memory", Amount: 64 << 30}, {Resource: "nvidia.com/gpu", Amount: 8}}}}}}
	short := func(flavor, resource string, missing int64) preemption.Shortage {
		return preemption.Shortage{FlavorResource: quota.FlavorResource{Flavor: flavor, Resource: resource}, Missing: missing, PotentialAvailable: 1 << 40, Cohort: "c"}
	}
	for _, c := range []struct {
		shortage []preemption.Shortage
		tried    bool
		want     string
		missing  int64
	}{
		{[]preemption.Shortage{short("f", "cpu", 4000), short("f", "memory", 1<<30), short("f", "nvidia.com/gpu", 8)}, false, "8 gpu missing in cohort c", 8},
		{[]preemption.Shortage{short("f", "cpu", 64_000), short("f", "nvidia.com/gpu", 16)}, false, "16 gpu missing in cohort c", 16},
		{[]preemption.Shortage{short("f", "cpu", 64_000), short("f", "nvidia.com/gpu", 15)}, false, "64 cpu missing in cohort c", 64_000},
		{[]preemption.Shortage{short("f", "cpu", 1000), short("f", "nvidia.com/gpu", 8), short("g", "memory", 8<<30), short("g", "nvidia.com/gpu", 4)}, true, "4 gpu missing even in g", 4},
	} {
		d := &preemption.Decision{Outcome: preemption.Impossible, Shortage: c.shortage}
		if c.tried {
			d.Assignment = preemption.Assignment{{Resources: []preemption.AssignedResource{{Resource: "cpu"}}, Tried: []preemption.TriedFlavor{{Flavor: "f", Skipped: preemption.NotEligible}, {Flavor: "g"}}}}
		}
		if words, missing := WhyNot(d, r); words != c.want || missing != c.missing {
			t.Errorf("%q, %d, want %q, %d", words, missing, c.want, c.missing)
		}
	}
}
