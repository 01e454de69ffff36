package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// PodGroupPostFilter implements fwk.PodGroupPostFilterPlugin. The scheduler places the group, cede says which
// units must yield, and kube-scheduler's own plugin tells them. If cede cannot decide, kube-scheduler's own
// preemption does.
func (pl *Plugin) PodGroupPostFilter(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	g := &groupAttempt{Plugin: pl, ctx: ctx, group: group, schedule: schedule}
	result, status := g.run()
	if g.refused != nil {
		klog.FromContext(ctx).Error(g.refused, "cede cannot decide about a pod group; DefaultPreemption decides",
			"type", group.GetType(), "group", klog.KRef(group.GetNamespace(), group.GetName()))
		decisions.WithLabelValues("refused").Inc()
		return pl.DefaultPreemption.PodGroupPostFilter(ctx, state, group, schedule)
	}
	metrics.WorkloadPreemptionAttempts.WithLabelValues(status.Code().String()).Inc()
	if message := status.Message(); message != "" {
		return result, fwk.NewStatus(status.Code(), "pod group preemption: "+message)
	}
	return result, status
}

// groupAttempt is one preemption for a pod group, or for a tree of groups.
type groupAttempt struct {
	*Plugin
	ctx      context.Context
	group    fwk.PodGroupInfo
	schedule fwk.PodGroupSchedulingFunc
	trial    *groupTrial // nil: the group has not been placed
	decision placement.Decision
	err      error // the first one of a filter
	refused  error // why cede cannot decide
}

// run decides, and tells the victims.
func (g *groupAttempt) run() (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	if result, status, may := g.mayPreempt(); !may {
		return result, status
	}
	began := time.Now()
	d, err := g.decide()
	g.decision = d
	seconds.Observe(time.Since(began).Seconds())
	switch {
	case g.err != nil:
		return nil, fwk.AsStatus(g.err)
	case err != nil:
		g.refused = err
		return nil, nil
	}
	decisions.WithLabelValues(strings.ToLower(d.Outcome.String())).Inc()
	g.say(g.ctx, g.object(), d, g.group.GetUnscheduledPods()...)
	if !makesRoom(d) {
		return nil, g.why(d)
	}
	yielded.Add(float64(len(podsOf(d))))
	return g.evict(d)
}

// object is the object of the group.
func (g *groupAttempt) object() interface {
	runtime.Object
	metav1.Object
} {
	if composite := g.group.GetCompositePodGroup(); composite != nil {
		return composite
	}
	return g.group.GetPodGroup()
}

// mayPreempt asks kube-scheduler's evaluator whether the group may preempt now: its policy permits it, and no
// victim terminates on a node that a member is nominated to. If not, the answer is the evaluator's.
func (g *groupAttempt) mayPreempt() (*fwk.PodGroupPostFilterResult, *fwk.Status, bool) {
	lister, seen, nodes := g.handle.MutableSnapshotSharedLister().NodeInfos(), map[string]bool{"": true}, []fwk.NodeInfo(nil)
	for _, p := range g.group.GetUnscheduledPods() {
		name := p.Status.NominatedNodeName
		if seen[name] {
			continue
		}
		seen[name] = true
		if info, err := lister.Get(name); err == nil && info != nil { // a node that is gone holds no pod
			nodes = append(nodes, info)
		}
	}
	asked := false
	result, status := g.preempt(nodes, nil, func(context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		asked = true
		return nil, fwk.NewStatus(fwk.Skip)
	})
	return result, status, asked || status.Code() == fwk.UnschedulableAndUnresolvable // no victim on these nodes
}

// decide brings the snapshot up to date and asks cede.
func (g *groupAttempt) decide() (d placement.Decision, err error) {
	shared := g.handle.MutableSnapshotSharedLister()
	err = g.follow(g.ctx, shared.NodeInfos(), g.group.GetUnscheduledPods()...)
	if err != nil {
		return d, err
	}
	request, err := g.ask()
	if err != nil {
		return d, err
	}
	err = g.mutating(func() (err error) {
		d, err = g.forGroups.Decide(g.mirror.Snapshot(), request)
		return err
	})
	if err == nil && g.Watch != nil {
		again := *g // which may place the group in other ways
		request.Placer = &again
		err = g.mutating(func() error {
			g.Watch(Decided{g.forGroups, g.mirror.Snapshot(), request, d})
			return nil
		})
	}
	kept := d.Reason == placement.ReasonNoVictims || d.Reason == placement.ReasonBudgets || !d.RetryAt.IsZero()
	if err != nil || kept || g.trial == nil || !g.trial.status.IsSuccess() {
		return d, err
	}
	if placed := len(g.trial.placed); !makesRoom(d) || len(d.Nominations) < placed {
		return d, fmt.Errorf("the scheduler has places for %d pods, cede for %d: %s", placed, len(d.Nominations), message(d, placed))
	}
	return d, nil
}

