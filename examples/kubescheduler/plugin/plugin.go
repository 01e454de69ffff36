// Package plugin is a PostFilter plugin of kube-scheduler: when no node has room for a pod,
// package placement of cede decides which pods must yield, and on which node.
//
// It is kube-scheduler's own preemption with another search. Whether the pod may preempt at
// all, what extenders say, and how victims are told to stop are as there.
package plugin

import (
	"context"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	extender "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Name is the name of the plugin in the configuration of the scheduler.
const Name = "Cede"

// Plugin is kube-scheduler's own preemption, but for the search.
type Plugin struct {
	*defaultpreemption.DefaultPreemption
	handle    fwk.Handle
	preemptor *placement.Preemptor
	mirror    mirror.Mirror
}

// New makes the plugin. It takes no arguments.
func New(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	// How many nodes are looked at is valid, and not read: cede looks at all of them.
	arguments := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100}
	own, err := defaultpreemption.New(ctx, arguments, handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	preemptor, err := placement.New(placement.Config{Mode: placement.ModeInPlace, SkipBlockers: true, SkipRetryAt: true})
	return &Plugin{DefaultPreemption: own, handle: handle, preemptor: preemptor}, err
}

// Name implements fwk.Plugin.
func (pl *Plugin) Name() string { return Name }

// PostFilter implements fwk.PostFilterPlugin. The scheduler makes one call at a time.
func (pl *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	own := *pl.DefaultPreemption
	own.Evaluator = kube.NewEvaluator(Name, pl.handle, &attempt{
		Interface: pl.DefaultPreemption, NodeToStatusReader: statuses, Plugin: pl, ctx: ctx, state: state, pod: pod,
	}, pl.Executor)
	return own.PostFilter(ctx, state, pod, own.Evaluator.Interface.(*attempt))
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
	err     error                          // the first one of a filter
}

// NodesForStatusCode implements fwk.NodeToStatusReader: it decides, and returns the node that
// is chosen; if extenders have a say, all nodes on which preemption makes room.
func (a *attempt) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	possible, err := a.NodeToStatusReader.NodesForStatusCode(lister, code)
	if err != nil || len(possible) == 0 {
		return nil, err
	}
	if err := a.follow(lister); err != nil {
		return nil, err
	}
	a.ask(possible)
	var list []placement.Placement
	if slices.ContainsFunc(a.handle.Extenders(), func(e fwk.Extender) bool { return e.SupportsPreemption() && e.IsInterested(a.pod) }) {
		list, err = a.preemptor.Placements(a.mirror.Snapshot(), a.request)
	} else if d, wrong := a.preemptor.Decide(a.mirror.Snapshot(), a.request); d.Outcome == preemption.Preempt {
		list = append(list, d.Placement)
	} else {
		err = wrong
	}
	if err == nil && len(list) == 0 {
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

// follow brings the snapshot up to date with what the scheduler sees in this cycle.
func (a *attempt) follow(lister fwk.NodeInfoLister) error {
	all, err := lister.List()
	if err != nil {
		return err
	}
	budgets, err := a.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return err
	}
	return a.mirror.Follow(all, budgets, a.handle.NominatedPodsForNode, a.pod)
}

// ask makes the request.
func (a *attempt) ask(possible []fwk.NodeInfo) {
	info, err := framework.NewPodInfo(a.pod)
	a.err = err // of terms that do not parse: the filters fail, too
	pod := mirror.PodOf(info, "")
	a.request = placement.Request{Priority: pod.Priority, SkipFit: true, Pods: []workload.Pod{pod}}
	if len(possible) < a.mirror.Size() {
		for _, n := range possible {
			a.request.Pods[0].Nodes = append(a.request.Pods[0].Nodes, n.Node().Name)
		}
	}
	if !a.onlyRoom(possible) {
		a.request.SetFilters = []placement.SetFilter{filters{a}}
	}
}

// GetOffsetAndNumCandidates implements kube.Interface: there are no nodes but those of
// NodesForStatusCode.
func (a *attempt) GetOffsetAndNumCandidates(nodes int32) (offset, candidates int32) { return 0, nodes }

// SelectVictimsOnNode implements kube.Interface.
func (a *attempt) SelectVictimsOnNode(_ context.Context, _ fwk.CycleState, _ *v1.Pod, info fwk.NodeInfo, _ []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	p := a.chosen[info.Node().Name]
	var victims []*v1.Pod
	for _, v := range p.InOrderOfChoice() {
		victims = append(victims, a.mirror.Pod(v.Pods[0]).GetPod())
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
