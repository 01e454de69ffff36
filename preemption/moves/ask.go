package moves

import (
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// leaveOut takes the domain of a decision from a request; false: there is no other.
func (f *finder) leaveOut(r *placement.Request, d *placement.Decision) bool {
	if r.Group != "" {
		at := slices.IndexFunc(r.Domains, func(x placement.Domain) bool { return x.Name == d.Domain })
		if at < 0 || len(r.Domains) == 1 {
			return false
		}
		r.Domains = slices.Delete(slices.Clone(r.Domains), at, at+1)
		return true
	}
	pod := r.Pods[0]
	nodes := slices.Clone(pod.Nodes)
	if len(nodes) == 0 {
		for n := range f.before.Nodes() {
			nodes = append(nodes, n.Name)
		}
	}
	pod.Nodes = slices.DeleteFunc(nodes, func(name string) bool { return name == d.Domain })
	r.Pods = []workload.Pod{pod}
	return len(pod.Nodes) > 0
}

// within limits a request to the domain of a decision.
func within(r *placement.Request, d *placement.Decision) {
	if r.Group == "" {
		pod := r.Pods[0]
		pod.Nodes = []string{d.Domain}
		r.Pods = []workload.Pod{pod}
		return
	}
	for _, x := range r.Domains {
		if x.Name == d.Domain {
			r.Domains = []placement.Domain{x}
		}
	}
}