// mutating lets change what the scheduler sees, until it returns.
func (g *groupAttempt) mutating(change func() error) error {
	shared := g.handle.MutableSnapshotSharedLister()
	if err := shared.StartMutations(); err != nil {
		return err
	}
	return errors.Join(change(), shared.EndMutations())
}

// makesRoom reports whether the members have places. No unit may have to yield: then the scheduler just did not
// find the places.
func makesRoom(d placement.Decision) bool {
	return d.Outcome == preemption.Preempt || d.Outcome == preemption.Fits
}

// ask makes the request.
func (g *groupAttempt) ask() (placement.Request, error) {
	r := placement.Request{
		Group:   mirror.GroupID(fwk.EntityKey{Type: g.group.GetType(), Namespace: g.group.GetNamespace(), Name: g.group.GetName()}),
		SkipFit: true, Placer: g, MinCount: 1, // how many are enough the scheduler knows
		Now: g.Clock(),
	}
	if composite := g.group.GetCompositePodGroup(); composite != nil {
		r.Priority = util.CompositePodGroupPriority(composite)
	} else {
		r.Priority = util.PodGroupPriority(g.group.GetPodGroup())
	}
	for _, p := range g.group.GetUnscheduledPods() {
		info, err := framework.NewPodInfo(p)
		if err != nil {
			return r, err
		}
		pod := mirror.PodOf(info, "")
		pod.Priority = r.Priority
		g.delegate(&pod)
		r.Pods = append(r.Pods, pod)
	}
	return r, nil
}

// why is the answer if no units make room.
func (g *groupAttempt) why(d placement.Decision) *fwk.Status {
	switch {
	case d.Reason == placement.ReasonNoVictims:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "No preemption victims found for incoming preemptor")
	case g.trial != nil && !g.trial.status.IsSuccess():
		return g.trial.status
	}
	return fwk.NewStatus(fwk.Unschedulable, message(d, len(g.group.GetUnscheduledPods())))
}

// evict tells the victims by kube-scheduler's evaluator, and nominates the members.
func (g *groupAttempt) evict(d placement.Decision) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	var members []fwk.ProposedAssignment
	for _, n := range d.Nominations {
		members = append(members, g.trial.placed[n.Pod])
	}
	if len(d.Victims) == 0 { // the evaluator has no answer for it
		result := &fwk.PodGroupPostFilterResult{NominatingInfos: map[types.NamespacedName]*fwk.NominatingInfo{}}
		for _, m := range members {
			key := types.NamespacedName{Namespace: m.GetPod().Namespace, Name: m.GetPod().Name}
			result.NominatingInfos[key] = &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: m.GetNodeName()}
		}
		return result, fwk.NewStatus(fwk.Success, "found a placement for podgroup, preempting 0 victims")
	}
	byNode, pods := map[string]*framework.NodeInfo{}, map[types.UID]*v1.Pod{}
	var nodes []fwk.NodeInfo
	for _, id := range podsOf(d) {
		victim := g.mirror.Pod(id)
		pods[victim.GetPod().UID] = victim.GetPod()
		name := victim.GetPod().Spec.NodeName
		if byNode[name] == nil {
			byNode[name] = framework.NewNodeInfo()
			byNode[name].SetNode(g.mirror.Node(name).Node())
			nodes = append(nodes, byNode[name])
		}
		byNode[name].AddPodInfo(victim)
	}
	g.nominateFirst(members, pods)
	result, status := g.preempt(nodes, pods, func(context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		return &fwk.PodGroupAssignments{ProposedAssignments: members}, nil
	})
	return result, status
}

// podsOf returns the IDs of the pods that a decision evicts, the most important unit first.
func podsOf(d placement.Decision) (list []string) {
	for _, v := range d.InOrderOfChoice() {
		list = append(list, v.Pods...)
	}
	return list
}
