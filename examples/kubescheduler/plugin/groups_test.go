package plugin

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// withGroups switches on all that kube-scheduler knows about groups.
func withGroups(t testing.TB) {
	t.Helper()
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.TopologyAwareWorkloadScheduling: true, features.CompositePodGroup: true,
		features.PodGroupPreemptionPolicy: true, features.SchedulerAsyncPreemption: false,
	})
}

// groups are the groups of a world.
type groups struct {
	podGroups  []*schedulingv1beta1.PodGroup
	composites []*schedulingv1alpha3.CompositePodGroup
	asks       *framework.PodGroupInfo
	minimum    int
}

// drawGroups puts the pods of a world into trees of groups, and draws a group that waits.
func drawGroups(class string, seed uint64, nodes int) world {
	w := drawWorld(class, seed, nodes)
	d := &draw{Rand: newRandom(class+" groups", seed), world: w}
	for i := range d.IntN(4) {
		c := st.MakeCompositePodGroup().Namespace("default").Name(fmt.Sprint("c", i)).UID(fmt.Sprint("c", i)).Priority(d.Int32N(5)*10 - 10)
		if i > 0 && d.IntN(2) == 0 {
			c.ParentCompositePodGroup(fmt.Sprint("c", d.IntN(i)))
		} else if d.IntN(8) == 0 {
			c.ParentCompositePodGroup("missing")
		}
		if d.IntN(3) == 0 {
			c.DisruptionModeAll()
		}
		d.composites = append(d.composites, c.Obj())
	}
	for i := range 1 + d.IntN(4) {
		g := st.MakePodGroup().Namespace("default").Name(fmt.Sprint("g", i)).UID("g").Priority(d.Int32N(5)*10 - 10).MinCount(1)
		if len(d.composites) > 0 && d.IntN(2) == 0 {
			g.ParentCompositePodGroup(d.composites[d.IntN(len(d.composites))].Name)
		} else if d.IntN(8) == 0 {
			g.ParentCompositePodGroup("missing")
		}
		if d.IntN(2) == 0 {
			g.DisruptionModeAll()
		}
		d.podGroups = append(d.podGroups, g.Obj())
	}
	d.some(60, func(p *v1.Pod) {
		name := fmt.Sprint("g", d.IntN(len(d.podGroups)+d.IntN(2))) // some name a group that is not there
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
	})
	// The scheduler takes no group in which a pod has another priority than the root.
	podGroups, composites := snapshotOf(d.world).PodGroups(), snapshotOf(d.world).CompositePodGroups()
	for _, p := range d.pods {
		*p.Spec.Priority = kube.GetPodPriority(p, podGroups, composites)
	}
	priority := 15 + d.Int32N(30)
	g := st.MakePodGroup().Namespace("default").Name("waits").UID("waits").Priority(priority).Obj()
	d.groups.asks = &framework.PodGroupInfo{Namespace: "default", Name: "waits", Type: fwk.PodGroupKeyType, PodGroup: g}
	d.podGroups = append(d.podGroups, g)
	for i := range 1 + d.IntN(5) {
		p := d.newPod(fmt.Sprint("member-", i), priority)
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &g.Name}
		p.Status.StartTime, p.Labels, p.Spec.Affinity = nil, d.pod.Labels, d.pod.Spec.Affinity
		p.Spec.TopologySpreadConstraints, p.Spec.Tolerations, p.Spec.NodeSelector = d.pod.Spec.TopologySpreadConstraints, d.pod.Spec.Tolerations, d.pod.Spec.NodeSelector
		for j := range p.Spec.Containers {
			p.Spec.Containers[j].Ports = d.pod.Spec.Containers[0].Ports
		}
		d.groups.asks.UnscheduledPods = append(d.groups.asks.UnscheduledPods, p)
	}
	d.minimum = 1 + d.IntN(len(d.groups.asks.UnscheduledPods))
	for _, b := range d.budgets { // several budgets of a pod: chance decides, as the pods of a group are in no order
		if b.Name != "b0" {
			b.Namespace = "other"
		}
	}
	return d.world
}

// assignment is a member with a node.
type assignment struct {
	fwk.PodInfo
	node  string
	state fwk.CycleState
}

func (a assignment) GetPodInfo() fwk.PodInfo       { return a.PodInfo }
func (a assignment) GetNodeName() string           { return a.node }
func (a assignment) GetCycleState() fwk.CycleState { return a.state }

