package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Cluster is a state, and the pods and groups that wait.
type Cluster struct {
	State placement.State
	// Pending lists what waits, groups first, by name: a group with all its waiting pods, or
	// a pod of no group. Each has a request for placement.Preemptor.Decide.
	Pending []Pending
	// OfNodes has the running pods that belong to their nodes, those of daemon sets and static pods, by ID.
	OfNodes map[string]bool
	// Started says of the pods on nodes that Kueue started which they are, by ID.
	Started map[string]Started
	// Stays says of the running pods that are moved to no other node why not, by ID: "has no controller that starts it again".
	Stays map[string]string
	// Notes list what was left out or changed.
	Notes []bridge.Note
	// Doubts say what is not known, and which answers that leaves unknown: ask DoubtsOn.
	Doubts []bridge.Doubt
}

// Pending is a pod or group that waits.
type Pending struct {
	// ID is "namespace/name".
	ID      string
	Request placement.Request
	// Unresolved says why there is no valid request about it; else nil. Unread says that the reason is an
	// object that cannot be read.
	Unresolved error
	Unread     bool
	// NoNode says that no node is feasible for any of its pods, even if it were empty: there
	// are no nodes, or their labels, taints and state do not match.
	NoNode bool
	// Notes list what the request leaves out; a reader of the decision should see them.
	Notes []bridge.Note
}

// context holds the objects that others refer to.
type context struct {
	nodes     []*Node
	pods      []*Pod
	classes   map[string]*PriorityClass
	byDefault *PriorityClass
	groups    map[string]*group // by ID
	running   map[string]int    // pods that run and do not terminate, by the ID of their PodGroup
	known     map[string]bool   // nodes
	unread    map[string]unread // by kind and name
	devices   devices
	mayRun    map[string][]string // where running pods may go, by what says so
	out       Cluster
}

// warn adds a note; the text names the object.
func (c *context) warn(object, path, format string, args ...any) {
	c.out.Notes = append(c.out.Notes, bridge.Note{Object: object, Path: path, Text: object + ": " + fmt.Sprintf(format, args...)})
}

// Cluster makes a cluster from the objects: it resolves references. It changes nothing: call it
// whenever you need a state. It costs O(objects + nodes × (waiting pods + templates of running ones)).
func (o *Objects) Cluster() Cluster {
	c := &context{
		nodes: o.nodes.All(), pods: o.pods.All(),
		classes: map[string]*PriorityClass{}, groups: map[string]*group{}, running: map[string]int{}, known: map[string]bool{}, unread: o.unread, mayRun: map[string][]string{},
	}
	for _, class := range o.classes.All() {
		c.doubtUnread(class.key(), "")
		c.classes[class.Metadata.Name] = class
		// Of several default classes the API server takes the one with the lowest value.
		if class.GlobalDefault && (c.byDefault == nil || class.Value < c.byDefault.Value) {
			c.byDefault = class
		}
	}
	// A waiting pod may tolerate an unschedulable node: feasible leaves such nodes out for the others.
	tolerated := slices.ContainsFunc(c.pods, func(p *Pod) bool { return p.Spec.NodeName == "" && p.toleratesUnschedulable() })
	for _, n := range c.nodes {
		c.doubtUnread(n.key(), n.Metadata.Name)
		c.known[n.Metadata.Name] = true
		capacity := n.Status.Allocatable
		if capacity == nil {
			capacity = n.Status.Capacity
		}
		c.out.State.Nodes = append(c.out.State.Nodes, workload.Node{
			Name: n.Metadata.Name, Capacity: amounts(capacity), Labels: n.Metadata.Labels,
			Unschedulable: n.Spec.Unschedulable && !tolerated,
		})
	}
	c.addDevices(o)
	for _, g := range o.groups.All() {
		c.keepGroup(g.group())
	}
	for _, g := range o.composites.All() {
		c.keepGroup(g.group())
	}
	for _, id := range slices.Sorted(maps.Keys(c.groups)) {
		c.addGroup(c.groups[id])
	}
	for _, b := range o.budgets.All() {
		c.doubtUnread(b.key(), "")
		c.addBudget(b)
	}
	waiting := map[string][]*Pod{}
	for _, p := range c.pods {
		if p.Spec.NodeName != "" && !p.isDone() && p.Metadata.DeletionTimestamp == nil {
			c.running[p.group()]++
		}
		c.addPod(p, waiting)
	}
	c.addMissingGroups()
	for _, key := range slices.Sorted(maps.Keys(waiting)) {
		_, id, _ := strings.Cut(key, " ")
		c.out.Pending = append(c.out.Pending, c.pending(id, waiting[key]))
	}
	c.doubtFaults(o.faults)
	for _, n := range o.lost {
		c.out.Doubts = append(c.out.Doubts, bridge.Doubt{Note: n})
	}
	return c.out
}

