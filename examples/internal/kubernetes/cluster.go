package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/cedesched/cede/preemption/placement"
)

// Cluster is a state and who waits.
type Cluster struct {
	State placement.State
	// Pending is who waits, groups first, by name: a group with all its pods that wait, or
	// a pod of no group. Each is ready to be asked about.
	Pending []Pending
	// Warnings say what was left out or changed, one line each.
	Warnings []string
}

// Pending is a pod or group that waits.
type Pending struct {
	// ID is "namespace/name".
	ID      string
	Request placement.Request
	// Unresolved says why it cannot be asked about, else nil.
	Unresolved error
	// Notes are what an answer about it must tell its reader.
	Notes []string
}

// Cluster resolves references.
func (o *Objects) Cluster() (Cluster, error) {
	var c Cluster
	for i := range o.nodes {
		n := &o.nodes[i]
		capacity := n.Status.Allocatable
		if capacity == nil {
			capacity = n.Status.Capacity
		}
		c.State.Nodes = append(c.State.Nodes, placement.Node{
			Name: n.Metadata.Name, Capacity: amounts(capacity), Labels: n.Metadata.Labels, Unschedulable: n.Spec.Unschedulable,
		})
	}
	for _, id := range slices.Sorted(maps.Keys(o.groups)) {
		g := o.groups[id]
		priority, _, err := o.priority(g.Spec.Priority, g.Spec.PriorityClassName, g.Spec.PreemptionPolicy)
		if err == nil {
			var mode placement.DisruptionMode
			mode, err = g.mode()
			c.State.Groups = append(c.State.Groups, placement.Group{
				ID: id, Priority: priority, DisruptionMode: mode, Basic: g.Spec.SchedulingPolicy.Gang == nil,
			})
		}
		if err != nil {
			return c, fmt.Errorf("PodGroup %s: %w", id, err)
		}
	}
	for i := range o.budgets {
		b := &o.budgets[i]
		budget := placement.Budget{
			Namespace: b.Metadata.namespace(), Name: b.Metadata.Name, Selector: selector(b.Spec.Selector), Allowed: b.Status.DisruptionsAllowed,
		}
		for _, name := range slices.Sorted(maps.Keys(b.Status.DisruptedPods)) {
			budget.Disrupted = append(budget.Disrupted, b.Metadata.namespace()+"/"+name)
		}
		c.State.Budgets = append(c.State.Budgets, budget)
	}
	waiting := map[string][]*podObject{}
	for i := range o.pods {
		if err := o.addPod(&c, &o.pods[i], waiting); err != nil {
			return c, fmt.Errorf("pod %s: %w", o.pods[i].Metadata.id(), err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(waiting)) {
		_, id, _ := strings.Cut(key, " ")
		c.Pending = append(c.Pending, o.pending(id, waiting[key]))
	}
	return c, nil
}

func (p *podObject) group() string {
	if p.Spec.SchedulingGroup.PodGroupName == "" {
		return ""
	}
	return p.Metadata.namespace() + "/" + p.Spec.SchedulingGroup.PodGroupName
}

// addPod takes a pod that runs, or puts one that waits with its group.
func (o *Objects) addPod(c *Cluster, p *podObject, waiting map[string][]*podObject) error {
	if p.Status.Phase == string(corev1.PodSucceeded) || p.Status.Phase == string(corev1.PodFailed) {
		return nil
	}
	node := p.Spec.NodeName
	if node == "" {
		key := "group " + p.group()
		if p.group() == "" {
			key = "pod " + p.Metadata.id()
		}
		waiting[key] = append(waiting[key], p)
		node = p.Status.NominatedNodeName
	}
	if node == "" {
		return nil
	}
	if !slices.ContainsFunc(c.State.Nodes, func(n placement.Node) bool { return n.Name == node }) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("Pod %s: node %q is not in the input: left out", p.Metadata.id(), node))
		return nil
	}
	out := o.pod(p)
	var err error
	if out.Priority, _, err = o.priority(p.Spec.Priority, p.Spec.PriorityClassName, nil); err != nil {
		return err
	}
	if out.Node = node; p.Spec.NodeName == "" {
		c.State.Nominated = append(c.State.Nominated, out)
		return nil
	}
	out.Started, out.Terminating = p.Status.StartTime.UTC(), p.Metadata.DeletionTimestamp != nil
	for _, condition := range p.Status.Conditions {
		if condition.Type == string(corev1.DisruptionTarget) && condition.Status == "True" && condition.Reason == corev1.PodReasonPreemptionByScheduler {
			out.Preempted = out.Terminating
		}
	}
	c.State.Pods = append(c.State.Pods, out)
	return nil
}

