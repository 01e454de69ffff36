package kueue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptor "sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/util/expectations"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	info "sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"

	"github.com/cedesched/cede/preemption"
)

// world is a drawn cluster as clusters are: queues that are stopped or name a flavor that is not there, and have quota and
// workloads all the same; amounts of zero; several flavors, by no means in the order of their names, with taints; local
// queues of different usage; workloads that are leaving, and some without a time.
type world struct {
	fs        *config.FairSharing
	byUsage   bool // of local queues
	flavors   []*api.ResourceFlavor
	cohorts   []*api.Cohort
	queues    []*api.ClusterQueue
	workloads []*api.Workload
	asks      *api.Workload
	in        api.ClusterQueueReference
}

var (
	flavorNames = []api.ResourceFlavorReference{"spot", "a100-80gb", "h100"}
	queueNames  = []string{"vision-training", "analytics", "recsys-7f3c1", "language", "batch-b"}
)

func draw(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 6))
	w := &world{byUsage: r.IntN(6) == 0}
	if r.IntN(2) == 0 {
		w.fs = &config.FairSharing{PreemptionStrategies: [][]config.PreemptionStrategy{nil, {config.LessThanInitialShare}, {config.LessThanOrEqualToFinalShare}}[r.IntN(3)]}
	}
	for i, name := range flavorNames {
		f := &api.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: string(name)}, Spec: api.ResourceFlavorSpec{NodeLabels: map[string]string{"kind": string(name)}}}
		if i == 0 && r.IntN(2) == 0 {
			f.Spec.NodeTaints = []corev1.Taint{{Key: "spot", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
		}
		w.flavors = append(w.flavors, f)
	}
	for _, c := range []struct {
		name   string
		parent api.CohortReference
	}{{"root", ""}, {"left", "root"}} {
		o := &api.Cohort{ObjectMeta: metav1.ObjectMeta{Name: c.name}, Spec: api.CohortSpec{ParentName: c.parent, FairSharing: weight(r)}}
		if r.IntN(2) == 0 {
			o.Spec.ResourceGroups = oddGroups(r)
		}
		w.cohorts = append(w.cohorts, o)
	}
	for i, name := range queueNames {
		q := clusterQueue(r, name, []api.CohortReference{"left", "left", "root", "right", ""}[i])
		q.Spec.ResourceGroups = oddGroups(r)
		q.Spec.FlavorFungibility = &api.FlavorFungibility{WhenCanBorrow: []api.FlavorFungibilityPolicy{api.MayStopSearch, api.TryNextFlavor}[r.IntN(2)], WhenCanPreempt: []api.FlavorFungibilityPolicy{api.TryNextFlavor, api.MayStopSearch}[r.IntN(2)]}
		if p := q.Spec.Preemption; r.IntN(2) == 0 {
			p.WithinClusterQueue, p.ReclaimWithinCohort = api.PreemptionPolicyLowerPriority, api.PreemptionPolicyAny
		}
		switch r.IntN(8) {
		case 0:
			q.Spec.StopPolicy = new([]api.StopPolicy{api.Hold, api.HoldAndDrain}[r.IntN(2)])
		case 1:
			q.Spec.ResourceGroups[0].Flavors = append(q.Spec.ResourceGroups[0].Flavors, flavorOfQueue(r, "not-there"))
		}
		w.queues = append(w.queues, q)
	}
	for i := range 16 {
		one := aWorkload(r, fmt.Sprintf("job-%d-%x", i, r.Uint32N(1<<16)), 1+r.Int64N(3))
		more(r, one)
		q := w.queues[r.IntN(len(w.queues))]
		admit(r, one, api.ClusterQueueReference(q.Name))
		flavors := q.Spec.ResourceGroups[0].Flavors
		f := flavors[r.IntN(len(flavors))].Name
		one.Status.Admission.PodSetAssignments[0].Flavors = map[corev1.ResourceName]api.ResourceFlavorReference{"gpu": f, "cpu": f}
		w.workloads = append(w.workloads, one)
	}
	w.asks = aWorkload(r, "asks", 1+r.Int64N(5))
	*w.asks.Spec.Priority += r.Int32N(3)
	if more(r, w.asks); r.IntN(3) == 0 {
		w.asks.Spec.PodSets[0].Template.Spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}
	}
	if r.IntN(5) == 0 {
		w.asks.Spec.PodSets[0].Template.Spec.NodeSelector = map[string]string{"kind": string(flavorNames[r.IntN(3)]), "disk": "ssd"}
	}
	in := w.queues[r.IntN(len(w.queues))]
	for range 2 { // seldom one that is stopped
		if in.Spec.StopPolicy != nil {
			in = w.queues[r.IntN(len(w.queues))]
		}
	}
	w.in = api.ClusterQueueReference(in.Name)
	return w
}

