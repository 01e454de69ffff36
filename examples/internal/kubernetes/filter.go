package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cedesched/cede/examples/internal/pods"
	"github.com/cedesched/cede/preemption/placement"
)

// Filter is what keeps pods apart besides room: host ports, and required anti-affinity
// between pods, in both directions.
type Filter struct {
	nodes map[string]map[string]string // labels by node
	pods  map[string]apart             // by ID; those that keep others away
	reach placement.Reach
}

// apart is what a pod asks of others.
type apart struct {
	namespace string
	ports     []port
	terms     []term
}

// port is a port of a node, at one of its addresses or at all.
type port struct {
	number       int32
	ip, protocol string
}

const allAddresses = "0.0.0.0"

// clashes reports whether two pods with these ports cannot be on one node.
func (p port) clashes(o port) bool {
	return p.number == o.number && p.protocol == o.protocol && (p.ip == o.ip || p.ip == allAddresses || o.ip == allAddresses)
}

// ports are those of the node that the pod takes as long as it runs: those of init
// containers that are no sidecars are not looked at by the scheduler either.
func ports(s *pods.Spec) (list []port) {
	for i, c := range slices.Concat(s.Containers, s.InitContainers) {
		if i >= len(s.Containers) && (c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways) {
			continue
		}
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				list = append(list, port{p.HostPort, cmp.Or(p.HostIP, allAddresses), cmp.Or(p.Protocol, string(corev1.ProtocolTCP))})
			}
		}
	}
	return list
}

type term struct {
	topology   string
	namespaces []string // nil: all
	selector   labels.Selector
}

// Filter returns the filter of all pods that were read, nil when none keeps others away; and
// notes on the terms that are left out. A selector of namespaces finds those of the input.
func (o *Objects) Filter() (f *Filter, notes []string) {
	f = &Filter{nodes: map[string]map[string]string{}, pods: map[string]apart{}}
	for _, n := range o.nodes.All() {
		f.nodes[n.Metadata.Name] = n.Metadata.Labels
	}
	for _, p := range o.pods.All() {
		a := apart{namespace: p.Metadata.Namespace, ports: ports(&p.Spec)}
		if p.Spec.Affinity != nil && p.Spec.Affinity.PodAntiAffinity != nil {
			for i, t := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				one, err := o.term(&t, a.namespace)
				if err != nil {
					notes = append(notes, fmt.Sprintf("Pod %s: anti-affinity term %d is not looked at: %v", p.Metadata.ID(), i+1, err))
					continue
				}
				if t.TopologyKey != corev1.LabelHostname {
					f.reach = placement.Cluster
				}
				a.terms = append(a.terms, one)
			}
		}
		if len(a.ports)+len(a.terms) > 0 {
			f.pods[p.Metadata.ID()] = a
		}
	}
	if len(f.pods) == 0 {
		return nil, notes
	}
	return f, notes
}

// term is a term of anti-affinity: in the namespaces that it names and those that it selects,
// or else in that of the pod.
func (o *Objects) term(t *corev1.PodAffinityTerm, own string) (term, error) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return term{}, fmt.Errorf("labelSelector: %w", err)
	}
	out := term{t.TopologyKey, slices.Clone(t.Namespaces), selector}
	if t.NamespaceSelector == nil {
		if len(out.namespaces) == 0 {
			out.namespaces = []string{own}
		}
		return out, nil
	}
	namespaces, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	all := o.namespaces.All()
	switch {
	case err != nil:
		return term{}, fmt.Errorf("namespaceSelector: %w", err)
	case namespaces.Empty():
		out.namespaces = nil
		return out, nil
	case len(all) == 0:
		return term{}, errors.New("it selects namespaces, and there are none in the input")
	}
	for _, n := range all {
		if namespaces.Matches(labels.Set(n.Labels)) {
			out.namespaces = append(out.namespaces, n.Name)
		}
	}
	if out.namespaces == nil {
		out.namespaces = []string{}
	}
	return out, nil
}

// As makes a pod keep others away as another does: its copy.
func (f *Filter) As(id, original string) {
	if a, ok := f.pods[original]; ok {
		f.pods[id] = a
	}
}

// Feasible implements [placement.Filter]: labels and taints are in Pod.Nodes already.
func (f *Filter) Feasible(placement.Pod, placement.Node) bool { return true }

// Conflict implements [placement.Filter].
func (f *Filter) Conflict(pod, other placement.Pod) bool {
	a, b := f.pods[pod.ID], f.pods[other.ID]
	clash := pod.Node == other.Node && slices.ContainsFunc(a.ports, func(p port) bool { return slices.ContainsFunc(b.ports, p.clashes) })
	return clash || f.avoids(&a, pod, other) || f.avoids(&b, other, pod)
}

// avoids reports whether a term of the first pod keeps the second away.
func (f *Filter) avoids(a *apart, pod, other placement.Pod) bool {
	return slices.ContainsFunc(a.terms, func(t term) bool {
		here, has := f.nodes[pod.Node][t.topology]
		there, also := f.nodes[other.Node][t.topology]
		together := has && also && here == there
		if t.topology == corev1.LabelHostname {
			together = pod.Node == other.Node
		}
		return together && (t.namespaces == nil || slices.Contains(t.namespaces, other.Namespace)) && t.selector.Matches(labels.Set(other.Labels))
	})
}

// Reach implements [placement.Filter].
func (f *Filter) Reach() placement.Reach { return f.reach }