// isDone reports whether the pod has ended: it takes nothing any more.
func (p *Pod) isDone() bool {
	return p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
}

// addPod adds a running pod to the state, or a waiting one to the pods of its group.
func (c *context) addPod(p *Pod, waiting map[string][]*Pod) {
	if p.isDone() {
		return
	}
	node := p.Spec.NodeName
	if node == "" {
		key := "group " + c.root(p.group())
		if p.group() == "" {
			key = "pod " + p.Metadata.ID()
		}
		waiting[key] = append(waiting[key], p)
		node = p.Status.NominatedNodeName
	}
	if node == "" {
		if u, ok := c.unread[p.key()]; ok && (u.has("spec") || u.has("spec.nodeName") || u.has("status")) {
			c.doubtPod(p, "") // it may run
		}
		return
	}
	if !c.known[node] {
		c.warn("Pod "+p.Metadata.ID(), "spec.nodeName", "node %q is not in the input: left out", node)
		if p.Spec.NodeName != "" {
			c.doubt(bridge.Doubt{}, "Node "+node, "node %q, on which Pod %s runs, is not in the input", node, p.Metadata.ID())
		}
		return
	}
	c.doubtPod(p, node)
	if _, missing := c.claimsOf(p); len(missing) > 0 && len(c.devices.claims) > 0 {
		c.doubt(bridge.Doubt{Node: node}, p.key(), "%s holds ResourceClaim %s, which is not in the input", p.key(), missing[0])
	}
	out := c.pod(p)
	var err error
	if out.Priority, _, err = c.priority(p.Spec.Priority, p.Spec.PriorityClassName, ""); err != nil {
		if p.Spec.NodeName != "" {
			c.warn("Pod "+out.ID, "spec.priorityClassName", "%v: it is never preempted here", err)
			c.doubt(bridge.Doubt{Node: node}, "Pod "+out.ID, "the priority of Pod %s is not known: %v", out.ID, err)
		}
		out.Priority = math.MaxInt32
	}
	if u := c.unread[p.key()]; u.has("spec.priority") || u.has("spec.priorityClassName") {
		out.Priority = math.MaxInt32 // nothing lower is known to be right
	}
	if out.Node = node; p.Spec.NodeName == "" {
		c.out.State.Nominated = append(c.out.State.Nominated, out)
		return
	}
	stays := ""
	if out.Nodes, stays = c.mayMove(p); stays != "" {
		if c.out.Stays == nil {
			c.out.Stays = map[string]string{}
		}
		out.Nowhere, c.out.Stays[out.ID] = true, stays
	}
	if kind := p.controller(); kind == "DaemonSet" || kind == "Node" {
		if c.out.OfNodes == nil {
			c.out.OfNodes = map[string]bool{}
		}
		c.out.OfNodes[out.ID] = true
	}
	out.Started, out.Terminating = p.Status.StartTime.UTC(), p.Metadata.DeletionTimestamp != nil
	for _, condition := range p.Status.Conditions {
		if condition.Type == "DisruptionTarget" && condition.Status == "True" && condition.Reason == "PreemptionByScheduler" {
			out.Preempted = out.Terminating
		}
	}
	if s, ok := startedBy(&p.Metadata); ok {
		if c.out.Started == nil {
			c.out.Started = map[string]Started{}
		}
		c.out.Started[out.ID] = s
	}
	c.out.State.Pods = append(c.out.State.Pods, out)
}

// pod returns what running and waiting pods have in common.
func (c *context) pod(p *Pod) workload.Pod {
	claims, _ := c.claimsOf(p)
	return workload.Pod{
		ID: p.Metadata.ID(), UID: p.Metadata.UID, Namespace: p.Metadata.Namespace, Labels: p.Metadata.Labels,
		Group: p.group(), Requests: c.asDevices(requests(p)), Claims: claims,
	}
}

