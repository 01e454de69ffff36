package mirror

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/cedesched/cede/workload"
)

// ID is the ID of a pod in the snapshot: "namespace/name".
func ID(p *v1.Pod) string { return p.Namespace + "/" + p.Name }

// PodOf returns a pod on a node, with the requests that the scheduler has computed. Node is empty
// for a pod that waits.
func PodOf(info fwk.PodInfo, node string) workload.Pod {
	p := info.GetPod()
	out := workload.Pod{
		ID: ID(p), UID: string(p.UID), Namespace: p.Namespace, Labels: p.Labels, Priority: corev1.PodPriority(p), Node: node,
		Requests: amounts(info.CalculateResource().Resource), Terminating: node != "" && p.Spec.NodeName != "" && p.DeletionTimestamp != nil,
	}
	if p.Status.StartTime != nil {
		out.Started = p.Status.StartTime.Time
	}
	return out
}

func nodeOf(info fwk.NodeInfo) workload.Node {
	capacity := amounts(info.GetAllocatable())
	capacity[workload.PodsResource] = int64(info.GetAllocatable().GetAllowedPodNumber())
	return workload.Node{Name: info.Node().Name, Capacity: capacity}
}

// amounts returns what is not zero.
func amounts(r fwk.Resource) workload.Resources {
	out := workload.Resources{"cpu": r.GetMilliCPU(), "memory": r.GetMemory(), "ephemeral-storage": r.GetEphemeralStorage()}
	for name, amount := range r.GetScalarResources() {
		out[string(name)] = amount
	}
	maps.DeleteFunc(out, func(_ string, amount int64) bool { return amount == 0 })
	return out
}

// budgetOf returns a budget as the preemption of kube-scheduler reads it: it covers no pod if
// its selector is not valid.
func budgetOf(b *policy.PodDisruptionBudget) workload.DisruptionBudget {
	out := workload.DisruptionBudget{Namespace: b.Namespace, Name: b.Name, Allowed: int64(b.Status.DisruptionsAllowed), LabelledOnly: true}
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
