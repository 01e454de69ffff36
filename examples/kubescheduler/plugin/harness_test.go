package plugin

import (
	"cmp"
	"context"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// world is a cluster and the pod that waits.
type world struct {
	nodes     []*v1.Node
	pods      []*v1.Pod // running
	nominated []*v1.Pod // waiting, with their nodes in the status
	budgets   []*policy.PodDisruptionBudget
	pod       *v1.Pod
	groups
}

// harness is kube-scheduler's framework with its default plugins, without an API server. Its
// worlds change from one question to the next; the plugins stay.
type harness struct {
	ctx       context.Context
	framework framework.Framework
	factory   informers.SharedInformerFactory
	lister    *lister
	nominator nominator
	cede      *Plugin
	kube      *defaultpreemption.DefaultPreemption
}

// lister is a snapshot of the scheduler that can be replaced.
type lister struct{ *cache.Snapshot }

// nominator holds nominated pods by node.
type nominator map[string][]fwk.PodInfo

func (n nominator) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (n nominator) DeleteNominatedPodIfExists(*v1.Pod)                            {}
func (n nominator) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo)          {}
func (n nominator) NominatedPodsForNode(node string) []fwk.PodInfo                { return slices.Clone(n[node]) }

// byName lists budgets by name. kube-scheduler's own lister has no order, and the order decides which budget of
// several a pod violates first.
type byName struct {
	policylisters.PodDisruptionBudgetLister
}

func (b byName) List(selector labels.Selector) ([]*policy.PodDisruptionBudget, error) {
	list, err := b.PodDisruptionBudgetLister.List(selector)
	slices.SortFunc(list, func(a, b *policy.PodDisruptionBudget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list, err
}

func newHarness(t testing.TB, extenders ...fwk.Extender) *harness {
	t.Helper()
	return newHarnessWith(t, nil, extenders...)
}

// newHarnessWith is newHarness with a manager of devices.
func newHarnessWith(t testing.TB, manager fwk.SharedDRAManager, extenders ...fwk.Extender) *harness {
	t.Helper()
	metrics.Register()
	h := &harness{ctx: klog.NewContext(t.Context(), klog.TODO().V(10000)), lister: &lister{cache.NewEmptySnapshot()}, nominator: nominator{}}
	h.factory = informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	settings, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	// Claims of devices need a manager that needs an API server: the live test has them.
	on := &settings.Profiles[0].Plugins.MultiPoint
	on.Enabled = slices.DeleteFunc(on.Enabled, func(p config.Plugin) bool { return p.Name == names.DynamicResources })
	h.framework, err = frameworkruntime.NewFramework(h.ctx, plugins.NewInTreeRegistry(), &settings.Profiles[0],
		frameworkruntime.WithClientSet(fake.NewClientset()), frameworkruntime.WithEventRecorder(&events.FakeRecorder{}),
		frameworkruntime.WithInformerFactory(h.factory), frameworkruntime.WithPodNominator(h.nominator),
		frameworkruntime.WithSnapshotSharedLister(h.lister), frameworkruntime.WithMutableSnapshotLister(h.lister),
		frameworkruntime.WithExtenders(extenders), frameworkruntime.WithParallelism(2),
		frameworkruntime.WithSharedDRAManager(manager), frameworkruntime.WithPodGroupManager(cache.New(h.ctx, nil, true, true)),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()), frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()))
	if err != nil {
		t.Fatal(err)
	}
	one, err := New(h.ctx, nil, h.framework)
	if err != nil {
		t.Fatal(err)
	}
	h.cede = one.(*Plugin)
	h.kube, err = defaultpreemption.New(h.ctx, &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100}, h.framework,
		feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *harness) logger() klog.Logger { return klog.FromContext(h.ctx) }

// show replaces the world that the scheduler sees.
func (h *harness) show(t testing.TB, w world) {
	t.Helper()
	h.lister.Snapshot = snapshotOf(w)
	var nodes, pods, budgets []any
	for _, n := range w.nodes {
		nodes = append(nodes, n)
	}
	for _, p := range append(slices.Concat(w.pods, w.nominated), w.pod) {
		pods = append(pods, p)
	}
	if w.groups.asks != nil {
		for _, p := range w.groups.asks.UnscheduledPods {
			pods = append(pods, p)
		}
	}
	for _, b := range w.budgets {
		budgets = append(budgets, b)
	}
	for _, err := range []error{
		h.factory.Core().V1().Nodes().Informer().GetIndexer().Replace(nodes, ""),
		h.factory.Core().V1().Pods().Informer().GetIndexer().Replace(pods, ""),
		h.factory.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Replace(budgets, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	clear(h.nominator)
	for _, p := range w.nominated {
		info, err := framework.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		h.nominator[p.Status.NominatedNodeName] = append(h.nominator[p.Status.NominatedNodeName], info)
	}
}

// filter runs the filters for a pod. It reports false if a node takes the pod, or no node ever
// will.
func (h *harness) filter(t testing.TB, pod *v1.Pod) (state fwk.CycleState, statuses *framework.NodeToStatus, waits bool) {
	t.Helper()
	state = framework.NewCycleState()
	result, status, _ := h.framework.RunPreFilterPlugins(h.ctx, state, pod)
	if !status.IsSuccess() {
		return nil, nil, false
	}
	infos, err := h.lister.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	statuses = framework.NewDefaultNodeToStatus()
	for _, info := range infos {
		if !result.AllNodes() && !result.NodeNames.Has(info.Node().Name) {
			continue
		}
		status := h.framework.RunFilterPluginsWithNominatedPods(h.ctx, state, pod, info)
		if status.IsSuccess() {
			return nil, nil, false
		}
		statuses.Set(info.Node().Name, status)
	}
	possible, err := statuses.NodesForStatusCode(h.lister.NodeInfos(), fwk.Unschedulable)
	if err != nil {
		t.Fatal(err)
	}
	return state, statuses, len(possible) > 0
}
