package kueue

import (
	"cmp"
	"encoding"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/util/priority"
	info "sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

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

// workload returns a workload with totals of its pod sets; one that waits has the flavors and counts of an assignment. What
// has no flavor then takes nothing: a request of 0 that the queue does not cover, or one that Kueue is told to ignore.
func (a *Adapter) workload(in *info.Info, assigned []flavorassigner.PodSetAssignment) workload.Workload {
	w := workload.Workload{
		ID: string(info.Key(in.Obj)), UID: string(in.Obj.UID), Queue: string(in.ClusterQueue), LocalQueue: localQueue(in.Obj),
		Priority: priority.EffectivePriority(logr.Discard(), in.Obj), Evicted: evict.IsEvicted(in.Obj),
		Created: earliest(in.Obj.CreationTimestamp), Queued: earliest(*a.ordering.GetQueueOrderTimestamp(in.Obj)),
	}
	if c := apimeta.FindStatusCondition(in.Obj.Status.Conditions, api.WorkloadQuotaReserved); c != nil && c.Status == metav1.ConditionTrue {
		w.ReservedAt = earliest(c.LastTransitionTime)
	}
	for i := range in.TotalRequests {
		p, flavors := &in.TotalRequests[i], in.TotalRequests[i].Flavors
		if at := slices.IndexFunc(assigned, func(o flavorassigner.PodSetAssignment) bool { return o.Name == p.Name }); at >= 0 {
			p = p.ScaledTo(assigned[at].Count)
			flavors = map[corev1.ResourceName]api.ResourceFlavorReference{}
			for r, f := range assigned[at].Flavors {
				flavors[r] = f.Name
			}
		}
		set := workload.PodSet{Name: string(p.Name), Count: int64(p.Count), Totals: true}
		for name, n := range requests(p) {
			if f := flavors[name]; f != "" {
				set.Requests = append(set.Requests, quota.Amount{Flavor: string(f), Resource: string(name), Amount: n})
			}
		}
		slices.SortFunc(set.Requests, func(a, b quota.Amount) int { return cmp.Compare(a.Resource, b.Resource) })
		w.PodSets = append(w.PodSets, set)
	}
	return w
}

func requests(p *info.PodSetResources) map[corev1.ResourceName]int64 {
	if p.Requests == nil {
		return nil
	}
	return resources.ToMap(p.Requests)
}

// localQueue is a local queue's name here: with its namespace.
func localQueue(w *api.Workload) string { return w.Namespace + "/" + string(w.Spec.QueueName) }

// earliest is a time as Kueue compares it: one that is not set is before all others. Here it would be after them.
func earliest(t metav1.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0)
	}
	return t.Time
}

// quotas returns quotas by column: a list in another order would be a change. No flavor is chosen by it: Kueue has assigned
// them.
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

// list returns amounts by column.
func list(of resources.FlavorResourceQuantities) (list []quota.Amount) {
	for fr, n := range of {
		list = append(list, quota.Amount{Flavor: string(fr.Flavor), Resource: string(fr.Resource), Amount: n.Int64()})
	}
	slices.SortFunc(list, func(a, b quota.Amount) int { return a.FlavorResource().Compare(b.FlavorResource()) })
	return list
}

// read reads a constant by its text in Kueue's API, which is the same here. An empty text leaves the default.
func read(text string, into encoding.TextUnmarshaler) { _ = into.UnmarshalText([]byte(text)) }
