package unit_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/nodes/unit"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// runs is a pod of priority 1 in queue "q" that has run for so many minutes.
func runs(id string, minutes int) workload.Pod {
	return workload.Pod{ID: id, UID: id, Node: "n", Queue: "q", Priority: 1, Started: noon.Add(-time.Duration(minutes) * time.Minute)}
}

func with(p workload.Pod, change func(*workload.Pod)) workload.Pod {
	change(&p)
	return p
}

func judgeOf(t *testing.T, config ask.Config, r ask.Request, groups []workload.PodGroup, pods ...workload.Pod) (*unit.Judge, *state.Cluster) {
	t.Helper()
	c, err := state.New(&state.State{Nodes: []workload.Node{{Name: "n"}}, Pods: pods, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	var j unit.Judge
	j.Begin(&config, c, &r)
	return &j, c
}

// A unit may yield if its priority is lower, strictly after its minimum runtime and the guard's protection.
func TestVerdict(t *testing.T) {
	minutes := func(n int) int64 { return noon.Add(time.Duration(n) * time.Minute).UnixNano() }
	hour := int64(time.Hour)
	for _, c := range []struct {
		about  string
		config ask.Config
		asks   ask.Request
		pod    workload.Pod
		want   unit.Verdict
	}{
		{"it may", ask.Config{}, ask.Request{}, runs("p", 10), unit.Verdict{}},
		{"equal priority", ask.Config{}, ask.Request{}, with(runs("p", 10), func(p *workload.Pod) { p.Priority = 5 }), unit.Verdict{Rule: unit.Priority, Until: unit.Never, Last: unit.Never}},
		{"the default", ask.Config{MinRuntime: [2]int64{state.Preempting: hour}}, ask.Request{}, runs("p", 10), unit.Verdict{Rule: unit.MinRuntime, Until: minutes(50), Last: minutes(50)}},
		{"at its end", ask.Config{MinRuntime: [2]int64{state.Preempting: hour}}, ask.Request{}, runs("p", 60), unit.Verdict{Rule: unit.MinRuntime, Until: minutes(0), Last: minutes(0)}},
		{"after its end", ask.Config{MinRuntime: [2]int64{state.Preempting: hour}}, ask.Request{}, runs("p", 61), unit.Verdict{}},
		{"the pod's own counts", ask.Config{MinRuntime: [2]int64{state.Preempting: hour}}, ask.Request{},
			with(runs("p", 10), func(p *workload.Pod) { p.MinRuntime = quota.Some(20 * time.Minute) }), unit.Verdict{Rule: unit.MinRuntime, Until: minutes(10), Last: minutes(10)}},
		{"of the other kind", ask.Config{MinRuntime: [2]int64{state.Reclaiming: hour}}, ask.Request{}, runs("p", 10), unit.Verdict{}},
		{"a reclaim", ask.Config{MinRuntime: [2]int64{state.Reclaiming: hour}}, ask.Request{Queue: "other"}, runs("p", 10), unit.Verdict{Rule: unit.MinRuntime, Until: minutes(50), Last: minutes(50)}},
		{"of no queue", ask.Config{MinRuntime: [2]int64{state.Reclaiming: hour}}, ask.Request{Queue: "other"},
			with(runs("p", 10), func(p *workload.Pod) { p.Queue = "" }), unit.Verdict{}},
		{"no start", ask.Config{MinRuntime: [2]int64{state.Preempting: hour}}, ask.Request{}, with(runs("p", 10), func(p *workload.Pod) { p.Started = time.Time{} }), unit.Verdict{}},
		{"the guard", ask.Config{}, ask.Request{Rules: ask.Rules{Guard: func(*state.Unit) int64 { return minutes(5) }}}, runs("p", 10), unit.Verdict{Rule: unit.Guarded, Until: minutes(5), Last: minutes(5)}},
		{"the guard lasts longer", ask.Config{MinRuntime: [2]int64{state.Preempting: hour}}, ask.Request{Rules: ask.Rules{Guard: func(*state.Unit) int64 { return minutes(70) }}}, runs("p", 10),
			unit.Verdict{Rule: unit.MinRuntime, Until: minutes(50), Last: minutes(70)}},
		{"the guard is silent", ask.Config{}, ask.Request{Rules: ask.Rules{Guard: func(*state.Unit) int64 { return instant.Unset }}}, runs("p", 10), unit.Verdict{}},
		{"it terminates, as built", ask.Config{Mode: ask.InPlace}, ask.Request{TerminationTimeout: time.Minute},
			with(runs("p", 10), func(p *workload.Pod) { p.Terminating, p.TerminatingSince = true, noon.Add(-time.Minute) }), unit.Verdict{Rule: unit.Terminating, Until: unit.Never, Last: unit.Never}},
		{"it terminates since not so long", ask.Config{Mode: ask.InPlace}, ask.Request{TerminationTimeout: time.Minute},
			with(runs("p", 10), func(p *workload.Pod) { p.Terminating, p.TerminatingSince = true, noon.Add(-time.Second) }), unit.Verdict{}},
		{"it terminates, by design", ask.Config{}, ask.Request{}, with(runs("p", 10), func(p *workload.Pod) { p.Terminating = true }), unit.Verdict{Rule: unit.Terminating, Until: unit.Never, Last: unit.Never}},
	} {
		if c.asks.Priority, c.asks.Now = 5, noon; c.asks.Queue == "" {
			c.asks.Queue = "q"
		}
		j, all := judgeOf(t, c.config, c.asks, nil, c.pod)
		if _, got := j.VerdictOf(all.Pod("p"), j.Now); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.about, got, c.want)
		}
	}
}

