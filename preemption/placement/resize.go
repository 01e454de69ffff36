package placement

import (
	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// A pod that runs and wants to be resized in place is decided about as a single pod that waits for its own node: what it
// has now is free for it. (As built in Kubernetes v1.37; Request.Resize.)

// resize returns the snapshot without the running pod of the request, and the request for its node.
func (s *Snapshot) resize(r Request) (*Snapshot, Request, workload.Pod, error) {
	var faults fault.List
	if r.Group != "" {
		faults.Add("request.group", "%q: a resize is that of a single pod", r.Group)
	}
	if len(r.Pods) != 1 {
		faults.Add("request.pods", "%d pods: a resize is that of one", len(r.Pods))
		return nil, r, workload.Pod{}, faults
	}
	pod, runs := s.Find(r.Pods[0].ID)
	if !runs {
		faults.Add("request.pods[0].id", "no pod %q runs", r.Pods[0].ID)
		return nil, r, pod, faults
	}
	if pod.Terminating {
		faults.Add("request.pods[0].id", "%q terminates", pod.ID)
	}
	if err := faults.Err(); err != nil {
		return nil, r, pod, err
	}
	pod.Requests = r.Pods[0].Clone().Requests
	node, _ := s.Node(pod.Node)
	node.Unschedulable = false // the pod is there already
	next, err := s.With(Remove(pod.ID), SetNode(node))
	if err != nil {
		return nil, r, pod, err
	}
	if _, known := s.Group(pod.Group); !known && pod.Priority != r.Priority {
		faults.Add("request.priority", "%d differs from %d of pod %q", r.Priority, pod.Priority, pod.ID)
	}
	wants := pod
	wants.Node, wants.Nodes, wants.Nowhere = "", []string{pod.Node}, false
	r.Resize, r.Pods = false, []workload.Pod{wants}
	return next, r, pod, faults.Err()
}

// resized makes a decision about the pod that waits one about the pod that runs: nothing is nominated; a pod that fits
// runs on with its new requests.
func (d *Decision) resized(pod workload.Pod) {
	if d.Pods = nil; d.Outcome == preemption.Fits {
		d.Pods = []workload.Pod{pod}
	}
}
