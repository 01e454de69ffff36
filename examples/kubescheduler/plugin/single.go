package plugin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/klog/v2"
	extender "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// PostFilter implements fwk.PostFilterPlugin. The scheduler makes one call at a time. If cede refuses
// what the scheduler has read, which no object should cause, kube-scheduler's own preemption decides
// about this pod.
func (pl *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	own := *pl.DefaultPreemption
	a := &attempt{Interface: pl.DefaultPreemption, NodeToStatusReader: statuses, Plugin: pl, ctx: ctx, state: state, pod: pod}
	own.Evaluator = kube.NewEvaluator(Name, pl.handle, a, pl.Executor)
	result, status := own.PostFilter(ctx, state, pod, a)
	if a.refused != nil {
		klog.FromContext(ctx).Error(a.refused, "cede refuses what the scheduler has read; DefaultPreemption decides", "pod", klog.KObj(pod))
		decisions.WithLabelValues("refused").Inc()
		return pl.DefaultPreemption.PostFilter(ctx, state, pod, statuses)
	}
	if result != nil && status.IsSuccess() {
		chosen := a.chosen[result.NominatedNodeName]
		a.decision.Outcome, a.decision.Placement = preemption.Preempt, chosen
		for _, v := range chosen.Victims {
			yielded.Add(float64(len(v.Pods)))
		}
	}
	if status.Code() != fwk.Error {
		pl.say(ctx, pod, a.decision, pod)
	}
	return result, status
}

// attempt is one preemption. kube-scheduler's evaluator asks it which nodes it may look at, and
// gets only those that cede has chosen; then it asks for the victims on each of them.
type attempt struct {
	kube.Interface
	fwk.NodeToStatusReader
	*Plugin
	ctx     context.Context
	state   fwk.CycleState
	pod     *v1.Pod
	request placement.Request
	chosen  map[string]placement.Placement // by node

	decision placement.Decision
	err      error // the first one of a filter
	refused  error // what cede could not take
}

// NodesForStatusCode implements fwk.NodeToStatusReader: it decides, and returns the node that
// is chosen; if extenders have a say, all nodes on which preemption makes room.
func (a *attempt) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	possible, err := a.NodeToStatusReader.NodesForStatusCode(lister, code)
	if err != nil || len(possible) == 0 {
		return nil, err
	}
	began := time.Now()
	if err := a.follow(a.ctx, lister, a.pod); err != nil {
		a.refused = err
		return nil, err
	}
	a.ask(possible)
	list, outcome, err := a.decide()
	seconds.Observe(time.Since(began).Seconds())
	if err != nil {
		a.refused = err
		return nil, err
	}
	decisions.WithLabelValues(outcome).Inc()
	if len(list) == 0 {
		err = a.err
	}
	a.chosen = map[string]placement.Placement{}
	var nodes []fwk.NodeInfo
	for _, p := range list {
		info, err := lister.Get(p.Domain)
		if err != nil {
			return nil, err
		}
		a.chosen[p.Domain], nodes = p, append(nodes, info)
	}
	return nodes, err
}

// decide returns the node that is chosen; if extenders have a say, all nodes on which preemption makes room.
func (a *attempt) decide() (list []placement.Placement, outcome string, err error) {
	if slices.ContainsFunc(a.handle.Extenders(), func(e fwk.Extender) bool { return e.SupportsPreemption() && e.IsInterested(a.pod) }) {
		list, err = a.preemptor.Placements(a.mirror.Snapshot(), a.request)
		outcome = preemption.Impossible.String()
		if len(list) > 0 {
			outcome = preemption.Preempt.String()
		}
	} else {
		a.decision, err = a.preemptor.Decide(a.mirror.Snapshot(), a.request)
		if err == nil && a.Watch != nil {
			a.Watch(Decided{a.preemptor, a.mirror.Snapshot(), a.request, a.decision})
		}
		if outcome = a.decision.Outcome.String(); a.decision.Outcome == preemption.Preempt {
			list = append(list, a.decision.Placement)
		}
	}
	return list, strings.ToLower(outcome), err
}

// ask makes the request.
func (a *attempt) ask(possible []fwk.NodeInfo) {
	info, err := framework.NewPodInfo(a.pod)
	a.err = err // of terms that do not parse: the filters fail, too
	pod := mirror.PodOf(info, "")
	a.request = placement.Request{Priority: pod.Priority, SkipFit: true, Pods: []workload.Pod{pod}, Now: a.Clock()}
	if before := a.mirror.Running(pod.ID); before != nil && before.GetPod().UID == a.pod.UID {
		a.request.Resize = true // where it runs, with what it takes there free for it
	} else if len(possible) < a.mirror.Size() {
		for _, n := range possible {
			a.request.Pods[0].Nodes = append(a.request.Pods[0].Nodes, n.Node().Name)
		}
	}
	if a.delegate(&a.request.Pods[0]) || !a.onlyRoom(possible) {
		a.request.SetFilters = []placement.SetFilter{filters{a}}
	}
}

// GetOffsetAndNumCandidates implements kube.Interface: there are no nodes but those of
// NodesForStatusCode.
func (a *attempt) GetOffsetAndNumCandidates(nodes int32) (offset, candidates int32) { return 0, nodes }

// SelectVictimsOnNode implements kube.Interface.
func (a *attempt) SelectVictimsOnNode(_ context.Context, _ fwk.CycleState, _ *v1.Pod, info fwk.NodeInfo, _ []*kube.DomainVictim, _ []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	p := a.chosen[info.Node().Name]
	var victims []*v1.Pod
	for _, v := range p.InOrderOfChoice() {
		for _, id := range v.Pods {
			victims = append(victims, a.mirror.Pod(id).GetPod())
		}
	}
	return victims, p.Violations, nil
}

// OrderedScoreFuncs implements kube.Interface: it says which of the nodes that extenders have
// left is best.
func (a *attempt) OrderedScoreFuncs(_ context.Context, left map[string]*extender.Victims) []func(node string) int64 {
	var list []placement.Placement
	for _, node := range slices.Sorted(maps.Keys(left)) {
		p := placement.Placement{Domain: node, Nominations: []placement.Nomination{{Pod: a.request.Pods[0].ID, Node: node}}}
		for i, pod := range left[node].Pods {
			p.Victims = append(p.Victims, placement.Victim{Pods: []string{mirror.ID(pod)}, Order: i + 1})
		}
		if len(p.Victims) > 0 {
			p.Victims[0].Violations = int(left[node].NumPDBViolations)
		}
		list = append(list, p)
	}
	best, err := a.preemptor.Choose(a.mirror.Snapshot(), a.request, list)
	if err != nil {
		return nil // an extender named pods that do not run: kube-scheduler's own scores
	}
	return []func(string) int64{func(node string) int64 {
		if node == best.Domain {
			return 1
		}
		return 0
	}}
}
