package kueue

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptor "sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/util/expectations"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	info "sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

const flavor = "h100"

func groups(r *rand.Rand) []api.ResourceGroup {
	q := api.ResourceQuota{Name: "gpu", NominalQuota: *resource.NewQuantity(r.Int64N(7), resource.DecimalSI)}
	if r.IntN(3) == 0 {
		q.BorrowingLimit = resource.NewQuantity(r.Int64N(5), resource.DecimalSI)
	}
	if r.IntN(3) == 0 {
		q.LendingLimit = resource.NewQuantity(r.Int64N(3), resource.DecimalSI)
	}
	return []api.ResourceGroup{{CoveredResources: []corev1.ResourceName{"gpu"}, Flavors: []api.FlavorQuotas{{Name: flavor, Resources: []api.ResourceQuota{q}}}}}
}

func weight(r *rand.Rand) *api.FairSharing {
	return &api.FairSharing{Weight: []*resource.Quantity{nil, resource.NewQuantity(2, resource.DecimalSI), resource.NewQuantity(1, resource.DecimalSI)}[r.IntN(3)]}
}

func clusterQueue(r *rand.Rand, name string, cohort api.CohortReference) *api.ClusterQueue {
	q := &api.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: api.ClusterQueueSpec{
		CohortName: cohort, ResourceGroups: groups(r), FairSharing: weight(r), NamespaceSelector: &metav1.LabelSelector{},
		Preemption: &api.ClusterQueuePreemption{
			WithinClusterQueue:  []api.PreemptionPolicy{api.PreemptionPolicyNever, api.PreemptionPolicyLowerPriority, api.PreemptionPolicyLowerOrNewerEqualPriority}[r.IntN(3)],
			ReclaimWithinCohort: []api.PreemptionPolicy{api.PreemptionPolicyNever, api.PreemptionPolicyLowerPriority, api.PreemptionPolicyAny}[r.IntN(3)],
		},
	}}
	if p := q.Spec.Preemption; r.IntN(2) == 0 && p.ReclaimWithinCohort != api.PreemptionPolicyNever {
		p.BorrowWithinCohort = &api.BorrowWithinCohort{Policy: api.BorrowWithinCohortPolicyLowerPriority}
		if threshold := r.Int32N(4); r.IntN(2) == 0 {
			p.BorrowWithinCohort.MaxPriorityThreshold = &threshold
		}
	}
	return q
}

func aWorkload(r *rand.Rand, name string, amount int64) *api.Workload {
	priority := r.Int32N(4)
	quantity := corev1.ResourceList{"gpu": *resource.NewQuantity(amount, resource.DecimalSI)}
	return &api.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(-time.Duration(r.IntN(5)) * time.Minute))},
		Spec: api.WorkloadSpec{QueueName: "lq", Priority: &priority, PodSets: []api.PodSet{{Name: "main", Count: 1,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: quantity}}}}}}}},
	}
}

// admit gives a workload quota in a queue.
func admit(r *rand.Rand, w *api.Workload, queue api.ClusterQueueReference) {
	count := int32(1)
	w.Status.Admission = &api.Admission{ClusterQueue: queue, PodSetAssignments: []api.PodSetAssignment{{
		Name: "main", Count: &count, Flavors: map[corev1.ResourceName]api.ResourceFlavorReference{"gpu": flavor}, ResourceUsage: w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests,
	}}}
	at := metav1.NewTime(now.Add(-time.Duration(r.IntN(5)) * time.Minute))
	w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: api.WorkloadQuotaReserved, Status: "True", Reason: "Admitted", LastTransitionTime: at})
	if r.IntN(8) == 0 {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: api.WorkloadEvicted, Status: "True", Reason: "Preempted", LastTransitionTime: at})
	}
}

