package source_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The candidates that ranges of the indexes yield are the workloads of which the verdict is that they may
// yield, one by one: whatever the policies, the times and the guard.
func rangesAreVerdicts(t *rapid.T) {
	var c right.Case
	of, r := drawCase(t)
	c.Begin(of, r)
	c.CollectLevels()
	var merge source.Merge
	ranged := map[string]string{}
	for _, v := range merge.AppendCandidates(&c, nil, math.MaxInt) {
		if v.Set < 0 {
			ranged[v.Workload.Facts.ID] = fmt.Sprintf("borrowing %v", v.PermittedIn(true))
		}
	}
	judged := map[string]string{}
	judge := func(d right.Donor, idle int) {
		for w := range of.Running(d.Queue).Workloads {
			v := c.VerdictOfAll(&d, w, idle)
			switch {
			case v.MayYield():
				judged[w.Facts.ID] = "borrowing true"
			case v.Rule == trace.BorrowWithinCohort && c.Verdict(&d, w).MayYield():
				judged[w.Facts.ID] = "borrowing false"
			}
		}
	}
	if d, ok := c.OwnDonor(); ok {
		judge(d, -1)
	}
	for i := range c.Levels {
		l := &c.Levels[i]
		reaches := func(int) bool { return true }
		of.EachQueueUnder(l.Cohort, l.Except, reaches, func(q int) bool {
			if !of.Queue(q).Inactive {
				judge(c.DonorAt(l, q), c.NotGiving(q, l.Cohort))
			}
			return true
		})
	}
	if diff := cmp.Diff(judged, ranged); diff != "" {
		t.Fatalf("- by verdicts, + by ranges:\n%s", diff)
	}
}

func TestRangesAreVerdicts(t *testing.T) { rapid.Check(t, rangesAreVerdicts) }

// drawCase draws queues in a tree of cohorts, what runs in them, and a request of the first queue.
func drawCase(t *rapid.T) (*cluster.Cluster, *right.Request) {
	n := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	second := func(name string) time.Time { return time.Unix(n(name, 6), 0) }
	policies := rapid.SampledFrom([]queue.VictimPolicy{queue.Never, queue.LowerPriority, queue.LowerOrNewerEqualPriority, queue.Any})
	cohorts := []queue.Cohort{{Name: "root"}, {Name: "x", Parent: "root"}, {Name: "y", Parent: "root"}}
	var queues []queue.Queue
	var admitted []workload.Workload
	for q := range 4 {
		of := queue.Queue{
			Name: fmt.Sprint("q", q), Cohort: cohorts[n("cohort", 2)].Name, Inactive: q > 0 && n("inactive", 9) == 9,
			Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: n("nominal", 6)}},
		}
		if n("minimum", 2) == 2 {
			of.MinRuntime.Preempt, of.MinRuntime.Reclaim = quota.Some(time.Duration(n("preempt", 6))*time.Second), quota.Some(time.Duration(n("reclaim", 6))*time.Second)
		}
		for range n("workloads", 4) {
			w := workload.Workload{
				ID: fmt.Sprint("w", len(admitted)), Queue: of.Name, Priority: n("priority", 3), Queued: second("queued"),
				ReservedAt: second("reserved"), AdmittedAt: second("admitted"), Evicted: n("evicted", 5) == 5, NeverYields: n("never", 5) == 5,
				PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 1 + n("amount", 2)}}}},
			}
			if n("unreserved", 5) == 5 {
				w.ReservedAt = time.Time{}
			}
			admitted = append(admitted, w)
		}
		queues = append(queues, of)
	}
	p := &queues[0].Preemption
	p.WithinClusterQueue = rapid.SampledFrom([]queue.VictimPolicy{queue.Never, queue.LowerPriority, queue.LowerOrNewerEqualPriority}).Draw(t, "within")
	if p.ReclaimWithinCohort = policies.Filter(func(p queue.VictimPolicy) bool { return p != queue.LowerOrNewerEqualPriority }).Draw(t, "reclaim"); p.ReclaimWithinCohort != queue.Never && n("borrow", 1) == 1 {
		p.BorrowWithinCohort.Policy = queue.LowerPriority
		if n("threshold", 1) == 1 {
			p.BorrowWithinCohort.MaxPriorityThreshold = quota.Some(n("most", 3))
		}
	}
	if p.WithinClusterQueue == queue.LowerOrNewerEqualPriority && n("timed", 1) == 1 {
		p.MinAdmitDuration = quota.Some(time.Minute)
	}
	c, err := cluster.New(cohorts, queues, admitted)
	if err != nil {
		t.Fatal(err)
	}
	r := &right.Request{Priority: n("our priority", 3), Queued: n("our queued", 6) * int64(time.Second), Now: n("now", 8) * int64(time.Second), Needs: []bool{true}}
	if d, timed := p.MinAdmitDuration.Get(); timed {
		r.MinAdmit, r.Now = int64(d), r.Now+int64(d)
	}
	if n("fair", 3) == 3 {
		r.Fair = right.Fairness{First: right.FinalShare, Second: right.InitialShare}
	}
	r.Queue, _ = c.QueueNode("q0")
	r.Columns, r.Amounts = []int{c.Columns.Number(quota.FlavorResource{Flavor: "f", Resource: "gpu"})}, []int64{1 + n("asked", 6)}
	if n("guard", 3) == 3 {
		r.Guard = func(w *cluster.Workload) int64 { return w.Reserved + (w.Priority+1)*int64(time.Second) }
	}
	return c, r
}
