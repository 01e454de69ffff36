package preemption_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Each search with what it chooses.
func TestSearches(t *testing.T) {
	of := func(id string, gpus, cost int64) workload.Workload {
		return workload.Workload{
			ID: id, Queue: "q", Created: preemptiontest.Now, Queued: preemptiontest.Now, Loss: workload.Loss{PerReplica: cost},
			PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: gpus}}}},
		}
	}
	declared := preemption.CostDeclared{}
	for _, c := range []struct {
		about   string
		running []workload.Workload // the newest first
		asks    int64
		cost    preemption.Cost
		want    [3]string
	}{
		{
			"one large for three small", []workload.Workload{of("a", 1, 0), of("b", 1, 0), of("c", 1, 0), of("large", 3, 0)}, 3, nil,
			[...]string{"a b c", "large", "large"},
		},
		{
			"one that loses less", []workload.Workload{of("a", 3, 9), of("b", 3, 7), of("c", 4, 5)}, 3, declared,
			[...]string{"a", "c", "c"},
		},
		{
			"two for two is no exchange", []workload.Workload{of("a", 2, 6), of("b", 2, 6), of("small", 1, 0), of("large", 3, 11)}, 4, declared,
			[...]string{"a b", "a b", "large small"},
		},
	} {
		st := preemption.State{Queues: []queue.Queue{{Name: "q", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}}
		used := int64(0)
		for i, w := range c.running {
			w.ReservedAt = preemptiontest.Now.Add(-time.Duration(i) * time.Minute)
			st.Admitted, used = append(st.Admitted, w), used+w.PodSets[0].Requests[0].Amount
		}
		st.Queues[0].Quotas = []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: used}}
		pending := of("pending", c.asks, 0)
		pending.Priority = 1
		for n, config := range searches {
			var ids []string
			config.Cost = c.cost
			for _, v := range decideWith(t, config, snapshotOf(t, st), preemption.Request{Now: preemptiontest.Now, Workload: pending}).Victims {
				ids = append(ids, v.Workload)
			}
			if got := strings.Join(ids, " "); got != c.want[n] {
				t.Errorf("%s: %v takes %s, want %s", c.about, searchOf(config), got, c.want[n])
			}
		}
	}
}

func TestSearchIsValidated(t *testing.T) {
	for _, c := range []struct {
		config preemption.Config
		path   string
	}{
		{preemption.Config{Search: 2}, "config.Search"},
		{preemption.Config{Best: preemption.BestSearch{FewestFirst: true}}, "config.Best"},
		{preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Steps: -1, Candidates: -1}}, "config.Best.Candidates"},
		{preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Candidates: 9}}, "config.Best.Candidates"},
	} {
		_, err := preemption.New(c.config)
		if faults, ok := err.(fault.List); !ok || len(faults) != 1 || faults[0].Path != c.path {
			t.Errorf("%+v: %v, want a fault at %s", c.config, err, c.path)
		}
	}
}

// A sum of costs beyond the highest number is that number, before an exchange and after it: an
// exchange that leaves the sum there is no better, one that brings it back is.
func TestExchangeOfSaturatedCosts(t *testing.T) {
	const half = math.MaxInt64/2 + 1
	of := func(id string, cost int64, minutes int) workload.Workload {
		w := job(id, "a", 0, 1, started(minutes))
		w.Loss.PerReplica = cost
		return w
	}
	st := preemption.State{
		Queues: []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
	}
	for _, c := range []struct {
		w, x int64
		want string
	}{
		{half, half, "[v1 v2]"},
		{math.MaxInt64, half + 1, "[v1 v2]"},
		{half - 2, half, "[v2 w]"},
		{1, 0, "[w x]"},
	} {
		st.Admitted = []workload.Workload{of("v1", half, 1), of("v2", half, 2), of("w", c.w, 9), of("x", c.x, 9)}
		config := preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}, Cost: preemption.CostDeclared{}}
		if got := fmt.Sprint(ids(decideWith(t, config, snapshotOf(t, st), pending("a", 10, 2)).Victims)); got != c.want {
			t.Errorf("w costs %d, x %d: %s, want %s", c.w, c.x, got, c.want)
		}
	}
}