// more draws what a workload has besides its amount.
func more(r *rand.Rand, w *api.Workload) {
	requests := w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests
	requests["cpu"] = *resource.NewQuantity(r.Int64N(3), resource.DecimalSI)
	if r.IntN(8) == 0 {
		requests["gpu"] = resource.Quantity{}
	}
	if w.Name == "asks" && r.IntN(4) == 0 {
		requests["licenses"] = resource.Quantity{} // no queue covers it
	}
	w.Spec.QueueName = api.LocalQueueName(fmt.Sprint("lq", r.IntN(2)))
	if r.IntN(10) == 0 {
		w.CreationTimestamp = metav1.Time{}
	}
}

func oddGroups(r *rand.Rand) []api.ResourceGroup {
	g := api.ResourceGroup{CoveredResources: []corev1.ResourceName{"gpu", "cpu"}}
	for _, i := range r.Perm(len(flavorNames))[:[]int{1, 2, 2, 3}[r.IntN(4)]] {
		g.Flavors = append(g.Flavors, flavorOfQueue(r, flavorNames[i]))
	}
	return []api.ResourceGroup{g}
}

func flavorOfQueue(r *rand.Rand, name api.ResourceFlavorReference) api.FlavorQuotas {
	gpu := groups(r)[0].Flavors[0].Resources[0]
	cpu := gpu
	cpu.Name, cpu.NominalQuota = "cpu", *resource.NewQuantity(r.Int64N(9), resource.DecimalSI)
	return api.FlavorQuotas{Name: name, Resources: []api.ResourceQuota{gpu, cpu}}
}

