package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Filter keeps pods apart by host ports and by required anti-affinity between pods, in both
// directions. It is a [placement.Filter].
type Filter struct {
	nodes map[string]map[string]string // labels by node
	pods  map[string]apart             // by ID; those that keep others away
	reach placement.Reach
}

// apart holds the ports and the anti-affinity of a pod.
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

const (
	allAddresses = "0.0.0.0"
	hostname     = "kubernetes.io/hostname" // the label that tells nodes apart, as a rule
)

// clashes reports whether two pods with these ports exclude each other on a node.
func (p port) clashes(o port) bool {
	return p.number == o.number && p.protocol == o.protocol && (p.ip == o.ip || p.ip == allAddresses || o.ip == allAddresses)
}

// ports returns the ports of the node that the pod takes.
func ports(s *bridge.PodSpec) (list []port) {
	for _, p := range s.HostPorts() {
		list = append(list, port{p.HostPort, cmp.Or(p.HostIP, allAddresses), cmp.Or(p.Protocol, "TCP")})
	}
	return list
}

type term struct {
	topology   string
	namespaces []string // nil: all
	selector   *bridge.LabelSelector
}

// Filter returns the filter for all pods that were added, nil if none keeps others away, and
// notes on the terms that are left out. A namespace selector selects among the namespaces that
// were added. What a term says that is left out is in doubt.
func (o *Objects) Filter() (f *Filter, notes []bridge.Note) {
	f = &Filter{nodes: map[string]map[string]string{}, pods: map[string]apart{}}
	own := map[string]bool{} // names by which nodes are told apart
	for _, n := range o.nodes.All() {
		f.nodes[n.Metadata.Name] = n.Metadata.Labels
		own[n.Metadata.Labels[hostname]] = true
	}
	for _, p := range o.pods.All() {
		a := apart{namespace: p.Metadata.Namespace, ports: ports(&p.Spec)}
		if p.Spec.Affinity != nil && p.Spec.Affinity.PodAntiAffinity != nil {
			for i, t := range p.Spec.Affinity.PodAntiAffinity.Required {
				one, err := o.term(&t, a.namespace)
				switch _, unread := o.unread[p.key()]; {
				case err != nil && unread: // its note and its doubt are there
					continue
				case err != nil:
					notes = append(notes, bridge.Note{
						Object: "Pod " + p.Metadata.ID(),
						Path:   fmt.Sprintf("spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[%d]", i),
						Text:   fmt.Sprintf("Pod %s: anti-affinity term %d is not looked at: %v", p.Metadata.ID(), i+1, err),
					})
					continue
				}
				if t.TopologyKey != hostname || len(own) < len(f.nodes) {
					f.reach = placement.ReachCluster
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

// term returns a term of anti-affinity. It holds in the namespaces that it names or selects; if
// it does neither, in that of the pod.
func (o *Objects) term(t *bridge.PodAffinityTerm, own string) (term, error) {
	if err := bridge.ValidateSelector("labelSelector", t.LabelSelector); err != nil {
		return term{}, err
	}
	out := term{t.TopologyKey, slices.Clone(t.Namespaces), t.LabelSelector}
	if t.NamespaceSelector == nil {
		if len(out.namespaces) == 0 {
			out.namespaces = []string{own}
		}
		return out, nil
	}
	err := bridge.ValidateSelector("namespaceSelector", t.NamespaceSelector)
	all := o.namespaces.All()
	switch {
	case err != nil:
		return term{}, err
	case bridge.SelectsAll(t.NamespaceSelector):
		out.namespaces = nil
		return out, nil
	case len(all) == 0:
		return term{}, errors.New("it selects namespaces, and there are none in the input")
	}
	for _, n := range all {
		if t.NamespaceSelector.Matches(n.Metadata.Labels) {
			out.namespaces = append(out.namespaces, n.Metadata.Name)
		}
	}
	if out.namespaces == nil {
		out.namespaces = []string{}
	}
	return out, nil
}

// As gives a pod the ports and the anti-affinity of another, of which it is a copy.
func (f *Filter) As(id, original string) {
	if a, ok := f.pods[original]; ok {
		f.pods[id] = a
	}
}

// Feasible implements [placement.Filter]: labels and taints are in Pod.Nodes already.
func (f *Filter) Feasible(workload.Pod, workload.Node) bool { return true }

// Conflict implements [placement.Filter].
func (f *Filter) Conflict(pod, other workload.Pod) bool {
	a, b := f.pods[pod.ID], f.pods[other.ID]
	clash := pod.Node == other.Node && slices.ContainsFunc(a.ports, func(p port) bool { return slices.ContainsFunc(b.ports, p.clashes) })
	return clash || f.avoids(&a, pod, other) || f.avoids(&b, other, pod)
}

// avoids reports whether a term of the first pod keeps the second away.
func (f *Filter) avoids(a *apart, pod, other workload.Pod) bool {
	return slices.ContainsFunc(a.terms, func(t term) bool {
		here, has := f.nodes[pod.Node][t.topology]
		there, also := f.nodes[other.Node][t.topology]
		return has && also && here == there && (t.namespaces == nil || slices.Contains(t.namespaces, other.Namespace)) && t.selector.Matches(other.Labels)
	})
}

// Reach implements [placement.Filter].
func (f *Filter) Reach() placement.Reach { return f.reach }
