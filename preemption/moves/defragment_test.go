package moves_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The story of defragmentation in docs/designs/rules.md: the quota is there, but a small job sits on every rack that a large one
// needs whole. The rules say which small job leaves. Its pod has a place on the other rack, so it moves, and then nothing moves again.
func TestDefragmentationMoves(t *testing.T) {
	racks := []placement.Domain{{Name: "r0", Nodes: []string{"n0", "n1"}}, {Name: "r1", Nodes: []string{"n4", "n5"}}}
	nodes := snapshot(t, cluster("n0=1 n1=1 n4=1 n5=1 n0:s1=1 n4:s2=1"))
	job := func(id, size string, pods int64) workload.Workload {
		return workload.Workload{ID: id, Queue: "a", Labels: map[string]string{"nodes": size}, PodSets: []workload.PodSet{
			{Name: "main", Count: pods, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 1}}}}}
	}
	running := func(id string) workload.Workload {
		w := job(id, "1", 1)
		w.ReservedAt = now.Add(-time.Hour)
		return w
	}
	quotas, err := preemption.NewSnapshot(preemption.State{
		Rules: []rules.Config{{Name: "defragment", Rules: []rules.Rule{{
			Name: "smaller-ones-move", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.QuotaFeasibleAndInsufficientTopology},
			CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinCohortTree,
				NumericLabels: []rules.NumericLabel{{Key: "nodes", Fallback: quota.Some(int64(1)), Comparison: rules.LessThan}}}},
		}}}},
		Queues:   []queue.Queue{{Name: "a", Rules: "defragment", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 4}}}},
		Admitted: []workload.Workload{running("s1"), running("s2")},
	})
	if err != nil {
		t.Fatal(err)
	}
	large := placement.Request{Group: "large", MinCount: 2, Now: now, Domains: racks}
	for _, id := range []string{"large-0", "large-1"} {
		large.Pods = append(large.Pods, workload.Pod{ID: id, Requests: workload.Resources{"gpu": 1}})
	}
	// The pods of a workload are the group with its ID.
	grouped := workload.Pod{ID: "s1", Group: "s1", Node: "n0", Requests: workload.Resources{"gpu": 1}}
	other := workload.Pod{ID: "s2", Group: "s2", Node: "n4", Requests: workload.Resources{"gpu": 1}}
	if nodes, err = nodes.With(placement.Run(grouped), placement.Run(other)); err != nil {
		t.Fatal(err)
	}
	room := must(new(placement.Preemptor).Fit(nodes, large))(t)
	d, err := new(preemption.Preemptor).Decide(quotas, preemption.Request{Workload: job("large", "2", 2), Now: now, Room: room})
	if err != nil || d.Outcome != preemption.Preempt || len(d.Victims) != 1 {
		t.Fatalf("%v %v %v", d.Outcome, d.Victims, err)
	}
	leaves := d.Victims[0].Workload // its rack becomes whole

	// The same, as a question about the rack: what leaves it has a place.
	rack := racks[0]
	if leaves == "s2" {
		rack = racks[1]
	}
	only := moves.Config{Price: mustMove}
	a, err := moves.Clear(nil, nodes, moves.ClearRequest{Now: now, Domains: []placement.Domain{rack}}, only)
	if err != nil || len(a.Moves) != 1 || a.Moves[0].Pods[0].Pod != leaves {
		t.Fatalf("%s, %v: want %s to move", toldOfClear(a), err, leaves)
	}
	if nodes, err = nodes.With(a.EditsWhenDone(nodes)...); err != nil {
		t.Fatal(err)
	}
	if again, err := moves.Clear(nil, nodes, moves.ClearRequest{Now: now, Domains: racks, Count: 1}, only); err != nil || again.Outcome != preemption.Fits {
		t.Fatalf("a rack is whole, but %s, %v", toldOfClear(again), err)
	}
	placed, err := new(placement.Preemptor).Decide(nodes, large)
	if err != nil || placed.Outcome != preemption.Fits {
		t.Fatalf("the large job has its rack, but %v, %v", placed.Outcome, err)
	}
	if nodes, err = nodes.With(placed.Edits()...); err != nil {
		t.Fatal(err)
	}
	again, err := moves.Clear(nil, nodes, moves.ClearRequest{Now: now, Domains: racks, Count: 1}, only)
	if err != nil || again.Outcome != preemption.Impossible || len(again.Moves) > 0 {
		t.Fatalf("no small job moves back, but %s, %v", toldOfClear(again), err)
	}
}
