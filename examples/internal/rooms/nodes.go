package rooms

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/workload"
)

// Nodes is what an input says of nodes and pods. The zero value has read nothing.
type Nodes struct {
	reader read.Kubernetes
	list   []node
	pods   int
	found  *kubernetes.Cluster
}

// node is a Node with what Kueue reads of it besides its labels.
type node struct {
	name   string
	labels map[string]string
	spec   struct {
		Unschedulable bool           `json:"unschedulable"`
		Taints        []bridge.Taint `json:"taints"`
	}
	status struct {
		Allocatable bridge.ResourceList   `json:"allocatable"`
		Conditions  []bridge.PodCondition `json:"conditions"` // they look the same
	}
}

// Add takes a Node or a Pod; a later one takes the place of an earlier. What cannot be read leaves answers in
// doubt.
func (n *Nodes) Add(o *objects.Object) {
	one := *o // the reader may change it
	_ = n.reader.Add(&one)
	if n.found = nil; o.Kind == "Pod" {
		n.pods++
		return
	}
	n.list = slices.DeleteFunc(n.list, func(other node) bool { return other.name == o.Metadata.Name })
	if o.Deleted {
		return
	}
	made := node{name: o.Metadata.Name, labels: o.Metadata.Labels}
	_ = o.Read(&made.spec, &made.status) // the reader keeps the fault
	n.list = append(n.list, made)
}

// All returns the nodes with what pods may use of them. Nil: there are none, or something about them is not known.
func (n *Nodes) All() (list []workload.Node) {
	if n.unread(func(string) bool { return true }) != "" {
		return nil
	}
	for i := range n.list {
		list = append(list, workload.Node{Name: n.list[i].name, Labels: n.list[i].labels, Capacity: n.list[i].capacity()})
	}
	return list
}

// cluster is what the reader made of all.
func (n *Nodes) cluster() *kubernetes.Cluster {
	if n.found == nil {
		made := n.reader.Cluster()
		n.found = &made
	}
	return n.found
}

// ready reports whether Kueue places pods on a node: it is schedulable and its condition Ready is True.
func (n *node) ready() bool {
	return !n.spec.Unschedulable && slices.ContainsFunc(n.status.Conditions, func(c bridge.PodCondition) bool { return c.Type == "Ready" && c.Status == "True" })
}

// capacity is what pods may use of a node.
func (n *node) capacity() workload.Resources {
	out := workload.Resources{}
	for name, quantity := range n.status.Allocatable {
		out[name] = max(0, quantity.Amount(name))
	}
	return out
}

// takes reports whether the pods of a pod set may run on a node: its node selector, its required node
// affinity, and its tolerations with those of the flavor.
func (n *node) takes(c *workload.NodeConstraints, ofFlavor []workload.Toleration) bool {
	if c == nil {
		c = new(workload.NodeConstraints)
	}
	for key, value := range c.NodeSelector {
		if has, ok := n.labels[key]; !ok || has != value {
			return false
		}
	}
	suits := func(term workload.NodeSelectorTerm) bool {
		wrong := func(r workload.LabelRequirement) bool { return !r.Matches(n.labels) }
		return len(term.MatchExpressions) > 0 && !slices.ContainsFunc(term.MatchExpressions, wrong)
	}
	if len(c.NodeAffinity) > 0 && !slices.ContainsFunc(c.NodeAffinity, suits) {
		return false
	}
	return !slices.ContainsFunc(n.spec.Taints, func(t bridge.Taint) bool {
		taint := workload.Taint{Key: t.Key, Value: t.Value}
		if taint.Effect.UnmarshalText([]byte(t.Effect)) != nil || taint.Effect == workload.PreferNoSchedule {
			return false
		}
		tolerates := func(of workload.Toleration) bool { return of.Tolerates(&taint) }
		return !slices.ContainsFunc(c.Tolerations, tolerates) && !slices.ContainsFunc(ofFlavor, tolerates)
	})
}

// unread says what of nodes, or of pods there, is not known; empty: nothing.
func (n *Nodes) unread(has func(node string) bool) string {
	for _, d := range n.cluster().Doubts {
		if everywhere := d.Workload == "" && d.Node == ""; everywhere || d.Node != "" && has(d.Node) {
			return d.Text
		}
	}
	return ""
}

// others returns the pods on some nodes that are not placed by a topology: they keep their room whatever is
// preempted, as in Kueue. assigned reports whether a pod set has a topologyAssignment. why says of which pod it is not known.
func (n *Nodes) others(has func(node string) bool, assigned func(workload, podSet string) bool) (pods []workload.Pod, why string) {
	for _, p := range n.cluster().State.Pods {
		if !has(p.Node) {
			continue
		}
		s, started := n.cluster().Started[p.ID]
		switch {
		case s.ByTopology || assigned(s.Workload, s.PodSet):
			continue // the topologyAssignment of its workload counts
		case started && s.Workload == "":
			return nil, fmt.Sprintf("whether Pod %s is placed by the topology is not known: it has no annotation kueue.x-k8s.io/workload", p.ID)
		}
		pods = append(pods, workload.Pod{ID: "pod " + p.ID, Node: p.Node, Requests: p.Requests})
	}
	return pods, ""
}

// domain is the path of a node in a tree: its values of the levels. Empty: it lacks one.
func (n *node) domain(levels []string) string {
	var path []string
	for _, level := range levels {
		value, has := n.labels[level]
		if !has || value == "" {
			return ""
		}
		path = append(path, value)
	}
	return strings.Join(path, "/")
}
