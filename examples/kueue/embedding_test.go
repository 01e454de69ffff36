package kueue

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptor "sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/util/expectations"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	info "sigs.k8s.io/kueue/pkg/workload"

	"github.com/cedesched/cede/preemption"
)

// gpus is a ClusterQueue in a cohort with 4 GPUs in each of its flavors, in which lower priorities yield.
func gpus(name string, cohort api.CohortReference, stop api.StopPolicy, flavors ...api.ResourceFlavorReference) *api.ClusterQueue {
	g := api.ResourceGroup{CoveredResources: []corev1.ResourceName{"gpu"}}
	for _, f := range flavors {
		g.Flavors = append(g.Flavors, api.FlavorQuotas{Name: f, Resources: []api.ResourceQuota{{Name: "gpu", NominalQuota: resource.MustParse("4")}}})
	}
	return &api.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: api.ClusterQueueSpec{CohortName: cohort, StopPolicy: &stop, ResourceGroups: []api.ResourceGroup{g},
		NamespaceSelector: &metav1.LabelSelector{}, Preemption: &api.ClusterQueuePreemption{WithinClusterQueue: api.PreemptionPolicyLowerPriority, ReclaimWithinCohort: api.PreemptionPolicyAny}}}
}

// runs is a workload that holds GPUs of flavor h100 in a queue.
func runs(name, queue string, amount int64) *api.Workload {
	w := aWorkload(rand.New(rand.NewPCG(1, 1)), name, amount)
	*w.Spec.Priority = 0
	admit(rand.New(rand.NewPCG(1, 2)), w, api.ClusterQueueReference(queue))
	w.Status.Conditions = w.Status.Conditions[:1]
	return w
}

func asks(amount int64) *api.Workload {
	w := aWorkload(rand.New(rand.NewPCG(1, 1)), "asks", amount)
	*w.Spec.Priority = 3
	return w
}