// snapshot is what Kueue's own cache makes of the world.
func (w *world) snapshot(t *testing.T, cache *schdcache.Cache) *schdcache.Snapshot {
	t.Helper()
	log := ctrl.LoggerFrom(t.Context())
	for _, f := range w.flavors {
		cache.AddOrUpdateResourceFlavor(log, f)
	}
	for _, c := range w.cohorts {
		if err := cache.AddOrUpdateCohort(c); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range w.queues {
		if err := cache.AddClusterQueue(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range w.workloads {
		cache.AddOrUpdateWorkload(log, one)
	}
	s, err := cache.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w.byUsage {
		for _, c := range s.ClusterQueues() {
			for _, one := range c.Workloads {
				one.LocalQueueFSUsage = new(map[api.LocalQueueName]float64{"lq0": 3, "lq1": 1}[one.Obj.Spec.QueueName])
			}
		}
	}
	return s
}

// mirror is a mirror of the world, from its objects, with the statuses that Kueue's controllers write.
func (w *world) mirror(t *testing.T, cache *schdcache.Cache) *Mirror {
	t.Helper()
	a, err := New(&config.Configuration{FairSharing: w.fs})
	if err != nil {
		t.Fatal(err)
	}
	m := newMirror(a)
	for _, f := range w.flavors {
		m.note(f, false)
	}
	for _, c := range w.cohorts {
		m.note(c, false)
	}
	for _, q := range w.queues {
		q := q.DeepCopy()
		active, reason, message := cache.ClusterQueueReadiness(api.ClusterQueueReference(q.Name))
		q.Status.Conditions = []metav1.Condition{{Type: api.ClusterQueueActive, Status: active, Reason: reason, Message: message}}
		m.note(q, false)
	}
	for _, one := range w.workloads {
		m.note(one, false)
	}
	if err := m.Catch(); err != nil {
		t.Fatal(err)
	}
	return m
}

// In worlds as clusters are, Kueue's nomination and cede's answer are the same: by the adapter in place of Kueue's preemptor, and
// by the mirror, which assigns flavors itself.
func TestNominationsAreKueues(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(3000) {
		w := draw(seed)
		client := utiltesting.NewClientBuilder().Build()
		cache := schdcache.New(client, schdcache.WithFairSharing(w.fs != nil))
		s, m := w.snapshot(t, cache), w.mirror(t, cache)
		if w.byUsage {
			found["by usage"]++
		}
		d, err := m.Decide(w.asks, string(w.in), now)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		cq := s.ClusterQueue(w.in)
		if cq == nil {
			if found["asks in a queue that is not active"]++; d.Outcome != preemption.Impossible {
				t.Errorf("seed %d: the queue is not active, and the mirror says %v", seed, d.Outcome)
			}
			continue
		}
		in := info.NewInfo(w.asks)
		in.ClusterQueue = w.in
		p := preemptor.New(client, info.Ordering{PodsReadyRequeuingTimestamp: config.EvictionTimestamp}, new(events.FakeRecorder), w.fs, w.byUsage, testingclock.NewFakeClock(now), nil, expectations.NewStore("preemption"), nil)
		assignment := flavorassigner.New(in, cq, s.ResourceFlavors, w.fs != nil, preemptor.NewOracle(p, s), nil, config.QuotaCheckBlockUndeclared, nil, 0).Assign(t.Context(), nil)
		kueue := assignment.RepresentativeMode().String()
		if kueue == flavorassigner.Preempt.String() {
			want := p.GetTargets(t.Context(), *in, assignment, s)
			a, err := New(&config.Configuration{FairSharing: w.fs})
			if err == nil {
				err = a.Follow(s)
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			list, err := a.Targets(t.Context(), *in, assignment, s, now)
			switch got := texts(list); {
			case err != nil:
				t.Errorf("seed %d: %v", seed, err)
			case got == texts(want):
			case leaves(list):
				found["what is leaving is enough"]++
			case w.mergesByUsage(s):
				found["queues merged, each in the order of its local queues"]++
			default:
				t.Errorf("seed %d, fair %v, by usage %v: %q, Kueue %q", seed, w.fs != nil, w.byUsage, got, texts(want))
			}
			if kueue = "preempts"; len(want) == 0 {
				kueue = "NoFit"
			}
			if !w.byUsage { // the mirror has no usage of local queues
				kueue += " " + texts(want)
			}
		}
		found[strings.Fields(kueue)[0]]++
		if w.byUsage {
			continue
		}
		if got := answer(&d); got != strings.TrimSpace(kueue) || kueue == "Fit" && !sameFlavors(&d, &assignment) {
			if len(d.Victims) > 0 && !slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return !v.Leaving }) {
				found["what is leaving is enough"]++
				continue
			}
			t.Errorf("seed %d, fair %v: mirror %q %+v, Kueue %q %+v", seed, w.fs != nil, got, d.Assignment, kueue, assignment.PodSets[0].Flavors)
		}
	}
	t.Log(found)
	for _, what := range []string{"Fit", "preempts", "NoFit", "asks in a queue that is not active", "by usage"} {
		if found[what] < 100 {
			t.Errorf("%s: only %d", what, found[what])
		}
	}
}

// leaves reports whether all targets are being evicted already: docs/departures.md, "What is leaving is enough".
func leaves(list []*preemptor.Target) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(t *preemptor.Target) bool { return !evict.IsEvicted(t.WorkloadInfo.Obj) })
}

// mergesByUsage is the predicate of docs/departures.md: in some queue candidates are of local queues of different usage, and two
// queues have candidates.
func (w *world) mergesByUsage(s *schdcache.Snapshot) bool {
	queues, differ := 0, false
	for _, c := range s.ClusterQueues() {
		names := map[api.LocalQueueName]bool{}
		for _, one := range c.Workloads {
			names[one.Obj.Spec.QueueName] = true
		}
		if len(names) > 0 {
			queues++
		}
		differ = differ || len(names) > 1
	}
	return w.byUsage && differ && queues > 1
}

// answer is a decision as the mode and the targets of Kueue.
func answer(d *preemption.Decision) string {
	switch d.Outcome {
	case preemption.Fits:
		return "Fit"
	case preemption.Preempt:
		var out []string
		for _, v := range d.Victims {
			out = append(out, strings.TrimPrefix(v.Workload, "ns/")+" "+v.Reason.String())
		}
		slices.Sort(out)
		return "preempts " + strings.Join(out, ", ")
	}
	return "NoFit"
}

func sameFlavors(d *preemption.Decision, a *flavorassigner.Assignment) bool {
	for _, c := range d.Assignment {
		for _, r := range c.Resources {
			if f := a.PodSets[0].Flavors[corev1.ResourceName(r.Resource)]; f == nil || string(f.Name) != c.Flavor {
				return false
			}
		}
	}
	return true
}
