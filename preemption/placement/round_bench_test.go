package placement_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// round is a full cluster of nodes with 8 GPUs, and as many waiting as running jobs of one GPU. Half of the queues have
// twice their nominal quota running; the jobs of the other half wait.
type round struct {
	quotas  *preemption.Snapshot
	nodes   *placement.Snapshot
	waiting []workload.Workload
	now     time.Time
}

func newRound(b *testing.B, nodes, queues int) *round {
	const perNode = 8
	r := &round{now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	jobs := nodes * perNode
	st, on := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}}, placement.State{}
	for q := range queues {
		st.Queues = append(st.Queues, queue.Queue{
			Name: fmt.Sprintf("queue-%d", q), Cohort: "root", Quotas: []quota.Quota{{Flavor: "gpus", Resource: "gpu", Nominal: int64(jobs / queues)}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
		})
	}
	for n := range nodes {
		on.Nodes = append(on.Nodes, workload.Node{Name: fmt.Sprintf("node-%04d", n), Capacity: workload.Resources{"gpu": perNode}})
	}
	job := func(name string, i, queue int) workload.Workload {
		return workload.Workload{
			ID: fmt.Sprintf("%s-%04d", name, i), Queue: fmt.Sprintf("queue-%d", queue), Priority: int64(mix(i) % 3),
			PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "gpus", Resource: "gpu", Amount: 1}}}},
		}
	}
	for i := range jobs {
		w := job("running", i, i%(queues/2))
		w.ReservedAt = r.now.Add(-time.Duration(mix(i)%10_000) * time.Second)
		st.Admitted = append(st.Admitted, w)
		on.Pods = append(on.Pods, podOf(&w, on.Nodes[i/perNode].Name))
		r.waiting = append(r.waiting, job("waiting", i, queues/2+i%(queues/2)))
	}
	var err error
	if r.quotas, err = preemption.NewSnapshot(st); err != nil {
		b.Fatal(err)
	}
	r.nodes = snapshotOf(b, on)
	return r
}

// podOf is the pod of a job.
func podOf(w *workload.Workload, node string) workload.Pod {
	return workload.Pod{ID: w.ID + "-0", Group: w.ID, Node: node, Priority: int32(w.Priority), Requests: workload.Resources{"gpu": 1}}
}

// run decides about each waiting job by quota and nodes, after what was decided before it. It returns how many run
// then.
func (r *round) run(b *testing.B) (admitted int) {
	var onQuota preemption.Preemptor
	var onNodes placement.Preemptor
	quotas, nodes := r.quotas, r.nodes
	for i := range r.waiting {
		w := &r.waiting[i]
		pod := podOf(w, "")
		request := placement.Request{Group: pod.Group, Priority: pod.Priority, Pods: []workload.Pod{pod}}
		room, err := onNodes.Fit(nodes, request)
		if err != nil {
			b.Fatal(err)
		}
		d, err := onQuota.Decide(quotas, preemption.Request{Workload: *w, Now: r.now, Room: room})
		if err != nil {
			b.Fatal(err)
		}
		if d.Outcome != preemption.Fits && d.Outcome != preemption.Preempt {
			continue
		}
		var edits []preemption.Edit
		var moves []placement.Edit
		for _, v := range d.Victims {
			edits, moves = append(edits, preemption.Remove(v.Workload)), append(moves, placement.Remove(v.Workload+"-0"))
			room.Remove(v.Workload)
		}
		if !room.Fits() {
			b.Fatal("no place without the victims")
		}
		runs := *w
		runs.ReservedAt = r.now
		if quotas, err = quotas.With(append(edits, preemption.Admit(runs))...); err != nil {
			b.Fatal(err)
		}
		if nodes, err = nodes.With(append(moves, placement.Run(podOf(w, room.Nominations()[0].Node)))...); err != nil {
			b.Fatal(err)
		}
		admitted++
	}
	return admitted
}

// BenchmarkRound is one round over all waiting jobs of a cluster of the size of KAI's scale tests.
func BenchmarkRound(b *testing.B) {
	for _, queues := range []int{2, 8, 40} {
		r := newRound(b, 500, queues)
		b.Run(fmt.Sprintf("nodes=500/running=%d/waiting=%d/queues=%d", len(r.waiting), len(r.waiting), queues), func(b *testing.B) {
			for b.Loop() {
				if admitted := r.run(b); admitted < len(r.waiting)/2 {
					b.Fatalf("%d of %d jobs run", admitted, len(r.waiting))
				}
			}
		})
	}
}
