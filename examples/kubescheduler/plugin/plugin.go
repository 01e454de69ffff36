// Package plugin is a PostFilter plugin of kube-scheduler: when no node has room for a pod,
// package placement of cede decides which pods must yield, and on which node.
//
// It is kube-scheduler's own preemption with another search. Whether the pod may preempt at
// all, what extenders say, and how victims are told to stop are as there.
package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	extender "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

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

// New makes the plugin. It takes no arguments, and refuses any.
func New(ctx context.Context, arguments runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	if err := refuse(arguments); err != nil {
		return nil, err
	}
	registerMetrics()
	// How many nodes are looked at is valid, and not read: cede looks at all of them.
	unread := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100}
	own, err := defaultpreemption.New(ctx, unread, handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	preemptor, err := placement.New(Config)
	return &Plugin{DefaultPreemption: own, handle: handle, preemptor: preemptor}, err
}

// Config is how the plugin decides: as kube-scheduler v1.36 and v1.37 place a single pod, with budgets
// as in v1.36.
var Config = placement.Config{Mode: placement.ModeInPlace, Charge: placement.ChargeToAll, SkipBlockers: true, SkipRetryAt: true}

// refuse refuses arguments: the scheduler hands on what the configuration says, unread.
func refuse(arguments runtime.Object) error {
	fields := map[string]any{}
	if err := frameworkruntime.DecodeInto(arguments, &fields); err != nil {
		return fmt.Errorf("pluginConfig of %s: args: %w", Name, err)
	}
	delete(fields, "kind")
	delete(fields, "apiVersion")
	if len(fields) > 0 {
		return fmt.Errorf("pluginConfig of %s: args: %s: the plugin takes no arguments", Name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	return nil
}

// Name implements fwk.Plugin.
func (pl *Plugin) Name() string { return Name }

// EventsToRegister implements fwk.EnqueueExtensions, as kube-scheduler's own preemption does. The
// scheduler calls it once when a profile is complete, so here it is seen what else preempts. It fails if
// kube-scheduler's own preemption comes first: it would decide in place of cede, without a word.
func (pl *Plugin) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	if f, ok := pl.handle.(framework.Framework); ok {
		for _, p := range f.ListPlugins().PostFilter.Enabled {
			if p.Name == Name {
				break
			}
			if p.Name == defaultpreemption.Name {
				return nil, fmt.Errorf("profile %q: %s is enabled before %s and decides in its place: disable it, at multiPoint or at postFilter",
					f.ProfileName(), defaultpreemption.Name, Name)
			}
		}
	}
	return pl.DefaultPreemption.EventsToRegister(ctx)
}

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
		yielded.Add(float64(len(a.chosen[result.NominatedNodeName].Victims)))
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
	err     error                          // the first one of a filter
	refused error                          // what cede could not take
}

// NodesForStatusCode implements fwk.NodeToStatusReader: it decides, and returns the node that
// is chosen; if extenders have a say, all nodes on which preemption makes room.
func (a *attempt) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	possible, err := a.NodeToStatusReader.NodesForStatusCode(lister, code)
	if err != nil || len(possible) == 0 {
		return nil, err
	}
	began := time.Now()
	err = a.follow(lister)
	a.tell()
	if err != nil {
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
		var d placement.Decision
		d, err = a.preemptor.Decide(a.mirror.Snapshot(), a.request)
		if outcome = d.Outcome.String(); d.Outcome == preemption.Preempt {
			list = append(list, d.Placement)
		}
	}
	return list, strings.ToLower(outcome), err
}

// tell names what the snapshot does not hold as it is, in the log and as an event.
func (a *attempt) tell() {
	for _, s := range a.mirror.Strange() {
		object, err := meta.Accessor(s.Object)
		if err != nil {
			continue // pods and nodes have names
		}
		klog.FromContext(a.ctx).Info("cede counts an object in another way", "object", klog.KObj(object), "problem", s.Problem)
		if recorder := a.handle.EventRecorder(); recorder != nil {
			recorder.Eventf(s.Object, nil, v1.EventTypeWarning, "NotCounted", "Preempting", "%s", s.Problem)
		}
	}
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
	if a.delegate(&a.request.Pods[0]) || !a.onlyRoom(possible) {
		a.request.SetFilters = []placement.SetFilter{filters{a}}
	}
}

// delegate removes from a pod's requests extended resources that a class of devices backs, as
// NodeResourcesFit does: the filters answer for them, on nodes that have them as resources, too.
func (a *attempt) delegate(p *workload.Pod) (any bool) {
	manager := a.handle.SharedDRAManager()
	if manager == nil || !utilfeature.DefaultFeatureGate.Enabled(features.DRAExtendedResource) {
		return false
	}
	for name := range p.Requests {
		if strings.Contains(name, "/") && manager.DeviceClassResolver().GetDeviceClass(v1.ResourceName(name)) != nil {
			delete(p.Requests, name)
			any = true
		}
	}
	return any
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
