package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/examples/kubescheduler/offline"
	"github.com/cedesched/cede/preemption/placement"
)

// find finds who asks, and makes the request about it.
func (c *cluster) find(o *options, asking []asked, a *answer) error {
	waiting := map[string][]*v1.Pod{}
	for p := range c.Pods() {
		if offline.Waits(p) {
			key := c.root(p)
			waiting[key] = append(waiting[key], p)
		}
	}
	var pending []kubernetes.Pending
	for _, key := range slices.Sorted(maps.Keys(waiting)) { // groups first
		kind, id, _ := strings.Cut(key, " ")
		one := kubernetes.Pending{ID: id}
		if kind == "group" {
			one.Request.Group = id
		}
		isAsking := slices.ContainsFunc(waiting[key], func(p *v1.Pod) bool { return slices.Contains(asking, asked{"Pod", mirror.ID(p)}) })
		if o.manifest == "" || isAsking {
			pending = append(pending, one)
		}
	}
	one, err := choose(o, pending)
	if err != nil {
		return fmt.Errorf("%w%s", err, input.FirstLeftOut(a.warnings))
	}
	key := "pod " + one.ID
	if one.Request.Group != "" {
		key = "group " + one.ID
	}
	c.pods = waiting[key]
	if o.count > 0 {
		if one.Request.Group != "" {
			return errors.New("-count: want a manifest with one pod and no group")
		}
		one.Request.Group = one.ID
		c.copies(c.pods[0], o.count)
	}
	a.id = one.ID
	a.request = placement.Request{Group: one.Request.Group, Now: o.now}
	c.question.Pod = one.ID
	if one.Request.Group != "" {
		group, composite := strings.CutPrefix(one.ID, "composite/")
		c.question = offline.Question{Group: group, Composite: composite}
		a.request.Priority = c.priority()
	} else {
		a.request.Priority = corev1.PodPriority(c.pods[0])
	}
	for _, p := range c.pods {
		info, _ := framework.NewPodInfo(p) // terms that do not parse keep it from all nodes, as the scheduler says
		a.request.Pods = append(a.request.Pods, mirror.PodOf(info, ""))
	}
	a.notes = append(a.notes, c.split(o.topology)...)
	return nil
}

// root is the group whose pods wait with a pod, the highest that is in the input; or the pod itself.
func (c *cluster) root(p *v1.Pod) string {
	ref := p.Spec.SchedulingGroup
	if ref == nil || ref.PodGroupName == nil {
		return "pod " + mirror.ID(p)
	}
	name, composite := *ref.PodGroupName, false
	var parent *string
	if g, ok := c.Get("PodGroup", p.Namespace+"/"+name).(*schedulingv1beta1.PodGroup); ok {
		parent = g.Spec.ParentCompositePodGroupName
	}
	for range 10 { // kube-scheduler climbs fewer
		if parent == nil {
			break
		}
		above, ok := c.Get("CompositePodGroup", p.Namespace+"/"+*parent).(*schedulingv1alpha3.CompositePodGroup)
		if !ok {
			break
		}
		name, composite, parent = above.Name, true, above.Spec.ParentCompositePodGroupName
	}
	if composite {
		return "group composite/" + p.Namespace + "/" + name
	}
	return "group " + p.Namespace + "/" + name
}

// priority is that of the group that asks.
func (c *cluster) priority() int32 {
	switch g := c.group().(type) {
	case *schedulingv1beta1.PodGroup:
		if g.Spec.Priority != nil {
			return *g.Spec.Priority
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if g.Spec.Priority != nil {
			return *g.Spec.Priority
		}
	}
	return 0
}

// group is the object of the group that asks, nil if it is not in the input.
func (c *cluster) group() runtime.Object {
	if c.question.Composite {
		return c.Get("CompositePodGroup", c.question.Group)
	}
	return c.Get("PodGroup", c.question.Group)
}

// copies puts a gang of copies of a pod in its place.
func (c *cluster) copies(p *v1.Pod, count int) {
	g := &schedulingv1beta1.PodGroup{}
	g.Name, g.Spec.Priority = p.Name, p.Spec.Priority
	g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(count)}
	_ = c.Put(g, p.Namespace) // a known kind; it may be there already
	c.pods = nil
	for i := range count {
		one := p.DeepCopy()
		one.Name, one.UID = fmt.Sprintf("%s-%d", p.Name, i), ""
		one.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &g.Name}
		_ = c.Put(one, p.Namespace)
		c.pods = append(c.pods, one)
	}
	c.Remove("Pod", mirror.ID(p))
}

// split places the group on nodes with one value of a label.
func (c *cluster) split(label string) (notes []string) {
	switch g := c.group().(type) {
	case nil:
		if label != "" {
			notes = append(notes, "-topology is for groups: a pod goes to one node anyway")
		}
	case *schedulingv1beta1.PodGroup:
		if label != "" {
			if g.Spec.SchedulingConstraints != nil {
				notes = append(notes, "-topology takes the place of the group's own topology constraint")
			}
			g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: label}}}
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if label != "" {
			notes = append(notes, "-topology is not for a tree of groups, which has constraints of its own")
		}
	}
	return notes
}
