package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
)

// order judges the numbers of the victims. If they are the victims that the documented search
// chooses, so are the numbers.
func (j *judge) order(faults *fault.List, parts, chosen []reference.Candidate) {
	d := j.d
	known := slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Order != 0 })
	if !known {
		return
	}
	numbers := make([]int, len(d.Victims))
	for i := range d.Victims {
		numbers[i] = d.Victims[i].Order
	}
	for i, n := range slices.Sorted(slices.Values(numbers)) {
		if n != i+1 {
			faults.Add("decision.victims", "their numbers are %v", numbers)
			return
		}
	}
	if names(byID(chosen)) != names(parts) {
		return
	}
	var ids []string
	for _, c := range chosen {
		if !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	for i := range d.Victims {
		if want := slices.Index(ids, d.Victims[i].Workload) + 1; d.Victims[i].Order != want {
			faults.Add(fmt.Sprintf("decision.victims[%d].order", i), "%d of %q, want %d", d.Victims[i].Order, d.Victims[i].Workload, want)
		}
	}
}

// byID sorts as victims are sorted, with the pod sets by name, and leaves out replicas of
// workloads that go whole.
func byID(chosen []reference.Candidate) []reference.Candidate {
	list := slices.DeleteFunc(slices.Clone(chosen), func(c reference.Candidate) bool {
		return c.GoesWhole(chosen)
	})
	slices.SortStableFunc(list, func(a, b reference.Candidate) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.PodSetName(), b.PodSetName()), cmp.Compare(a.Leaving, b.Leaving))
	})
	return list
}

// names lists candidates for a message.
func names(list []reference.Candidate) string {
	var out []string
	for _, c := range list {
		text := fmt.Sprintf("%q", c.ID)
		switch {
		case c.Leaving != "":
			text += fmt.Sprintf(" (what leaves of %q)", c.PodSetName())
		case c.PodSet >= 0:
			text += fmt.Sprintf(" (a replica of %q)", c.PodSetName())
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
