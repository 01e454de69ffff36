package placement_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Minimum runtimes on one node that is full, with one hour as the default. The preemptor
// needs all of it.
func TestMinimumRuntime(t *testing.T) {
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	minutes := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	runs := func(id string, started time.Time, minimum quota.OptionalDuration) workload.Pod {
		p := cpu(id, "n", 0, 2)
		p.Group, p.Started, p.MinRuntime = "g", started, minimum
		return p
	}
	var unset quota.OptionalDuration
	for name, c := range map[string]struct {
		pods    []workload.Pod
		mode    workload.DisruptionMode
		group   quota.OptionalDuration
		now     time.Time
		want    preemption.Outcome
		retryAt time.Time
		rule    placement.Rule
		setBy   string // "": default
	}{
		"the last instant protects":       {pods: []workload.Pod{runs("a", start, unset)}, now: minutes(60), want: preemption.Wait, retryAt: minutes(60).Add(1), rule: placement.RuleMinRuntime},
		"strictly after it may yield":     {pods: []workload.Pod{runs("a", start, unset)}, now: minutes(60).Add(1), want: preemption.Preempt},
		"without a start it may yield":    {pods: []workload.Pod{runs("a", time.Time{}, unset)}, now: start, want: preemption.Preempt},
		"its group's comes first":         {pods: []workload.Pod{runs("a", start, unset)}, group: quota.Some(2 * time.Hour), now: minutes(90), want: preemption.Wait, retryAt: minutes(120).Add(1), rule: placement.RuleMinRuntime, setBy: `group "g"`},
		"its own comes before that":       {pods: []workload.Pod{runs("a", start, quota.Some(time.Duration(0)))}, group: quota.Some(2 * time.Hour), now: start, want: preemption.Preempt},
		"a whole unit waits for its last": {pods: []workload.Pod{runs("a", start, unset), runs("b", minutes(30), unset)}, mode: workload.DisruptionModePodGroup, now: minutes(70), want: preemption.Wait, retryAt: minutes(90).Add(1), rule: placement.RuleMinRuntime},
		"and that pod is named":           {pods: []workload.Pod{runs("a", start, unset), runs("b", start, quota.Some(2*time.Hour))}, mode: workload.DisruptionModePodGroup, now: minutes(70), want: preemption.Wait, retryAt: minutes(120).Add(1), rule: placement.RuleMinRuntime, setBy: `pod "b"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshotOf(t, placement.State{
				Nodes: []workload.Node{machine("n", 4)}, Pods: c.pods,
				Groups: []workload.PodGroup{{ID: "g", DisruptionMode: c.mode, MinRuntime: c.group}},
			})
			r := placement.Request{Priority: 5, Now: c.now, Pods: []workload.Pod{cpu("in", "", 0, 4)}}
			d := decide(t, placement.Config{MinRuntime: quota.Some(time.Hour)}, s, r)
			if d.Outcome != c.want || !d.RetryAt.Equal(c.retryAt) {
				t.Errorf("%v, retry at %v, want %v at %v", d.Outcome, d.RetryAt, c.want, c.retryAt)
			}
			if c.rule != 0 && (len(d.Blockers) == 0 || d.Blockers[0].Rule != c.rule || !d.Blockers[0].Until.Equal(c.retryAt.Add(-1))) {
				t.Errorf("blockers %+v, want %v until %v", d.Blockers, c.rule, c.retryAt.Add(-1))
			}
			if want := cmp.Or(c.setBy, "default"); c.rule != 0 && d.Blockers[0].SetBy != want {
				t.Errorf("set by %s, want %s", d.Blockers[0].SetBy, want)
			}
		})
	}
}

// A pod that terminates is waited for until its time is over; then another one yields.
func TestRetryAtAfterTheTerminationTimeout(t *testing.T) {
	told := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	leaves := cpu("leaves", "n", 0, 4)
	leaves.Terminating, leaves.TerminatingSince = true, told
	s := snapshotOf(t, placement.State{
		Nodes: []workload.Node{machine("m", 4), machine("n", 4)}, Pods: []workload.Pod{leaves, cpu("stays", "m", 0, 4)},
	})
	r := placement.Request{Priority: 5, Now: told, TerminationTimeout: time.Minute, Pods: []workload.Pod{cpu("in", "", 0, 4)}}
	d := decide(t, placement.Config{}, s, r)
	if d.Outcome != preemption.Wait || len(d.Nominations) != 1 || !d.RetryAt.Equal(told.Add(time.Minute)) {
		t.Errorf("%+v, want to wait on n, and retry after a minute", d)
	}
	r.TerminationTimeout = 0
	if d := decide(t, placement.Config{}, s, r); d.Outcome != preemption.Wait || !d.RetryAt.IsZero() {
		t.Errorf("%+v, want to wait for an event", d)
	}
}

// A time is needed where somebody is protected by one.
func TestMinimumRuntimeNeedsNow(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("n", 4)}})
	p := must(placement.New(placement.Config{MinRuntime: quota.Some(time.Hour)}))(t)
	_, err := p.Decide(s, placement.Request{Pods: []workload.Pod{cpu("in", "", 0, 4)}})
	wantFaults(t, err, "request.now: is needed for minimum runtimes")
	_, err = placement.New(placement.Config{MinRuntime: quota.Some(-time.Hour)})
	wantFaults(t, err, "config.MinRuntime: -1h0m0s is negative")
}

// A pod that terminates for too long counts as running, once: there is room beside it now.
func TestRoomBesideAStuckPod(t *testing.T) {
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	stuck := cpu("stuck", "n", 0, 4)
	stuck.Terminating, stuck.TerminatingSince = true, now.Add(-time.Hour)
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("n", 8)}, Pods: []workload.Pod{stuck}})
	r := placement.Request{Priority: 5, Now: now, TerminationTimeout: time.Minute, Pods: []workload.Pod{cpu("in", "", 0, 4)}}
	if d := decide(t, placement.Config{}, s, r); d.Outcome != preemption.Fits {
		t.Errorf("%v, want %v", d.Outcome, preemption.Fits)
	}
}

// The minimum runtime of one group is enough to protect it, where nothing else has any; it is
// a blocker, unless these are not asked for.
func TestOneMinimumRuntime(t *testing.T) {
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	runs := cpu("runs", "n", 0, 4)
	runs.Group, runs.Started = "g", now
	s := snapshotOf(t, placement.State{
		Nodes: []workload.Node{machine("n", 4)}, Pods: []workload.Pod{runs},
		Groups: []workload.PodGroup{{ID: "g", MinRuntime: quota.Some(time.Hour)}},
	})
	r := placement.Request{Priority: 5, Now: now.Add(time.Minute), Pods: []workload.Pod{cpu("in", "", 0, 4)}}
	for most, blockers := range map[int]int{0: 1, -1: 0} {
		d := decide(t, placement.Config{MaxBlockers: most}, s, r)
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(now.Add(time.Hour+1)) || len(d.Blockers) != blockers {
			t.Errorf("%v until %v, blockers %+v", d.Outcome, d.RetryAt, d.Blockers)
		}
	}
}

// once counts how often it is asked about a unit; nobody yields.
type once map[string]int

func (o once) Verdict(u placement.Unit, _ placement.Request) preemption.Verdict {
	o[u.Pods[0].ID]++
	return preemption.NeverYields()
}

// A guard is asked once for each unit in a decision, however many nodes, instants and reasons
// are looked at.
func TestGuardIsAskedOnce(t *testing.T) {
	asked := once{}
	c := placement.Config{Guards: []placement.Guard{asked}, MinRuntime: quota.Some(time.Hour)}
	r := pending(2)
	r.Now = time.Unix(3000, 0)
	wantText(t, text(decide(t, c, snapshotOf(t, world(t, "n1 2: a/0/young b/0/old", "n2 1: d/0/g/old", "n3 1: e/0/g/old")), r)), "Impossible (NoVictims)")
	if len(asked) != 3 {
		t.Errorf("asked about %v", asked)
	}
	for unit, n := range asked {
		if n != 1 {
			t.Errorf("asked %d times about %s", n, unit)
		}
	}
}

// With a negative MaxRetrySteps the answer is Wait if one instant may help, and Impossible if none does; for
// the pods of a Basic group, too.
func TestWaitWithoutRetryAt(t *testing.T) {
	start := preemptiontest.Now
	for _, group := range []string{"", "basic"} {
		for _, protected := range []bool{false, true} {
			runs := cpu("runs", "n", 0, 4)
			want := preemption.Impossible
			if runs.Priority = 9; protected {
				runs.Priority, runs.Started, runs.MinRuntime, want = 0, start, quota.Some(time.Hour), preemption.Wait
			}
			st := placement.State{
				Nodes: []workload.Node{machine("n", 4)}, Pods: []workload.Pod{runs},
				Groups: []workload.PodGroup{{ID: "basic", Priority: 5, Basic: true}},
			}
			r := placement.Request{Group: group, Priority: 5, Now: start, Pods: []workload.Pod{cpu("in", "", 0, 4), cpu("too", "", 0, 4)}}
			if group == "" {
				r.Pods = r.Pods[:1]
			}
			d := decide(t, placement.Config{MaxRetrySteps: -1}, snapshotOf(t, st), r)
			if d.Outcome != want || !d.RetryAt.IsZero() {
				t.Errorf("group %q, protected %v: %v, retry at %v, want %v", group, protected, d.Outcome, d.RetryAt, want)
			}
		}
	}
}

// Without nodes a pod that names some has no place.
func TestNoNodes(t *testing.T) {
	pod := cpu("in", "", 0, 1)
	pod.Nodes = []string{"gone"}
	if d := decide(t, placement.Config{}, snapshotOf(t, placement.State{}), placement.Request{Pods: []workload.Pod{pod}}); d.Outcome != preemption.Impossible {
		t.Errorf("%v", d.Outcome)
	}
}

// The bound of steps holds for a Basic group as for others: RetryAt is the instant at which it
// was reached, which is not after the first at which somebody may yield.
func TestRetryAtOfABasicGroupIsBounded(t *testing.T) {
	start := preemptiontest.Now
	st := placement.State{
		Groups:  []workload.PodGroup{{ID: "basic", Priority: 10, Basic: true}},
		Budgets: []workload.DisruptionBudget{{Name: "none", Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "kept"}}}},
	}
	for i := range 4 {
		name := fmt.Sprint("n", i)
		p := cpu("on-"+name, name, 0, 2)
		p.Started, p.MinRuntime = start, quota.Some(time.Duration(i+1)*time.Hour)
		if i < 3 {
			p.Labels = map[string]string{"app": "kept"}
		}
		st.Nodes, st.Pods = append(st.Nodes, machine(name, 2)), append(st.Pods, p)
	}
	r := placement.Request{Group: "basic", Priority: 10, Now: start, Pods: []workload.Pod{cpu("in0", "", 0, 2), cpu("in1", "", 0, 2)}}
	for steps, hours := range map[int]int{0: 4, 1: 2, 1000: 4} {
		d := decide(t, placement.Config{MaxRetrySteps: steps, Budgets: placement.Hard}, snapshotOf(t, st), r)
		if want := start.Add(time.Duration(hours)*time.Hour + 1); !d.RetryAt.Equal(want) {
			t.Errorf("MaxRetrySteps %d: retry at %v, want %v", steps, d.RetryAt, want)
		}
	}
}
