package preemption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/guard"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func TestGuardKeepsItsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		preemptiontest.CheckGuard(t, preemptiontest.ByUID{Never: "u0", Until: "u1", Time: now})
	})
}

// All protections count, and the latest end wins: policy, minimum runtime, guard.
func TestProtectionsCompose(t *testing.T) {
	w := job("low", "a", 0, 4, started(30))
	w.UID = "u"
	st := preemption.State{
		Queues: []queue.Queue{{
			Name: "a", Quotas: gpus(4), Preemption: reclaims,
			MinRuntime: minruntime.Settings{Preempt: quota.Some(time.Hour)}, // until now + 30m
		}},
		Admitted: []workload.Workload{w},
	}
	s := snapshotOf(t, st)
	for _, c := range []struct {
		name  string
		guard preemptiontest.ByUID
		want  string
		until time.Time
	}{
		{"no guard", preemptiontest.ByUID{}, "Wait: GuaranteedRuntime a low", started(-30)},
		{"an earlier end", preemptiontest.ByUID{Until: "u", Time: started(-10)}, "Wait: GuaranteedRuntime a low", started(-30)},
		{"a later end", preemptiontest.ByUID{Until: "u", Time: started(-50)}, "Wait: GuaranteedRuntime a low", started(-50)},
		{"never", preemptiontest.ByUID{Never: "u"}, "Impossible: GuaranteedRuntime a low", time.Time{}},
	} {
		p := preemptorOf(preemption.Config{Guards: []preemption.Guard{c.guard}})
		d, err := p.Decide(s, pending("a", 10, 4))
		if err != nil {
			t.Fatal(err)
		}
		want := c.until
		if !want.IsZero() {
			want = want.Add(1)
		}
		if got := text(d); got != c.want || !d.RetryAt.Equal(want) {
			t.Errorf("%s: %s until %v, want %s until %v", c.name, got, d.RetryAt, c.want, want)
		}
	}
	_, err := preemption.New(preemption.Config{Guards: []preemption.Guard{nil}, ReclaimMethod: 9, MinRuntime: minruntime.Settings{
		Preempt: quota.Some(time.Duration(-1)), Reclaim: quota.Some(time.Duration(-1)),
	}})
	wantFaults(t, err, "config.MinRuntime.Preempt: -1ns is negative", "config.MinRuntime.Reclaim: -1ns is negative",
		"config.ReclaimMethod: Method(9) is unknown", "config.Guards[0]: is nil")
}

// elastic returns a workload with a number of replicas of one GPU and a minimum.
func elastic(id, queueName string, count, minimum int64, at time.Time) workload.Workload {
	w := job(id, queueName, 0, count, at)
	w.PodSets[0].MinCount = workload.AtLeast(minimum)
	return w
}

func replicas(d preemption.Decision) map[string]int64 {
	list := map[string]int64{}
	for _, v := range d.Victims {
		list[v.Workload] = 0
		for _, r := range v.Replicas {
			list[v.Workload] += r.Count
		}
	}
	return list
}

