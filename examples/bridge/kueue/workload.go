package kueue

import (
	"encoding/json"
	"time"

	"github.com/cedesched/cede/examples/bridge"
)

// Workload is Kueue's object.
type Workload struct {
	// APIVersion is that in which it was read. Empty: the newest, which has all fields.
	APIVersion string `json:"apiVersion"`

	Metadata bridge.Metadata `json:"metadata"`
	Spec     WorkloadSpec    `json:"spec"`
	Status   WorkloadStatus  `json:"status"`
}

// WorkloadSpec is that of a Workload.
type WorkloadSpec struct {
	QueueName         string           `json:"queueName"`
	Active            *bool            `json:"active"` // nil: true
	Priority          int64            `json:"priority"`
	PriorityClassRef  PriorityClassRef `json:"priorityClassRef"`  // v1beta2
	PriorityClassName string           `json:"priorityClassName"` // v1beta1
	PreemptionGates   []PreemptionGate `json:"preemptionGates"`   // KEP-8303
	PodSets           []PodSet         `json:"podSets"`
}

// PriorityClassRef names a priority class, of whatever kind.
type PriorityClassRef struct {
	Name string `json:"name"`
}

// PreemptionGate names a gate.
type PreemptionGate struct {
	Name string `json:"name"`
}

// PodSet is a number of equal pods.
type PodSet struct {
	Name     string      `json:"name"`     // empty: main
	Count    *int64      `json:"count"`    // nil: 1
	MinCount *int64      `json:"minCount"` // nil: no partial admission
	Template PodTemplate `json:"template"` // read of a workload that waits, and of no other
	// TopologyRequest is read of a workload that waits; nil: it asks for no topology.
	TopologyRequest *TopologyRequest `json:"topologyRequest"`
}

// PodTemplate is what the pods of a set are made of.
type PodTemplate struct {
	Spec PodSpec `json:"spec"`
}

// PodSpec is that of a pod.
type PodSpec struct {
	bridge.PodSpec
	RuntimeClassName *string `json:"runtimeClassName"` // nil: none, whose overhead is none
}

// WorkloadStatus is that of a Workload.
type WorkloadStatus struct {
	Conditions       []Condition           `json:"conditions"`
	Admission        *Admission            `json:"admission"`
	ReclaimablePods  []ReclaimablePod      `json:"reclaimablePods"`
	ResourceRequests []PodSetRequest       `json:"resourceRequests"`
	PreemptionGates  []PreemptionGateState `json:"preemptionGates"`
	RequeueState     RequeueState          `json:"requeueState"`
	AdmissionChecks  []AdmissionCheckState `json:"admissionChecks"`

	NominatedClusterNames []string `json:"nominatedClusterNames"` // of MultiKueue
	ClusterName           *string  `json:"clusterName"`           // of MultiKueue; nil: none yet
}

// Admission is the quota that a workload holds.
type Admission struct {
	ClusterQueue      string             `json:"clusterQueue"`
	PodSetAssignments []PodSetAssignment `json:"podSetAssignments"`
}

// PodSetAssignment is what a pod set holds.
type PodSetAssignment struct {
	Name    string            `json:"name"`
	Count   *int64            `json:"count"`   // nil: that of the spec
	Flavors map[string]string `json:"flavors"` // by resource
	// ResourceUsage is that of all its pods together.
	ResourceUsage      bridge.ResourceList `json:"resourceUsage"`
	TopologyAssignment json.RawMessage     `json:"topologyAssignment"` // see [ReadPlaces]; nil: it is not placed by a topology, or not yet
}

// ReclaimablePod is how many pods of a set gave their quota back.
type ReclaimablePod struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// PodSetRequest is what all pods of a set ask for together, as Kueue computed it.
type PodSetRequest struct {
	Name      string              `json:"name"`
	Resources bridge.ResourceList `json:"resources"`
}

// PreemptionGateState is where a gate stands.
type PreemptionGateState struct {
	Name               string    `json:"name"`
	Position           string    `json:"position"` // Open or Closed
	State              string    `json:"state"`    // as KEP-8303 calls the position
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// RequeueState says when a workload that was evicted is back in its queue.
type RequeueState struct {
	RequeueAt time.Time `json:"requeueAt"` // zero: it is
}

// AdmissionCheckState is where an admission check stands.
type AdmissionCheckState struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
}

// Condition is a condition of a workload: Finished, QuotaReserved, Admitted, Evicted, Requeued, PodsReady,
// WaitingForReplacementPods and BlockedOnPreemptionGates are read.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"` // True, False or Unknown
	Reason             string    `json:"reason"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// condition returns the condition of a type, and whether it is true.
func (s *WorkloadStatus) condition(name string) (Condition, bool) {
	for _, c := range s.Conditions {
		if c.Type == name {
			return c, c.Status == "True"
		}
	}
	return Condition{}, false
}

// reclaimed is how many pods of a set gave their quota back.
func (s *WorkloadStatus) reclaimed(podSet string) int64 {
	for _, r := range s.ReclaimablePods {
		if r.Name == podSet {
			return max(0, r.Count)
		}
	}
	return 0
}
