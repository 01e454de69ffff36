package nodes

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Resized returns the question about a running pod that is resized as one about a pod that waits: it does not run, and its
// node alone may take it.
func Resized(st placement.State, r placement.Request) (placement.State, placement.Request) {
	at := slices.IndexFunc(st.Pods, func(p workload.Pod) bool { return p.ID == r.Pods[0].ID })
	pod := st.Pods[at]
	st.Pods, st.Nodes = slices.Delete(slices.Clone(st.Pods), at, at+1), slices.Clone(st.Nodes)
	for i := range st.Nodes {
		st.Nodes[i].Unschedulable = st.Nodes[i].Unschedulable && st.Nodes[i].Name != pod.Node
	}
	pod.Nodes, pod.Nowhere, pod.Node = []string{pod.Node}, false, ""
	pod.Requests = r.Pods[0].Requests
	r.Resize, r.Pods = false, []workload.Pod{pod}
	return st, r
}

// resize is Decide for a pod that is resized.
func resize(c placement.Config, st placement.State, r placement.Request) placement.Decision {
	without, waits := Resized(st, r)
	d := Decide(c, without, waits)
	d.Pods = nil
	for _, p := range st.Pods {
		if p.ID == r.Pods[0].ID && d.Outcome == preemption.Fits {
			p.Requests = r.Pods[0].Requests
			d.Pods = []workload.Pod{p}
		}
	}
	return d
}
