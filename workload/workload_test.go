package workload_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func amount(resource string, n int64) quota.Amount {
	return quota.Amount{Flavor: "f", Resource: resource, Amount: n}
}

// Usage is Count × Requests over the pod sets, or Requests where they are totals; zeros kept.
func TestUsage(t *testing.T) {
	w := workload.Workload{PodSets: []workload.PodSet{
		{Name: "driver", Count: 1, Requests: []quota.Amount{amount("memory", 5), amount("cpu", 500)}},
		{Name: "worker", Count: 4, Requests: []quota.Amount{amount("cpu", 1000), amount("gpu", 0)}},
		{Name: "none", Count: 0, Requests: []quota.Amount{amount("ib", 1)}},
		{Name: "totals", Count: 3, Totals: true, Requests: []quota.Amount{amount("ssd", 7)}},
		{Name: "huge", Count: math.MaxInt64, Requests: []quota.Amount{amount("disk", math.MaxInt64)}},
	}}
	want := []quota.Amount{
		amount("cpu", 4500), amount("disk", quota.Unlimited), amount("gpu", 0), amount("ib", 0), amount("memory", 5), amount("ssd", 7),
	}
	if got := w.Usage(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestEffectivePrioritySaturates(t *testing.T) {
	for _, c := range []struct{ priority, boost, want int64 }{
		{5, -7, -2}, {math.MaxInt64, 1, math.MaxInt64}, {math.MinInt64, -1, math.MinInt64}, {math.MinInt64, math.MaxInt64, -1},
	} {
		w := workload.Workload{Priority: c.priority, PriorityBoost: c.boost}
		if got := w.EffectivePriority(); got != c.want {
			t.Errorf("%d boosted by %d: %d, want %d", c.priority, c.boost, got, c.want)
		}
	}
}

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

func TestCloneSharesNothing(t *testing.T) {
	w := workload.Workload{PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{amount("cpu", 1)}}}}
	c := w.Clone()
	c.PodSets[0].Requests[0].Amount, c.PodSets[0].Count = 9, 9
	if w.PodSets[0].Requests[0].Amount != 1 || w.PodSets[0].Count != 1 {
		t.Error("the clone shares its pod sets")
	}
}