// texts writes targets, by name.
func texts(list []*preemptor.Target) string {
	var out []string
	for _, t := range list {
		out = append(out, t.WorkloadInfo.Obj.Name+" "+t.Reason)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// Kueue's own preemptor and cede, through the adapter, name the same workloads with the same reasons.
func TestTargetsAreKueues(t *testing.T) {
	ctx := t.Context()
	log := ctrl.LoggerFrom(ctx)
	found := map[string]int{}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var fs *config.FairSharing
		if r.IntN(2) == 0 {
			fs = &config.FairSharing{PreemptionStrategies: [][]config.PreemptionStrategy{nil, {config.LessThanInitialShare}, {config.LessThanOrEqualToFinalShare}}[r.IntN(3)]}
		}
		client := utiltesting.NewClientBuilder().Build()
		cache := schdcache.New(client, schdcache.WithFairSharing(fs != nil))
		cache.AddOrUpdateResourceFlavor(log, &api.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: flavor}})
		for _, c := range []api.Cohort{{ObjectMeta: metav1.ObjectMeta{Name: "root"}}, {ObjectMeta: metav1.ObjectMeta{Name: "left"}, Spec: api.CohortSpec{ParentName: "root"}}} {
			if c.Spec.FairSharing = weight(r); r.IntN(2) == 0 {
				c.Spec.ResourceGroups = groups(r)
			}
			if err := cache.AddOrUpdateCohort(&c); err != nil {
				t.Fatal(err)
			}
		}
		names := []string{"a", "b", "c", "d"}
		for i, name := range names {
			if err := cache.AddClusterQueue(ctx, clusterQueue(r, name, []api.CohortReference{"left", "left", "root", "right"}[i])); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 8 {
			w := aWorkload(r, fmt.Sprint("w", i), 1+r.Int64N(3))
			admit(r, w, api.ClusterQueueReference(names[r.IntN(3)]))
			cache.AddOrUpdateWorkload(log, w)
		}
		snapshot, err := cache.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		asks := info.NewInfo(aWorkload(r, "asks", 1+r.Int64N(5)))
		asks.ClusterQueue = api.ClusterQueueReference(names[r.IntN(3)])
		need := asks.TotalRequests[0].Requests.ResourceValue("gpu")
		fr := resources.FlavorResource{Flavor: flavor, Resource: "gpu"}
		if r.IntN(4) == 0 { // a head that the cycle served before
			snapshot.ClusterQueue("c").AddUsage(info.Usage{Quota: resources.FlavorResourceQuantities{fr: resources.NewAmount(1)}})
		}
		if need <= snapshot.ClusterQueue(asks.ClusterQueue).Available(fr).Int64() {
			continue // it fits: Kueue does not ask its preemptor
		}
		assignment := flavorassigner.Assignment{PodSets: []flavorassigner.PodSetAssignment{{
			Name: "main", Count: 1, Flavors: flavorassigner.ResourceAssignment{"gpu": {Name: flavor, Mode: flavorassigner.Preempt}},
			Requests: corev1.ResourceList{"gpu": *resource.NewQuantity(need, resource.DecimalSI)},
		}}}
		p := preemptor.New(client, info.Ordering{}, new(events.FakeRecorder), fs, false, testingclock.NewFakeClock(now), nil, expectations.NewStore("preemption"), nil)
		want := texts(p.GetTargets(ctx, *asks, assignment, snapshot))
		a, err := New(&config.Configuration{FairSharing: fs})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Follow(snapshot); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		list, err := a.Targets(ctx, *asks, assignment, snapshot, now)
		leaving := len(list) > 0 && !slices.ContainsFunc(list, func(t *preemptor.Target) bool { return !evict.IsEvicted(t.WorkloadInfo.Obj) })
		if got := texts(list); err != nil || got != want && !leaving { // departure: what is leaving already is enough
			t.Errorf("seed %d, fair %v: %v, %q, Kueue %q", seed, fs != nil, err, got, want)
		}
		for _, target := range list {
			found[target.Reason]++
		}
		if len(list) == 0 {
			found["none"]++
		}
	}
	t.Log(found)
	for _, reason := range []string{"none", "InClusterQueue", "InCohortReclamation", "InCohortFairSharing", "InCohortReclaimWhileBorrowing"} {
		if found[reason] < 20 {
			t.Errorf("%s: only %d", reason, found[reason])
		}
	}
}

// "It has N lines of code", without imports and comments: the page says how many.
func TestAdapterIsSmall(t *testing.T) {
	lines := 0
	for _, file := range []string{"adapter.go", "convert.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(source), "\n)\n") // the imports
		for line := range strings.Lines(code) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	}
	page, err := os.ReadFile("../../docs/embedding.md")
	if says := fmt.Sprintf("It has %d lines of code", lines); err != nil || !strings.Contains(string(page), says) {
		t.Errorf("docs/embedding.md does not say %q (%v)", says, err)
	}
}
