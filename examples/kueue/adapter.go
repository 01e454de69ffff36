// Package kueue lets Kueue's scheduler ask cede who must yield, in place of Kueue's own preemptor. Copy it. It is made for
// Kueue 0.19.2.
//
// [Adapter.Targets] takes what Preemptor.GetTargets takes and returns what that returns. Before it, once in
// a cycle, the adapter learns the state: by [Adapter.Follow] from the scheduler's snapshot, or at the cost of
// what changed from the events of a watch ([Mirror]).
package kueue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptor "sigs.k8s.io/kueue/pkg/scheduler/preemption"
	info "sigs.k8s.io/kueue/pkg/workload"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Adapter asks cede about Kueue's state. Make it with [New].
type Adapter struct {
	ordering  info.Ordering
	options   []info.InfoOption // how requests become amounts: prefixes that are left out, transformations
	preemptor *preemption.Preemptor
	snapshot  *preemption.Snapshot
}

// New returns an adapter for Kueue's Configuration.
func New(c *config.Configuration) (*Adapter, error) {
	a := &Adapter{ordering: info.Ordering{PodsReadyRequeuingTimestamp: config.EvictionTimestamp}, snapshot: new(preemption.Snapshot)}
	if w := c.WaitForPodsReady; w != nil && w.RequeuingStrategy != nil && w.RequeuingStrategy.Timestamp != nil {
		a.ordering.PodsReadyRequeuingTimestamp = *w.RequeuingStrategy.Timestamp
	}
	if r := c.Resources; r != nil {
		a.options = append(a.options, info.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes), info.WithResourceTransformations(r.Transformations))
	}
	out := preemption.Config{MaxBlockers: -1, MaxRetrySteps: -1} // Kueue has no place for them
	if c.FairSharing != nil {
		out.Sharing = preemption.Fair
		for _, s := range c.FairSharing.PreemptionStrategies {
			var strategy preemption.FairStrategy
			read(string(s), &strategy)
			out.Strategies = append(out.Strategies, strategy)
		}
	}
	var err error
	a.preemptor, err = preemption.New(out)
	return a, err
}

// Follow brings the adapter's state to that of a snapshot of the scheduler. That has the queues that are not active by name
// alone; its cohorts hold their quota and their usage all the same.
func (a *Adapter) Follow(s *schdcache.Snapshot) error {
	var st preemption.State
	var usage []preemption.Edit
	members := map[api.CohortReference]*amounts{}          // what the members in the snapshot lend and use of each cohort
	running := func(yield func(string, *info.Info) bool) { // Kueue makes a new Info of each object that changed
		for _, c := range s.ClusterQueues() {
			for key, w := range c.Workloads {
				if !yield(string(key), w) {
					return
				}
			}
		}
	}
	for name, c := range s.ClusterQueues() {
		out := queueOf(string(name), c.Preemption)
		out.FairWeight, out.Quotas = quota.WeightOf(c.FairWeight), quotas(c.ResourceNode.Quotas)
		if c.HasParent() {
			out.Cohort = string(c.Parent().Name)
			of(members, c.Parent().Name).add(c.ResourceNode.Quotas, c.ResourceNode.SubtreeQuota, c.ResourceNode.Usage)
		}
		usage = append(usage, preemption.SetUsage(out.Name, list(c.ResourceNode.Usage))) // also by heads that the cycle served before
		st.Queues = append(st.Queues, out)
	}
	for _, c := range s.Cohorts() {
		if c.HasParent() {
			of(members, c.Parent().Name).add(c.ResourceNode.Quotas, c.ResourceNode.SubtreeQuota, c.ResourceNode.Usage)
		}
	}
	for name, c := range s.Cohorts() {
		out := queue.Cohort{Name: string(name), FairWeight: quota.WeightOf(c.FairWeight)}
		if c.HasParent() {
			out.Parent = string(c.Parent().Name)
		}
		own := map[resources.FlavorResource]schdcache.ResourceQuota{}
		rest, all := of(members, name), resources.FlavorResourceQuantities{}
		for fr, n := range c.ResourceNode.SubtreeQuota {
			q, has := c.ResourceNode.Quotas[fr]
			lent, ofMember := rest.lent[fr]
			if q.Nominal = n.Sub(lent); has || !ofMember || q.Nominal.Int64() != 0 {
				own[fr] = q
			}
		}
		for fr, n := range c.ResourceNode.Usage {
			if n = n.Sub(rest.used[fr]); n.Int64() > 0 {
				all[fr] = n
			}
		}
		out.Quotas, out.Reserved = quotas(own), list(all)
		st.Cohorts = append(st.Cohorts, out)
	}
	st, _ = st.Normalize() // what Kueue accepts and does not look at
	describe := func(_ string, w *info.Info) (workload.Workload, error) { return a.workload(w, nil), nil }
	next, _, err := preemption.SyncVersions(a.snapshot, st, running, describe)
	if err == nil {
		a.snapshot, err = next.With(usage...)
	}
	return err
}

