package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/search"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// runs is a pod "node/name" that takes CPUs and has run for so many minutes.
func runs(id string, priority int32, cpus int64, minutes int) workload.Pod {
	node, _, _ := strings.Cut(id, "/")
	return workload.Pod{ID: id, UID: id, Node: node, Priority: priority, Requests: workload.Resources{"cpu": cpus}, Started: noon.Add(-time.Duration(minutes) * time.Minute),
		Labels: map[string]string{"app": "x"}}
}

// question is nodes of 4 CPUs with what runs there, and a request of priority 5.
type question struct {
	about   string
	nodes   []string
	pods    []workload.Pod
	groups  []workload.PodGroup
	budgets []workload.DisruptionBudget
	config  ask.Config
	cpus    []int64 // of each pod of the request
	change  func(*ask.Request)
	want    string // outcome, then the victims
}

func (q *question) ask(t *testing.T) (*state.Cluster, ask.Request) {
	t.Helper()
	st := state.State{Pods: q.pods, Groups: q.groups, Budgets: q.budgets}
	for _, name := range q.nodes {
		st.Nodes = append(st.Nodes, workload.Node{Name: name, Capacity: workload.Resources{"cpu": 4}})
	}
	c, err := state.New(&st)
	if err != nil {
		t.Fatal(err)
	}
	r := ask.Request{Priority: 5, MinCount: len(q.cpus), Now: noon, MaxBlockers: 4, MaxRetrySteps: 1000, Extent: ask.WithTime}
	if len(q.cpus) > 1 {
		r.Group = "asks"
	}
	for i, cpus := range q.cpus {
		r.Pods = append(r.Pods, workload.Pod{ID: fmt.Sprint("asks-", i), Group: r.Group, Priority: 5, Requests: workload.Resources{"cpu": cpus}})
	}
	if q.change != nil {
		q.change(&r)
	}
	return c, r
}

func text(found search.Result) string {
	list := []string{[...]string{"", "Fits", "Preempt", "Wait", "Impossible"}[found.Outcome]}
	var victims []string
	for _, u := range found.Victims {
		for _, p := range u.Pods {
			victims = append(victims, p.Facts.ID)
		}
	}
	slices.Sort(victims)
	return strings.Join(append(list, victims...), " ")
}

var ab = []string{"a", "b"}

