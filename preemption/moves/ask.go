package moves

import (
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// raise makes the finder ask for any unit: what is nominated runs, and a group, or pod, of the highest priority asks.
func (f *finder) raise() (err error) {
	c := f.preemptor.Config()
	c.Budgets, c.SkipRetryAt = placement.Hard, true
	if f.asked, err = placement.New(c); err != nil {
		return err
	}
	var edits []placement.Edit
	isMember := func(id string) bool {
		return slices.ContainsFunc(f.request.Pods, func(p workload.Pod) bool { return p.ID == id })
	}
	for p := range f.before.NominatedPods() {
		if !isMember(p.ID) {
			p.Group, p.Priority = "", math.MaxInt32
			edits = append(edits, placement.Run(p))
		}
	}
	if f.before, err = f.before.With(edits...); err != nil {
		return err
	}
	r := &f.ask
	r.Priority, r.Queue, r.Pods = math.MaxInt32, "", slices.Clone(r.Pods)
	for i := 1; r.Group != ""; i++ {
		if _, taken := f.before.Group(r.Group); !taken {
			break
		}
		r.Group = fmt.Sprintf("%s/%d", f.request.Group, i)
	}
	for i := range r.Pods {
		r.Pods[i].Group, r.Pods[i].Priority, r.Pods[i].Queue = "", 0, ""
	}
	return nil
}

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