// amounts are what members of a cohort lend it, and what they use of it: what is over the quota that they keep.
type amounts struct {
	lent, used resources.FlavorResourceQuantities
}

func of(members map[api.CohortReference]*amounts, cohort api.CohortReference) *amounts {
	if members[cohort] == nil {
		members[cohort] = &amounts{resources.FlavorResourceQuantities{}, resources.FlavorResourceQuantities{}}
	}
	return members[cohort]
}

func (a *amounts) add(quotas map[resources.FlavorResource]schdcache.ResourceQuota, subtree, usage resources.FlavorResourceQuantities) {
	none := resources.NewAmount(0)
	keeps := func(fr resources.FlavorResource) resources.Amount {
		if limit := quotas[fr].LendingLimit; limit != nil {
			return resources.MaxAmount(none, subtree[fr].Sub(*limit))
		}
		return none
	}
	for fr, n := range subtree {
		a.lent[fr] = a.lent[fr].Add(n.Sub(keeps(fr)))
	}
	for fr, n := range usage {
		a.used[fr] = a.used[fr].Add(resources.MaxAmount(none, n.Sub(keeps(fr))))
	}
}

// Targets returns the workloads that must yield for a workload with its flavors assigned, as GetTargets does.
// None: no permitted set of them makes room. It fails if the adapter does not follow that snapshot.
func (a *Adapter) Targets(ctx context.Context, wl info.Info, assignment flavorassigner.Assignment, s *schdcache.Snapshot, now time.Time) ([]*preemptor.Target, error) {
	cq := s.ClusterQueue(wl.ClusterQueue)
	if cq == nil {
		return nil, fmt.Errorf("ClusterQueue %s is not in the snapshot of the scheduler, or not active", wl.ClusterQueue)
	}
	r := preemption.Request{Now: now, Workload: a.workload(&wl, assignment.PodSets), HoldsQuota: info.HasQuotaReservation(wl.Obj), LocalQueueUsage: usages(s)}
	for _, p := range assignment.PodSets {
		for resource, f := range p.Flavors {
			fr := quota.FlavorResource{Flavor: string(f.Name), Resource: string(resource)}
			if f.Mode == flavorassigner.Preempt && !slices.Contains(r.NeedsPreemption, fr) {
				r.NeedsPreemption = append(r.NeedsPreemption, fr)
			}
		}
	}
	if asks := assignment.WorkloadsTopologyRequests(logr.FromContextOrDiscard(ctx), &wl, cq); len(asks) > 0 {
		r.Room = &room{ctx, a, s, cq, asks, map[string]*info.Info{}}
	}
	d, err := a.preemptor.Decide(a.snapshot, r)
	if err != nil {
		return nil, err
	}
	var list []*preemptor.Target
	for _, v := range d.Victims {
		in := s.ClusterQueue(api.ClusterQueueReference(v.Queue))
		if in == nil || in.Workloads[info.Reference(v.Workload)] == nil {
			return nil, fmt.Errorf("workload %s of ClusterQueue %s is not in the snapshot of the scheduler", v.Workload, v.Queue)
		}
		list = append(list, &preemptor.Target{WorkloadInfo: in.Workloads[info.Reference(v.Workload)], Reason: v.Reason.String(), WorkloadCq: in})
	}
	return list, nil
}

// usages are those of the local queues, where Kueue orders by them (admission fair sharing).
func usages(s *schdcache.Snapshot) (list []queue.LocalQueueUsage) {
	seen := map[string]bool{}
	for _, c := range s.ClusterQueues() {
		for _, w := range c.Workloads {
			if name := localQueue(w.Obj); w.LocalQueueFSUsage != nil && !seen[name] {
				seen[name] = true
				list = append(list, queue.LocalQueueUsage{LocalQueue: name, Usage: *w.LocalQueueFSUsage})
			}
		}
	}
	slices.SortFunc(list, func(a, b queue.LocalQueueUsage) int { return cmp.Compare(a.LocalQueue, b.LocalQueue) })
	return list
}

// room is a place in a topology, as Kueue finds it: cede takes victims out of the scheduler's snapshot and puts them back.
type room struct {
	ctx context.Context // Kueue asks for one in Fits
	*Adapter
	state *schdcache.Snapshot
	queue *schdcache.ClusterQueueSnapshot
	asks  schdcache.WorkloadTASRequests
	gone  map[string]*info.Info
}

func (r *room) Remove(id string) {
	w, _ := r.snapshot.Find(id)
	if in := r.state.ClusterQueue(api.ClusterQueueReference(w.Queue)); in != nil && in.Workloads[info.Reference(id)] != nil {
		r.gone[id] = in.Workloads[info.Reference(id)]
		r.state.RemoveWorkload(r.gone[id])
	}
}

func (r *room) Restore(id string) {
	if w, gone := r.gone[id]; gone {
		r.state.AddWorkload(w)
		delete(r.gone, id)
	}
}

func (r *room) Fits() bool {
	return r.queue.FindTopologyAssignmentsForWorkload(r.ctx, r.asks).Failure() == nil
}
