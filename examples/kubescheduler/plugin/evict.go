package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// wakeIfGone has a preemptor tried again if its last victim was gone before it was told, because another preemptor had the same
// victim. kube-scheduler v1.37.2 lets the preemptor wait for an event that has passed, until it looks at all waiting pods
// again: five minutes. A victim that was preempted in memory has no such event either, so this one is called that.
func (pl *Plugin) wakeIfGone() {
	tell, pods := pl.Executor.PreemptPod, pl.handle.SharedInformerFactory().Core().V1().Pods().Lister()
	pl.Executor.PreemptPod = func(ctx context.Context, c kube.Candidate, by kube.ExecutorPreemptor, victim *v1.Pod, name string) (bool, error) {
		now, err := pods.Pods(victim.Namespace).Get(victim.Name)
		isGone := err != nil || now.UID != victim.UID
		inMemory, err := tell(ctx, c, by, victim, name)
		return inMemory || isGone && err == nil, err
	}
}
