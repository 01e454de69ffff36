package preemption_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// crowd draws a deep tree of cohorts in which many queues borrow from one queue, which
// asks for much of it. Many are alike: their shares are equal, so that the order of their
// workloads decides. Records draws no request that takes many victims from many queues.
func crowd(t *rapid.T) (preemption.State, preemption.Request) {
	return crowdOf(t, 2, 2, 4, 4, 4, 8, 8, 8, 16, 16, 16, 30, 66)
}

// crowdOf draws a crowd of one of some numbers of queues.
func crowdOf(t *rapid.T, queues ...int) (preemption.State, preemption.Request) {
	n := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}}
	for i := range n("cohorts", 11) {
		c := queue.Cohort{Name: fmt.Sprintf("c%02d", i), Parent: st.Cohorts[max(0, i-n("up", 3))].Name}
		if n("weight", 4) == 4 {
			c.FairWeight = quota.WeightOf(2)
		}
		st.Cohorts = append(st.Cohorts, c)
	}
	cohort := func() string { return st.Cohorts[max(0, n("cohort", 2*len(st.Cohorts))-len(st.Cohorts)-1)].Name }
	lent, alike := int64(0), n("alike", 1) == 1
	for i := range rapid.SampledFrom(queues).Draw(t, "queues") {
		q := queue.Queue{Name: fmt.Sprintf("q%02d", i), Cohort: cohort(), Quotas: gpus(0)}
		used, workloads := int64(0), 1
		if !alike {
			workloads += n("more workloads", 2)
		}
		if n("protected", 3) == 3 {
			q.MinRuntime.Reclaim = quota.Some(15 * time.Minute)
		}
		for range workloads {
			w := job(fmt.Sprintf("w%03d", len(st.Admitted)), q.Name, int64(n("priority", 2)), 1, started(10*n("age", 2)))
			w.NeverYields = n("never yields", 15) == 15
			if w.Evicted = n("evicted", 11) == 11; n("elastic", 9) == 9 {
				w.PodSets[0].Count, w.PodSets[0].MinCount = 2, workload.AtLeast(1)
			} else if !alike {
				w.PodSets[0].Requests[0].Amount = int64(1 + n("amount", 2))
			}
			used += w.PodSets[0].Count * w.PodSets[0].Requests[0].Amount
			st.Admitted = append(st.Admitted, w)
		}
		if n("owns", 4) == 4 {
			q.Quotas = gpus(int64(n("nominal", 2)))
		}
		lent += max(0, used-q.Quotas[0].Nominal)
		st.Queues = append(st.Queues, q)
	}
	lender := queue.Queue{Name: "lender", Cohort: cohort(), Quotas: gpus(lent), Preemption: queue.PreemptionPolicy{
		WithinClusterQueue:  queue.LowerPriority,
		ReclaimWithinCohort: rapid.SampledFrom([]queue.VictimPolicy{queue.Any, queue.LowerPriority}).Draw(t, "reclaim"),
	}}
	if n("borrows", 1) == 1 {
		lender.Quotas, lender.Preemption.BorrowWithinCohort.Policy = gpus(lent/2), queue.LowerPriority
		st.Queues[0].Quotas = gpus(lent - lent/2)
	}
	st.Queues = append(st.Queues, lender)
	r := pending("lender", int64(1+n("priority", 2)), 1)
	r.Workload.PodSets[0].Requests[0].Amount = max(1, int64(1+n("asks", int(lent))))
	return st, r
}

// The witness says the same where many yield.
func agreesInACrowd(t *rapid.T) {
	st, r := crowd(t)
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &st)
	reevaluate(t, &config)
	agrees(t, config, st, r, decideWith(t, config, snapshotOf(t, st), r))
}
