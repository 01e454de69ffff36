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

// Container is what a container takes.
type Container struct {
	Resources     Resources                      `json:"resources"`
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
	Ports         []struct {
		HostPort int32 `json:"hostPort"`
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
// that is missing, as the API server has it.
func (s *Spec) Requests() []Request {
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
	total := resource.PodRequests(&corev1.Pod{Spec: spec}, resource.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(total)) {
		requests = append(requests, Request{string(name), Amount(string(name), total[name])})
	}
	return requests
}

// core is the spec as Kubernetes has it, with what its amounts depend on.
func (s *Spec) core() corev1.PodSpec {
	list := func(in map[string]Quantity) corev1.ResourceList {
		if in == nil {
			return nil
		}
		out := corev1.ResourceList{}
		for name, q := range in {
			out[corev1.ResourceName(name)] = q.Quantity
		}
		return out
	}
	containers := func(in []Container) (out []corev1.Container) {
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