// pod is what running and waiting pods have in common.
func (o *Objects) pod(p *podObject) placement.Pod {
	return placement.Pod{
		ID: p.Metadata.id(), UID: p.Metadata.UID, Namespace: p.Metadata.namespace(), Labels: p.Metadata.Labels,
		Group: p.group(), Requests: p.requests(),
	}
}

// pending is the request of pods that wait together.
func (o *Objects) pending(id string, pods []*podObject) Pending {
	out := Pending{ID: id}
	out.Request.Group = pods[0].group()
	g, known := o.groups[out.Request.Group]
	var err error
	switch {
	case out.Request.Group == "":
		out.Request.Priority, out.Request.Policy, err = o.priority(pods[0].Spec.Priority, pods[0].Spec.PriorityClassName, pods[0].Spec.PreemptionPolicy)
	case !known:
		err = errors.New("its PodGroup is not in the input")
	default:
		out.Request.Priority, out.Request.Policy, err = o.priority(g.Spec.Priority, g.Spec.PriorityClassName, g.Spec.PreemptionPolicy)
		if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
			running := 0
			for i := range o.pods {
				if p := &o.pods[i]; p.group() == id && p.Spec.NodeName != "" && p.Metadata.DeletionTimestamp == nil {
					running++
				}
			}
			out.Request.MinCount = max(0, gang.MinCount-running)
		}
		if g.Spec.Constraints != nil {
			out.note("the group's scheduling constraints (topology) are not looked at: see -topology")
		}
		if g.Spec.Parent != "" {
			out.note("the group is part of the composite group %s, which is not looked at", g.Spec.Parent)
		}
	}
	out.Unresolved = err
	slices.SortFunc(pods, func(a, b *podObject) int { return compareNatural(a.Metadata.Name, b.Metadata.Name) })
	for _, p := range pods {
		pod := o.pod(p)
		if pod.Nodes, err = o.feasible(p); err != nil {
			out.Unresolved = errors.Join(out.Unresolved, fmt.Errorf("pod %s: %w", pod.ID, err))
		}
		out.Request.Pods = append(out.Request.Pods, pod)
		out.notes(p)
	}
	if n := len(pods); out.Unresolved == nil && out.Request.MinCount > n {
		out.Unresolved = fmt.Errorf("its gang needs %d more pods, but %d wait", out.Request.MinCount, n)
	}
	return out
}

func (p *Pending) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.Notes, text) {
		p.Notes = append(p.Notes, text)
	}
}

// notes says what of a pod is not looked at.
func (p *Pending) notes(pod *podObject) {
	s := &pod.Spec
	if s.Affinity != nil && s.Affinity.PodAffinity != nil {
		p.note("affinity between pods is not looked at (what keeps them apart is)")
	}
	if len(s.Spread) > 0 {
		p.note("topology spread constraints are not looked at")
	}
	if len(s.ResourceClaims) > 0 {
		p.note("resource claims are not looked at")
	}
	for _, v := range s.Volumes {
		if v.Claim != nil {
			p.note("volumes are not looked at")
		}
	}
}

// feasible lists the nodes whose labels and taints suit the pod; nil when all do.
func (o *Objects) feasible(p *podObject) ([]string, error) {
	affinity := nodeaffinity.NewRequiredNodeAffinity(p.Spec.NodeSelector, p.Spec.Affinity)
	suitable := []string{}
	for i := range o.nodes {
		n := &o.nodes[i]
		node := corev1.Node{}
		node.Name, node.Labels = n.Metadata.Name, n.Metadata.Labels
		matches, err := affinity.Match(&node)
		if err != nil {
			return nil, fmt.Errorf("node affinity: %w", err)
		}
		_, tainted := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, p.Spec.Tolerations, func(t *corev1.Taint) bool {
			return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
		}, true)
		if matches && !tainted {
			suitable = append(suitable, node.Name)
		}
	}
	if len(suitable) == len(o.nodes) {
		return nil, nil
	}
	return suitable, nil
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
