package mirror

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// ID is the ID of a pod in the snapshot: "namespace/name".
func ID(p *v1.Pod) string { return p.Namespace + "/" + p.Name }

// most is the largest amount of a pod or node in the snapshot, 2^50: a petabyte, or a trillion
// cores. mostSum is the largest sum on one node. Whatever a pod asks for, sums are exact.
const (
	most    = 1 << 50
	mostSum = quota.MaxUsage / 4
)

// few is a number of pods whose sums are within mostSum.
const few = int(mostSum / (most + 1))

// PodOf returns a pod on a node, with the requests that the scheduler has computed. Node is empty
// for a pod that waits. A request over a petabyte counts as a little more than a petabyte: no
// node has it.
func PodOf(info fwk.PodInfo, node string) workload.Pod {
	out, _ := podOf(info, node)
	return out
}

// podOf returns a pod, and what is not as it is in the object.
func podOf(info fwk.PodInfo, node string) (out workload.Pod, problem string) {
	p := info.GetPod()
	out = workload.Pod{
		ID: ID(p), UID: string(p.UID), Namespace: p.Namespace, Labels: p.Labels, Priority: corev1.PodPriority(p), Node: node,
		Terminating: node != "" && p.Spec.NodeName != "" && p.DeletionTimestamp != nil,
	}
	out.Requests, problem = amounts(info.CalculateResource().Resource, most+1)
	if p.Status.StartTime != nil {
		out.Started = p.Status.StartTime.Time
	}
	switch {
	case out.Started.IsZero():
	case out.Started.Before(earliest):
		problem, out.Started = "it started before 1700", earliest
	case out.Started.After(latest):
		problem, out.Started = "it starts after 2200", latest
	}
	return out, problem
}

// earliest and latest are starts within which every instant can be counted in nanoseconds.
var (
	earliest = time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// nodeOf returns a node, and what is not as it is in the object.
func nodeOf(info fwk.NodeInfo) (out workload.Node, problem string) {
	capacity, problem := amounts(info.GetAllocatable(), most)
	capacity[workload.PodsResource] = int64(max(0, info.GetAllocatable().GetAllowedPodNumber()))
	return workload.Node{Name: info.Node().Name, Capacity: capacity}, problem
}

// amounts returns what is not zero, within zero and the limit, and what is not.
func amounts(r fwk.Resource, limit int64) (out workload.Resources, problem string) {
	out = workload.Resources{"cpu": r.GetMilliCPU(), "memory": r.GetMemory(), "ephemeral-storage": r.GetEphemeralStorage()}
	for name, amount := range r.GetScalarResources() {
		out[string(name)] = amount
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		amount := out[name]
		if out[name] = min(max(0, amount), limit); out[name] != amount && problem == "" {
			problem = fmt.Sprintf("%d of %s is counted as %d", amount, name, out[name])
		}
	}
	maps.DeleteFunc(out, func(_ string, amount int64) bool { return amount == 0 })
	return out, problem
}

// total is a sum of requests.
type total workload.Resources

// add adds requests. It reports false, and adds nothing, if a sum would pass mostSum.
func (t total) add(requests workload.Resources) bool {
	for name, amount := range requests {
		if quota.Add(t[name], amount) > mostSum {
			return false
		}
	}
	for name, amount := range requests {
		t[name] += amount
	}
	return true
}

// budgetOf returns a budget as the preemption of kube-scheduler reads it: it covers no pod if
// its selector is not valid.
func budgetOf(b *policy.PodDisruptionBudget) workload.DisruptionBudget {
	out := workload.DisruptionBudget{Namespace: b.Namespace, Name: b.Name, Allowed: int64(max(0, b.Status.DisruptionsAllowed)), LabelledOnly: true}
	for _, name := range slices.Sorted(maps.Keys(b.Status.DisruptedPods)) {
		out.Disrupted = append(out.Disrupted, b.Namespace+"/"+name)
	}
	if _, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err != nil || b.Spec.Selector == nil {
		return out
	}
	out.Selector = &workload.LabelSelector{MatchLabels: b.Spec.Selector.MatchLabels}
	for _, r := range b.Spec.Selector.MatchExpressions {
		one := workload.LabelRequirement{Key: r.Key, Values: r.Values}
		_ = one.Operator.UnmarshalText([]byte(r.Operator)) // valid: see above
		out.Selector.MatchExpressions = append(out.Selector.MatchExpressions, one)
	}
	return out
}
