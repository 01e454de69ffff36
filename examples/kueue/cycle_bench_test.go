package kueue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptor "sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	info "sigs.k8s.io/kueue/pkg/workload"
)

// BenchmarkCycle is a whole cycle with one head that preempts, in its own queue or from the cohort, after so many
// events (a workload that changed): by Kueue alone, with cede by edits, and with cede by whole state. All three name
// as many victims.
func BenchmarkCycle(b *testing.B) {
	b.Run("own", func(b *testing.B) { cycles(b, false) })
	b.Run("cohort", func(b *testing.B) { cycles(b, true) })
}

// cycles runs the cycles in a full cohort. reclaims: the queue of the head is empty, and the others borrow what it has.
func cycles(b *testing.B, reclaims bool) {
	const queues, each, head = 100, 100, 7
	log := ctrl.LoggerFrom(b.Context())
	r := rand.New(rand.NewPCG(1, 4))
	client := utiltesting.NewClientBuilder().Build()
	cache := schdcache.New(client)
	cache.AddOrUpdateResourceFlavor(log, &api.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: flavor}})
	a, err := New(nil, info.Ordering{})
	if err != nil {
		b.Fatal(err)
	}
	m := &Mirror{Adapter: a, Wake: make(chan struct{}, 1), changed: map[string]change{}}
	var workloads []*api.Workload
	for i := range queues {
		q := clusterQueue(r, fmt.Sprint("q", i), "root")
		q.Spec.ResourceGroups[0].Flavors[0].Resources[0] = api.ResourceQuota{Name: "gpu", NominalQuota: *resource.NewQuantity(2*each, resource.DecimalSI)}
		q.Spec.FairSharing, q.Spec.Preemption = nil, &api.ClusterQueuePreemption{WithinClusterQueue: api.PreemptionPolicyLowerPriority}
		if reclaims {
			q.Spec.Preemption.ReclaimWithinCohort = api.PreemptionPolicyAny
			q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = *resource.NewQuantity(2*each-2, resource.DecimalSI)
		}
		if err := cache.AddClusterQueue(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		m.note(q, false)
		for j := range each {
			if reclaims && i == head {
				break
			}
			w := aWorkload(r, fmt.Sprintf("w%d-%d", i, j), 2)
			admit(r, w, api.ClusterQueueReference(q.Name))
			w.Status.Conditions = w.Status.Conditions[:1]
			cache.AddOrUpdateWorkload(log, w)
			m.note(w, false)
			workloads = append(workloads, w)
		}
	}
	if err := m.Catch(); err != nil {
		b.Fatal(err)
	}
	one := aWorkload(r, "asks", 6)
	*one.Spec.Priority = 9
	asks := info.NewInfo(one)
	asks.ClusterQueue = api.ClusterQueueReference(fmt.Sprint("q", head))
	assignment := flavorassigner.Assignment{PodSets: []flavorassigner.PodSetAssignment{{
		Name: "main", Count: 1, Flavors: flavorassigner.ResourceAssignment{"gpu": {Name: flavor, Mode: flavorassigner.Preempt}}}}}
	p := preemptor.New(client, info.Ordering{}, record.NewFakeRecorder(1), nil, false, testingclock.NewFakeClock(now), nil, expectations.New(), nil)
	event := func() *api.Workload {
		w := workloads[r.IntN(len(workloads))].DeepCopy()
		*w.Spec.Priority = r.Int32N(4)
		return w
	}
	for _, events := range []int{10, 200} {
		b.Run(fmt.Sprintf("events=%d/kueue", events), func(b *testing.B) {
			for range b.N {
				for range events {
					cache.AddOrUpdateWorkload(log, event())
				}
				snapshot, err := cache.Snapshot(b.Context())
				if err != nil || len(p.GetTargets(log, *asks, assignment, snapshot)) != 3 {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("events=%d/edits", events), func(b *testing.B) {
			for range b.N {
				for range events {
					m.note(event(), false)
				}
				err := m.Catch()
				d, failed := m.Decide(one, string(asks.ClusterQueue), now)
				if err != nil || failed != nil || len(d.Victims) != 3 {
					b.Fatal(err, failed)
				}
			}
		})
		b.Run(fmt.Sprintf("events=%d/state", events), func(b *testing.B) {
			whole, _ := New(nil, info.Ordering{})
			if snapshot, err := cache.Snapshot(b.Context()); err != nil || whole.Follow(snapshot) != nil {
				b.Fatal("the first state")
			}
			b.ResetTimer()
			for range b.N {
				for range events {
					cache.AddOrUpdateWorkload(log, event())
				}
				snapshot, err := cache.Snapshot(b.Context())
				if err == nil {
					err = whole.Follow(snapshot)
				}
				list, failed := whole.Targets(*asks, assignment, snapshot, now)
				if err != nil || failed != nil || len(list) != 3 {
					b.Fatal(err, failed, len(list))
				}
			}
		})
	}
}
