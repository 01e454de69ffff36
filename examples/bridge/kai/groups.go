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
	t := o.addQueues(&c)
	g := groups{c: &c, tree: t, classes: map[string]int64{}, isLeaf: map[string]bool{}, nodes: nodesOf(o.idleNodes()), hasNodes: len(o.nodes.All()) > 0,
		used: usage{map[string]map[string]int64{}, map[string]map[string]int64{}}}
	for _, class := range o.classes.All() {
		g.classes[class.Metadata.Name] = class.Value
		if class.GlobalDefault {
			g.fallback = &class.Value
		}
	}
	for _, q := range c.State.Queues {
		g.isLeaf[q.Name] = true
	}
	g.bound, g.free, g.ended = o.podsOf()
	for _, one := range o.groups.All() {
		if err := g.add(one); err != nil {
			g.warn(one, "", "%v: left out", err)
		}
	}
	for i := range g.waits {
		if w := &g.waits[i]; c.Pending[i].Unresolved == "" {
			g.judge(&c.Pending[i], w)
		}
	}
	g.doubtPods(o)
	if n := len(g.fractions); n > 0 {
		g.doubtAll("PodGroup "+g.fractions[0], "status.resourcesStatus", "fractions of a GPU are rounded up to whole ones here")
	}
	return c
}

// groups adds pod groups to a cluster.
type groups struct {
	c           *bridge.Cluster
	tree        tree
	classes     map[string]int64 // the values of priority classes
	fallback    *int64           // that of the default class; nil: there is none
	isLeaf      map[string]bool
	bound, free map[string][]*Pod // of groups: with a node, and without
	ended       map[string]bool   // groups with pods that have ended
	nodes       []*idle
	hasNodes    bool
	used        usage
	waits       []waiting // as Pending
	fractions   []string  // groups that take a fraction of a GPU
}

func (g *groups) warn(of *PodGroup, path, format string, args ...any) {
	object := "PodGroup " + of.Metadata.ID()
	g.c.Notes = append(g.c.Notes, note(object, path, object+": "+format, args...))
}

// priority returns the priority of the group's class, and whether it is known: KAI takes the default class, or 50, for a
// class that is not there.
func (g *groups) priority(of *PodGroup) (priority int64, known bool) {
	name := of.Spec.PriorityClassName
	if priority, known := g.classes[name]; known {
		return priority, true
	}
	if priority, known := builtin[name]; known {
		return priority, true
	}
	if name != "" {
		g.warn(of, "spec.priorityClassName", "PriorityClass %q is not in the input: taken as priority %d", name, defaultPriority)
	} else if g.fallback != nil {
		return *g.fallback, true
	}
	return defaultPriority, name == ""
}

func (g *groups) add(o *PodGroup) error {
	id, created := o.Metadata.ID(), o.Metadata.CreationTimestamp
	if g.ended[id] && len(g.bound[id])+len(g.free[id]) == 0 {
		g.c.Finished = append(g.c.Finished, id)
		return nil
	}
	priority, known := g.priority(o)
	started, err := parseTime("annotation "+startAnnotation, o.Metadata.Annotations[startAnnotation])
	if err != nil {
		g.doubtAll("PodGroup "+id, "metadata.annotations["+startAnnotation+"]", "%v: whether its runtime protects it is not known", err)
	}
	fixed, err := o.Spec.isFixed(priority)
	if err != nil {
		g.doubtAll("PodGroup "+id, "spec.preemptibility", "%v: whether it yields is not known", err)
		fixed = true
	}
	bound, free := g.bound[id], sortedPods(g.free[id])
	taken, runs := o.Status.ResourcesStatus.Requested, len(bound) > 0
	switch {
	case runs:
		taken = sum(bound, len(bound))
	case len(free) > 0:
		taken = sum(free, int(min(o.minimum(), int64(len(free)))))
	case len(o.Status.ResourcesStatus.Allocated) > 0: // its pods are not in the input
		taken, runs = o.Status.ResourcesStatus.Allocated, true
		g.doubtAll("PodGroup "+id, "status.resourcesStatus", "none of its pods is in the input: KAI sums up what they hold")
	}
	if !taken[gpu].IsWhole() {
		g.fractions = append(g.fractions, id)
	}
	requests, others := amounts(taken)
	if runs {
		if !g.isLeaf[o.Spec.Queue] {
			g.doubtAll("PodGroup "+id, "spec.queue", "it runs in queue %q, which is no leaf of the input", o.Spec.Queue)
			return fmt.Errorf("it runs in queue %q, which is no leaf of the input", o.Spec.Queue)
		}
		chain, _ := g.tree.chain(o.Spec.Queue)
		g.used.add(chain, requests, fixed)
		g.c.State.Admitted = append(g.c.State.Admitted, workload.Workload{
			ID: id, UID: o.Metadata.UID, Queue: o.Spec.Queue, Priority: priority,
			Created: created, Queued: created, ReservedAt: started, NeverYields: fixed,
			PodSets: []workload.PodSet{elastic(requests, int64(len(bound)), o.minimum())},
		})
		return nil
	}
	p := bridge.Pending{Workload: workload.Workload{
		ID: id, UID: o.Metadata.UID, Queue: o.Spec.Queue, Priority: priority, Created: created, Queued: created,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: inAnyFlavor(slices.Clone(requests))}},
	}}
	object := "PodGroup " + id
	if !g.isLeaf[o.Spec.Queue] {
		p.Workload.Queue, p.Unresolved = "", fmt.Sprintf("its queue %q is no leaf of the input", o.Spec.Queue)
	}
	if len(others) > 0 {
		p.Notes = append(p.Notes, note(object, "status.resourcesStatus.requested", "queues of KAI have quota for cpu, memory and %s alone: its requests of %s count on nodes only",
			gpu, strings.Join(others, ", ")))
	}
	if p.PreemptsFrom, err = o.preemptsFrom(); err != nil {
		return err
	}
	p.UnlessFits = "who yields in KAI, and when, goes by its fair shares and its nodes, which are not modelled"
	g.c.Pending = append(g.c.Pending, p)
	g.waits = append(g.waits, waiting{group: o, requests: requests, pods: free, fixed: fixed, fixedKnown: known || o.Spec.Preemptibility != ""})
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
