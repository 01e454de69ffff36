package bridge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/quota"
)

// Requests returns what one pod takes: containers, init containers, sidecars and overhead, by
// the rules of the scheduler (KEP-753, KEP-1287, KEP-2837), sorted by resource, without
// flavor. A container without a request counts with its limit, as in the API server. A pod
// that is resized in place takes the larger of its requests and what its status says it has;
// a nil status says nothing. The units are those of [Quantity.Amount].
func (s *PodSpec) Requests(status *PodStatus) []quota.Amount {
	total := s.containers(func(c *Container) ResourceList { return c.Resources.Effective() })
	if status != nil {
		infeasible := status.resizeInfeasible()
		most := ResourceList{}
		if !infeasible {
			most = total
		}
		most.atLeast(s.containers(func(c *Container) ResourceList { return status.allocated(c, infeasible) }))
		most.atLeast(s.containers(func(c *Container) ResourceList { return status.actuated(c, infeasible) }))
		total = most
	}
	if s.Resources != nil {
		for name, q := range s.Resources.Requests {
			if name == "cpu" || name == "memory" || strings.HasPrefix(name, "hugepages-") {
				total[name] = q
			}
		}
	}
	total.add(s.Overhead)
	var requests []quota.Amount
	for _, name := range slices.Sorted(maps.Keys(total)) {
		requests = append(requests, quota.Amount{Resource: name, Amount: total[name].Amount(name)})
	}
	return requests
}

// containers returns what the containers take together: the larger of all containers at once,
// and of any init container with the sidecars started before it.
func (s *PodSpec) containers(of func(*Container) ResourceList) ResourceList {
	total, sidecars, starting := ResourceList{}, ResourceList{}, ResourceList{}
	for i := range s.Containers {
		total.add(of(&s.Containers[i]))
	}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		takes := of(c)
		if c.isSidecar() {
			total.add(takes)
			sidecars.add(takes)
			starting.atLeast(sidecars)
			continue
		}
		beside := maps.Clone(sidecars)
		beside.add(takes)
		starting.atLeast(beside)
	}
	total.atLeast(starting)
	return total
}

func (c *Container) isSidecar() bool { return c.RestartPolicy == "Always" }

// Effective returns the requests, and the limits where there is no request.
func (r *Resources) Effective() ResourceList {
	out := maps.Clone(r.Limits)
	if out == nil {
		return r.Requests
	}
	maps.Copy(out, r.Requests)
	return out
}

func (l ResourceList) add(other ResourceList) {
	for name, q := range other {
		l[name] = l[name].Add(q)
	}
}

func (l ResourceList) atLeast(other ResourceList) {
	for name, q := range other {
		if has, ok := l[name]; !ok || q.Compare(has) > 0 {
			l[name] = q
		}
	}
}

// resizeInfeasible reports whether the node cannot resize the pod as its spec asks.
func (s *PodStatus) resizeInfeasible() bool {
	for _, c := range s.Conditions {
		if c.Type == "PodResizePending" {
			return c.Reason == "Infeasible"
		}
	}
	return false
}

func (s *PodStatus) of(container string) *ContainerStatus {
	for _, list := range [][]ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == container {
				return &list[i]
			}
		}
	}
	return nil
}

// allocated returns what the node has set aside for a container.
func (s *PodStatus) allocated(c *Container, infeasible bool) ResourceList {
	if status := s.of(c.Name); status != nil && status.AllocatedResources != nil {
		return status.AllocatedResources
	}
	if infeasible {
		return nil
	}
	return c.Resources.Effective()
}

// actuated returns what a container runs with.
func (s *PodStatus) actuated(c *Container, infeasible bool) ResourceList {
	if status := s.of(c.Name); status != nil && status.Resources != nil && status.Resources.Requests != nil {
		return status.Resources.Requests
	}
	return s.allocated(c, infeasible)
}

// HostPorts returns the ports of the node that the pod takes while it runs. Like the
// scheduler, it does not read those of init containers that are not sidecars.
func (s *PodSpec) HostPorts() (list []Port) {
	for i, c := range slices.Concat(s.Containers, s.InitContainers) {
		if i >= len(s.Containers) && !c.isSidecar() {
			continue
		}
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				list = append(list, p)
			}
		}
	}
	return list
}

// OverLimit finds a container, or the pod as a whole, that requests more of a resource than its limit: its path in the spec
// and the resource. Empty: there is none.
func (s *PodSpec) OverLimit() (path, resource string) {
	over := func(r *Resources) string {
		for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
			if limit, ok := r.Limits[name]; ok && r.Requests[name].Amount(name) > limit.Amount(name) {
				return name
			}
		}
		return ""
	}
	for _, list := range [...]struct {
		name string
		of   []Container
	}{{"initContainers", s.InitContainers}, {"containers", s.Containers}} {
		for i := range list.of {
			if resource := over(&list.of[i].Resources); resource != "" {
				return fmt.Sprintf("%s[%d]", list.name, i), resource
			}
		}
	}
	if s.Resources != nil {
		if resource := over(s.Resources); resource != "" {
			return "resources", resource
		}
	}
	return "", ""
}
