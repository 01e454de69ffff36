package preemptiontest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// FairShareRecords generates valid states of fair shares ([preemption.KAI]), each with a valid request about it, which is among what its
// queue requests: one or two resources, departments and teams, up to seven workloads.
func FairShareRecords() *rapid.Generator[preemption.Record] { return rapid.Custom(drawFairShares) }

func drawFairShares(t *rapid.T) (c preemption.Record) {
	small := func(label string, most int) int64 { return int64(rapid.IntRange(0, most).Draw(t, label)) }
	resources := []string{"gpu", "cpu"}[:1+small("resources", 1)]
	var tree fairshare.Tree
	for _, r := range resources {
		tree.Resources = append(tree.Resources, fairshare.Resource{Name: r, Total: 4 + small("total", 8)})
	}
	if small("saturates", 3) == 0 {
		tree.Saturation = quota.Some(1 + float64(small("saturation", 4))/2)
	}
	var leaves []string
	add := func(name, parent string) {
		q := fairshare.Queue{Name: name, Parent: parent, Priority: small("queue priority", 1), CreatedAt: Now.Add(-time.Duration(small("age", 5)) * time.Hour)}
		for _, r := range resources {
			claim := fairshare.Claim{Resource: r, Quota: small("quota", 5), OverQuotaWeight: float64(small("weight", 3))}
			if small("unlimited", 3) == 0 {
				claim.Quota = quota.Unlimited
			}
			if small("limited", 3) == 0 {
				claim.Limit = quota.AtMost(2 + small("limit", 8))
			}
			q.Claims = append(q.Claims, claim)
		}
		tree.Queues = append(tree.Queues, q)
	}
	for d := range 1 + int(small("departments", 2)) {
		dept := fmt.Sprintf("d%d", d)
		if small("flat", 3) == 0 {
			add(dept, "")
			leaves = append(leaves, dept)
			continue
		}
		add(dept, "")
		for l := range 1 + int(small("teams", 2)) {
			add(fmt.Sprintf("%s-t%d", dept, l), dept)
			leaves = append(leaves, fmt.Sprintf("%s-t%d", dept, l))
		}
	}
	job := func(id string) workload.Workload {
		w := workload.Workload{ID: id, Queue: rapid.SampledFrom(leaves).Draw(t, "queue"), Priority: small("priority", 2),
			Created: Now.Add(-time.Duration(small("created", 5)) * time.Minute), NeverYields: small("fixed", 4) == 0}
		p := workload.PodSet{Name: "main", Count: 1 + small("count", 2)}
		for _, r := range resources {
			if amount := small("amount", 3); amount > 0 {
				p.Requests = append(p.Requests, quota.Amount{Flavor: "default", Resource: r, Amount: amount})
			}
		}
		w.PodSets = []workload.PodSet{p}
		return w
	}
	left := map[string]int64{}
	for _, r := range tree.Resources {
		left[r.Name] = r.Total
	}
	for i := range 2 + int(small("running", 5)) {
		w := job(fmt.Sprintf("r%d", i))
		w.ReservedAt, w.Evicted = Now.Add(-time.Duration(small("started", 20))*time.Minute), small("evicted", 9) == 0
		if p := &w.PodSets[0]; p.Count > 1 && small("elastic", 1) == 0 {
			p.MinCount = workload.AtLeast(1 + small("least", int(p.Count)-2))
		}
		fits := true
		for _, a := range w.Usage() {
			fits = fits && a.Amount <= left[a.Resource]
		}
		if fits {
			for _, a := range w.Usage() {
				left[a.Resource] -= a.Amount
			}
			c.State.Admitted = append(c.State.Admitted, w)
		}
	}
	c.Request = &preemption.Request{Workload: job("pending"), Now: Now}
	for i := range tree.Queues {
		q := &tree.Queues[i]
		for j := range q.Claims {
			for _, w := range append(slices.Clone(c.State.Admitted), c.Request.Workload) {
				if w.Queue == q.Name {
					q.Claims[j].Request += requested(&w, q.Claims[j].Resource)
				}
			}
		}
	}
	c.State.FairShares = tree
	c.State.Cohorts, c.State.Queues = preemption.QueuesOf(tree, "all", "default")
	for i := range c.State.Queues {
		if small("protects", 2) == 0 {
			c.State.Queues[i].MinRuntime = minruntime.Settings{Reclaim: quota.Some(time.Duration(small("reclaim", 20)) * time.Minute),
				Preempt: quota.Some(time.Duration(small("preempt", 20)) * time.Minute)}
		}
	}
	return c
}

// requested is what a workload that was not told to leave requests of a resource.
func requested(w *workload.Workload, resource string) (sum int64) {
	for _, a := range w.Usage() {
		if a.Resource == resource && !w.Evicted {
			sum += a.Amount
		}
	}
	return sum
}
