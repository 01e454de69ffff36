package kai

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// GroupAnnotation of a pod names its group, in the namespace of the pod.
const GroupAnnotation = "pod-group-name"

const (
	flavor            = "default"
	gpu               = "nvidia.com/gpu"
	startAnnotation   = "kai.scheduler/last-start-timestamp"
	evictedAnnotation = "kai.scheduler/last-eviction-timestamp"
)

// builtin holds the priorities of the classes that KAI ships.
var builtin = map[string]int64{"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}

const (
	defaultPriority = 50
	nonPreemptible  = 100 // and above, where the group does not say
)

// Cluster makes a cluster from the objects: it resolves references, and leaves out, with a
// note, what cannot be read. It changes nothing: call it whenever you need a state. It costs
// O(objects).
func (o *Objects) Cluster() bridge.Cluster {
	c := bridge.Cluster{QueueNotes: map[string][]bridge.Note{}}
	o.addQueues(&c)
	g := groups{c: &c, priorities: map[string]int64{}, isLeaf: map[string]bool{}, running: map[string]int64{}}
	for _, class := range o.classes.All() {
		g.priorities[class.Metadata.Name] = class.Value
	}
	for _, group := range o.running.All() {
		g.running[*group]++
	}
	for _, q := range c.State.Queues {
		g.isLeaf[q.Name] = true
	}
	for _, one := range o.groups.All() {
		if err := g.add(one); err != nil {
			g.warn(one, "", "%v: left out", err)
		}
	}
	if n := len(g.fractions); n > 0 {
		names := strings.Join(g.fractions[:min(3, n)], ", ")
		if n > 3 {
			names += fmt.Sprintf(" and %d more", n-3)
		}
		c.Notes = append(c.Notes, note("PodGroup "+g.fractions[0], "status.resourcesStatus",
			"fractions of a GPU are rounded up to whole ones here: those of %s", names))
	}
	return c
}

// groups adds pod groups to a cluster.
type groups struct {
	c          *bridge.Cluster
	priorities map[string]int64 // of classes
	isLeaf     map[string]bool
	running    map[string]int64 // pods, by group
	fractions  []string         // groups that take a fraction of a GPU
}

func (g *groups) warn(of *PodGroup, path, format string, args ...any) {
	object := "PodGroup " + of.Metadata.ID()
	g.c.Notes = append(g.c.Notes, note(object, path, object+": "+format, args...))
}

// priority returns the priority of the group's class.
func (g *groups) priority(of *PodGroup) int64 {
	name := of.Spec.PriorityClassName
	if priority, known := g.priorities[name]; known {
		return priority
	}
	if priority, known := builtin[name]; known {
		return priority
	}
	if name != "" {
		g.warn(of, "spec.priorityClassName", "PriorityClass %q is not in the input: taken as priority %d", name, defaultPriority)
	}
	return defaultPriority
}

func (g *groups) add(o *PodGroup) error {
	id, created := o.Metadata.ID(), o.Metadata.CreationTimestamp
	priority := g.priority(o)
	started, err := parseTime("annotation "+startAnnotation, o.Metadata.Annotations[startAnnotation])
	if err != nil {
		g.warn(o, "metadata.annotations["+startAnnotation+"]", "%v: it is not protected by its runtime here", err)
	}
	fixed, err := o.Spec.isFixed(priority)
	if err != nil {
		g.warn(o, "spec.preemptibility", "%v: it never yields here", err)
		fixed = true
	}
	taken := o.Status.ResourcesStatus.Requested
	allocated, others := amounts(o.Status.ResourcesStatus.Allocated)
	runs := len(allocated)+len(others) > 0
	if runs {
		taken = o.Status.ResourcesStatus.Allocated
	}
	if !taken[gpu].IsWhole() {
		g.fractions = append(g.fractions, id)
	}
	if runs {
		if !g.isLeaf[o.Spec.Queue] {
			return fmt.Errorf("it runs in queue %q, which is no leaf of the input", o.Spec.Queue)
		}
		g.c.State.Admitted = append(g.c.State.Admitted, workload.Workload{
			ID: id, UID: o.Metadata.UID, Queue: o.Spec.Queue, Priority: priority,
			Created: created, Queued: created, ReservedAt: started, NeverYields: fixed,
			PodSets: []workload.PodSet{podSet(allocated, g.running[id], o.Spec.MinMember)},
		})
		return nil
	}
	requested, others := amounts(taken)
	p := bridge.Pending{Workload: workload.Workload{
		ID: id, UID: o.Metadata.UID, Queue: o.Spec.Queue, Priority: priority, Created: created, Queued: created,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: inAnyFlavor(requested)}},
	}}
	object := "PodGroup " + id
	if !g.isLeaf[o.Spec.Queue] {
		p.Workload.Queue, p.Unresolved = "", fmt.Sprintf("its queue %q is no leaf of the input", o.Spec.Queue)
	}
	if fixed {
		p.Notes = append(p.Notes, note(object, "spec.preemptibility", "the group is not preemptible: KAI gives it nothing above the queue's quota, which is not looked at"))
	}
	if o.Spec.TopologyConstraint != nil {
		p.Notes = append(p.Notes, note(object, "spec.topologyConstraint", "the group's topology constraint is not looked at"))
	}
	switch {
	case len(others) > 0:
		p.Notes = append(p.Notes, note(object, "status.resourcesStatus.requested", "the group's requests of %s are not looked at: queues of KAI have quota for cpu, memory and %s alone",
			strings.Join(others, ", "), gpu))
	case len(taken) == 0:
		p.Notes = append(p.Notes, note(object, "status.resourcesStatus.requested", "the group's status does not say what it requests: it asks for nothing here"))
	}
	if p.PreemptsFrom, err = o.preemptsFrom(); err != nil {
		return err
	}
	g.c.Pending = append(g.c.Pending, p)
	return nil
}

// isFixed reports whether the group is not preemptible: if it does not say, its priority
// decides.
func (s *PodGroupSpec) isFixed(priority int64) (bool, error) {
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

// preemptsFrom returns when a waiting group may evict others: its delay after it was created
// or last evicted. Zero: at once.
func (g *PodGroup) preemptsFrom() (time.Time, error) {
	if g.Spec.PreemptionDelay == nil {
		return time.Time{}, nil
	}
	delay, err := time.ParseDuration(*g.Spec.PreemptionDelay)
	if err != nil {
		return time.Time{}, fmt.Errorf("spec.preemptionDelay: %q is not a duration", *g.Spec.PreemptionDelay)
	}
	evicted, err := parseTime("annotation "+evictedAnnotation, g.Metadata.Annotations[evictedAnnotation])
	if from := g.Metadata.CreationTimestamp; evicted.Before(from) {
		evicted = from
	}
	return evicted.Add(delay), err
}

// podSet returns the pod set of a group. It is elastic if its running pods are in the input, are
// equal, and are more than its minimum (by default one in KAI).
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

// amounts lists the amounts over zero, by resource, and the other resources of the list, for which
// queues have no quota.
func amounts(list bridge.ResourceList) (out []quota.Amount, others []string) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		n := list[name].Amount(name)
		switch {
		case n <= 0:
		case name == "cpu" || name == "memory" || name == gpu:
			out = append(out, quota.Amount{Flavor: flavor, Resource: name, Amount: n})
		default:
			others = append(others, name)
		}
	}
	return out, others
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

func inAnyFlavor(list []quota.Amount) []quota.Amount {
	for i := range list {
		list[i].Flavor = ""
	}
	return list
}
