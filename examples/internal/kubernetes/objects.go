// Package kubernetes reads nodes, pods and what preemption depends on, as kubectl prints
// them, into the values of package placement:
//
//	kubectl get nodes,pods,namespaces,poddisruptionbudgets,priorityclasses,podgroups.scheduling.k8s.io -A -o json
//
// in any shape that package input knows. An object that cannot be read is left out, with a
// warning; what an answer must leave out is a note.
package kubernetes

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/pods"
)

// The structs hold the fields that a decision depends on.

type nodeObject struct {
	Metadata input.Metadata
	Spec     struct {
		Unschedulable bool           `json:"unschedulable"`
		Taints        []corev1.Taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Capacity    map[string]pods.Quantity `json:"capacity"`
		Allocatable map[string]pods.Quantity `json:"allocatable"`
	} `json:"status"`
}

type podObject struct {
	Metadata input.Metadata
	Spec     pods.Spec `json:"spec"`
	Status   struct {
		Phase             string    `json:"phase"`
		NominatedNodeName string    `json:"nominatedNodeName"`
		StartTime         time.Time `json:"startTime"`
		pods.Status
	} `json:"status"`
}

type budgetObject struct {
	Metadata input.Metadata
	Spec     struct {
		Selector *metav1.LabelSelector `json:"selector"`
	} `json:"spec"`
	Status struct {
		DisruptionsAllowed int64                `json:"disruptionsAllowed"`
		DisruptedPods      map[string]time.Time `json:"disruptedPods"`
	} `json:"status"`
}

type classObject struct {
	Metadata         input.Metadata
	Value            int32                    `json:"value"`
	GlobalDefault    bool                     `json:"globalDefault"`
	PreemptionPolicy *corev1.PreemptionPolicy `json:"preemptionPolicy"`
}

type groupObject struct {
	Metadata input.Metadata
	Spec     struct {
		Priority          *int32                   `json:"priority"`
		PriorityClassName string                   `json:"priorityClassName"`
		PreemptionPolicy  *corev1.PreemptionPolicy `json:"preemptionPolicy"`
		DisruptionMode    json.RawMessage          `json:"disruptionMode"`
		SchedulingPolicy  struct {
			Gang *struct {
				MinCount       int             `json:"minCount"`
				DisruptionMode json.RawMessage `json:"disruptionMode"`
			} `json:"gang"`
			DisruptionMode json.RawMessage `json:"disruptionMode"` // of KEP-5710
		} `json:"schedulingPolicy"`
		Constraints *struct{} `json:"schedulingConstraints"`
		Parent      string    `json:"parentCompositePodGroupName"`
	} `json:"spec"`
}
