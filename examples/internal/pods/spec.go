package pods

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// Spec is the fields of a pod spec on which a decision depends.
type Spec struct {
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
	Containers      []Container         `json:"containers"`
	InitContainers  []Container         `json:"initContainers"`
	Overhead        map[string]Quantity `json:"overhead"`
	Resources       *Resources          `json:"resources"`
	SchedulingGates []struct {
		Name string `json:"name"`
	} `json:"schedulingGates"`
	// What is not looked at.
	Volumes []struct {
		Claim *struct{} `json:"persistentVolumeClaim"`
	} `json:"volumes"`
	Spread         []struct{} `json:"topologySpreadConstraints"`
	ResourceClaims []struct{} `json:"resourceClaims"`
}

// Status is the fields of a pod's status on which its amounts depend.
type Status struct {
	Conditions            []Condition       `json:"conditions"`
	ContainerStatuses     []ContainerStatus `json:"containerStatuses"`
	InitContainerStatuses []ContainerStatus `json:"initContainerStatuses"`
}

// Condition is a condition of a pod.
type Condition struct {
	Type   corev1.PodConditionType `json:"type"`
	Status corev1.ConditionStatus  `json:"status"`
	Reason string                  `json:"reason"`
}

// ContainerStatus is what a container has, which differs from what it asks for while it is
// resized in place.
type ContainerStatus struct {
	Name               string              `json:"name"`
	AllocatedResources map[string]Quantity `json:"allocatedResources"`
	Resources          *Resources          `json:"resources"`
}

// Container is what a container takes.
type Container struct {
	Name          string                         `json:"name"`
	Resources     Resources                      `json:"resources"`
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
	Ports         []struct {
		HostPort int32  `json:"hostPort"`
		HostIP   string `json:"hostIP"`
		Protocol string `json:"protocol"`
	} `json:"ports"`
}

// Resources are quantities by name.
type Resources struct {
	Requests map[string]Quantity `json:"requests"`
	Limits   map[string]Quantity `json:"limits"`
}

// Request is so much of a resource: milli-CPU for cpu, base units for the rest.
type Request struct {
	Resource string
	Amount   int64
}

// Requests is what one pod takes: containers, init containers, sidecars and overhead, by
// the rules of the scheduler, sorted by resource. A container's limit stands for a request
// that is missing, as the API server has it. A pod that is resized in place takes the more of
// what it asks for and what its status says it has; a nil status says nothing.
func (s *Spec) Requests(status *Status) []Request {
	spec := s.core()
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			for name, limit := range r.Limits {
				if _, ok := r.Requests[name]; ok {
					continue
				}
				if r.Requests == nil {
					r.Requests = corev1.ResourceList{}
				}
				r.Requests[name] = limit
			}
		}
	}
	var requests []Request
	pod := corev1.Pod{Spec: spec}
	if status != nil {
		pod.Status = status.core()
	}
	total := resource.PodRequests(&pod, resource.PodResourcesOptions{UseStatusResources: status != nil})
	for _, name := range slices.Sorted(maps.Keys(total)) {
		requests = append(requests, Request{string(name), Amount(string(name), total[name])})
	}
	return requests
}

func list(in map[string]Quantity) corev1.ResourceList {
	if in == nil {
		return nil
	}
	out := corev1.ResourceList{}
	for name, q := range in {
		out[corev1.ResourceName(name)] = q.Quantity
	}
	return out
}

// core is the status as Kubernetes has it, with what amounts depend on.
func (s *Status) core() (out corev1.PodStatus) {
	for _, c := range s.Conditions {
		out.Conditions = append(out.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
	}
	containers := func(in []ContainerStatus) (out []corev1.ContainerStatus) {
		for _, c := range in {
			one := corev1.ContainerStatus{Name: c.Name, AllocatedResources: list(c.AllocatedResources)}
			if c.Resources != nil {
				one.Resources = &corev1.ResourceRequirements{Requests: list(c.Resources.Requests)}
			}
			out = append(out, one)
		}
		return out
	}
	out.ContainerStatuses, out.InitContainerStatuses = containers(s.ContainerStatuses), containers(s.InitContainerStatuses)
	return out
}

// core is the spec as Kubernetes has it, with what its amounts depend on.
func (s *Spec) core() corev1.PodSpec {
	containers := func(in []Container) (out []corev1.Container) {
		for _, c := range in {
			out = append(out, corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy,
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
