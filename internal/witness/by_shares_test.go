package witness

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// sharesCase is a small world of fair shares, and a request.
type sharesCase struct {
	state   preemption.State
	request preemption.Request
	config  preemption.Config
}

var sharesNow = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// drawShares draws a world of one or two resources, of departments and teams.
func drawShares(t *rapid.T) (c sharesCase) {
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
		q := fairshare.Queue{Name: name, Parent: parent, Priority: small("queue priority", 1), CreatedAt: sharesNow.Add(-time.Duration(small("age", 5)) * time.Hour)}
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
			Created: sharesNow.Add(-time.Duration(small("created", 5)) * time.Minute), NeverYields: small("fixed", 4) == 0}
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
		w.ReservedAt, w.Evicted = sharesNow.Add(-time.Duration(small("started", 20))*time.Minute), small("evicted", 9) == 0
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
			c.state.Admitted = append(c.state.Admitted, w)
		}
	}
	c.request = preemption.Request{Workload: job("pending"), Now: sharesNow}
	for i := range tree.Queues {
		q := &tree.Queues[i]
		for j := range q.Claims {
			for _, w := range append(c.state.Admitted, c.request.Workload) {
				if w.Queue == q.Name {
					q.Claims[j].Request += amountOf((&running{Workload: w}).holds(), q.Claims[j].Resource)
				}
			}
		}
	}
	c.state.FairShares = tree
	c.state.Cohorts, c.state.Queues = preemption.QueuesOf(tree, "all", "default")
	for i := range c.state.Queues {
		if small("protects", 2) == 0 {
			c.state.Queues[i].MinRuntime = minruntime.Settings{Reclaim: quota.Some(time.Duration(small("reclaim", 20)) * time.Minute),
				Preempt: quota.Some(time.Duration(small("preempt", 20)) * time.Minute)}
		}
	}
	c.config.Sharing = preemption.KAI
	if small("method", 1) == 0 {
		c.config.MinRuntime.Method = minruntime.Queue
	}
	return c
}

// anySet returns those who by themselves, or together, make room at an instant; nil: there is no such set.
func anySet(c *sharesCase, at time.Time) []*candidate {
	q := Ask(c.config, c.state, c.request)
	s := sharesOf(q.world)
	var told []*candidate
	for _, one := range s.byShares(q.world, at) {
		if one.leaving {
			one.remove()
		} else {
			told = append(told, one)
		}
	}
	for set := range 1 << len(told) {
		var chosen []*candidate
		own, others := false, false
		for i, one := range told {
			if set>>i&1 == 1 {
				chosen = append(chosen, one)
				own, others = own || one.of.home == q.own, others || one.of.home != q.own
			}
		}
		if own && others {
			continue
		}
		for _, one := range chosen {
			one.remove()
		}
		fits := q.fits(true) && s.allows(q.world, chosen)
		restore(chosen)
		if fits {
			return chosen
		}
	}
	return nil
}

// byShares holds decisions by fair shares against all sets of those who may yield: victims are allowed, and none can stay;
// where a request is refused no set would make room, now or at an instant before RetryAt, and at RetryAt one does.
func byShares(t *rapid.T) preemption.Outcome {
	c := drawShares(t)
	s, err := preemption.NewSnapshot(c.state)
	if err != nil {
		t.Fatal(err)
	}
	p, err := preemption.New(c.config)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(s, c.request)
	if err != nil {
		t.Fatal(err)
	}
	q := Ask(c.config, c.state, c.request)
	if fits := q.Fits() && !q.OverQuota(); fits != (d.Outcome == preemption.Fits) {
		t.Fatalf("%v, but it fits: %t", d.Outcome, fits)
	}
	if faults := q.VictimsByShares(d.Victims); len(d.Victims) > 0 && len(faults) > 0 {
		t.Fatalf("%+v: %v", d.Victims, faults)
	}
	if d.Possible() || d.Leaving || q.OverQuota() {
		return d.Outcome
	}
	if set := anySet(&c, c.request.Now); set != nil {
		t.Fatalf("%v, but %s may yield", d.Outcome, names(set))
	}
	for _, end := range q.Ends() {
		at := end.Add(time.Nanosecond)
		set := anySet(&c, at)
		switch first := set != nil; {
		case first && !d.RetryAt.Equal(at):
			t.Fatalf("%v, %v, but at %v %s may yield", d.Outcome, d.RetryAt, at, names(set))
		case first:
			return d.Outcome
		}
	}
	if !d.RetryAt.IsZero() {
		t.Fatalf("at %v time has not helped", d.RetryAt)
	}
	return d.Outcome
}

func TestByShares(t *testing.T) {
	outcomes := map[preemption.Outcome]int{}
	rapid.Check(t, func(t *rapid.T) { outcomes[byShares(t)]++ })
	for _, o := range []preemption.Outcome{preemption.Fits, preemption.Preempt, preemption.Impossible} {
		if outcomes[o] == 0 {
			t.Errorf("no decision is %v: %v", o, outcomes)
		}
	}
	t.Log(outcomes)
}
