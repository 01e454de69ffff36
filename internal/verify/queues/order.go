package queues

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/fault"
)

// order judges the numbers of the victims. If they are those that the documented search
// chooses, so are the numbers.
func (j *judge) order(faults *fault.List, a *Answer, parts, chosen []candidate) {
	known := slices.ContainsFunc(a.Victims, func(v Victim) bool { return v.Order != 0 })
	if !known {
		return
	}
	numbers := make([]int, len(a.Victims))
	for i := range a.Victims {
		numbers[i] = a.Victims[i].Order
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
	for i := range a.Victims {
		if want := slices.Index(ids, a.Victims[i].Workload) + 1; a.Victims[i].Order != want {
			faults.Add(fmt.Sprintf("decision.victims[%d].order", i), "%d of %q, want %d", a.Victims[i].Order, a.Victims[i].Workload, want)
		}
	}
}

// byID sorts as victims are sorted, with the pod sets by name, and leaves out replicas of
// workloads that go whole.
func byID(chosen []candidate) []candidate {
	list := slices.DeleteFunc(slices.Clone(chosen), func(c candidate) bool {
		return c.goesWhole(chosen)
	})
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.podSet(), b.podSet()), cmp.Compare(a.part, b.part))
	})
	return list
}

func (c *candidate) podSet() string {
	if c.set < 0 {
		return c.leaving
	}
	return c.PodSets[c.set].Name
}

// names lists candidates for a message.
func names(list []candidate) string {
	var out []string
	for _, c := range list {
		text := fmt.Sprintf("%q", c.ID)
		switch {
		case c.part > 0:
			text += fmt.Sprintf(" (what leaves of %q)", c.podSet())
		case c.set >= 0:
			text += fmt.Sprintf(" (a replica of %q)", c.podSet())
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
