// Package kubernetes reads nodes, pods and what preemption depends on, as kubectl prints
// them, into the values of package placement:
//
//	kubectl get nodes,pods,poddisruptionbudgets,priorityclasses,podgroups.scheduling.k8s.io -A -o json
//
// JSON or YAML, lists or single objects, one after the other. Objects that contradict
// themselves are errors; what an answer must leave out is a note.
package kubernetes

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cedesched/cede/examples/internal/kueue"
)

// The structs hold the fields that a decision depends on.

type object struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
	Metadata   metadata          `json:"metadata"`
}

type metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	Labels            map[string]string `json:"labels"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
}

// id is "namespace/name".
func (m *metadata) id() string { return m.namespace() + "/" + m.Name }

// namespace is that of the object; a manifest without one goes to "default".
func (m *metadata) namespace() string {
	if m.Namespace == "" {
		return corev1.NamespaceDefault
	}
	return m.Namespace
}

type nodeObject struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Unschedulable bool           `json:"unschedulable"`
		Taints        []corev1.Taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Capacity    map[string]kueue.Quantity `json:"capacity"`
		Allocatable map[string]kueue.Quantity `json:"allocatable"`
	} `json:"status"`
}

type podObject struct {
	Metadata metadata `json:"metadata"`
	Spec     podSpec  `json:"spec"`
	Status   struct {
		Phase             string             `json:"phase"`
		NominatedNodeName string             `json:"nominatedNodeName"`
		StartTime         time.Time          `json:"startTime"`
		Conditions        []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type podSpec struct {
	NodeName          string                   `json:"nodeName"`
	Priority          *int32                   `json:"priority"`
	PriorityClassName string                   `json:"priorityClassName"`
	PreemptionPolicy  *corev1.PreemptionPolicy `json:"preemptionPolicy"`
	NodeSelector      map[string]string        `json:"nodeSelector"`
	Affinity          *corev1.Affinity         `json:"affinity"`
	Tolerations       []corev1.Toleration      `json:"tolerations"`
	SchedulingGroup   struct {
		PodGroupName string `json:"podGroupName"`
	} `json:"schedulingGroup"`
	Containers     []container               `json:"containers"`
	InitContainers []container               `json:"initContainers"`
	Overhead       map[string]kueue.Quantity `json:"overhead"`
	Resources      *resources                `json:"resources"`
	// What is not looked at.
	Volumes []struct {
		Claim *struct{} `json:"persistentVolumeClaim"`
	} `json:"volumes"`
	Spread         []struct{} `json:"topologySpreadConstraints"`
	ResourceClaims []struct{} `json:"resourceClaims"`
}

type container struct {
	Resources     resources                      `json:"resources"`
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
	Ports         []struct {
		HostPort int32 `json:"hostPort"`
	} `json:"ports"`
}

type resources struct {
	Requests map[string]kueue.Quantity `json:"requests"`
	Limits   map[string]kueue.Quantity `json:"limits"`
}

type budgetObject struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Selector *metav1.LabelSelector `json:"selector"`
	} `json:"spec"`
	Status struct {
		DisruptionsAllowed int64                `json:"disruptionsAllowed"`
		DisruptedPods      map[string]time.Time `json:"disruptedPods"`
	} `json:"status"`
}

type classObject struct {
	Metadata         metadata                 `json:"metadata"`
	Value            int32                    `json:"value"`
	GlobalDefault    bool                     `json:"globalDefault"`
	PreemptionPolicy *corev1.PreemptionPolicy `json:"preemptionPolicy"`
}

type groupObject struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Priority          *int32                   `json:"priority"`
		PriorityClassName string                   `json:"priorityClassName"`
		PreemptionPolicy  *corev1.PreemptionPolicy `json:"preemptionPolicy"`
		DisruptionMode    json.RawMessage          `json:"disruptionMode"`
		SchedulingPolicy  struct {
			Gang *struct {
				MinCount int `json:"minCount"`
			} `json:"gang"`
		} `json:"schedulingPolicy"`
		Constraints *struct{} `json:"schedulingConstraints"`
		Parent      string    `json:"parentCompositePodGroupName"`
	} `json:"spec"`
}

// podSpec as Kubernetes has it, with what its amounts depend on.
func (s *podSpec) core() corev1.PodSpec {
	list := func(in map[string]kueue.Quantity) corev1.ResourceList {
		if in == nil {
			return nil
		}
		out := corev1.ResourceList{}
		for name, q := range in {
			out[corev1.ResourceName(name)] = q.Quantity
		}
		return out
	}
	containers := func(in []container) (out []corev1.Container) {
		for _, c := range in {
			out = append(out, corev1.Container{RestartPolicy: c.RestartPolicy,
				Resources: corev1.ResourceRequirements{Requests: list(c.Resources.Requests), Limits: list(c.Resources.Limits)}})
		}
		return out
	}
	spec := corev1.PodSpec{Containers: containers(s.Containers), InitContainers: containers(s.InitContainers), Overhead: list(s.Overhead)}
	if s.Resources != nil {
		spec.Resources = &corev1.ResourceRequirements{Requests: list(s.Resources.Requests), Limits: list(s.Resources.Limits)}
	}
	return spec
}
