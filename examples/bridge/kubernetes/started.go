package kubernetes

import (
	"slices"

	"github.com/cedesched/cede/examples/bridge"
)

// Started is a pod that Kueue started.
type Started struct {
	// Workload is "namespace/name"; empty: the pod does not say it.
	Workload string
	// PodSet is the name of its pod set there; it may be empty.
	PodSet string
	// ByTopology: Kueue places it by a topology.
	ByTopology bool
}

// topologyMarks are the annotations of pods that Kueue v0.19 places by a topology. Up to v0.16 they have a label.
var topologyMarks = []string{
	"kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology", "kueue.x-k8s.io/podset-unconstrained-topology",
	"kueue.x-k8s.io/podset-slice-required-topology", "kueue.x-k8s.io/podset-slice-required-topology-constraints",
}

// startedBy reports whether Kueue started a pod.
func startedBy(m *bridge.Metadata) (s Started, ok bool) {
	s.PodSet, ok = m.Labels["kueue.x-k8s.io/podset"]
	_, s.ByTopology = m.Labels["kueue.x-k8s.io/tas"]
	s.ByTopology = s.ByTopology || slices.ContainsFunc(topologyMarks, func(mark string) bool {
		_, has := m.Annotations[mark]
		return has
	})
	if name := m.Annotations["kueue.x-k8s.io/workload"]; name != "" {
		s.Workload, ok = m.Namespace+"/"+name, true
	}
	return s, ok || s.ByTopology
}
