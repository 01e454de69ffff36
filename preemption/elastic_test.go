package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

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
	rows, _ := edit(t, s, preemption.Remove("a1", preemption.Replicas{PodSet: "main", Count: 3})).QueueStatus("a")
	if rows[0].Usage != 1 || rows[0].FlavorResource != (quota.FlavorResource{Flavor: "h100", Resource: "gpu"}) {
		t.Errorf("%+v", rows)
	}
	_, err := s.With(preemption.Remove("a1", preemption.Replicas{PodSet: "main", Count: 5}), preemption.Remove("a1", preemption.Replicas{PodSet: "x", Count: 1}), preemption.Remove("x", preemption.Replicas{PodSet: "main", Count: 1}))
	wantFaults(t, err, `edits[0]: 5 of 4 replicas of pod set "main"`, `edits[1]: workload "a1" has no pod set "x"`, `edits[2]: no workload "x" is admitted`)
}

func TestMinCountsAreValidated(t *testing.T) {
	r := pending("a", 10, 4)
	main := r.Workload.PodSets[0]
	totals, huge := main, main
	totals.Name, totals.Totals = "totals", true
	huge.Name, huge.Count = "huge", workload.MaxElasticCount+1
	r.Workload.PodSets = []workload.PodSet{main, totals, huge}
	r.Room = &space{}
	r.MinCounts = []preemption.Replicas{{PodSet: "none", Count: 1}, {PodSet: "main", Count: -1}, {PodSet: "main", Count: 1}, {PodSet: "totals", Count: 1}, {PodSet: "huge", Count: 1}}
	_, err := new(preemption.Preemptor).Decide(snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}}), r)
	wantFaults(t, err,
		`request.minCounts[0].podSet: the workload has no pod set "none"`,
		`request.minCounts[1].count: -1 is not within 0 and 4, the replicas of pod set "main"`,
		`request.minCounts[2].podSet: "main" has an entry already`,
		`request.minCounts[3].podSet: the totals of pod set "totals" do not say what a replica takes`,
		`request.minCounts[4].count: pod set "huge" has 1048577 replicas: more than 1048576`,
		"request.minCounts: 5 entries, and a Room, which asks about all replicas",
	)
}

// Many replicas yield: all of them, all but one, and those of many workloads beside each other. By the square of their number
// this takes minutes.
func TestManyReplicas(t *testing.T) {
	for _, c := range []struct{ workloads, replicas, ask int64 }{{1, 1 << 18, 1 << 18}, {1, 1 << 18, 1<<18 - 1}, {64, 1 << 11, 1 << 17}} {
		st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(c.workloads * c.replicas), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}}
		for i := range c.workloads {
			st.Admitted = append(st.Admitted, elastic(fmt.Sprint(i), "a", c.replicas, 0, now))
		}
		d := decide(t, snapshotOf(t, st), pending("a", 10, c.ask))
		left := c.workloads * c.replicas
		for _, v := range d.Victims {
			for _, r := range v.Replicas {
				left -= r.Count
			}
			if len(v.Replicas) == 0 {
				left -= c.replicas
			}
		}
		if d.Outcome != preemption.Preempt || left != c.workloads*c.replicas-c.ask {
			t.Errorf("%+v: %v, %d replicas stay", c, d.Outcome, left)
		}
	}
}
