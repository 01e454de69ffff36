package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// stage is the handle that kube-scheduler's evaluator of pod groups gets. It shows some nodes, on which each
// unit of lower priority has to yield. So the evaluator decides what is its own: whether the group may preempt,
// whether it waits for victims, and how victims are told to stop.
type stage struct {
	fwk.Handle
	shown shown
}

// shown are the nodes of a stage, and the pods that count.
type shown struct {
	fwk.MutableSnapshotSharedLister
	nodes []fwk.NodeInfo
	pods  map[types.UID]*v1.Pod // nil: all
}

// preempt runs kube-scheduler's evaluator on some nodes. place is called if it comes to a placement.
func (g *groupAttempt) preempt(nodes []fwk.NodeInfo, pods map[types.UID]*v1.Pod, place fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	on := stage{g.handle, shown{g.handle.MutableSnapshotSharedLister(), nodes, pods}}
	return kube.NewPodGroupEvaluator(on, g.Executor, g.features).Preempt(g.ctx, g.group, place)
}

// MutableSnapshotSharedLister implements fwk.Handle.
func (s stage) MutableSnapshotSharedLister() fwk.MutableSnapshotSharedLister { return s.shown }

// RunPreFilterExtensionAddPod implements fwk.Handle: no filter is asked on a stage.
func (stage) RunPreFilterExtensionAddPod(context.Context, fwk.CycleState, *v1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	return nil
}

// RunPreFilterExtensionRemovePod implements fwk.Handle.
func (stage) RunPreFilterExtensionRemovePod(context.Context, fwk.CycleState, *v1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	return nil
}

// RunFilterPluginsWithNominatedPods implements fwk.Handle: no unit that is shown can be put back.
func (stage) RunFilterPluginsWithNominatedPods(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status {
	return fwk.NewStatus(fwk.Unschedulable)
}

// AddPod implements fwk.MutableSnapshotSharedLister.
func (shown) AddPod(fwk.PodInfo, string) error { return nil }

// RemovePod implements fwk.MutableSnapshotSharedLister.
func (shown) RemovePod(klog.Logger, *v1.Pod, string) error { return nil }

// NodeInfos implements fwk.SharedLister.
func (s shown) NodeInfos() fwk.NodeInfoLister {
	return listed{s.MutableSnapshotSharedLister.NodeInfos(), s.nodes}
}

// PodGroupStates implements fwk.SharedLister.
func (s shown) PodGroupStates() fwk.PodGroupStateLister {
	return states{s.MutableSnapshotSharedLister.PodGroupStates(), s.pods}
}

// listed lists the nodes that are shown.
type listed struct {
	fwk.NodeInfoLister
	nodes []fwk.NodeInfo
}

func (l listed) List() ([]fwk.NodeInfo, error) { return l.nodes, nil }

// states are groups of which the pods that count are scheduled.
type states struct {
	fwk.PodGroupStateLister
	pods map[types.UID]*v1.Pod
}

func (s states) Get(namespace, name string) (fwk.PodGroupState, error) {
	all, err := s.PodGroupStateLister.Get(namespace, name)
	if err != nil || s.pods == nil {
		return all, err
	}
	return part{all, s.pods}, nil
}

type part struct {
	fwk.PodGroupState
	pods map[types.UID]*v1.Pod
}

func (p part) ScheduledPods() (list []*v1.Pod) {
	for _, pod := range p.PodGroupState.ScheduledPods() {
		if p.pods[pod.UID] != nil {
			list = append(list, pod)
		}
	}
	return list
}
