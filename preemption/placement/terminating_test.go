package placement_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// A pod that terminates is waited for until the request's timeout; then it counts as running,
// and is nobody's victim.
func TestTerminationTimeout(t *testing.T) {
	now := preemptiontest.Now
	stuck := cpu("stuck", "a", 0, 4)
	stuck.Terminating, stuck.Preempted, stuck.TerminatingSince = true, true, now.Add(-10*time.Minute)
	st := placement.State{Nodes: []workload.Node{machine("a", 4), machine("b", 4)}, Pods: []workload.Pod{stuck, cpu("other", "b", 5, 4)}}
	r := placement.Request{Priority: 10, Pods: []workload.Pod{cpu("in", "", 0, 4)}, Now: now}
	for _, c := range []struct {
		timeout time.Duration
		since   time.Time
		want    string
	}{
		{0, stuck.TerminatingSince, "Wait in@a"},
		{10*time.Minute + 1, stuck.TerminatingSince, "Wait in@a"},
		{10 * time.Minute, stuck.TerminatingSince, "Preempt in@b; evict other"},
		{time.Minute, stuck.TerminatingSince, "Preempt in@b; evict other"},
		{time.Minute, time.Time{}, "Wait in@a"},
	} {
		r.TerminationTimeout, st.Pods[0].TerminatingSince = c.timeout, c.since
		wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), c.want, "timeout %v, since %v", c.timeout, c.since)
	}
	st.Pods = st.Pods[:1]
	st.Pods[0].TerminatingSince = now.Add(-time.Hour)
	r.Group, r.TerminationTimeout = "in", time.Minute
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, placement.State{Nodes: st.Nodes[:1], Pods: st.Pods}), r)), "Impossible (NoVictims)", "nobody else runs")
	st.Nominated = []workload.Pod{cpu("in", "a", 10, 4)}
	for timeout, want := range map[time.Duration]preemption.Outcome{0: preemption.Wait, time.Minute: preemption.Fits} {
		r.TerminationTimeout = timeout
		r.SkipFit = true
		if got := decide(t, placement.Config{Mode: placement.ModeInPlace}, snapshotOf(t, st), r).Outcome; (got == preemption.Wait) != (want == preemption.Wait) {
			t.Errorf("as built, timeout %v: %v", timeout, got)
		}
	}
}

// The eviction of a victim starts at the time of the decision, once.
func TestEvictionStartsOnce(t *testing.T) {
	now := preemptiontest.Now
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("a", 4)}, Pods: []workload.Pod{cpu("p", "a", 0, 4)}})
	d := decide(t, placement.Config{}, s, placement.Request{Priority: 10, Pods: []workload.Pod{cpu("in", "", 0, 4)}, Now: now})
	s = edit(t, s, d.Edits()...)
	s = edit(t, s, placement.StartEvictionAt("p", now.Add(time.Hour)), placement.StartEviction("p"))
	if p := s.State().Pods[0]; !p.Preempted || !p.TerminatingSince.Equal(now) {
		t.Errorf("%+v, want it to terminate since %v", p, now)
	}
}

// A place that needs nobody to leave is not waited for: who terminates
// elsewhere is nobody to wait for.
func TestWaitNeedsSomebody(t *testing.T) {
	away := cpu("away", "b", 0, 1)
	away.Terminating = true
	st := placement.State{Nodes: []workload.Node{machine("a", 4), machine("b", 1)}, Pods: []workload.Pod{away}}
	r := placement.Request{Priority: 10, Pods: []workload.Pod{cpu("in", "", 0, 4)}}
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Fits in@a")
	r.SkipFit = true // somewhere that the scheduler cannot use
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Impossible (NoVictims)", "unschedulable")
	// A conflict with a pod that leaves a node where nothing is placed.
	away.Labels, away.Node = map[string]string{"app": "web"}, "c"
	off := machine("c", 4)
	off.Unschedulable = true
	st = placement.State{Nodes: []workload.Node{machine("a", 4), off}, Pods: []workload.Pod{away}}
	r.SkipFit, r.Pods[0].Labels = false, away.Labels
	far := placement.Config{Filters: []placement.Filter{preemptiontest.Apart{Label: "app", Anywhere: true}}}
	wantText(t, text(decide(t, far, snapshotOf(t, st), r)), "Wait in@a", "in conflict from afar")
}

