package safe_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// namesPod reports whether a request names a pod.
func namesPod(p *placement.Preemptor, s *placement.Snapshot, r placement.Request, pod string) bool {
	d, err := p.Decide(s, r)
	return err == nil && d.Outcome == preemption.Preempt && slices.ContainsFunc(d.Victims, func(v placement.Victim) bool { return slices.Contains(v.Pods, pod) })
}

// podRequest is a request for so many pods that ask for the same, on a node or anywhere.
func podRequest(node, queue string, priority int32, at time.Time, pods int, asks workload.Resources) placement.Request {
	r := placement.Request{Priority: priority, Queue: queue, Now: at}
	if pods > 1 {
		r.Group, r.MinCount = "asks", pods
	}
	for i := range pods {
		w := workload.Pod{ID: "asks" + string(rune('a'+i)), Group: r.Group, Requests: asks}
		if node != "" {
			w.Nodes = []string{node}
		}
		r.Pods = append(r.Pods, w)
	}
	return r
}

// Until an answer's instant no request of a brute force names the pod. At it the answer's request does, and no lesser one on its node. More
// worlds: -rapid.checks=100000.
func TestNoPodBefore(t *testing.T) {
	counts := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		st, c := preemptiontest.PlacementStates().Draw(t, "state"), placement.Config{}
		if rapid.Bool().Draw(t, "configured") {
			c = preemptiontest.PlacementConfigs().Draw(t, "config")
		}
		if len(st.Pods) == 0 {
			return
		}
		p, err := placement.New(c)
		s, faults := placement.NewSnapshot(st)
		if err = errors.Join(err, faults); err != nil {
			t.Fatal(err)
		}
		pod := rapid.SampledFrom(st.Pods).Draw(t, "pod")
		answer, err := safe.UntilOnNodes(p, s, pod.ID, safe.Options{Now: preemptiontest.Now})
		if err != nil {
			t.Fatal(err)
		}
		kind := answer.Outcome.String()
		if answer.Outcome == safe.Never {
			kind += " " + answer.Keeps.String()
		}
		for _, d := range answer.Doubts {
			kind += " " + d.String()
		}
		counts[kind]++
		if answer.Outcome == safe.Leaving {
			return
		}
		rnd := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "requests")))
		for _, at := range instantsBefore(answer) {
			for range 60 {
				if r := anyPods(rnd, &st, at); namesPod(p, s, r, pod.ID) {
					t.Fatalf("%+v, but %+v names it", answer, r)
				}
			}
		}
		r := answer.Request
		if r == nil {
			return
		}
		asks := func(priority int32, amount int64) placement.Request {
			of := workload.Resources{}
			if r.Resource != "" {
				of[r.Resource] = amount
			}
			return podRequest(r.Node, r.Queue, priority, answer.At, r.Pods, of)
		}
		if !namesPod(p, s, asks(r.Priority, r.Amount), pod.ID) {
			t.Fatalf("%+v: %+v does not name it", answer, r)
		}
		for n := range r.Amount {
			if c.Budgets == placement.Soft && len(c.Filters) == 0 && namesPod(p, s, asks(r.Priority, n), pod.ID) || namesPod(p, s, asks(r.Priority-1, r.Amount), pod.ID) {
				t.Fatalf("%+v: %+v, but %d names it, or a lower priority", answer, r, n)
			}
		}
	})
	t.Log(counts)
	for _, kind := range []string{"Now", "Never none"} {
		if counts[kind] == 0 && len(counts) > 3 && !testing.Short() { // not where one case runs again
			t.Errorf("no answer is %s", kind)
		}
	}
}

// instantsBefore returns instants before that of an answer; all that may matter if it has none.
func instantsBefore(a safe.PodAnswer) (list []time.Time) {
	for m := range 24 {
		for _, at := range []time.Time{preemptiontest.Now.Add(time.Duration(m) * 15 * time.Minute), preemptiontest.Now.Add(time.Duration(m)*15*time.Minute + 1)} {
			if a.At.IsZero() || at.Before(a.At) {
				list = append(list, at)
			}
		}
	}
	if a.At.After(preemptiontest.Now) {
		list = append(list, a.At.Add(-1))
	}
	return list
}

