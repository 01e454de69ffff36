package kueue

import (
	"fmt"
	"math/rand/v2"
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
	"sigs.k8s.io/kueue/pkg/util/tas"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	info "sigs.k8s.io/kueue/pkg/workload"
)

// node is one of four nodes with two GPUs, two of them in each rack.
func node(i int) *corev1.Node {
	name := fmt.Sprint("n", i)
	amounts := corev1.ResourceList{"gpu": *resource.NewQuantity(2, resource.DecimalSI), "pods": *resource.NewQuantity(10, resource.DecimalSI)}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rack": fmt.Sprint("r", i/2), corev1.LabelHostname: name, "kind": flavor}},
		Status:     corev1.NodeStatus{Allocatable: amounts, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: "True"}}},
	}
}

// Where a workload needs one rack, Kueue's own preemptor and cede, with Kueue's places as its room, name the same workloads.
func TestTargetsInATopologyAreKueues(t *testing.T) {
	ctx := t.Context()
	log := ctrl.LoggerFrom(ctx)
	preempts, vain := 0, 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		client := utiltesting.NewClientBuilder().Build()
		cache := schdcache.New(client)
		topology := &api.Topology{ObjectMeta: metav1.ObjectMeta{Name: "racks"}, Spec: api.TopologySpec{Levels: []api.TopologyLevel{{NodeLabel: "rack"}, {NodeLabel: corev1.LabelHostname}}}}
		name := api.TopologyReference("racks")
		cache.AddOrUpdateTopology(log, topology)
		cache.AddOrUpdateResourceFlavor(log, &api.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: flavor}, Spec: api.ResourceFlavorSpec{TopologyName: &name, NodeLabels: map[string]string{"kind": flavor}}})
		for i := range 4 {
			cache.TASCache().SyncNode(node(i))
		}
		team := clusterQueue(r, "team", "")
		team.Spec.ResourceGroups[0].Flavors[0].Resources[0] = api.ResourceQuota{Name: "gpu", NominalQuota: *resource.NewQuantity(5+r.Int64N(4), resource.DecimalSI)}
		team.Spec.Preemption = &api.ClusterQueuePreemption{WithinClusterQueue: api.PreemptionPolicyLowerPriority}
		if err := cache.AddClusterQueue(ctx, team); err != nil {
			t.Fatal(err)
		}
		free := [4]int64{2, 2, 2, 2}
		for i := range 6 {
			at, amount := r.IntN(4), 1+r.Int64N(2)
			if free[at] < amount {
				continue
			}
			free[at] -= amount
			w := aWorkload(r, fmt.Sprint("w", i), amount)
			admit(r, w, "team")
			w.Status.Conditions = w.Status.Conditions[:1] // none is evicted
			w.Status.Admission.PodSetAssignments[0].TopologyAssignment = tas.V1Beta2From(&tas.TopologyAssignment{
				Levels: []string{corev1.LabelHostname}, Domains: []tas.TopologyDomainAssignment{{Values: []string{fmt.Sprint("n", at)}, Count: 1}}})
			cache.AddOrUpdateWorkload(log, w)
		}
		snapshot, err := cache.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rack := "rack"
		one := aWorkload(r, "asks", 1+r.Int64N(2))
		one.Spec.PodSets[0].Count, one.Spec.PodSets[0].TopologyRequest = 2, &api.PodSetTopologyRequest{Required: &rack}
		asks := info.NewInfo(one)
		asks.ClusterQueue = "team"
		assignment := flavorassigner.Assignment{PodSets: []flavorassigner.PodSetAssignment{{
			Name: "main", Count: 2, Flavors: flavorassigner.ResourceAssignment{"gpu": {Name: flavor, Mode: flavorassigner.Preempt}},
		}}}
		p := preemptor.New(client, info.Ordering{}, new(events.FakeRecorder), nil, false, testingclock.NewFakeClock(now), nil, expectations.NewStore("preemption"), nil)
		cq := snapshot.ClusterQueue("team")
		fits := true
		for fr, n := range assignment.TotalRequestsFor(log, asks) {
			fits = fits && n.Cmp(cq.Available(fr)) <= 0
		}
		if fits && cq.FindTopologyAssignmentsForWorkload(ctx, assignment.WorkloadsTopologyRequests(log, asks, cq)).Failure() == nil {
			continue // it fits: Kueue does not ask its preemptor
		}
		want := texts(p.GetTargets(ctx, *asks, assignment, snapshot))
		a, err := New(&config.Configuration{})
		if err == nil {
			err = a.Follow(snapshot)
		}
		if err != nil {
			t.Fatal(err)
		}
		list, err := a.Targets(ctx, *asks, assignment, snapshot, now)
		if got := texts(list); err != nil || got != want {
			t.Errorf("seed %d: %v, %q, Kueue %q", seed, err, got, want)
		}
		if want == "" {
			vain++
		} else {
			preempts++
		}
	}
	if t.Logf("%d preempt, %d in vain", preempts, vain); preempts < 50 || vain < 50 {
		t.Error("too few")
	}
}
