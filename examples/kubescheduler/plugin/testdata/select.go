package plugin

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// SelectVictims is what kube-scheduler's tests call in place of its own search on one node.
func SelectVictims(pl Hooks, handle fwk.Handle, ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo, all []*kube.DomainVictim, budgets []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	one := &Plugin{handle: handle, Clock: time.Now, features: pl.Features}
	hooks := hooks{pl, one, info, pod, all}
	preemptor, err := placement.New(placement.Config{Mode: placement.ModeInPlace, Charge: Config.Charge, Guards: []placement.Guard{hooks}, Importance: hooks.compare})
	if err != nil {
		return nil, 0, fwk.AsStatus(err)
	}
	one.preemptor = preemptor
	nodes := map[string]fwk.NodeInfo{info.Node().Name: info}
	for _, v := range all {
		for name, other := range v.AffectedNodes() {
			if nodes[name] == nil {
				nodes[name] = other
			}
		}
	}
	var infos []fwk.NodeInfo
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		infos = append(infos, nodes[name])
	}
	statuses := framework.NewNodeToStatus(nil, fwk.NewStatus(fwk.Unschedulable))
	a := &attempt{NodeToStatusReader: statuses, Plugin: one, ctx: ctx, state: state.Clone(), pod: pod}
	if err := one.mirror.Follow(mirror.Cycle{Nodes: infos, Budgets: budgets, Nominated: handle.NominatedPodsForNode, Groups: one.groups(), Asks: []*v1.Pod{pod}}); err != nil {
		return nil, 0, fwk.AsStatus(err)
	}
	a.ask([]fwk.NodeInfo{info})
	list, err := one.preemptor.Placements(one.mirror.Snapshot(), a.request)
	switch {
	case a.err != nil:
		return nil, 0, fwk.AsStatus(a.err)
	case err != nil:
		return nil, 0, fwk.AsStatus(err)
	case len(list) == 1:
		a.chosen = map[string]placement.Placement{info.Node().Name: list[0]}
		return a.SelectVictimsOnNode(ctx, state, pod, info, all, budgets)
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
	for _, v := range h.all {
		if v.Priority() >= corev1.PodPriority(a.pod) || !h.eligible(v) {
			continue
		}
		any = true
		for _, p := range v.Pods() {
			t.Remove(mirror.PodOf(p, p.GetPod().Spec.NodeName))
		}
	}
	if !any {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "No preemption victims found for incoming pod")
	}
	askedForStatus.Add(1)
	status := a.handle.RunFilterPluginsWithNominatedPods(a.ctx, t.told(), a.pod, t.node(h.info.Node().Name).info)
	if !status.IsSuccess() {
		return status
	}
	askedForStatus.Add(1)
	if !a.handle.RunFilterPluginsWithNominatedPods(a.ctx, a.state, a.pod, h.info).IsSuccess() {
		return fwk.AsStatus(errors.New("cede finds no victims, and there is room without them"))
	}
	return nil // there is room with them
}

// Hooks are the rules that a user of kube-scheduler's plugin may replace.
type Hooks struct {
	Features            feature.Features
	IsEligiblePod       func(info fwk.NodeInfo, victim kube.Victim, preemptor *v1.Pod) bool
	MoreImportantVictim func(a, b kube.Victim) bool
}

// hooks are these rules for one node.
type hooks struct {
	Hooks
	one  *Plugin
	info fwk.NodeInfo
	pod  *v1.Pod
	all  []*kube.DomainVictim
}

// eligible asks about each node of a victim.
func (h hooks) eligible(v *kube.DomainVictim) bool {
	for _, info := range v.AffectedNodes() {
		if !h.IsEligiblePod(info, v, h.pod) {
			return false
		}
	}
	return true
}

// victim returns the victim of kube-scheduler that is a unit of cede: that with its first pod. Nil: it has no
// pod on the node.
func (h hooks) victim(u placement.Unit) *kube.DomainVictim {
	for _, v := range h.all {
		if slices.ContainsFunc(v.Pods(), func(p fwk.PodInfo) bool { return mirror.ID(p.GetPod()) == u.Pods[0].ID }) {
			return v
		}
	}
	return nil
}

// Verdict implements placement.Guard.
func (h hooks) Verdict(u placement.Unit, _ placement.Request) preemption.Verdict {
	if v := h.victim(u); v == nil || h.eligible(v) {
		return preemption.MayYield()
	}
	return preemption.NeverYields()
}

func (h hooks) compare(a, b placement.Unit) int {
	one, other := h.victim(a), h.victim(b)
	switch {
	case one == nil || other == nil:
		return 0
	case h.MoreImportantVictim(one, other):
		return -1
	case h.MoreImportantVictim(other, one):
		return 1
	}
	return 0
}
