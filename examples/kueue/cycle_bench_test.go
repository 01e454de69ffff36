package kueue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

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
)

// BenchmarkCycle is a whole cycle with one head that preempts, in its own queue or from the cohort, after so many
// events (a workload that changed): by Kueue alone, with cede by edits, and with cede by whole state. All three name
// as many victims. The processor time is that of a cycle: the objects that changed are there before.
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
	a, err := New(&config.Configuration{})
	if err != nil {
		b.Fatal(err)
	}
	m := newMirror(a)
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
	whole, _ := New(&config.Configuration{})
	p := preemptor.New(client, info.Ordering{}, new(events.FakeRecorder), nil, false, testingclock.NewFakeClock(now), nil, expectations.NewStore("preemption"), nil)
	for _, events := range []int{10, 200} {
		run := func(name string, cycle func(changed []*api.Workload) (victims int, err error)) {
			b.Run(fmt.Sprintf("events=%d/%s", events, name), func(b *testing.B) {
				if snapshot, err := cache.Snapshot(b.Context()); err != nil || whole.Follow(snapshot) != nil {
					b.Fatal("the state before")
				}
				var used time.Duration
				for range b.N {
					changed := make([]*api.Workload, events)
					for i := range changed {
						changed[i] = workloads[r.IntN(len(workloads))].DeepCopy()
						*changed[i].Spec.Priority = r.Int32N(4)
					}
					before := processorTime(b)
					if victims, err := cycle(changed); err != nil || victims != 3 {
						b.Fatal(victims, err)
					}
					used += processorTime(b) - before
				}
				b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
		update := func(changed []*api.Workload) (*schdcache.Snapshot, error) {
			for _, w := range changed {
				cache.AddOrUpdateWorkload(log, w)
			}
			return cache.Snapshot(b.Context())
		}
		run("kueue", func(changed []*api.Workload) (int, error) {
			snapshot, err := update(changed)
			return len(p.GetTargets(b.Context(), *asks, assignment, snapshot)), err
		})
		run("edits", func(changed []*api.Workload) (int, error) {
			for _, w := range changed {
				m.note(w, false)
			}
			err := m.Catch()
			d, failed := m.Decide(one, string(asks.ClusterQueue), now)
			return len(d.Victims), errors.Join(err, failed)
		})
		run("state", func(changed []*api.Workload) (int, error) {
			snapshot, err := update(changed)
			if err == nil {
				err = whole.Follow(snapshot)
			}
			list, failed := whole.Targets(b.Context(), *asks, assignment, snapshot, now)
			return len(list), errors.Join(err, failed)
		})
	}
}

// processorTime is what the process has used, of all processors together.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
