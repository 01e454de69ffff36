package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// byShares reports whether fair shares decide, as in KAI.
func (c *Cluster) byShares() bool { return c.Config.Sharing == preemption.KAI }

// zeroLimits finds queues that may hold nothing of a resource (KAI, NewQueueInfo: an absent limit is 0).
func zeroLimits(c *Cluster) []Finding {
	var found []Finding
	for i := range c.State.FairShares.Queues {
		q := &c.State.FairShares.Queues[i]
		var none []string
		for _, claim := range q.Claims {
			if limit, limited := claim.Limit.Get(); limited && limit == 0 {
				none = append(none, claim.Resource)
			}
		}
		if len(none) == 0 {
			continue
		}
		f := Finding{Place: placeOf("queue", q.Name),
			Problem: fmt.Sprintf("its limit of %s is 0, as an absent limit is: nothing that asks for it runs there or below; unlimited is -1", strings.Join(none, ", "))}
		asks := func(w *workload.Workload) bool {
			return w.Queue == q.Name && slices.ContainsFunc(none, func(resource string) bool { return requested(w, resource) > 0 })
		}
		if at := slices.IndexFunc(c.Pending, func(w workload.Workload) bool { return asks(&w) }); at >= 0 {
			f.Example = c.Pending[at].ID + " waits there"
		}
		found = append(found, f)
	}
	return found
}

// requested is what a workload asks for of a resource.
func requested(w *workload.Workload, resource string) (sum int64) {
	for _, u := range w.Usage() {
		if u.Resource == resource {
			sum = quota.Add(sum, u.Amount)
		}
	}
	return sum
}

// claimOf returns what a queue may have of a resource.
func claimOf(q *fairshare.Queue, resource string) fairshare.Claim {
	for _, claim := range q.Claims {
		if claim.Resource == resource {
			return claim
		}
	}
	return fairshare.Claim{Resource: resource}
}

// guarantees finds quotas that guarantee nothing: who reclaims by quota what others hold within their fair shares has to be within its
// quota of every resource (KAI, GuaranteeDeservedQuota).
func guarantees(c *Cluster) []Finding {
	var found []Finding
	for i := range c.State.FairShares.Queues {
		q := &c.State.FairShares.Queues[i]
		gpus := claimOf(q, kai.GPU)
		var none []string
		for _, resource := range []string{"cpu", "memory"} {
			if claimOf(q, resource).Quota == 0 {
				none = append(none, resource)
			}
		}
		if gpus.Quota == 0 || len(none) == 0 {
			continue
		}
		found = append(found, Finding{Place: placeOf("queue", q.Name),
			Problem: fmt.Sprintf("its quota of %s (%s) takes nothing back from queues that are within their fair shares, because its quota of %s is 0 and every pod asks for some: for that a queue has to be within its quota of everything; unlimited is -1",
				kai.GPU, units.Amount(kai.GPU, gpus.Quota), strings.Join(none, " and "))})
	}
	return found
}

// lostParents finds queues that are left out because their parent is not there.
func lostParents(c *Cluster) []Finding {
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(c.Dropped)) {
		found = append(found, Finding{Place: placeOf("queue", name),
			Problem: fmt.Sprintf("the parent queue %s is not there: KAI drops the queue and all below it, and nothing in them runs", c.Dropped[name])})
	}
	return found
}

// children finds queues that are guaranteed more together than the queue above them.
func children(c *Cluster) []Finding {
	var found []Finding
	queues := c.State.FairShares.Queues
	for i := range queues {
		q := &queues[i]
		for _, r := range c.State.FairShares.Resources {
			own, sum := claimOf(q, r.Name).Quota, int64(0)
			for j := range queues {
				if queues[j].Parent == q.Name {
					sum = quota.Add(sum, claimOf(&queues[j], r.Name).Quota)
				}
			}
			if own == quota.Unlimited || sum <= own {
				continue
			}
			found = append(found, Finding{Place: placeOf("queue", q.Name),
				Problem: fmt.Sprintf("the quotas of %s of the queues below it are %s together, and its own is %s: against other queues only its own counts, and what is not preemptible below it gets no more",
					r.Name, units.Amount(r.Name, sum), units.Amount(r.Name, own))})
		}
	}
	return found
}

// unguaranteed finds work that is not preemptible in queues, or below queues, without quota of what it asks for.
func unguaranteed(c *Cluster) []Finding {
	queues := map[string]*fairshare.Queue{}
	for i := range c.State.FairShares.Queues {
		queues[c.State.FairShares.Queues[i].Name] = &c.State.FairShares.Queues[i]
	}
	type work struct {
		first     string
		count     int
		resources map[string]bool
	}
	at := map[string]*work{} // by queue
	for i := range c.Pending {
		w := &c.Pending[i]
		if !w.NeverYields {
			continue
		}
		for q := queues[w.Queue]; q != nil; q = queues[q.Parent] {
			of := at[q.Name]
			if of == nil {
				of = &work{first: w.ID, resources: map[string]bool{}}
				at[q.Name] = of
			}
			lacks := false
			for _, claim := range q.Claims {
				if claim.Quota == 0 && requested(w, claim.Resource) > 0 {
					lacks, of.resources[claim.Resource] = true, true
				}
			}
			if lacks {
				of.count, of.first = of.count+1, min(of.first, w.ID)
			}
		}
	}
	var found []Finding
	for name, of := range at {
		if of.count > 0 {
			found = append(found, Finding{Place: placeOf("queue", name), Example: of.first,
				Problem: fmt.Sprintf("its quota of %s is 0, and %s that would need some of it %s not preemptible: what is not preemptible gets nothing over the quota",
					strings.Join(slices.Sorted(maps.Keys(of.resources)), ", "), workloads(of.count), isOrAre(of.count))})
		}
	}
	return found
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
