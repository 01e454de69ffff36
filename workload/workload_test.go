package workload_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/cedesched/cede/gate"
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

func TestCloneSharesNothing(t *testing.T) {
	w := workload.Workload{PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{amount("cpu", 1)}}}}
	c := w.Clone()
	c.PodSets[0].Requests[0].Amount, c.PodSets[0].Count = 9, 9
	if w.PodSets[0].Requests[0].Amount != 1 || w.PodSets[0].Count != 1 {
		t.Error("the clone shares its pod sets")
	}
}

// "Surplus is what the pod set has over its minimum; none that has no minimum."
func TestSurplus(t *testing.T) {
	for _, c := range []struct {
		count   int64
		minimum quota.OptionalInt64
		want    int64
	}{
		{8, quota.OptionalInt64{}, 0}, {8, workload.AtLeast(0), 8}, {8, workload.AtLeast(3), 5}, {8, workload.AtLeast(7), 1},
		{8, workload.AtLeast(8), 0}, {8, workload.AtLeast(9), 0}, {0, workload.AtLeast(0), 0},
	} {
		p := workload.PodSet{Count: c.count + 2, MinCount: c.minimum, Terminating: 2} // those that leave are none
		if got := p.Surplus(); got != c.want {
			t.Errorf("%d replicas and 2 that leave, minimum %v: %d, want %d", c.count, c.minimum, got, c.want)
		}
		p = workload.PodSet{Count: c.count, MinCount: c.minimum}
		if got := p.Surplus(); got != c.want {
			t.Errorf("%d replicas, minimum %v: %d, want %d", c.count, c.minimum, got, c.want)
		}
	}
}

// "Clone returns a copy that shares nothing", whatever the number of pod sets and requests.
func TestCloneSharesNothingAtAll(t *testing.T) {
	for podSets := range 4 {
		for requests := range 4 {
			made := func() workload.Workload {
				w := workload.Workload{ID: "x", Gates: gate.Gates{Names: []string{"g"}, States: []gate.State{{Name: "g"}}}}
				for range podSets {
					p := workload.PodSet{Count: 1, NodeConstraints: &workload.NodeConstraints{NodeSelector: map[string]string{"k": "v"}}}
					for i := range requests {
						p.Requests = append(p.Requests, amount("r", int64(i+1)))
					}
					w.PodSets = append(w.PodSets, p)
				}
				return w
			}
			w := made()
			c := w.Clone()
			if want := made(); !reflect.DeepEqual(c, want) {
				t.Errorf("%d pod sets with %d requests: %+v, want %+v", podSets, requests, c, want)
			}
			c.Gates.Names[0], c.Gates.States[0].Name = "changed", "changed"
			for i := range c.PodSets {
				c.PodSets[i].Count, c.PodSets[i].NodeConstraints.NodeSelector["k"] = 9, "changed"
				for j := range c.PodSets[i].Requests {
					c.PodSets[i].Requests[j].Amount = 9
				}
			}
			if want := made(); !reflect.DeepEqual(w, want) {
				t.Errorf("%d pod sets with %d requests: the clone shares something: %+v", podSets, requests, w)
			}
		}
	}
}

// Priorities next to the ends do not saturate.
func TestEffectivePriorityAtTheEnds(t *testing.T) {
	for _, c := range []struct{ priority, boost, want int64 }{
		{math.MaxInt64, 0, math.MaxInt64}, {math.MinInt64, 0, math.MinInt64}, {math.MaxInt64 - 1, 1, math.MaxInt64}, {math.MinInt64 + 1, -1, math.MinInt64},
		{math.MaxInt64, -1, math.MaxInt64 - 1}, {math.MinInt64, 1, math.MinInt64 + 1}, {math.MaxInt64 - 1, 2, math.MaxInt64}, {math.MinInt64 + 1, -2, math.MinInt64},
	} {
		w := workload.Workload{Priority: c.priority, PriorityBoost: c.boost}
		if got := w.EffectivePriority(); got != c.want {
			t.Errorf("%d boosted by %d: %d, want %d", c.priority, c.boost, got, c.want)
		}
	}
}