// Elastic workloads: surplus replicas are victims one by one, the minimum leaves as one
// unit and only when unprotected.
func TestElastic(t *testing.T) {
	st := func(protectedFor time.Duration, admitted ...workload.Workload) preemption.State {
		return preemption.State{
			Queues: []queue.Queue{{
				Name: "a", Quotas: gpus(8), Preemption: reclaims,
				MinRuntime: minruntime.Settings{Preempt: quota.Some(protectedFor)},
			}},
			Admitted: admitted,
		}
	}
	for _, c := range []struct {
		name  string
		state preemption.State
		gpus  int64
		want  map[string]int64 // replicas; 0 is the whole
	}{
		{"as many replicas as needed", st(0, elastic("e", "a", 8, 2, started(5))), 3, map[string]int64{"e": 3}},
		{"all of the surplus", st(0, elastic("e", "a", 8, 2, started(5))), 6, map[string]int64{"e": 6}},
		{"the minimum leaves as one", st(0, elastic("e", "a", 8, 2, started(5))), 7, map[string]int64{"e": 0}},
		{"surplus of a protected one", st(time.Hour, elastic("e", "a", 8, 2, started(5))), 6, map[string]int64{"e": 6}},
		{"not its minimum", st(time.Hour, elastic("e", "a", 8, 2, started(5))), 7, nil},
		{
			"surplus before whole workloads of equal standing, although these run shorter",
			st(0, elastic("e", "a", 4, 2, started(50)), job("whole", "a", 0, 4, started(1))), 2, map[string]int64{"e": 2},
		},
		{
			"single replicas are put back: the large workload alone is not enough, so one of its surplus yields too",
			st(0, elastic("e", "a", 4, 1, started(5)), job("whole", "a", 0, 4, started(1))), 5, map[string]int64{"e": 1, "whole": 0},
		},
	} {
		d := decide(t, snapshotOf(t, c.state), pending("a", 10, c.gpus))
		got := replicas(d)
		if len(got) != len(c.want) || len(got) == 0 && d.Outcome != preemption.Wait {
			t.Errorf("%s: %v %v, want %v", c.name, d.Outcome, got, c.want)
		}
		for id, n := range c.want {
			if got[id] != n {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// One protected elastic workload never blocks a decision that is possible without it (as
// built in KAI it does: an elastic one of 2 with minimum 1, protected, a rigid one of 1
// that is not, and a gang of 2 that waits: one replica and the rigid one are the answer).
func TestProtectedElasticBlocksNobody(t *testing.T) {
	for _, rigidFirst := range []bool{false, true} {
		e, rigid := elastic("e", "a", 2, 1, started(1)), job("rigid", "a", 0, 1, started(120))
		if rigidFirst {
			e.Created, rigid.Created = started(1), started(200)
		}
		st := preemption.State{
			Queues: []queue.Queue{{
				Name: "a", Quotas: gpus(3), Preemption: reclaims,
				MinRuntime: minruntime.Settings{Preempt: quota.Some(10 * time.Minute)},
			}},
			Admitted: []workload.Workload{e, rigid},
		}
		got := replicas(decide(t, snapshotOf(t, st), pending("a", 10, 2)))
		if len(got) != 2 || got["e"] != 1 || got["rigid"] != 0 {
			t.Errorf("%v, want one replica of e and rigid", got)
		}
	}
}

// Shrink takes replicas away, and fails on what is not there.
func TestShrink(t *testing.T) {
	st := cloneState(small)
	s := snapshotOf(t, st)
	rows, _ := edit(t, s, preemption.Shrink("a1", "main", 3)).QueueStatus("a")
	if rows[0].Usage != 1 || rows[0].FlavorResource != (quota.FlavorResource{Flavor: "h100", Resource: "gpu"}) {
		t.Errorf("%+v", rows)
	}
	_, err := s.With(preemption.Shrink("a1", "main", 5), preemption.Shrink("a1", "x", 1), preemption.Shrink("x", "main", 1))
	wantFaults(t, err, `edits[0]: 5 of 4 replicas of pod set "main"`, `edits[1]: workload "a1" has no pod set "x"`, `edits[2]: no workload "x" is admitted`)
}

// recorder is a guard that notes who it is asked about; it keeps those of a priority.
type recorder struct {
	asked *[]string
	keeps int64
}

func (g recorder) Verdict(w workload.Workload, _ preemption.Request) guard.Verdict {
	*g.asked = append(*g.asked, w.ID)
	if w.Priority == g.keeps {
		return guard.NeverYields()
	}
	return guard.MayYield()
}

// A guard is asked last: not about those whom a policy or a minimum runtime keeps, nor
// about those who use nothing that needs preemption.
func TestGuardsAreAskedLast(t *testing.T) {
	other := job("other flavor", "a", 0, 1, started(120))
	other.PodSets[0].Requests[0].Flavor = "a100"
	surplus := job("protected surplus of another flavor", "a", 0, 3, started(1))
	surplus.PodSets[0].Requests[0].Flavor, surplus.PodSets[0].MinCount = "a100", workload.AtLeast(0)
	st := preemption.State{
		Queues: []queue.Queue{{
			Name: "a", Quotas: append(gpus(4), quota.Quota{Flavor: "a100", Resource: "gpu", Nominal: 4}),
			Preemption: reclaims, MinRuntime: minruntime.Settings{Preempt: quota.Some(time.Hour)},
		}},
		Admitted: []workload.Workload{
			other, surplus, job("protected", "a", 0, 1, started(1)), job("important", "a", 10, 1, started(120)),
			job("first", "a", 1, 1, started(120)), job("second", "a", 2, 1, started(120)),
		},
	}
	for sharing, want := range map[preemption.Sharing]string{preemption.Classical: "[first second]", preemption.Fair: "[first second]"} {
		var asked []string
		d := decideWith(t, preemption.Config{Sharing: sharing, Guards: []preemption.Guard{recorder{&asked, 1}}}, snapshotOf(t, st), pending("a", 10, 1))
		slices.Sort(asked)
		if got := fmt.Sprint(slices.Compact(asked)); got != want || text(d) != "Preempt: second InClusterQueue" {
			t.Errorf("%v: asked about %s, want %s; %s", sharing, got, want, text(d))
		}
	}
}
