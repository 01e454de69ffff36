package plugin

import (
	"context"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// On a node with four petabytes, of which a pod that stays has two, the scheduler finds a place for a pod group and cede, which
// counts a petabyte of each, does not. Then kube-scheduler's own preemption decides, so that the group is not kept waiting.
func TestGroupsOnPetabytes(t *testing.T) {
	withGroups(t)
	h := newHarness(t)
	pod := func(name string, priority int32, cpu, memory string) *st.PodWrapper {
		return st.MakePod().Namespace("default").Name(name).UID(name).Priority(priority).Req(map[v1.ResourceName]string{"cpu": cpu, "memory": memory})
	}
	g := st.MakePodGroup().Namespace("default").Name("waits").UID("waits").Priority(100).MinCount(1).Obj()
	w := world{
		nodes: []*v1.Node{st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "4Pi", "pods": "10"}).Obj()},
		pods:  []*v1.Pod{pod("stays", 1000, "1", "2Pi").Node("n").Obj(), pod("low", 0, "3", "1Gi").Node("n").Obj()},
		pod:   pod("other", 0, "1", "1Gi").Obj(),
	}
	w.groups.podGroups = append(w.groups.podGroups, g)
	w.groups.asks = &framework.PodGroupInfo{Namespace: "default", Name: "waits", Type: fwk.PodGroupKeyType, PodGroup: g,
		UnscheduledPods: []*v1.Pod{pod("member", 100, "3", "1Gi").PodGroupName("waits").Obj()}}
	w.groups.minimum = 1
	h.show(t, w)
	var told []string
	h.cede.Executor.PreemptPod = func(_ context.Context, _ kube.Candidate, _ kube.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		told = append(told, victim.Name)
		return false, nil
	}
	before := counted(t, "refused")
	result, status := h.cede.PodGroupPostFilter(h.ctx, nil, w.groups.asks, h.place(t, w))
	if !status.IsSuccess() || strings.Join(told, " ") != "low" || result == nil || len(result.NominatingInfos) != 1 || counted(t, "refused") != before+1 {
		t.Errorf("%v, told %v, %+v, refused %v", status, told, result, counted(t, "refused")-before)
	}
}