// place returns a placement as the scheduler makes it: round robin, each member with the filters, those before
// it there.
func (h *harness) place(t testing.TB, w world) fwk.PodGroupSchedulingFunc {
	return func(ctx context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		infos, err := h.lister.NodeInfos().List()
		if err != nil {
			t.Fatal(err)
		}
		infos = slices.SortedFunc(slices.Values(infos), func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
		return h.placeOn(t, w, infos)(ctx)
	}
}

// placeOn is place on some nodes.
func (h *harness) placeOn(t testing.TB, w world, infos []fwk.NodeInfo) fwk.PodGroupSchedulingFunc {
	return func(ctx context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		var out []fwk.ProposedAssignment
		next, placed := 0, 0
		for _, p := range w.groups.asks.UnscheduledPods {
			info, err := framework.NewPodInfo(p)
			if err != nil {
				t.Fatal(err)
			}
			a := assignment{info, "", framework.NewCycleState()}
			result, status, _ := h.framework.RunPreFilterPlugins(ctx, a.state, p)
			for i := range infos {
				n := infos[(next+i)%len(infos)]
				if status.IsSuccess() && (result.AllNodes() || result.NodeNames.Has(n.Node().Name)) &&
					h.framework.RunFilterPluginsWithNominatedPods(ctx, a.state, p, n).IsSuccess() {
					a.node, next, placed = n.Node().Name, next+i+1, placed+1
					if err := h.lister.AddPod(info, a.node); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
			out = append(out, a)
		}
		for _, a := range out {
			if a.GetNodeName() != "" {
				if err := h.lister.RemovePod(h.logger(), a.GetPod(), a.GetNodeName()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if placed < w.minimum {
			return nil, fwk.NewStatus(fwk.Unschedulable, "too few fit")
		}
		return &fwk.PodGroupAssignments{ProposedAssignments: out}, nil
	}
}

// groupWorlds is how many worlds of each class are compared.
func groupWorlds(t *testing.T) int {
	if text := os.Getenv("CEDE_GROUP_WORLDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal("CEDE_GROUP_WORLDS: ", err)
		}
		return n
	}
	return 60
}

// For a group that waits kube-scheduler's own plugin and cede evict the same pods, with the same violations and
// disruptions of groups, nominate the same members to the same nodes, or have the same answer if they do not.
func TestGroupsAgreeWithDefaultPreemption(t *testing.T) {
	withGroups(t)
	h := newHarness(t)
	h.kube.Evaluator.PdbLister = byName{h.kube.Evaluator.PdbLister}
	h.cede.DefaultPreemption = h.kube
	var mutex sync.Mutex
	var told kube.Candidate
	h.kube.Executor.PreemptPod = func(_ context.Context, c kube.Candidate, _ kube.ExecutorPreemptor, _ *v1.Pod, _ string) (bool, error) {
		mutex.Lock()
		defer mutex.Unlock()
		told = c
		return false, nil
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if class == "huge requests" { // the scheduler's own sums wrap around
			continue
		}
		t.Run(class, func(t *testing.T) {
			count := map[string]int{}
			for seed := range uint64(groupWorlds(t)) {
				w := drawGroups(class, seed, 3+int(seed%6))
				h.show(t, w)
				answer := func(result *fwk.PodGroupPostFilterResult, status *fwk.Status, violations int) string {
					var lines []string
					if result != nil {
						for name, info := range result.NominatingInfos {
							lines = append(lines, fmt.Sprint(name.Name, " on ", info.NominatedNodeName))
						}
					}
					if told != nil {
						for _, p := range told.Victims().Pods {
							lines = append(lines, "evicts "+p.Name)
						}
						lines = append(lines, fmt.Sprint(violations, " violations, ", told.NumPodGroupDisruptions(), " groups"))
					}
					slices.Sort(lines)
					return fmt.Sprint(status.Code(), " ", status.Message(), "\n", strings.Join(lines, "\n"))
				}
				told = nil
				result, status := h.kube.PodGroupPostFilter(h.ctx, nil, w.groups.asks, h.place(t, w))
				violations := 0
				if told != nil {
					violations = int(told.Victims().NumPDBViolations)
				}
				want := answer(result, status, violations)
				count[status.Code().String()]++
				told = nil
				g := &groupAttempt{Plugin: h.cede, ctx: h.ctx, group: w.groups.asks, schedule: h.place(t, w)}
				result, status = g.run()
				if g.refused != nil {
					t.Errorf("seed %d: refused: %v", seed, g.refused)
					continue
				}
				if len(w.groups.asks.UnscheduledPods[0].Spec.TopologySpreadConstraints) > 0 {
					continue // the departure of the README: its filter forgets what it has counted
				}
				if got := answer(result, fwk.NewStatus(status.Code(), "pod group preemption: "+status.Message()), g.decision.Violations); got != want {
					t.Errorf("seed %d: cede\n%s\nkube-scheduler\n%s", seed, got, want)
				}
			}
			t.Log(count)
		})
	}
}

// For a single pod groups are victims in the same way.
func TestGroupsAsVictimsOfAPod(t *testing.T) {
	withGroups(t)
	h := newHarness(t)
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		t.Run(class, func(t *testing.T) {
			asked, nodes, places, tied := 0, 0, 0, 0
			for seed := range uint64(groupWorlds(t)) {
				w := drawGroups(class, seed, 3+int(seed%6))
				if len(w.pod.Spec.TopologySpreadConstraints) > 0 {
					continue // see above
				}
				h.show(t, w)
				if h.compare(t, fmt.Sprint("seed ", seed), w, &nodes, &places, &tied) {
					asked++
				}
			}
			t.Logf("%d worlds, %d nodes, on %d of them preemption makes room; %d ties of the score", asked, nodes, places, tied)
		})
	}
}

// groupsOf looks groups up in the snapshot that is shown.
type groupsOf struct{ *lister }

func (g groupsOf) Get(namespace, name string) (*schedulingv1beta1.PodGroup, error) {
	return g.Snapshot.PodGroups().Get(namespace, name)
}

type compositesOf struct{ *lister }

func (g compositesOf) Get(namespace, name string) (*schedulingv1alpha3.CompositePodGroup, error) {
	return g.Snapshot.CompositePodGroups().Get(namespace, name)
}

func (l *lister) PodGroups() fwk.PodGroupLister                   { return groupsOf{l} }
func (l *lister) CompositePodGroups() fwk.CompositePodGroupLister { return compositesOf{l} }

var _ fwk.MutableSnapshotSharedLister = (*lister)(nil)

// snapshotOf is the scheduler's snapshot of a world.
func snapshotOf(w world) *cache.Snapshot {
	return cache.NewTestSnapshotWithCompositePodGroups(w.pods, w.nodes, w.podGroups, w.composites)
}