// anyPods draws a request: pods that ask for some resources, on some nodes, of any priority and queue.
func anyPods(rnd *rand.Rand, st *placement.State, at time.Time) placement.Request {
	node, queue := "", ""
	if n := rnd.IntN(len(st.Nodes) + 1); n < len(st.Nodes) {
		node = st.Nodes[n].Name
	}
	if n := rnd.IntN(3); n > 0 && len(st.Pods) > 0 {
		queue = st.Pods[rnd.IntN(len(st.Pods))].Queue
	}
	asks := workload.Resources{}
	for resource, most := range st.Nodes[rnd.IntN(len(st.Nodes))].Capacity {
		if resource != workload.PodsResource && rnd.IntN(2) == 0 {
			asks[resource] = 1 + rnd.Int64N(most)
		}
	}
	priority := []int32{math.MinInt32, -7, -6, 0, 1, 2, 3, 5, 6, 7, math.MaxInt32, math.MaxInt32}[rnd.IntN(12)]
	return podRequest(node, queue, priority, at, 1+rnd.IntN(3)/2*(1+rnd.IntN(2)), asks)
}

func TestUntilOnNodes(t *testing.T) {
	pods := func(change func([]workload.Pod)) placement.State {
		st := placement.State{
			Nodes: []workload.Node{{Name: "n1", Capacity: workload.Resources{"gpu": 8, "cpu": 16, workload.PodsResource: 4}}},
			Pods: []workload.Pod{
				{ID: "a", Node: "n1", Priority: 5, Started: now.Add(-10 * time.Minute), Requests: workload.Resources{"gpu": 2, "cpu": 2}},
				{ID: "b", Node: "n1", Priority: 9, Started: now.Add(-10 * time.Minute), Requests: workload.Resources{"gpu": 4, "cpu": 2}},
				{ID: "c", Node: "n1", Priority: 9, Started: now.Add(-10 * time.Minute)},
			},
		}
		if change != nil {
			change(st.Pods)
		}
		return st
	}
	for _, c := range []struct {
		name   string
		change func([]workload.Pod)
		config placement.Config
		pod    string
		want   safe.PodAnswer
	}{
		{"the least that does not fit beside it", nil, placement.Config{}, "a", safe.PodAnswer{Outcome: safe.Now, At: now, Request: &safe.PodRequest{Node: "n1", Priority: 6, Pods: 1, Resource: "gpu", Amount: 3}}},
		{"the less important one yields first", nil, placement.Config{}, "b", safe.PodAnswer{Outcome: safe.Now, At: now, Request: &safe.PodRequest{Node: "n1", Priority: 10, Pods: 1, Resource: "gpu", Amount: 5}}},
		{"it holds but a place among the pods", nil, placement.Config{}, "c", safe.PodAnswer{Outcome: safe.Now, At: now, Request: &safe.PodRequest{Node: "n1", Priority: 10, Pods: 3}}},
		{"no priority is above", func(list []workload.Pod) { list[0].Priority = math.MaxInt32 }, placement.Config{}, "a", safe.PodAnswer{Outcome: safe.Never, Keeps: placement.RulePriority}},
		{"its minimum runtime", func(list []workload.Pod) { list[0].MinRuntime = quota.Some(time.Hour) }, placement.Config{}, "a",
			safe.PodAnswer{Outcome: safe.Later, At: now.Add(50*time.Minute + 1), Keeps: placement.RuleMinRuntime, Request: &safe.PodRequest{Node: "n1", Priority: 6, Pods: 1, Resource: "gpu", Amount: 3}}},
		{"reclaims may come before", func(list []workload.Pod) {
			list[0].Queue, list[0].MinRuntime, list[0].ReclaimMinRuntime = "q", quota.Some(time.Hour), quota.Some(20*time.Minute)
		}, placement.Config{}, "a", safe.PodAnswer{Outcome: safe.Later, At: now.Add(10*time.Minute + 1), Keeps: placement.RuleMinRuntime,
			Request: &safe.PodRequest{Node: "n1", Priority: 6, Queue: "q'", Pods: 1, Resource: "gpu", Amount: 3}}},
		{"it was told to stop", func(list []workload.Pod) { list[0].Terminating = true }, placement.Config{}, "a", safe.PodAnswer{Outcome: safe.Leaving}},
	} {
		p, _ := placement.New(c.config)
		s, err := placement.NewSnapshot(pods(c.change))
		if err != nil {
			t.Fatal(err)
		}
		got, err := safe.UntilOnNodes(p, s, c.pod, safe.Options{Now: now})
		c.want.Pod = c.pod
		if same := got.Outcome == c.want.Outcome && got.At.Equal(c.want.At) && got.Keeps == c.want.Keeps && (got.Request == nil) == (c.want.Request == nil) &&
			(got.Request == nil || *got.Request == *c.want.Request); err != nil || !same {
			t.Errorf("%s: got %+v %+v, want %+v %+v; %v", c.name, got, got.Request, c.want, c.want.Request, err)
		}
	}
	s, _ := placement.NewSnapshot(pods(nil))
	if _, err := safe.UntilOnNodes(nil, s, "nobody", safe.Options{Now: now}); err == nil {
		t.Error("a pod that does not run")
	}
}
