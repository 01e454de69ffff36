package plugin

import (
	"context"
	"errors"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/preemption/guard"
	"github.com/cedesched/cede/preemption/placement"
)

// SelectVictims is what kube-scheduler's tests call in place of its own search on one node.
func SelectVictims(pl Hooks, handle fwk.Handle, ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo, budgets []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	one := &Plugin{handle: handle}
	hooks := hooks{pl, one, info, pod}
	preemptor, err := placement.New(placement.Config{Mode: placement.ModeInPlace, Charge: Config.Charge, Guards: []placement.Guard{hooks}, Importance: hooks.compare})
	if err != nil {
		return nil, 0, fwk.AsStatus(err)
	}
	one.preemptor = preemptor
	infos := []fwk.NodeInfo{info}
	statuses := framework.NewNodeToStatus(nil, fwk.NewStatus(fwk.Unschedulable))
	a := &attempt{NodeToStatusReader: statuses, Plugin: one, ctx: ctx, state: state.Clone(), pod: pod}
	if err := one.mirror.Follow(infos, budgets, handle.NominatedPodsForNode, pod); err != nil {
		return nil, 0, fwk.AsStatus(err)
	}
	a.ask(infos)
	list, err := one.preemptor.Placements(one.mirror.Snapshot(), a.request)
	switch {
	case a.err != nil:
		return nil, 0, fwk.AsStatus(a.err)
	case err != nil:
		return nil, 0, fwk.AsStatus(err)
	case len(list) == 1:
		a.chosen = map[string]placement.Placement{info.Node().Name: list[0]}
		return a.SelectVictimsOnNode(ctx, state, pod, info, budgets)
	}
	return nil, 0, a.why(hooks)
}

// askedForStatus counts the questions of why.
var askedForStatus atomic.Int32

// AskedForStatus returns how often filters were asked for a status alone since the last call.
func AskedForStatus() int32 { return askedForStatus.Swap(0) }

// why is the status of a node on which preemption does not help.
func (a *attempt) why(h hooks) *fwk.Status {
	t := filters{a}.Begin(nil, placement.Request{}).(*trial)
	any := false
	for _, p := range h.info.GetPods() {
		if corev1.PodPriority(p.GetPod()) < corev1.PodPriority(a.pod) && h.IsEligiblePod(h.info, p, a.pod) {
			t.Remove(mirror.PodOf(p, h.info.Node().Name))
			any = true
		}
	}
	if !any {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "No preemption victims found for incoming pod")
	}
	askedForStatus.Add(1)
	status := a.handle.RunFilterPluginsWithNominatedPods(a.ctx, t.told(), a.pod, t.node(h.info.Node().Name).info)
	if status.IsSuccess() {
		return fwk.AsStatus(errors.New("cede finds no victims, and there is room without them"))
	}
	return status
}

// Hooks are the rules that a user of kube-scheduler's plugin may replace.
type Hooks struct {
	IsEligiblePod    func(info fwk.NodeInfo, victim fwk.PodInfo, preemptor *v1.Pod) bool
	MoreImportantPod func(a, b *v1.Pod) bool
}

// hooks are these rules for one node.
type hooks struct {
	Hooks
	one  *Plugin
	info fwk.NodeInfo
	pod  *v1.Pod
}

// Verdict implements placement.Guard.
func (h hooks) Verdict(u placement.Unit, _ placement.Request) guard.Verdict {
	if h.IsEligiblePod(h.info, h.one.mirror.Pod(u.Pods[0].ID), h.pod) {
		return guard.MayYield()
	}
	return guard.NeverYields()
}

func (h hooks) compare(a, b placement.Unit) int {
	one, other := h.one.mirror.Pod(a.Pods[0].ID).GetPod(), h.one.mirror.Pod(b.Pods[0].ID).GetPod()
	switch {
	case h.MoreImportantPod(one, other):
		return -1
	case h.MoreImportantPod(other, one):
		return 1
	}
	return 0
}
