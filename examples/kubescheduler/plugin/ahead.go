package plugin

import (
	"context"
	"errors"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
)

// between is how long a scheduler that does not schedule yet waits until it looks at its informers again.
const between = 30 * time.Second

// ahead makes the first snapshot beside the scheduling loop, of what the informers hold, and keeps it until
// the first attempt takes it. That attempt looks only at what differs.
type ahead struct {
	mutex   sync.Mutex
	first   mirror.Mirror
	strange []mirror.Strange // what was found until now
	synced  bool
	taken   bool
}

// run follows the informers until the mirror is taken, or the scheduler ends.
func (a *ahead) run(ctx context.Context, factory informers.SharedInformerFactory, groups bool) {
	core, budgets := factory.Core().V1(), factory.Policy().V1().PodDisruptionBudgets().Informer()
	if !cache.WaitForCacheSync(ctx.Done(), core.Nodes().Informer().HasSynced, core.Pods().Informer().HasSynced, budgets.HasSynced) {
		return
	}
	for a.follow(ctx, factory, groups) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(between):
		}
	}
}

// follow makes the mirror equal to what the informers hold. It reports false when the mirror was taken.
func (a *ahead) follow(ctx context.Context, factory informers.SharedInformerFactory, groups bool) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.taken {
		return false
	}
	nodes, failed := factory.Core().V1().Nodes().Lister().List(labels.Everything())
	pods, err := factory.Core().V1().Pods().Lister().List(labels.Everything())
	budgets, last := factory.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	cycle := mirror.Cycle{Nodes: infosOf(nodes, pods), Budgets: budgets, Nominated: func(string) []fwk.PodInfo { return nil }}
	if groups {
		cycle.Groups.PodGroups = noGroups{}
	}
	if err = errors.Join(failed, err, last); err == nil {
		err = a.first.Follow(cycle)
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "cede makes its first snapshot in the first attempt")
		return true
	}
	a.strange = append(a.strange, a.first.Strange()...)
	a.synced = true
	return true
}

// take returns the mirror once, with what is strange in it; it waits while the mirror is being made. It reports false if there is none.
func (a *ahead) take() (first mirror.Mirror, strange []mirror.Strange, ok bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	first, strange, ok = a.first, a.strange, a.synced && !a.taken
	a.first, a.strange, a.taken = mirror.Mirror{}, nil, true
	return first, strange, ok
}

// infosOf returns nodes with their pods, as the scheduler keeps them.
func infosOf(nodes []*v1.Node, pods []*v1.Pod) (infos []fwk.NodeInfo) {
	on := make(map[string][]*v1.Pod, len(nodes))
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			on[p.Spec.NodeName] = append(on[p.Spec.NodeName], p)
		}
	}
	for _, n := range nodes {
		info := framework.NewNodeInfo(on[n.Name]...)
		info.SetNode(n)
		infos = append(infos, info)
	}
	return infos
}

// noGroups holds no pod group. The scheduler's own may be read in its loop alone, so the first attempt tells them.
type noGroups struct{ fwk.PodGroupLister }

// Get implements fwk.PodGroupLister.
func (noGroups) Get(string, string) (*schedulingv1beta1.PodGroup, error) { return nil, nil }