// The steps of KEP-5710 in one domain, and its choice among domains: fewest violations, then the lowest highest priority, then the
// smallest sum of priorities, then the fewest pods, then the latest start.
func TestDecide(t *testing.T) {
	budget := func(allowed int64) []workload.DisruptionBudget {
		return []workload.DisruptionBudget{{Name: "x", Allowed: allowed, Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}
	}
	free := func(p workload.Pod) workload.Pod { p.Labels = nil; return p }
	grouped := func(p workload.Pod) workload.Pod { p.Group = "g"; return p }
	whole := []workload.PodGroup{{ID: "g", Priority: 1, DisruptionMode: workload.DisruptionModePodGroup}}
	for _, q := range []question{
		{about: "it fits", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1), runs("b/1", 1, 2, 1)}, cpus: []int64{2}, want: "Fits"},
		{about: "larger than any node", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1)}, cpus: []int64{5}, want: "Impossible"},
		{about: "nobody is of lower priority", nodes: ab, pods: []workload.Pod{runs("a/1", 5, 4, 1), runs("b/1", 9, 4, 1)}, cpus: []int64{1}, want: "Impossible"},
		{about: "it never preempts", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1), runs("b/1", 1, 4, 1)}, cpus: []int64{1}, change: func(r *ask.Request) { r.Never = true }, want: "Impossible"},
		{about: "the lowest highest priority", nodes: ab, pods: []workload.Pod{runs("a/1", 3, 4, 1), runs("b/1", 1, 2, 1), runs("b/2", 2, 2, 1)}, cpus: []int64{4}, want: "Preempt b/1 b/2"},
		{about: "the smallest sum", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 2, 1), runs("a/2", 2, 2, 1), runs("b/1", 0, 2, 1), runs("b/2", 2, 2, 1)}, cpus: []int64{4}, want: "Preempt b/1 b/2"},
		{about: "the fewest pods", nodes: ab, pods: []workload.Pod{runs("a/1", 2, 2, 1), runs("a/2", 2, 2, 1), runs("b/1", 2, 4, 1)}, cpus: []int64{4}, want: "Preempt b/1"},
		{about: "the latest start", nodes: ab, pods: []workload.Pod{runs("a/1", 2, 4, 9), runs("b/1", 2, 4, 3)}, cpus: []int64{4}, want: "Preempt b/1"},
		{about: "no violation, though of higher priority", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1), free(runs("b/1", 3, 4, 1))}, budgets: budget(0), cpus: []int64{4}, want: "Preempt b/1"},
		{about: "a violation, if there is no other way", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1), runs("b/1", 3, 4, 1)}, budgets: budget(0), cpus: []int64{4}, want: "Preempt a/1"},
		{about: "never against a hard budget", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1)}, budgets: budget(0), config: ask.Config{HardBudgets: true}, change: func(r *ask.Request) { r.Domains = []ask.Domain{{Name: "a", Nodes: ab[:1]}} }, cpus: []int64{4}, want: "Impossible"},
		{about: "nor is there room elsewhere, which the caller has tried", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1)}, budgets: budget(0), config: ask.Config{HardBudgets: true, Mode: ask.InPlace}, change: func(r *ask.Request) { r.SkipFit = true }, cpus: []int64{2, 2}, want: "Impossible"},
		{about: "what is not needed is put back, the highest first", nodes: ab[:1], pods: []workload.Pod{runs("a/1", 1, 2, 1), runs("a/2", 2, 1, 1), runs("a/3", 3, 1, 1)}, cpus: []int64{2}, want: "Preempt a/1"},
		{about: "those that violate a budget are put back first", nodes: ab[:1], pods: []workload.Pod{runs("a/1", 1, 2, 1), free(runs("a/2", 3, 2, 1))}, budgets: budget(0), cpus: []int64{2}, want: "Preempt a/2"},
		{about: "a group yields whole", nodes: ab, groups: whole, pods: []workload.Pod{grouped(runs("a/1", 1, 4, 1)), grouped(runs("b/1", 1, 1, 1)), runs("b/2", 7, 3, 1)}, cpus: []int64{4}, want: "Preempt a/1 b/1"},
		{about: "each member has a place", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1), runs("b/1", 2, 4, 1)}, cpus: []int64{4, 4}, want: "Preempt a/1 b/1"},
		{about: "the minimum of the group", nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1), runs("b/1", 2, 4, 1)}, cpus: []int64{4, 4}, change: func(r *ask.Request) { r.MinCount = 1 }, want: "Preempt a/1"},
		{about: "one domain has all members", nodes: []string{"a", "b", "c", "d"}, cpus: []int64{4, 4},
			pods: []workload.Pod{runs("a/1", 1, 4, 1), runs("b/1", 3, 4, 1), runs("c/1", 2, 4, 1), runs("d/1", 2, 4, 1)},
			change: func(r *ask.Request) {
				r.Domains = []ask.Domain{{Name: "ab", Nodes: []string{"a", "b"}}, {Name: "cd", Nodes: []string{"c", "d"}}}
			}, want: "Preempt c/1 d/1"},
	} {
		c, r := q.ask(t)
		var s search.Search
		if got := text(s.Decide(&q.config, c, &r)); got != q.want {
			t.Errorf("%s: %s, want %s", q.about, got, q.want)
		}
	}
}

// A request that waits succeeds at RetryAt, not a nanosecond before; until then the minimum runtimes are its blockers.
func TestRetryAt(t *testing.T) {
	q := question{nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 10), runs("b/1", 2, 4, 20)}}
	for members, minutes := range map[int]int{1: 40, 2: 50} {
		q.cpus = slices.Repeat([]int64{4}, members)
		q.config.MinRuntime[state.Preempting] = int64(time.Hour)
		c, r := q.ask(t)
		var s search.Search
		found := s.Decide(&q.config, c, &r)
		want := noon.Add(time.Duration(minutes)*time.Minute).UnixNano() + 1
		if found.Outcome != search.Wait || found.RetryAt != want || len(found.Blockers) == 0 {
			t.Fatalf("%d members: %s, RetryAt %v, want %v; %d blockers", members, text(found), time.Unix(0, found.RetryAt).UTC(), time.Unix(0, want).UTC(), len(found.Blockers))
		}
		for late, outcome := range map[int64]search.Outcome{-1: search.Wait, 0: search.Preempt} {
			if r.Now = time.Unix(0, want+late).UTC(); s.Decide(&q.config, c, &r).Outcome != outcome {
				t.Errorf("%d members, %d ns after RetryAt: not %v", members, late, outcome)
			}
		}
	}
}

// What a search looks at does not leak into the next one.
func TestSearchIsReused(t *testing.T) {
	var s search.Search
	full := question{nodes: ab, pods: []workload.Pod{runs("a/1", 1, 4, 1), runs("b/1", 2, 4, 1)}, cpus: []int64{4}}
	large := question{nodes: []string{"a", "b", "c"}, pods: []workload.Pod{runs("a/1", 1, 3, 1), runs("b/1", 2, 3, 1), runs("c/1", 3, 3, 1)}, cpus: []int64{4, 4, 4}}
	for range 3 {
		for _, q := range []question{full, large} {
			var fresh search.Search
			c, r := q.ask(t)
			if got, want := text(s.Decide(&q.config, c, &r)), text(fresh.Decide(&q.config, c, &r)); got != want {
				t.Errorf("%s, a new search says %s", got, want)
			}
		}
	}
}