// pending returns the request of pods that wait together.
func (c *context) pending(id string, pods []*Pod) Pending {
	out := Pending{ID: id, NoNode: true}
	out.Request.Group = c.root(pods[0].group())
	g, known := c.groups[out.Request.Group]
	var err error
	switch {
	case out.Request.Group == "":
		out.Request.Priority, out.Request.Policy, err = c.priority(pods[0].Spec.Priority, pods[0].Spec.PriorityClassName, pods[0].Spec.PreemptionPolicy)
	case !known:
		err = errors.New("its PodGroup is not in the input")
	default:
		out.Request.Priority, out.Request.Policy, err = c.priority(g.Priority, g.PriorityClassName, g.PreemptionPolicy)
		if _, why := c.above(g.id); why != "" {
			err = errors.New(why)
		}
		var needs error
		if pods, needs = c.needs(&out, g, pods); err == nil {
			err = needs
		}
	}
	if u, ok := c.unread[c.object(out.Request.Group)]; ok {
		err, out.Unread = fmt.Errorf("its group cannot be read: %w", u.why), true
	}
	out.Unresolved = err
	slices.SortFunc(pods, func(a, b *Pod) int { return compareNatural(a.Metadata.Name, b.Metadata.Name) })
	for _, p := range pods {
		pod := c.pod(p)
		var why string
		u, unread := c.unread[p.key()]
		if unread {
			out.Unresolved, out.Unread = fmt.Errorf("%s cannot be read: %w", p.key(), u.why), true
		}
		if pod.Nodes, why, err = c.feasible(p); err != nil && !unread {
			out.Unresolved = errors.Join(out.Unresolved, fmt.Errorf("pod %s: %w", pod.ID, err))
		}
		pod.Nowhere = pod.Nodes != nil && len(pod.Nodes) == 0
		switch {
		case why == "" && len(c.nodes) > 0:
			out.NoNode = false
		case why != "" && len(out.Notes) < maxNotes:
			out.note("Pod "+pod.ID, "spec", "%s", why)
		}
		out.Request.Pods = append(out.Request.Pods, pod)
		c.notSupported(&out, p)
	}
	return out
}

// maxNotes bounds the notes on the pods of one group.
const maxNotes = 100

// note adds a note, unless there is one with the same text.
func (p *Pending) note(object, path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.ContainsFunc(p.Notes, func(n bridge.Note) bool { return n.Text == text }) {
		p.Notes = append(p.Notes, bridge.Note{Object: object, Path: path, Text: text})
	}
}

// unsupported adds a note on what is not looked at, and that a yes depends on it.
func (c *context) unsupported(p *Pending, object, path, format string, args ...any) {
	before := len(p.Notes)
	if p.note(object, path, format, args...); len(p.Notes) > before {
		c.out.Doubts = append(c.out.Doubts, bridge.Doubt{Note: p.Notes[before], Workload: p.ID, OnlyYes: true})
	}
}

// notSupported adds the notes on scheduling gates, and the doubts about devices.
func (c *context) notSupported(p *Pending, pod *Pod) {
	s, object := &pod.Spec, "Pod "+pod.Metadata.ID()
	if len(s.SchedulingGates) > 0 && len(p.Notes) < maxNotes {
		var names []string
		for _, g := range s.SchedulingGates {
			names = append(names, g.Name)
		}
		p.note(object, "spec.schedulingGates", "pod %s is not scheduled before its scheduling gates are removed: %s", pod.Metadata.ID(), strings.Join(names, ", "))
		p.Notes[len(p.Notes)-1].Stops = true
	}
	claims, missing := c.claimsOf(pod)
	for _, id := range claims {
		for _, problem := range c.devices.problems[id] {
			c.unsupported(p, "ResourceClaim "+id, "spec", "ResourceClaim %s: %s", id, problem)
		}
	}
	if len(missing) > 0 {
		c.unsupported(p, object, "spec.resourceClaims", "ResourceClaim %s is not in the input: its devices are not looked at", missing[0])
	}
}

func (p *Pod) toleratesUnschedulable() bool {
	return bridge.Tolerates(p.Spec.Tolerations, bridge.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"})
}

// feasible lists the nodes whose labels, taints and state permit the pod, nil if all do; and the
// reason if none does.
func (c *context) feasible(p *Pod) (suitable []string, why string, err error) {
	suitable = []string{}
	mismatched, tainted, closed := 0, 0, 0
	for _, n := range c.nodes {
		matches, err := p.Spec.SuitsNode(n.Metadata.Name, n.Metadata.Labels)
		if err != nil {
			return nil, "", fmt.Errorf("node affinity: %w", err)
		}
		repels := slices.ContainsFunc(n.Spec.Taints, func(t bridge.Taint) bool {
			return (t.Effect == "NoSchedule" || t.Effect == "NoExecute") && !bridge.Tolerates(p.Spec.Tolerations, t)
		})
		switch {
		case !matches:
			mismatched++
		case repels:
			tainted++
		case n.Spec.Unschedulable && !p.toleratesUnschedulable():
			closed++
		default:
			suitable = append(suitable, n.Metadata.Name)
		}
	}
	if len(suitable) == 0 && len(c.nodes) > 0 {
		var parts []string
		for _, part := range []struct {
			n    int
			what string
		}{
			{mismatched, "not of its node selector or affinity"}, {tainted, "with a taint that it does not tolerate"}, {closed, "unschedulable"},
		} {
			if part.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
			}
		}
		why = fmt.Sprintf("no node takes pod %s: of %d in the input, %s", p.Metadata.ID(), len(c.nodes), strings.Join(parts, ", "))
	}
	if len(suitable) == len(c.nodes) {
		suitable = nil
	}
	return suitable, why, nil
}

// compareNatural puts worker-9 before worker-10.
func compareNatural(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
