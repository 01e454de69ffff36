package plugin

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// tellInOrder changes when kube-scheduler's executor tells victims, and when it tries the preemptor again. The victims
// of a pod group are told once its members are nominated; see [places]. A preemptor is tried again if its last victim was
// gone before it was told, because another preemptor had the same victim. kube-scheduler v1.37.2 lets the preemptor wait
// for an event that has passed, until it looks at all waiting pods again: five minutes. A victim that was preempted in
// memory has no such event either, so this one is called that.
func (pl *Plugin) tellInOrder() {
	tell, pods := pl.Executor.PreemptPod, pl.handle.SharedInformerFactory().Core().V1().Pods().Lister()
	pl.Executor.PreemptPod = func(ctx context.Context, c kube.Candidate, by kube.ExecutorPreemptor, victim *v1.Pod, name string) (bool, error) {
		if at, ok := pl.nominating.Load(by.UID()); ok {
			at.(*places).await(ctx, pods)
			pl.nominating.CompareAndDelete(by.UID(), at)
		}
		now, err := pods.Pods(victim.Namespace).Get(victim.Name)
		isGone := err != nil || now.UID != victim.UID
		inMemory, err := tell(ctx, c, by, victim, name)
		return inMemory || isGone && err == nil, err
	}
}

// patience is how long victims wait without another nomination: the API server may refuse one.
const patience = 10 * time.Second

// places are where the members of a pod group are to run. The scheduler writes the nominations one by one, while victims
// are told. If it were killed in between, the next scheduler would place the members without a nomination anew, perhaps
// on other nodes, and the victims would have yielded for nothing. So the victims wait for the nominations.
type places struct {
	members []fwk.ProposedAssignment
	once    sync.Once
}

// nominateFirst has victims that are not told yet wait until the members of a group are nominated. Without asynchronous
// preemption the scheduler nominates members only after victims are told.
func (g *groupAttempt) nominateFirst(members []fwk.ProposedAssignment, victims map[types.UID]*v1.Pod) {
	for _, v := range victims {
		if v.DeletionTimestamp == nil && g.features.EnableAsyncPreemption {
			g.nominating.Store(g.object().GetUID(), &places{members: members})
			return
		}
	}
}

// await returns when all members that wait are seen with their nominations, or no nomination comes.
func (p *places) await(ctx context.Context, pods corelisters.PodLister) {
	p.once.Do(func() {
		for since, left := time.Now(), len(p.members)+1; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
			now := p.missing(pods)
			switch {
			case now == 0:
				return
			case now < left:
				since, left = time.Now(), now
			case time.Since(since) > patience:
				klog.FromContext(ctx).Info("cede has victims told before all members of a pod group are nominated", "members", len(p.members), "missing", now)
				return
			}
		}
	})
}

// missing counts members that wait and are not nominated.
func (p *places) missing(pods corelisters.PodLister) (n int) {
	for _, m := range p.members {
		pod, err := pods.Pods(m.GetPod().Namespace).Get(m.GetPod().Name)
		if err == nil && pod.UID == m.GetPod().UID && pod.Spec.NodeName == "" && pod.Status.NominatedNodeName != m.GetNodeName() {
			n++
		}
	}
	return n
}