// A place for which nobody has to leave is not waited for, also if it is found only because a
// pod that leaves is not counted: with it the first pod would choose the node that the second
// one needs.
func TestPlaceFoundWithoutWhoLeaves(t *testing.T) {
	leaves := cpu("leaves", "b", 20, 2)
	leaves.Terminating, leaves.Preempted = true, true
	st := placement.State{Nodes: []workload.Node{machine("a", 2), machine("b", 6)}, Pods: []workload.Pod{leaves, cpu("stays", "b", 20, 1)}}
	r := placement.Request{Priority: 10, Group: "in", MinCount: 2, Policy: placement.PreemptNever, Pods: []workload.Pod{cpu("in0", "", 0, 1), cpu("in1", "", 0, 3)}}
	wantText(t, text(decide(t, placement.Config{Order: placement.BestFit}, snapshotOf(t, st), r)), "Fits in0@a in1@b")
}

// Preemption may find a place for which nobody has to be evicted: with the low pod out of the
// way the first pod chooses another node, and then all have room. If a pod that leaves holds a
// part of that room, it is waited for.
func TestWaitForAPlaceWithoutVictims(t *testing.T) {
	for leaving, want := range map[int64]string{1: "Wait in0@a in1@b", 0: "Fits in0@a in1@b"} {
		leaves := cpu("leaves", "b", 20, leaving)
		leaves.Terminating, leaves.Preempted = true, true
		st := placement.State{
			Nodes: []workload.Node{machine("a", 2), machine("b", 6)},
			Pods:  []workload.Pod{leaves, cpu("low", "b", 0, 2), cpu("stays", "b", 20, 1)},
		}
		r := placement.Request{Priority: 10, Group: "in", MinCount: 2, Pods: []workload.Pod{cpu("in0", "", 0, 1), cpu("in1", "", 0, 3)}}
		wantText(t, text(decide(t, placement.Config{Order: placement.BestFit}, snapshotOf(t, st), r)), want, "%d leave", leaving)
	}
}

// A pod keeps apart from who runs, of whatever priority, as long as that one does not yield.
func TestRunningPodsAndFilters(t *testing.T) {
	for _, c := range []struct {
		priority int32
		want     string
	}{{0, "Preempt in@a; evict runs"}, {10, "Impossible (NoVictims)"}, {11, "Impossible (NoVictims)"}} {
		for _, anywhere := range []bool{false, true} {
			runs, in := cpu("runs", "a", c.priority, 1), cpu("in", "", 0, 1)
			runs.Labels = map[string]string{"app": "web"}
			in.Labels = runs.Labels
			s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("a", 4)}, Pods: []workload.Pod{runs}})
			config := placement.Config{Filters: []placement.Filter{preemptiontest.Apart{Label: "app", Anywhere: anywhere}}}
			wantText(t, text(decide(t, config, s, placement.Request{Priority: 10, Pods: []workload.Pod{in}})), c.want, "priority %d, anywhere %v", c.priority, anywhere)
		}
	}
}

// In the modes that take who terminates as running, who has done so for too long is nobody's
// victim either: the next one is, or nobody, and not the same pod for ever.
func TestTerminationTimeoutAsBuilt(t *testing.T) {
	now := preemptiontest.Now
	stuck := cpu("stuck", "a", 0, 4)
	stuck.Terminating, stuck.Preempted, stuck.TerminatingSince = true, true, now.Add(-time.Hour)
	r := placement.Request{Priority: 10, Pods: []workload.Pod{cpu("in", "", 0, 4)}, Now: now}
	for _, mode := range []placement.Mode{placement.ModeInPlace} {
		for _, c := range []struct {
			name    string
			timeout time.Duration
			group   string // of the stuck pod
			others  []workload.Pod
			want    string
		}{
			{"no bound: it is told again", 0, "", nil, "Preempt in@a; evict stuck"},
			{"not yet", 2 * time.Hour, "", nil, "Preempt in@a; evict stuck"},
			{"nobody else", time.Minute, "", nil, "Impossible (NoVictims)"},
			{"somebody else", time.Minute, "", []workload.Pod{cpu("other", "b", 5, 4)}, "Preempt in@b; evict other"},
			{"its group was told, too", time.Minute, "whole", []workload.Pod{cpu("of", "b", 0, 4)}, "Impossible (NoVictims)"},
		} {
			first := stuck
			first.Group = c.group
			st := placement.State{
				Nodes:  []workload.Node{machine("a", 4)},
				Groups: []workload.PodGroup{{ID: "whole", DisruptionMode: workload.DisruptionModePodGroup}},
				Pods:   []workload.Pod{first},
			}
			for _, p := range c.others {
				p.Group = c.group
				st.Nodes, st.Pods = append(st.Nodes, machine(p.Node, 4)), append(st.Pods, p)
			}
			r := r
			r.TerminationTimeout = c.timeout
			wantText(t, text(decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r)), c.want, "%v, %s", mode, c.name)
		}
	}
}

