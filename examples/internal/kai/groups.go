package kai

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/kueue"
	"github.com/cedesched/cede/examples/internal/pods"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

type groupSpec struct {
	Queue              string  `json:"queue"`
	PriorityClassName  string  `json:"priorityClassName"`
	Preemptibility     string  `json:"preemptibility"`
	MinMember          *int64  `json:"minMember"`
	PreemptionDelay    *string `json:"preemptionDelay"`
	TopologyConstraint *struct {
		Topology string `json:"topology"`
		Required string `json:"requiredTopologyLevel"`
	} `json:"topologyConstraint"`
}

type groupStatus struct {
	ResourcesStatus struct {
		Allocated map[string]pods.Quantity `json:"allocated"`
		Requested map[string]pods.Quantity `json:"requested"`
	} `json:"resourcesStatus"`
}

const (
	flavor            = "default"
	gpu               = "nvidia.com/gpu"
	startAnnotation   = "kai.scheduler/last-start-timestamp"
	evictedAnnotation = "kai.scheduler/last-eviction-timestamp"
)

// builtin is the priorities of the classes that KAI ships.
var builtin = map[string]int64{"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}

const (
	defaultPriority = 50
	nonPreemptible  = 100 // and above, where the group does not say
)

// Cluster resolves references and returns the result.
func (b *Builder) Cluster() kueue.Cluster {
	c := kueue.Cluster{QueueNotes: map[string][]string{}, NeverYield: map[string]string{}}
	b.addQueues(&c)
	g := groups{Builder: b, c: &c, isLeaf: map[string]bool{}}
	for _, q := range c.Queues {
		g.isLeaf[q.Name] = true
	}
	for _, o := range b.groups.All() {
		if err := g.add(o); err != nil {
			g.warn("PodGroup %s: %v: left out", o.ID(), err)
		}
	}
	if n := len(g.fractions); n > 0 {
		names := strings.Join(g.fractions[:min(3, n)], ", ")
		if n > 3 {
			names += fmt.Sprintf(" and %d more", n-3)
		}
		g.warn("fractions of a GPU are rounded up to whole ones here: those of %s", names)
	}
	return c
}

// groups adds pod groups to a cluster.
type groups struct {
	*Builder
	c         *kueue.Cluster
	isLeaf    map[string]bool
	fractions []string // who takes some of a GPU
}

func (g *groups) warn(format string, args ...any) {
	g.c.Warnings = append(g.c.Warnings, fmt.Sprintf(format, args...))
}

func (g *groups) add(o *groupObject) error {
	spec, status, created := &o.spec, &o.status, o.CreationTimestamp
	priority, known := g.priorities[spec.PriorityClassName]
	if !known {
		if priority, known = builtin[spec.PriorityClassName]; !known {
			if priority = defaultPriority; spec.PriorityClassName != "" {
				g.warn("PodGroup %s: PriorityClass %q is not in the input: taken as priority %d", o.ID(), spec.PriorityClassName, priority)
			}
		}
	}
	started, err := parseTime("annotation "+startAnnotation, o.Annotations[startAnnotation])
	if err != nil {
		g.warn("PodGroup %s: %v: it is not protected by its runtime here", o.ID(), err)
	}
	fixed, err := spec.isFixed(priority)
	if err != nil {
		g.warn("PodGroup %s: %v: it never yields here", o.ID(), err)
		fixed = true
	}
	taken := status.ResourcesStatus.Requested
	allocated := amounts(status.ResourcesStatus.Allocated)
	if len(allocated) > 0 {
		taken = status.ResourcesStatus.Allocated
	}
	if q := taken[gpu]; q.MilliValue()%1000 != 0 {
		g.fractions = append(g.fractions, o.ID())
	}
	if len(allocated) > 0 {
		if !g.isLeaf[spec.Queue] {
			return fmt.Errorf("it runs in queue %q, which is no leaf of the input", spec.Queue)
		}
		if fixed {
			g.c.NeverYield[o.ID()] = "it is not preemptible in KAI"
		}
		g.c.Admitted = append(g.c.Admitted, workload.Workload{
			ID: o.ID(), UID: o.UID, Queue: spec.Queue, Priority: priority,
			Created: created, Queued: created, ReservedAt: started,
			PodSets: []workload.PodSet{podSet(allocated, int64(len(g.running[o.ID()])), spec.MinMember)},
		})
		return nil
	}
	p := kueue.Pending{ID: o.ID(), UID: o.UID, Queue: spec.Queue, Priority: priority, Created: created, Queued: created}
	if !g.isLeaf[spec.Queue] {
		p.Queue, p.Unresolved = "", fmt.Sprintf("its queue %q is no leaf of the input", spec.Queue)
	}
	if fixed {
		p.Notes = append(p.Notes, "the group is not preemptible: KAI gives it nothing above the queue's quota, which is not looked at")
	}
	if spec.TopologyConstraint != nil {
		p.Notes = append(p.Notes, "the group's topology constraint is not looked at")
	}
	if p.PreemptsFrom, err = o.preemptsFrom(); err != nil {
		return err
	}
	set := kueue.PodSet{Name: "main", Count: 1}
	for _, a := range amounts(taken) {
		set.Requests = append(set.Requests, kueue.Request{Resource: a.Resource, Amount: a.Amount})
	}
	p.PodSets = []kueue.PodSet{set}
	g.c.Pending = append(g.c.Pending, p)
	return nil
}

// isFixed reports whether nobody may preempt the group: where it does not say, its priority
// does.
func (s *groupSpec) isFixed(priority int64) (bool, error) {
	switch s.Preemptibility {
	case "preemptible":
		return false, nil
	case "non-preemptible":
		return true, nil
	case "":
		return priority >= nonPreemptible, nil
	}
	return false, fmt.Errorf("spec.preemptibility: %q is unknown: want preemptible or non-preemptible", s.Preemptibility)
}

// preemptsFrom is when a group that waits may evict others: its delay after it was created
// or last evicted. Zero: at once.
func (o *groupObject) preemptsFrom() (time.Time, error) {
	if o.spec.PreemptionDelay == nil {
		return time.Time{}, nil
	}
	delay, err := time.ParseDuration(*o.spec.PreemptionDelay)
	if err != nil {
		return time.Time{}, fmt.Errorf("spec.preemptionDelay: %q is not a duration", *o.spec.PreemptionDelay)
	}
	evicted, err := parseTime("annotation "+evictedAnnotation, o.Annotations[evictedAnnotation])
	if from := o.CreationTimestamp; evicted.Before(from) {
		evicted = from
	}
	return evicted.Add(delay), err
}

// podSet is what a group holds. Where its running pods are in the input, take the same
// each and are more than its minimum (KAI's default is one), it is elastic.
func podSet(allocated []quota.Amount, running int64, minMember *int64) workload.PodSet {
	set := workload.PodSet{Name: "main", Count: 1, Requests: allocated}
	minimum := int64(1)
	if minMember != nil {
		minimum = max(1, *minMember)
	}
	if running <= minimum || running > workload.MaxElasticCount ||
		slices.ContainsFunc(allocated, func(a quota.Amount) bool { return a.Amount%running != 0 }) {
		return set
	}
	set.Count, set.MinCount = running, workload.AtLeast(minimum)
	for i := range set.Requests {
		set.Requests[i].Amount /= running
	}
	return set
}

// amounts lists what is more than nothing, by resource.
func amounts(list map[string]pods.Quantity) []quota.Amount {
	var out []quota.Amount
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if n := pods.Amount(name, list[name].Quantity); n > 0 {
			out = append(out, quota.Amount{Flavor: flavor, Resource: name, Amount: n})
		}
	}
	return out
}

func parseTime(what, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s: %q is not a time", what, text)
	}
	return t, nil
}
