package offline

import "maps"

// Question is who asks: one of the fields is set.
type Question struct {
	// Pod is the ID of a pod that waits, "namespace/name".
	Pod string
	// Group is the ID of a PodGroup, or of a CompositePodGroup, whose pods wait.
	Group     string
	Composite bool
}

// Outcome is how an attempt of kube-scheduler ended.
type Outcome string

// The outcomes.
const (
	// Fits: each pod has a node, or as many as the group needs.
	Fits Outcome = "fits"
	// Preempts: the pods are nominated to nodes, and victims are told to stop. Without victims: those that terminate are awaited.
	Preempts Outcome = "preempts"
	// No: the pod or group is unschedulable.
	No Outcome = "no"
	// NotTried: kube-scheduler does not consider it.
	NotTried Outcome = "not tried"
	// Failed: kube-scheduler panics. An object is not valid, and no API server would have it.
	Failed Outcome = "failed"
)

// Answer is the answer of kube-scheduler.
type Answer struct {
	Outcome Outcome `json:"outcome"`
	// Nodes has, by the ID of a pod, the node that it gets or is nominated to.
	Nodes map[string]string `json:"nodes,omitempty"`
	// Feasible has the nodes that pass all filters for a single pod that fits, sorted. kube-scheduler prefers some
	// of them, and chooses among the best by chance.
	Feasible []string `json:"feasible,omitempty"`
	// Victims are the IDs of the pods that are told to stop, sorted. Those that terminate already are not told again.
	Victims []string `json:"victims,omitempty"`
	// Message says why not, as kube-scheduler writes it into the condition of the pod.
	Message string `json:"message,omitempty"`
}

// observed is what was seen of an attempt.
type observed struct {
	nodes, nominated map[string]string
	feasible         map[string][]string
	victims          []string
	failed           []string
}

func (seen *observed) answer() Answer {
	a := Answer{Victims: seen.victims}
	if len(seen.failed) > 0 {
		a.Message = seen.failed[0]
	}
	switch {
	case len(seen.nodes) > 0:
		a.Outcome, a.Nodes = Fits, seen.nodes
	case len(seen.nominated) > 0:
		a.Outcome, a.Nodes = Preempts, seen.nominated
	case len(seen.failed) > 0:
		a.Outcome = No
	default:
		a.Outcome, a.Message = NotTried, "it is being deleted"
	}
	if a.Outcome == Fits && len(seen.feasible) == 1 {
		for list := range maps.Values(seen.feasible) {
			a.Feasible = list
		}
	}
	return a
}
