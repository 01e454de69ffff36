package workload_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func TestValidateReportsEveryFault(t *testing.T) {
	w := workload.Workload{
		Created: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC),
		Queued:  time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC),
		PodSets: []workload.PodSet{
			{Name: "a", Count: -1, Requests: []quota.Amount{amount("cpu", -5), amount("cpu", 1), {Amount: 1}}},
			{Name: "a"},
		},
	}
	want := []string{
		"admitted[3].id: is empty",
		"admitted[3].queue: is empty",
		"admitted[3].created: 1500",
		"admitted[3].queued: 2500",
		"admitted[3].podSets[0].count: -1 is negative",
		"admitted[3].podSets[0].requests[0].amount: -5 is negative",
		"admitted[3].podSets[0].requests[1]: f/cpu has an entry already",
		"admitted[3].podSets[0].requests[2].flavor: is empty",
		"admitted[3].podSets[0].requests[2].resource: is empty",
		`admitted[3].podSets[1].name: "a" is also the name of podSets[0]`,
	}
	check(t, workload.Validate("admitted[3]", &w), want)
	huge := workload.Workload{ID: "x", Queue: "q", PodSets: []workload.PodSet{
		{Count: 3, Requests: []quota.Amount{amount("cpu", quota.MaxUsage/2)}},
	}}
	check(t, workload.Validate("w", &huge), []string{"w.podSets: take more than 4611686018427387904 of f/cpu"})
	many := workload.Workload{ID: "x", Queue: "q", PodSets: []workload.PodSet{{Requests: make([]quota.Amount, workload.MaxRequests+1)}}}
	check(t, workload.Validate("w", &many), []string{"w.podSets: 1 pod sets with 1025 requests: more than 1024"})
	check(t, workload.Validate("w", &workload.Workload{ID: "x", Queue: "q"}), nil)
}

func check(t *testing.T, err error, want []string) {
	t.Helper()
	var faults fault.List
	errors.As(err, &faults)
	for i := range max(len(want), len(faults)) {
		if i >= len(want) || i >= len(faults) || !strings.HasPrefix(faults[i].Error(), want[i]) {
			t.Errorf("faults %q, want %q", []fault.Fault(faults), want)
			return
		}
	}
}

// A workload at every bound is valid, and one past any of them is not.
func TestValidateBounds(t *testing.T) {
	valid := func() workload.Workload {
		return workload.Workload{ID: "x", Queue: "q", PodSets: []workload.PodSet{
			{Name: "a", Count: 1, Requests: []quota.Amount{amount("cpu", quota.MaxUsage)}},
			{Name: "b", Count: workload.MaxElasticCount, MinCount: workload.AtLeast(0), Requests: []quota.Amount{amount("gpu", 0)}},
			{Name: "c", Count: workload.MaxElasticCount + 1},
		}}
	}
	for want, spoil := range map[string]func(*workload.Workload){
		"": func(w *workload.Workload) {},
		"w.podSets: take more than 4611686018427387904 of f/cpu": func(w *workload.Workload) { w.PodSets[1].Requests[0] = amount("cpu", 1) },
		"w.podSets[1].minCount: -1 is negative":                  func(w *workload.Workload) { w.PodSets[1].MinCount = workload.AtLeast(-1) },
		"w.podSets[1].count: 1048577 is more than 1048576":       func(w *workload.Workload) { w.PodSets[1].Count++ },
		"w.podSets[1].requests[0].amount: -1 is negative":        func(w *workload.Workload) { w.PodSets[1].Requests[0].Amount = -1 },
		"w.podSets[1].minCount: is set, but totals":              func(w *workload.Workload) { w.PodSets[1].Totals = true },
		"w.podSets[2].leaving: 1, but totals":                    func(w *workload.Workload) { w.PodSets[2].Totals, w.PodSets[2].Terminating = true, 1 },
		"w.reservedAt: 1600":                                     func(w *workload.Workload) { w.ReservedAt = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC) },
		"w.gates.names[0]: is empty (workload \"x\")":            func(w *workload.Workload) { w.Gates.Names = []string{""} },
	} {
		w := valid()
		spoil(&w)
		if want == "" {
			check(t, workload.Validate("w", &w), nil)
		} else {
			check(t, workload.Validate("w", &w), []string{want})
		}
	}
	leaving := valid()
	leaving.PodSets[0].Terminating, leaving.PodSets[1].Terminating, leaving.PodSets[2].Terminating = 1, -1, workload.MaxElasticCount+2
	check(t, workload.Validate("w", &leaving), []string{"w.podSets[1].leaving: -1 of 1048576", "w.podSets[2].leaving: 1048578 of 1048577"})
	leaving.PodSets[0] = workload.PodSet{Name: "a", Terminating: 1}
	check(t, workload.Validate("w", &leaving), []string{"w.podSets[0].leaving: 1 of 0", "w.podSets[1].leaving", "w.podSets[2].leaving"})
	summed := valid() // what is wrong in itself is not added up
	summed.PodSets[1].Requests[0], summed.PodSets[2].Name = amount("cpu", 1), "a"
	check(t, workload.Validate("w", &summed), []string{`w.podSets[2].name: "a" is also`})
	two := valid()
	two.Gates.Names = []string{"", ""}
	check(t, workload.Validate("w", &two), []string{"w.gates.names[0]", "w.gates.names[1]"})
	for names, doubled := range map[string]int{"a a a": 2, "a b a": 1} {
		w := workload.Workload{ID: "x", Queue: "q"}
		for _, name := range strings.Fields(names) {
			w.PodSets = append(w.PodSets, workload.PodSet{Name: name, Requests: []quota.Amount{amount("cpu", 1), amount("cpu", 1), amount("cpu", 1)}})
		}
		if err := workload.Validate("w", &w); strings.Count(err.Error(), "is also the name") != doubled || strings.Count(err.Error(), "has an entry already") != 6 {
			t.Errorf("%s: %v", names, err)
		}
	}
	var many workload.Workload
	many.ID, many.Queue = "x", "q"
	for range workload.MaxRequests {
		name := strings.Repeat("n", len(many.PodSets)+1)
		many.PodSets = append(many.PodSets, workload.PodSet{Name: name, Requests: []quota.Amount{amount(name, 1)}})
	}
	check(t, workload.Validate("w", &many), nil)
	many.PodSets[0].Requests = append(many.PodSets[0].Requests, amount("more", 1))
	check(t, workload.Validate("w", &many), []string{"w.podSets: 1024 pod sets with 1025 requests"})
	many.PodSets[0].Requests = nil
	many.PodSets = append(many.PodSets, workload.PodSet{Name: "more"})
	check(t, workload.Validate("w", &many), []string{"w.podSets: 1025 pod sets with 1023 requests"})
}

// "Requests may be without flavor" of a workload that waits, and of no other.
func TestValidatePending(t *testing.T) {
	w := workload.Workload{ID: "x", Queue: "q", PodSets: []workload.PodSet{{Requests: []quota.Amount{{Resource: "cpu", Amount: 1}}}}}
	check(t, workload.ValidatePending("w", &w), nil)
	check(t, workload.Validate("w", &w), []string{"w.podSets[0].requests[0].flavor: is empty"})
	gone := workload.Workload{ID: "x", Queue: "q", PodSets: []workload.PodSet{{Count: 1, Terminating: 1}}}
	check(t, workload.Validate("w", &gone), nil)
	check(t, workload.ValidatePending("w", &gone), []string{"w.podSets[0].leaving: 1 of a workload that waits"})
}