// In the design a terminating pod is waited for if it was preempted, or is of lower priority; others stay, and so do those that
// terminate for longer than the timeout.
func TestStuck(t *testing.T) {
	leaves := func(priority int32, preempted bool) workload.Pod {
		return with(runs("p", 10), func(p *workload.Pod) {
			p.Priority, p.Terminating, p.Preempted, p.TerminatingSince = priority, true, preempted, noon.Add(-time.Minute)
		})
	}
	for _, c := range []struct {
		mode      ask.Mode
		timeout   time.Duration
		awaitsAll bool
		pod       workload.Pod
		want      bool
	}{
		{ask.Design, 0, false, runs("p", 10), false},
		{ask.Design, 0, false, leaves(1, false), false},
		{ask.Design, 0, false, leaves(5, false), true},
		{ask.Design, 0, false, leaves(5, true), false},
		{ask.Design, 0, true, leaves(5, false), false},
		{ask.Design, time.Minute, false, leaves(1, false), true},
		{ask.Design, time.Hour, false, leaves(1, false), false},
		{ask.InPlace, 0, false, leaves(5, false), false},
		{ask.InPlace, time.Minute, false, leaves(1, true), true},
	} {
		j, all := judgeOf(t, ask.Config{Mode: c.mode}, ask.Request{Priority: 5, Now: noon, TerminationTimeout: c.timeout, AwaitsAll: c.awaitsAll}, nil, c.pod)
		if got := j.Stuck(all.Pod("p")); got != c.want {
			t.Errorf("%v, timeout %v, all are awaited %t: %+v is stuck: %t", c.mode, c.timeout, c.awaitsAll, c.pod, got)
		}
	}
}

// A group yields whole: the latest protection of its pods counts, and what sets it is named.
func TestGroupIsProtectedByItsLatestPod(t *testing.T) {
	of := func(minutes int, id string) workload.Pod {
		return with(runs(id, minutes), func(p *workload.Pod) { p.Group = "g" })
	}
	groups := []workload.PodGroup{{ID: "g", Priority: 1, DisruptionMode: workload.DisruptionModePodGroup, MinRuntime: quota.Some(time.Hour)}}
	own := with(of(50, "c"), func(p *workload.Pod) { p.MinRuntime = quota.Some(2 * time.Hour) })
	for _, c := range []struct {
		pods   []workload.Pod
		until  int
		id     string
		source unit.Source
	}{
		{[]workload.Pod{of(30, "a"), of(10, "b")}, 50, "g", unit.OwnGroup},
		{[]workload.Pod{of(30, "a"), own}, 70, "c", unit.OwnPod},
	} {
		j, all := judgeOf(t, ask.Config{}, ask.Request{Priority: 5, Queue: "q", Now: noon}, groups, c.pods...)
		u, got := j.VerdictOf(all.Pod("a"), j.Now)
		if want := noon.Add(time.Duration(c.until) * time.Minute).UnixNano(); len(u.Pods) != 2 || got.Rule != unit.MinRuntime || got.Until != want {
			t.Errorf("%d pods, %+v, want until %v", len(u.Pods), got, time.Unix(0, want).UTC())
		}
		if id, source := j.SetBy(u, got.Until); id != c.id || source != c.source {
			t.Errorf("set by %q, %v, want %q, %v", id, source, c.id, c.source)
		}
	}
}
