package kai

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// GroupAnnotation of a pod names its group, in the namespace of the pod.
const GroupAnnotation = "pod-group-name"

// More follows the name of a group of which pods run: what waits is its next pods.
const More = ":more"

const (
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
// note, what cannot be read. It changes nothing: call it whenever you need a state.
func (o *Objects) Cluster() bridge.Cluster {
	c := bridge.Cluster{QueueNotes: map[string][]bridge.Note{}}
	t := o.tree(&c)
	g := groups{c: &c, tree: t, classes: map[string]int64{}, requested: map[string]totals{}, of: map[string]*podsOf{}}
	g.readPods(o)
	g.nodes = o.readNodes(&g)
	for _, class := range o.classes.All() {
		g.classes[class.Metadata.Name] = class.Value
		if class.GlobalDefault {
			g.fallback, g.defaults = &class.Value, append(g.defaults, class.Metadata.Name)
		}
	}
	for _, one := range o.groups.All() {
		if err := g.add(one); err != nil {
			g.warn(one, "", "%v: left out", err)
		}
	}
	shares := t.fairShares(g.nodes.total, &c)
	for i := range shares.Queues {
		q := &shares.Queues[i]
		for j := range q.Claims {
			q.Claims[j].Request = min(g.requested[q.Name][q.Claims[j].Resource], quota.MaxUsage)
		}
	}
	t.minRuntime = g.minRuntimes(o)
	g.nodes.beside.add([]quota.Amount{{Resource: GPU, Amount: g.rounded}})
	t.addQueues(shares, g.nodes.beside, &c)
	c.Nodes = g.nodes.state
	g.doubtObjects(o)
	return c
}

// groups adds pod groups to a cluster.
type groups struct {
	c         *bridge.Cluster
	tree      tree
	nodes     *nodes
	classes   map[string]int64 // the values of priority classes
	fallback  *int64           // that of the default class; nil: there is none
	defaults  []string         // default classes
	pods      []*Pod
	of        map[string]*podsOf
	requested map[string]totals // by queue: what its pods hold and wait for
	rounded   int64             // what parts of GPUs count in queues and do not take of nodes
}

func (g *groups) warn(of *PodGroup, path, format string, args ...any) {
	object := "PodGroup " + of.Metadata.ID()
	g.c.Notes = append(g.c.Notes, note(object, path, object+": "+format, args...))
}

// priority returns the priority of the group's class, and what is not known of it: KAI takes the default class, or 50,
// for a class that is not there.
func (g *groups) priority(of *PodGroup) (priority int64, unknown string) {
	name := of.Spec.PriorityClassName
	if priority, known := g.classes[name]; known {
		return priority, ""
	}
	if priority, known := builtin[name]; known {
		return priority, ""
	}
	priority = defaultPriority
	if g.fallback != nil {
		priority = *g.fallback
	}
	switch {
	case len(g.defaults) > 1:
		unknown = fmt.Sprintf("PriorityClasses %s and %s are both the default: taken as priority %d", g.defaults[0], g.defaults[1], priority)
	case name != "":
		unknown = fmt.Sprintf("PriorityClass %q is not in the input: taken as priority %d", name, priority)
	}
	return priority, unknown
}

// minimum is how many pods must fit together.
func (g *PodGroup) minimum() int {
	if g.Spec.MinMember == nil {
		return 1
	}
	return int(min(max(1, *g.Spec.MinMember), workload.MaxElasticCount))
}

// Fixed reports whether a group of a priority is not preemptible, if it does not say so itself.
func Fixed(priority int64) bool { return priority >= nonPreemptible }

// isFixed reports whether the group is not preemptible: if it does not say, its priority
// decides.
func (s *PodGroupSpec) isFixed(priority int64) (bool, error) {
	switch s.Preemptibility {
	case "preemptible":
		return false, nil
	case "non-preemptible":
		return true, nil
	case "":
		return Fixed(priority), nil
	}
	return false, fmt.Errorf("spec.preemptibility: %q is unknown: want preemptible or non-preemptible", s.Preemptibility)
}

// group is a pod group with what was found out about it.
type group struct {
	*PodGroup
	*podsOf
	id, unknown string // unknown: what is not known of its class
	workload    workload.Workload
}

func (g *groups) add(o *PodGroup) error {
	of := group{PodGroup: o, podsOf: g.of[o.Metadata.ID()], id: o.Metadata.ID()}
	if of.podsOf == nil {
		of.podsOf = new(podsOf)
	}
	if of.ended && len(of.held)+len(of.waiting)+of.gated+of.ending == 0 {
		g.c.Finished = append(g.c.Finished, of.id)
		return nil
	}
	var priority int64
	priority, of.unknown = g.priority(o)
	fixed, err := o.Spec.isFixed(priority)
	if err != nil {
		g.doubtAll("PodGroup "+of.id, "spec.preemptibility", "%v: whether it yields is not known", err)
		fixed = true
	}
	created := o.Metadata.CreationTimestamp
	of.workload = workload.Workload{ID: of.id, UID: o.Metadata.UID, Queue: o.Spec.Queue, Priority: priority, Created: created, Queued: created, NeverYields: fixed}
	g.request(&of)
	runs, err := g.addHeld(&of)
	if err != nil {
		return err
	}
	g.addGroup(&of)
	if runs && len(of.waiting) == 0 {
		return nil
	}
	return g.addWaiting(&of, runs)
}

// addGroup adds a group with its pods, with the nodes where each may run.
func (g *groups) addGroup(of *group) {
	pods := slices.Concat(of.held, of.waiting)
	elsewhere := func(p *Pod) bool { return g.nodes.byName[p.Spec.NodeName] == nil }
	if len(pods) == 0 || !g.tree.isLeaf(of.Spec.Queue) || slices.ContainsFunc(of.held, elsewhere) {
		return
	}
	slices.SortFunc(pods, comparePods)
	made := bridge.Group{Workload: of.workload, Minimum: of.minimum()}
	if len(of.held) > 0 {
		made.Workload.ReservedAt, _ = parseTime("", of.Metadata.Annotations[startAnnotation]) // a doubt says what is wrong
	}
	made.PreemptsFrom, _ = of.preemptsFrom() // likewise
	for _, p := range pods {
		pod, _ := g.nodes.pod(p, of.id) // likewise
		pod.Node = p.Spec.NodeName
		made.Pods = append(made.Pods, pod)
	}
	g.c.Groups = append(g.c.Groups, made)
}

// request counts what the pods of a group request in its queue.
func (g *groups) request(of *group) {
	sum := g.requested[of.Spec.Queue]
	if sum == nil {
		sum = totals{}
		g.requested[of.Spec.Queue] = sum
	}
	for _, list := range [][]*Pod{of.held, of.waiting} {
		for _, p := range list {
			sum.add(requestsOf(p))
		}
	}
	if len(of.held)+len(of.waiting)+of.gated+of.ending == 0 { // its pods are not in the input
		status := &of.Status.ResourcesStatus
		if len(status.Requested) > 0 {
			sum.add(amounts(status.Requested))
		} else {
			sum.add(amounts(status.Allocated))
		}
	}
}

// addHeld adds what runs of a group.
func (g *groups) addHeld(of *group) (runs bool, err error) {
	object := "PodGroup " + of.id
	var sets []workload.PodSet
	switch {
	case len(of.held) > 0:
		sets = g.podSets(of)
	case len(of.waiting)+of.gated+of.ending == 0 && len(of.Status.ResourcesStatus.Allocated) > 0: // its pods are not in the input
		sum, _ := ofQueues(amounts(of.Status.ResourcesStatus.Allocated))
		sets = []workload.PodSet{{Name: podSet, Count: 1, Requests: sum}}
		g.doubtAll(object, "status.resourcesStatus", "none of its pods is in the input: KAI sums up what they hold")
	default:
		return false, nil
	}
	switch {
	case g.tree.dropped[of.Spec.Queue] != "":
		return true, nil // it counts nowhere, and the doubt is told
	case !g.tree.isLeaf(of.Spec.Queue):
		g.doubtAll(object, "spec.queue", "it runs in queue %q, which is no leaf of the input", of.Spec.Queue)
		return true, fmt.Errorf("it runs in queue %q, which is no leaf of the input", of.Spec.Queue)
	case of.unknown != "":
		g.doubtAll(object, "spec.priorityClassName", "%s", of.unknown)
	}
	w := of.workload
	if w.ReservedAt, err = parseTime("annotation "+startAnnotation, of.Metadata.Annotations[startAnnotation]); err != nil {
		g.doubtAll(object, "metadata.annotations["+startAnnotation+"]", "%v: whether its runtime protects it is not known", err)
	}
	w.PodSets = sets
	g.c.State.Admitted = append(g.c.State.Admitted, w)
	return true, nil
}

// podSet is the name of the one pod set of a group.
const podSet = "main"

// podSets makes of the pods that run a pod set, whose surplus over the minimum may yield by itself.
func (g *groups) podSets(of *group) []workload.PodSet {
	each, same := g.each(of.held)
	if !same {
		if len(of.held) > of.minimum() && !of.workload.NeverYields {
			g.doubtAll("PodGroup "+of.id, "spec.minMember", "its pods differ, and which of its surplus yields is not modelled")
		}
		return []workload.PodSet{{Name: podSet, Count: 1, Requests: each}}
	}
	set := workload.PodSet{Name: podSet, Count: int64(len(of.held)), Requests: each}
	if least := int64(of.minimum()); least < set.Count && set.Count <= workload.MaxElasticCount {
		set.MinCount = workload.AtLeast(least)
	}
	return []workload.PodSet{set}
}

// each returns what each of some pods takes of what queues have, or, if they differ, all of them together.
func (g *groups) each(pods []*Pod) (amounts []quota.Amount, same bool) {
	sum, first := totals{}, requestsOf(pods[0])
	same = true
	for _, p := range pods {
		takes := requestsOf(p)
		same = same && slices.Equal(takes, first)
		sum.add(takes)
	}
	if same {
		amounts, _ = ofQueues(first)
		return amounts, true
	}
	for _, name := range []string{"cpu", GPU, "memory"} {
		if sum[name] > 0 {
			amounts = append(amounts, quota.Amount{Flavor: Flavor, Resource: name, Amount: min(sum[name], quota.MaxUsage)})
		}
	}
	return amounts, false
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
