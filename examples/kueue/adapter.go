// Package kueue lets Kueue's scheduler ask cede who must yield, in place of Kueue's own preemptor. Copy it.
//
// [Adapter.Targets] takes what Preemptor.GetTargets takes and returns what that returns. Before it, once in
// a cycle, the adapter learns the state: by [Adapter.Follow] from the scheduler's snapshot, or at the cost of
// what changed from the events of a watch ([Mirror]).
package kueue

import (
	"cmp"
	"context"
	"encoding"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptor "sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/util/priority"
	info "sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The adapter begins here.

// Adapter asks cede about Kueue's state. Make it with [New].
type Adapter struct {
	ordering  info.Ordering
	preemptor *preemption.Preemptor
	snapshot  *preemption.Snapshot
}

// New returns an adapter for the configuration of Kueue's scheduler.
func New(fs *config.FairSharing, ordering info.Ordering) (*Adapter, error) {
	c := preemption.Config{SkipBlockers: true, SkipRetryAt: true} // Kueue has no place for them
	if fs != nil {
		c.Sharing = preemption.Fair
		for _, s := range fs.PreemptionStrategies {
			var strategy preemption.FairStrategy
			read(string(s), &strategy)
			c.Fair.Strategies = append(c.Fair.Strategies, strategy)
		}
	}
	p, err := preemption.New(c)
	return &Adapter{ordering: ordering, preemptor: p, snapshot: new(preemption.Snapshot)}, err
}

// Follow brings the adapter's state to that of a snapshot of the scheduler.
func (a *Adapter) Follow(s *schdcache.Snapshot) error {
	var st preemption.State
	var usage []preemption.Edit
	running := func(yield func(string, *info.Info) bool) { // Kueue makes a new Info of each object that changed
		for _, c := range s.ClusterQueues() {
			for key, w := range c.Workloads {
				if !yield(string(key), w) {
					return
				}
			}
		}
	}
	for name, c := range s.Cohorts() {
		out := queue.Cohort{Name: string(name), FairWeight: quota.WeightOf(c.FairWeight), Quotas: quotas(c.ResourceNode.Quotas)}
		if c.HasParent() {
			out.Parent = string(c.Parent().Name)
		}
		st.Cohorts = append(st.Cohorts, out)
	}
	for name, c := range s.ClusterQueues() {
		out := queueOf(string(name), c.Preemption)
		out.FairWeight, out.Quotas = quota.WeightOf(c.FairWeight), quotas(c.ResourceNode.Quotas)
		if c.HasParent() {
			out.Cohort = string(c.Parent().Name)
		}
		var used []quota.Amount // also by heads that the cycle served before
		for fr, n := range c.ResourceNode.Usage {
			used = append(used, quota.Amount{Flavor: string(fr.Flavor), Resource: string(fr.Resource), Amount: n.Int64()})
		}
		usage = append(usage, preemption.SetUsage(out.Name, used))
		st.Queues = append(st.Queues, out)
	}
	st, _ = st.Normalize() // what Kueue accepts and does not look at
	describe := func(_ string, w *info.Info) (workload.Workload, error) { return a.workload(w, nil), nil }
	next, _, err := preemption.SyncVersions(a.snapshot, st, running, describe)
	if err == nil {
		a.snapshot, err = next.With(usage...)
	}
	return err
}

// Targets returns the workloads that must yield for a workload with its flavors assigned, as GetTargets does.
// None: no permitted set of them makes room.
func (a *Adapter) Targets(ctx context.Context, wl info.Info, assignment flavorassigner.Assignment, s *schdcache.Snapshot, now time.Time) ([]*preemptor.Target, error) {
	r := preemption.Request{Now: now, Workload: a.workload(&wl, assignment.PodSets)}
	for _, p := range assignment.PodSets {
		for resource, f := range p.Flavors {
			fr := quota.FlavorResource{Flavor: string(f.Name), Resource: string(resource)}
			if f.Mode == flavorassigner.Preempt && !slices.Contains(r.NeedsPreemption, fr) {
				r.NeedsPreemption = append(r.NeedsPreemption, fr)
			}
		}
	}
	cq := s.ClusterQueue(wl.ClusterQueue)
	if asks := assignment.WorkloadsTopologyRequests(logr.FromContextOrDiscard(ctx), &wl, cq); len(asks) > 0 {
		r.Room = &room{ctx, a, s, cq, asks, map[string]*info.Info{}}
	}
	d, err := a.preemptor.Decide(a.snapshot, r)
	var list []*preemptor.Target
	for _, v := range d.Victims {
		of := s.ClusterQueue(api.ClusterQueueReference(v.Queue))
		list = append(list, &preemptor.Target{WorkloadInfo: of.Workloads[info.Reference(v.Workload)], Reason: v.Reason.String(), WorkloadCq: of})
	}
	return list, err
}

// queueOf returns a queue without quota and weight.
func queueOf(name string, p api.ClusterQueuePreemption) queue.Queue {
	q := queue.Queue{Name: name}
	read(string(p.WithinClusterQueue), &q.Preemption.WithinClusterQueue)
	read(string(p.ReclaimWithinCohort), &q.Preemption.ReclaimWithinCohort)
	if b := p.BorrowWithinCohort; b != nil {
		read(string(b.Policy), &q.Preemption.BorrowWithinCohort.Policy)
		if b.MaxPriorityThreshold != nil {
			q.Preemption.BorrowWithinCohort.MaxPriorityThreshold = queue.AtMostPriority(int64(*b.MaxPriorityThreshold))
		}
	}
	return q
}

// workload returns a workload with totals of its pod sets; one that waits has the flavors and counts of an assignment.
func (a *Adapter) workload(in *info.Info, assigned []flavorassigner.PodSetAssignment) workload.Workload {
	w := workload.Workload{
		ID: string(info.Key(in.Obj)), UID: string(in.Obj.UID), Queue: string(in.ClusterQueue), LocalQueue: string(in.Obj.Spec.QueueName),
		Priority: priority.EffectivePriority(logr.Discard(), in.Obj), Evicted: evict.IsEvicted(in.Obj),
		Created: in.Obj.CreationTimestamp.Time, Queued: a.ordering.GetQueueOrderTimestamp(in.Obj).Time,
	}
	if c := apimeta.FindStatusCondition(in.Obj.Status.Conditions, api.WorkloadQuotaReserved); c != nil && c.Status == "True" {
		w.ReservedAt = c.LastTransitionTime.Time
	}
	for i := range in.TotalRequests {
		p, flavor := &in.TotalRequests[i], func(r corev1.ResourceName) string { return string(in.TotalRequests[i].Flavors[r]) }
		if at := slices.IndexFunc(assigned, func(o flavorassigner.PodSetAssignment) bool { return o.Name == p.Name }); at >= 0 {
			p = p.ScaledTo(assigned[at].Count)
			flavor = func(r corev1.ResourceName) string { return string(assigned[at].Flavors[r].Name) }
		}
		set := workload.PodSet{Name: string(p.Name), Count: int64(p.Count), Totals: true}
		for name, n := range p.Requests.Iter() {
			set.Requests = append(set.Requests, quota.Amount{Flavor: flavor(name), Resource: string(name), Amount: n})
		}
		slices.SortFunc(set.Requests, func(a, b quota.Amount) int { return cmp.Compare(a.Resource, b.Resource) })
		w.PodSets = append(w.PodSets, set)
	}
	return w
}

// quotas returns quotas by column: a list in another order would be a change.
func quotas(of map[resources.FlavorResource]schdcache.ResourceQuota) (list []quota.Quota) {
	for fr, q := range of {
		list = append(list, quota.Quota{Flavor: string(fr.Flavor), Resource: string(fr.Resource), Nominal: q.Nominal.Int64(),
			BorrowingLimit: limit(q.BorrowingLimit), LendingLimit: limit(q.LendingLimit)})
	}
	slices.SortFunc(list, func(a, b quota.Quota) int { return a.FlavorResource().Compare(b.FlavorResource()) })
	return list
}

// limit is a limit of Kueue, nil: none.
func limit(a *resources.Amount) quota.OptionalInt64 {
	if a == nil {
		return quota.OptionalInt64{}
	}
	return quota.AtMost(a.Int64())
}

// read reads a constant by its text in Kueue's API, which is the same here. An empty text leaves the default.
func read(text string, into encoding.TextUnmarshaler) { _ = into.UnmarshalText([]byte(text)) }

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
	of, _ := r.snapshot.Find(id)
	if w, there := r.state.ClusterQueue(api.ClusterQueueReference(of.Queue)).Workloads[info.Reference(id)]; there {
		r.state.RemoveWorkload(w)
		r.gone[id] = w
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
