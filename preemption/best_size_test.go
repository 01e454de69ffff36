package preemption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Of more candidates than the search Best looks at the first in order are searched, and nothing is proven: here one
// large workload is found in place of the three small ones that come first. Victims that are very many stay those of Greedy.
func TestBestOfManyCandidates(t *testing.T) {
	const all = 40_000
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(all + 9), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}}
	for i := range all {
		size := int64(1)
		if i == 50 {
			size = 9
		}
		st.Admitted = append(st.Admitted, job(fmt.Sprintf("w%05d", i), "a", 0, size, started(i)))
	}
	s := snapshotOf(t, st)
	few, many := preemption.Config{Search: preemption.Best}, preemption.Config{Search: preemption.Best}
	d := decideWith(t, few, s, pending("a", 5, 4))
	if text(d) != "Preempt: w00050 InClusterQueue" || d.Proof.Optimal || d.Proof.Value != 1 || d.Proof.LowerBound != 0 {
		t.Errorf("%s, %+v", text(d), d.Proof)
	}
	few.Search, few.Best = preemption.Greedy, preemption.BestSearch{}
	r := pending("a", 5, 30_000)
	d, greedy := decideWith(t, many, s, r), decideWith(t, few, s, r)
	if len(d.Victims) < 20_000 || text(d) != text(greedy) || d.Proof.Optimal || d.Proof.Value != int64(len(d.Victims)) || d.Proof.LowerBound != 0 {
		t.Errorf("%d victims, want the %d of Greedy; %+v", len(d.Victims), len(greedy.Victims), d.Proof)
	}
	if e, err := explain.Explain(must(preemption.New(many))(t), s, r); err != nil || !strings.Contains(fmt.Sprint(e.Steps), "the victims are too many to look for others") {
		t.Errorf("%v, %v", e.Steps, err)
	}
	// A million replicas are as many.
	st.Admitted = []workload.Workload{job("elastic", "a", 0, 1<<20, started(1))}
	st.Admitted[0].PodSets[0].MinCount = workload.AtLeast(0)
	st.Queues[0].Quotas = gpus(1 << 20)
	d = decideWith(t, many, snapshotOf(t, st), pending("a", 5, 1<<19))
	if len(d.Victims) != 1 || len(d.Victims[0].Replicas) != 1 || d.Victims[0].Replicas[0].Count != 1<<19 || d.Proof.Optimal || d.Proof.Value != 1 {
		t.Errorf("%+v, %+v", d.Victims, d.Proof)
	}
}
