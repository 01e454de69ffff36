package workload_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

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

// A taint has a key and an effect; each fault is named.
func TestTaintValidate(t *testing.T) {
	for _, c := range []struct {
		taint workload.Taint
		want  []string
	}{
		{workload.Taint{Key: "k", Effect: workload.NoSchedule}, nil},
		{workload.Taint{Key: "k", Effect: workload.NoExecute}, nil},
		{workload.Taint{}, []string{"t.key: is empty", "t.effect: is not set"}},
		{workload.Taint{Key: "k", Effect: 99}, []string{"t.effect: "}},
	} {
		check(t, c.taint.Validate("t"), c.want)
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