// How many pods have a place is said also where nobody may yield.
func TestPlaceableWhereNobodyYields(t *testing.T) {
	st := placement.State{
		Nodes: []workload.Node{machine("a", 4), machine("b", 6)},
		Pods:  []workload.Pod{cpu("high", "a", 20, 2), cpu("too", "b", 20, 4)},
	}
	r := placement.Request{Group: "in", Priority: 10, MinCount: 3, Pods: []workload.Pod{cpu("x", "", 0, 2), cpu("y", "", 0, 2), cpu("z", "", 0, 2)}}
	for _, mode := range []placement.Mode{placement.ModeDesign, placement.ModeInPlace} {
		for policy, want := range map[placement.PreemptionPolicy]placement.Reason{placement.PreemptLowerPriority: placement.ReasonNoVictims, placement.PreemptNever: placement.ReasonPolicyNever} {
			r.Policy = policy
			if d := decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r); d.Reason != want || d.Placeable != 2 {
				t.Errorf("%v: %s, %d have a place; want %v, 2", mode, text(d), d.Placeable, want)
			}
		}
	}
}

// As built, a single pod is not blocked by a node that has become impossible for it; a group
// is.
func TestBlockedByAnImpossibleNode(t *testing.T) {
	for name, change := range map[string]change{
		"possible":      func(*placement.State, *placement.Request, *placement.Config) {},
		"unschedulable": func(st *placement.State, _ *placement.Request, _ *placement.Config) { st.Nodes[0].Unschedulable = true },
		"not named":     func(_ *placement.State, r *placement.Request, _ *placement.Config) { r.Pods[0].Nodes = []string{"n2"} },
		"filtered": func(st *placement.State, r *placement.Request, c *placement.Config) {
			st.Nodes[1].Labels, r.Pods[0].Labels = map[string]string{"zone": "a"}, map[string]string{"app": "db"}
			c.Filters = []placement.Filter{preemptiontest.Apart{Label: "app", Zone: "a"}}
		},
	} {
		for _, members := range []int{0, 1} {
			st, r, c := world(t, "n1 1: a/0/leaving", "n2 1: b/0"), pending(members), placement.Config{Mode: placement.ModeInPlace}
			promise(&st, "in0", "n1", 1000)
			change(&st, &r, &c)
			want := "Wait in0@n1"
			if members == 0 && name != "possible" {
				want = "Preempt in0@n2; evict b"
			}
			wantText(t, text(decide(t, c, snapshotOf(t, st), r)), want, "%s, group of %d", name, members)
		}
	}
	st, r := world(t, "n1 1: a/0/leaving", "n2 1: b/0"), pending(0)
	promise(&st, "in0", "n1", 1000)
	r.Pods[0].Nodes = []string{"n1"}
	wantText(t, text(decide(t, placement.Config{Mode: placement.ModeInPlace}, snapshotOf(t, st), r)), "Wait in0@n1", "named")
}

// With SkipFit a single pod waits for what leaves a node, also if another node, which comes first, has room: the caller's scheduler
// has failed there. "If the request fits once terminating pods are gone, it waits for them."
func TestSkipFitWaits(t *testing.T) {
	for want, lines := range map[string][]string{
		"Wait in0@n2":            {"n1 1:", "n2 1: gone/1/leaving"},
		"Impossible (NoVictims)": {"n1 2: gone/1/leaving"}, // there is room beside it
	} {
		st, r := world(t, lines...), pending(0)
		r.SkipFit = true
		wantText(t, text(decided(t, st, r)), want)
	}
}