func mirrorOf(t testing.TB, objects ...any) *Mirror {
	t.Helper()
	a, err := New(&config.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	m := newMirror(a)
	for _, o := range objects {
		m.note(o, false)
	}
	if err := m.Catch(); err != nil {
		t.Fatal(err)
	}
	return m
}

// Flavors are tried in the order of the object, not of their names.
func TestFlavorsInTheOrderOfTheObject(t *testing.T) {
	m := mirrorOf(t, gpus("cq", "", api.None, "spot", "a100"))
	if d, err := m.Decide(asks(2), "cq", now); err != nil || d.Outcome != preemption.Fits || d.Assignment[0].Flavor != "spot" {
		t.Error(d.Outcome, d.Assignment, err)
	}
}

// Nothing fits in a queue that is held or drained, or that Kueue says is not active.
func TestStoppedQueueAdmitsNothing(t *testing.T) {
	inactive := gpus("cq", "", api.None, "spot")
	inactive.Status.Conditions = []metav1.Condition{{Type: api.ClusterQueueActive, Status: metav1.ConditionFalse, Reason: "FlavorNotFound"}}
	for _, q := range []*api.ClusterQueue{gpus("cq", "", api.Hold, "spot"), gpus("cq", "", api.HoldAndDrain, "spot"), inactive} {
		if d, err := mirrorOf(t, q).Decide(asks(2), "cq", now); err != nil || d.Outcome != preemption.Impossible {
			t.Error(*q.Spec.StopPolicy, d.Outcome, err)
		}
	}
}

// A request of 0 of a resource that the queue does not cover has no flavor: nobody panics.
func TestRequestOfZero(t *testing.T) {
	one := asks(2)
	one.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["licenses"] = resource.Quantity{}
	kueue, cede := targets(t, one, "a", gpus("a", "", api.None, "h100"), runs("low", "a", 4))
	if kueue != "low InClusterQueue" || cede != kueue {
		t.Errorf("Kueue %q, cede %q", kueue, cede)
	}
}

// The quota of a stopped queue counts in the cohort, and so does what runs in it: nobody is evicted in vain beside it, and
// nobody is spared who would do.
func TestBesideAStoppedQueue(t *testing.T) {
	for _, c := range []struct {
		runs, asks int64
		want       string
	}{{0, 8, ""}, {0, 6, ""}, {6, 4, ""}, {4, 4, "low InClusterQueue"}, {8, 2, ""}} {
		objects := []any{gpus("a", "co", api.None, "h100"), gpus("b", "co", api.Hold, "h100"), runs("low", "a", 4)}
		if c.runs > 0 {
			objects = append(objects, runs("of-b", "b", c.runs))
		}
		kueue, cede := targets(t, asks(c.asks), "a", objects...)
		d, err := mirrorOf(t, objects...).Decide(asks(c.asks), "a", now)
		mirror := strings.TrimPrefix(strings.TrimPrefix(answer(&d), "preempts "), "NoFit")
		if kueue != c.want || cede != c.want || mirror != c.want || err != nil {
			t.Errorf("b runs %d, asks %d: Kueue %q, adapter %q, mirror %q %v; want %q", c.runs, c.asks, kueue, cede, mirror, err, c.want)
		}
	}
}

// targets are those of Kueue's preemptor, and of cede in its place, for the flavors that Kueue assigns.
func targets(t *testing.T, one *api.Workload, queue api.ClusterQueueReference, objects ...any) (kueue, cede string) {
	t.Helper()
	w := &world{asks: one, in: queue, flavors: []*api.ResourceFlavor{{ObjectMeta: metav1.ObjectMeta{Name: "h100"}}}}
	for _, o := range objects {
		switch o := o.(type) {
		case *api.ClusterQueue:
			w.queues = append(w.queues, o)
		case *api.Workload:
			w.workloads = append(w.workloads, o)
		}
	}
	return w.targets(t)
}

func (w *world) targets(t *testing.T) (kueue, cede string) {
	t.Helper()
	client := utiltesting.NewClientBuilder().Build()
	s := w.snapshot(t, schdcache.New(client, schdcache.WithFairSharing(w.fs != nil)))
	in := info.NewInfo(w.asks)
	in.ClusterQueue = w.in
	p := preemptor.New(client, info.Ordering{}, new(events.FakeRecorder), w.fs, false, testingclock.NewFakeClock(now), nil, expectations.NewStore("preemption"), nil)
	assignment := flavorassigner.New(in, s.ClusterQueue(w.in), s.ResourceFlavors, w.fs != nil, preemptor.NewOracle(p, s), nil, config.QuotaCheckBlockUndeclared, nil, 0).Assign(t.Context(), nil)
	a, err := New(&config.Configuration{FairSharing: w.fs})
	if err == nil {
		err = a.Follow(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	if assignment.RepresentativeMode() != flavorassigner.Preempt {
		return "", ""
	}
	list, err := a.Targets(t.Context(), *in, assignment, s, now)
	if err != nil {
		t.Fatal(err)
	}
	return texts(p.GetTargets(t.Context(), *in, assignment, s)), texts(list)
}

// The first state costs what its objects cost: twice as much for twice as many queues, not four times.
func TestFirstCatchIsLinear(t *testing.T) {
	cost := func(queues int) time.Duration {
		a, err := New(&config.Configuration{})
		if err != nil {
			t.Fatal(err)
		}
		m := newMirror(a)
		for i := range queues {
			m.note(gpus(fmt.Sprint("q", i), api.CohortReference(fmt.Sprint("co", i%10)), api.None, "h100"), false)
			m.note(runs(fmt.Sprint("w", i), fmt.Sprint("q", i), 1), false)
		}
		m.note(runs("lost", "nowhere", 1), false)
		before := cpu(t)
		if err := m.Catch(); err == nil || len(m.changed) != 1 {
			t.Errorf("%d queues: %v, %d changes wait", queues, err, len(m.changed))
		}
		return cpu(t) - before
	}
	cost(100)
	few, many := cost(500), cost(4000)
	if t.Log(few, many); many > 24*few+100*time.Millisecond { // eight times as many; squares are 64 times
		t.Errorf("500 queues cost %v, 4000 cost %v", few, many)
	}
}

func cpu(t *testing.T) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// What Kueue's code looks at and its API refuses: borrowWithinCohort in a queue that does not reclaim. Normalize makes it
// Never, so the answer is another one: see docs/coming-from-kueue.md.
func TestBorrowsWithoutReclaim(t *testing.T) {
	w := recorded(t, "borrows-without-reclaim")
	ask := func() (kueue, cede string) {
		kueue, _ = w.targets(t)
		d, err := w.mirror(t, w.cache(t)).Decide(w.asks, string(w.in), now)
		if err != nil {
			t.Fatal(err)
		}
		return kueue, strings.TrimPrefix(strings.TrimPrefix(answer(&d), "preempts "), "NoFit")
	}
	if kueue, cede := ask(); kueue == cede {
		t.Errorf("both say %q: the row of docs/coming-from-kueue.md is not needed", kueue)
	}
	for _, q := range w.queues {
		if p := q.Spec.Preemption; p.ReclaimWithinCohort == api.PreemptionPolicyNever && p.BorrowWithinCohort != nil {
			p.BorrowWithinCohort.Policy = api.BorrowWithinCohortPolicyNever
		}
	}
	if kueue, cede := ask(); kueue != cede {
		t.Errorf("without it: Kueue %q, cede %q", kueue, cede)
	}
}

// cache is Kueue's own, with the world.
func (w *world) cache(t *testing.T) *schdcache.Cache {
	cache := schdcache.New(utiltesting.NewClientBuilder().Build(), schdcache.WithFairSharing(w.fs != nil))
	w.snapshot(t, cache)
	return cache
}

// Kueue compares the usage of local queues only in a queue; between queues that is no order, and what it takes depends on the
// order of its input. Here each queue is in that order, and the queues are merged (docs/departures.md).
func TestLocalQueuesAcrossQueues(t *testing.T) {
	w := recorded(t, "local-queues-across-queues")
	w.byUsage = false
	if kueue, cede := w.targets(t); kueue != cede {
		t.Errorf("without usage: Kueue %q, cede %q", kueue, cede)
	}
}

// recorded is a world of testdata.
func recorded(t *testing.T, name string) *world {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	var of struct {
		Ask   *api.Workload
		Queue api.ClusterQueueReference
		World struct {
			Fair    bool
			FS      *config.FairSharing
			Cohorts []*api.Cohort
			CQs     []*api.ClusterQueue
			Wls     []*api.Workload
			Flavors []string
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &of)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &world{cohorts: of.World.Cohorts, queues: of.World.CQs, workloads: of.World.Wls, asks: of.Ask, in: of.Queue}
	if of.World.Fair {
		w.fs = of.World.FS
	}
	for _, f := range of.World.Flavors {
		w.flavors = append(w.flavors, &api.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: f}})
	}
	return w
}

// The Go code of the page about embedding is that of this module, which the drawn worlds run.
func TestPageIsTheCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	for _, file := range []string{"adapter.go", "convert.go", "mirror.go", "mirror_convert.go", "mirror_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(text)
	}
	here, _, found := strings.Cut(string(page), "\n## Whole state")
	blocks := strings.Split(here, "```go\n")[1:]
	for _, b := range blocks {
		if code, _, _ := strings.Cut(b, "```"); !strings.Contains(source, code) {
			t.Errorf("the page has code that is not here:\n%s", code)
		}
	}
	if !found || len(blocks) < 1 {
		t.Errorf("%d blocks", len(blocks))
	}
}
