package kueue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"
	info "sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/finish"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// Mirror is an adapter that follows a cluster by the events of informers: an event costs what it changes, not what
// the cluster holds. Make it with [Watch]. It has one owner, but for the events.
type Mirror struct {
	*Adapter
	// Wake has a value when there are events that Catch has not seen.
	Wake chan struct{}

	begun      bool // there is a first state
	topologies map[string]*api.Topology
	flavors    map[string]*api.ResourceFlavor

	mu      sync.Mutex
	changed map[string]change // the latest of each object
}

// change is an object as it is, or as it was when it went.
type change struct {
	key    string
	object any
	gone   bool
}

// Watch makes a mirror of the objects of a factory of informers. Start the factory afterwards, and call Catch when its
// informers have synced: the first time that costs what all objects cost, later what changed.
func Watch(a *Adapter, factory externalversions.SharedInformerFactory) (*Mirror, error) {
	m := newMirror(a)
	of := factory.Kueue().V1beta2()
	for _, informer := range []cache.SharedIndexInformer{of.Topologies().Informer(), of.ResourceFlavors().Informer(), of.Cohorts().Informer(),
		of.ClusterQueues().Informer(), of.Workloads().Informer()} {
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

func newMirror(a *Adapter) *Mirror {
	return &Mirror{Adapter: a, Wake: make(chan struct{}, 1), topologies: map[string]*api.Topology{}, flavors: map[string]*api.ResourceFlavor{}, changed: map[string]change{}}
}

// note keeps an event for Catch.
func (m *Mirror) note(object any, gone bool) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	c := change{object: object, gone: gone}
	switch o := object.(type) {
	case *api.Topology:
		c.key = "Topology " + o.Name
	case *api.ResourceFlavor:
		c.key = "ResourceFlavor " + o.Name
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
	var turns [turns][]change
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		c := changed[key]
		turns[c.turn()] = append(turns[c.turn()], c)
	}
	if !m.begun {
		m.begun = true
		return m.start(turns)
	}
	var errs []error
	for turn, list := range turns {
		if turn == ofWorkloads && m.apply(list...) == nil { // all at once
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

// start makes the first state of all objects at once: one by one each queue would cost what all queues cost.
func (m *Mirror) start(turns [turns][]change) error {
	var st preemption.State
	named := map[string]bool{}
	name := func(cohort string) {
		if cohort != "" && !named[cohort] {
			named[cohort] = true
			st.Cohorts = append(st.Cohorts, queue.Cohort{Name: cohort})
		}
	}
	at := map[string]change{} // by the path in the state
	for _, list := range turns[:ofGone] {
		for _, c := range list {
			switch o := c.object.(type) {
			case *api.Topology, *api.ResourceFlavor:
				m.learn(&c)
			case *api.Cohort:
				named[o.Name] = true
				at[fmt.Sprintf("cohorts[%d]", len(st.Cohorts))] = c
				st.Cohorts = append(st.Cohorts, cohortOf(o))
			case *api.ClusterQueue:
				at[fmt.Sprintf("queues[%d]", len(st.Queues))] = c
				st.Queues = append(st.Queues, clusterQueueOf(o))
			case *api.Workload:
				if holds(o) && !c.gone {
					at[fmt.Sprintf("admitted[%d]", len(st.Admitted))] = c
					st.Admitted = append(st.Admitted, m.workload(info.NewInfo(o, m.options...), nil))
				}
			}
		}
	}
	for _, c := range st.Cohorts {
		name(c.Parent)
	}
	for _, q := range st.Queues {
		name(q.Cohort)
	}
	for _, f := range slices.Sorted(maps.Keys(m.flavors)) {
		st.Flavors = append(st.Flavors, m.flavorOf(m.flavors[f]))
	}
	valid, left, err := st.Valid()
	if err == nil {
		m.snapshot, _, err = m.snapshot.Sync(valid)
	}
	errs := []error{err}
	for _, l := range left {
		errs = append(errs, l)
		item, _, _ := strings.Cut(l[0].Path, "]")
		if c, is := at[item+"]"]; is {
			m.again(c)
		}
	}
	return errors.Join(errs...)
}

// The turns of the kinds: topologies, flavors, cohorts and queues come before the workloads in them, and go after them.
const (
	ofTopologies = iota
	ofFlavors
	ofCohorts
	ofQueues
	ofWorkloads
	ofGone
	turns = ofGone + 4
)

func (c *change) turn() int {
	turn := ofWorkloads
	switch c.object.(type) {
	case *api.Topology:
		turn = ofTopologies
	case *api.ResourceFlavor:
		turn = ofFlavors
	case *api.Cohort:
		turn = ofCohorts
	case *api.ClusterQueue:
		turn = ofQueues
	}
	if c.gone && turn != ofWorkloads {
		return turns - 1 - turn // the queue first
	}
	return turn
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

// learn keeps a topology or a flavor, and returns the flavors that are other now.
func (m *Mirror) learn(c *change) (other []*api.ResourceFlavor) {
	switch o := c.object.(type) {
	case *api.Topology:
		if m.topologies[o.Name] = o; c.gone {
			delete(m.topologies, o.Name)
		}
		for _, name := range slices.Sorted(maps.Keys(m.flavors)) {
			if f := m.flavors[name]; f.Spec.TopologyName != nil && string(*f.Spec.TopologyName) == o.Name {
				other = append(other, f)
			}
		}
	case *api.ResourceFlavor:
		if m.flavors[o.Name] = o; c.gone {
			delete(m.flavors, o.Name)
			return nil
		}
		other = append(other, o)
	}
	return other
}

// edits adds the edits of a change to a list.
func (m *Mirror) edits(list []preemption.Edit, c *change) []preemption.Edit {
	switch o := c.object.(type) {
	case *api.Topology, *api.ResourceFlavor:
		for _, f := range m.learn(c) {
			list = append(list, preemption.SetFlavor(m.flavorOf(f)))
		}
		if f, is := o.(*api.ResourceFlavor); is && c.gone {
			list = append(list, preemption.RemoveFlavor(f.Name))
		}
	case *api.Cohort:
		switch {
		case c.gone && m.hasMembers(o.Name):
			return append(list, preemption.SetCohort(queue.Cohort{Name: o.Name})) // it is there by its name alone
		case c.gone:
			return append(list, preemption.RemoveCohort(o.Name))
		}
		out := cohortOf(o)
		return append(m.named(list, out.Parent), preemption.SetCohort(out))
	case *api.ClusterQueue:
		if c.gone {
			return append(list, preemption.RemoveQueue(o.Name))
		}
		out := clusterQueueOf(o)
		return append(m.named(list, out.Cohort), preemption.SetQueue(out))
	case *api.Workload:
		if !c.gone && holds(o) {
			return append(list, preemption.Admit(m.workload(info.NewInfo(o, m.options...), nil)))
		}
		id := string(info.Key(o))
		if _, held := m.snapshot.Find(id); held {
			return append(list, preemption.Remove(id))
		}
	}
	return list
}

// holds reports whether a workload holds quota.
func holds(w *api.Workload) bool { return info.HasQuotaReservation(w) && !finish.IsFinished(w) }

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

// Decide asks about a workload that waits in a queue, and assigns its flavors. Whether its LocalQueue is stopped, and
// whether the workload itself is considered, the caller knows.
func (m *Mirror) Decide(w *api.Workload, clusterQueue string, now time.Time) (preemption.Decision, error) {
	return m.preemptor.Decide(m.snapshot, preemption.Request{Workload: m.waiting(w, clusterQueue), Now: now, MinCounts: minCounts(w)})
}
