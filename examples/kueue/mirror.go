package kueue

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	info "sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/finish"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Mirror is an adapter that follows a cluster by the events of informers: an event costs what it changes, not what
// the cluster holds. Make it with [Watch]. It has one owner, but for the events.
type Mirror struct {
	*Adapter
	// Wake has a value when there are events that Catch has not seen.
	Wake chan struct{}

	mu      sync.Mutex
	changed map[string]change // the latest of each object
}

// change is an object as it is, or as it was when it went.
type change struct {
	key    string
	object any
	gone   bool
}

// Watch makes a mirror of the objects of a factory of informers. Start the factory afterwards.
func Watch(a *Adapter, factory externalversions.SharedInformerFactory) (*Mirror, error) {
	m := &Mirror{Adapter: a, Wake: make(chan struct{}, 1), changed: map[string]change{}}
	of := factory.Kueue().V1beta2()
	for _, informer := range []cache.SharedIndexInformer{of.Cohorts().Informer(), of.ClusterQueues().Informer(), of.Workloads().Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { m.note(object, false) },
			UpdateFunc: func(_, object any) { m.note(object, false) },
			DeleteFunc: func(object any) { m.note(object, true) },
		}); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// note keeps an event for Catch.
func (m *Mirror) note(object any, gone bool) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	c := change{object: object, gone: gone}
	switch o := object.(type) {
	case *api.Cohort:
		c.key = "Cohort " + o.Name
	case *api.ClusterQueue:
		c.key = "ClusterQueue " + o.Name
	case *api.Workload:
		c.key = "Workload " + string(info.Key(o))
	}
	m.mu.Lock()
	m.changed[c.key] = c
	m.mu.Unlock()
	select {
	case m.Wake <- struct{}{}:
	default:
	}
}

// Catch brings the state up to date with the events. What cannot be applied yet (a workload may come before its
// queue) is kept for the next time, and is in the error.
func (m *Mirror) Catch() error {
	m.mu.Lock()
	changed := m.changed
	m.changed = map[string]change{}
	m.mu.Unlock()
	var turns [5][]change
	for _, c := range changed {
		turns[c.turn()] = append(turns[c.turn()], c)
	}
	var errs []error
	for turn, list := range turns {
		slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.key, b.key) })
		if turn == 2 && m.apply(list...) == nil { // workloads all at once
			continue
		}
		for _, c := range list {
			if err := m.apply(c); err != nil {
				errs = append(errs, err)
				m.again(c)
			}
		}
	}
	return errors.Join(errs...)
}

// turn orders the kinds: cohorts and queues come before the workloads in them, and go after them.
func (c *change) turn() int {
	switch c.object.(type) {
	case *api.Cohort:
		if c.gone {
			return 4
		}
		return 0
	case *api.ClusterQueue:
		if c.gone {
			return 3
		}
		return 1
	}
	return 2
}

// again keeps a change for the next time, unless there is a later one.
func (m *Mirror) again(c change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, later := m.changed[c.key]; !later {
		m.changed[c.key] = c
	}
}

func (m *Mirror) apply(list ...change) error {
	var edits []preemption.Edit
	for i := range list {
		edits = m.edits(edits, &list[i])
	}
	next, err := m.snapshot.With(edits...)
	m.snapshot = next // with an error it is as before
	return err
}

// edits adds the edits of a change to a list.
func (m *Mirror) edits(list []preemption.Edit, c *change) []preemption.Edit {
	switch o := c.object.(type) {
	case *api.Cohort:
		switch {
		case c.gone && m.hasMembers(o.Name):
			return append(list, preemption.SetCohort(queue.Cohort{Name: o.Name})) // it is there by its name alone
		case c.gone:
			return append(list, preemption.RemoveCohort(o.Name))
		}
		out := queue.Cohort{Name: o.Name, Parent: string(o.Spec.ParentName), Quotas: quotas(quotasOf(o.Spec.ResourceGroups)), FairWeight: weightOf(o.Spec.FairSharing)}
		out, _ = out.Normalize("")
		return append(m.named(list, out.Parent), preemption.SetCohort(out))
	case *api.ClusterQueue:
		if c.gone {
			return append(list, preemption.RemoveQueue(o.Name))
		}
		out := queue.Queue{Name: o.Name}
		if o.Spec.Preemption != nil {
			out = queueOf(o.Name, *o.Spec.Preemption)
		}
		out.Cohort, out.Quotas, out.FairWeight = string(o.Spec.CohortName), quotas(quotasOf(o.Spec.ResourceGroups)), weightOf(o.Spec.FairSharing)
		out, _ = out.Normalize("")
		return append(m.named(list, out.Cohort), preemption.SetQueue(out))
	case *api.Workload:
		if !c.gone && info.HasQuotaReservation(o) && !finish.IsFinished(o) {
			return append(list, preemption.SetWorkload(m.workload(info.NewInfo(o), nil)))
		}
		id := string(info.Key(o))
		if _, held := m.snapshot.Find(id); held {
			return append(list, preemption.Remove(id))
		}
	}
	return list
}

// named adds the edit that makes a cohort that has no object, if there is no such cohort.
func (m *Mirror) named(list []preemption.Edit, cohort string) []preemption.Edit {
	if _, there := m.snapshot.Cohort(cohort); there || cohort == "" {
		return list
	}
	return append(list, preemption.SetCohort(queue.Cohort{Name: cohort}))
}

func (m *Mirror) hasMembers(cohort string) bool {
	for q := range m.snapshot.Queues() {
		if q.Cohort == cohort {
			return true
		}
	}
	for c := range m.snapshot.Cohorts() {
		if c.Parent == cohort {
			return true
		}
	}
	return false
}

// Decide asks about a workload that waits in a queue, and assigns its flavors.
func (m *Mirror) Decide(w *api.Workload, clusterQueue string, now time.Time) (preemption.Decision, error) {
	in := info.NewInfo(w)
	in.ClusterQueue = api.ClusterQueueReference(clusterQueue)
	return m.preemptor.Decide(m.snapshot, preemption.Request{Workload: m.workload(in, nil), Now: now})
}

func quotasOf(groups []api.ResourceGroup) map[resources.FlavorResource]schdcache.ResourceQuota {
	of := map[resources.FlavorResource]schdcache.ResourceQuota{}
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				q := schdcache.ResourceQuota{Nominal: resources.AmountFromQuantity(r.Name, r.NominalQuota)}
				if r.BorrowingLimit != nil {
					q.BorrowingLimit = new(resources.AmountFromQuantity(r.Name, *r.BorrowingLimit))
				}
				if r.LendingLimit != nil {
					q.LendingLimit = new(resources.AmountFromQuantity(r.Name, *r.LendingLimit))
				}
				of[resources.FlavorResource{Flavor: f.Name, Resource: r.Name}] = q
			}
		}
	}
	return of
}

func weightOf(fs *api.FairSharing) quota.OptionalFloat64 {
	if fs == nil || fs.Weight == nil {
		return quota.OptionalFloat64{}
	}
	return quota.WeightOf(fs.Weight.AsApproximateFloat64())
}
