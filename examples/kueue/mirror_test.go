package kueue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/client-go/clientset/versioned/fake"
	"sigs.k8s.io/kueue/client-go/informers/externalversions"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
)

// watch starts a mirror of the objects of a clientset.
func watch(ctx context.Context, client *fake.Clientset) (*Mirror, error) {
	a, err := New(&config.Configuration{})
	if err != nil {
		return nil, err
	}
	factory := externalversions.NewSharedInformerFactory(client, 0)
	m, err := Watch(a, factory)
	if err == nil {
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
	}
	return m, err
}

// until catches up with the events until something holds.
func until(m *Mirror, holds func() bool) error {
	for {
		err := m.Catch()
		if err == nil && holds() {
			return nil
		}
		select {
		case <-m.Wake:
		case <-time.After(20 * time.Second):
			return fmt.Errorf("nothing came for 20 seconds (%w)", err)
		}
	}
}

// A controller watches Kueue's objects. An event costs an edit; a decision reads the state as it is then.
func ExampleWatch() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := rand.New(rand.NewPCG(1, 1))
	team := clusterQueue(r, "team", "")
	team.Spec.ResourceGroups[0].Flavors[0].Resources[0] = api.ResourceQuota{Name: "gpu", NominalQuota: *resource.NewQuantity(8, resource.DecimalSI)}
	team.Spec.Preemption = &api.ClusterQueuePreemption{WithinClusterQueue: api.PreemptionPolicyLowerPriority}
	low, high := aWorkload(r, "low", 6), aWorkload(r, "high", 4)
	*low.Spec.Priority, *high.Spec.Priority = 1, 9
	admit(r, low, "team")
	client := fake.NewSimpleClientset(team, low)
	m, err := watch(ctx, client)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range []struct {
		what string
		runs bool
		do   func() error
	}{
		{"low runs", true, func() error { return nil }},
		{"low is gone", false, func() error {
			return client.KueueV1beta2().Workloads("ns").Delete(ctx, "low", metav1.DeleteOptions{})
		}},
	} {
		err := step.do()
		if err == nil {
			err = until(m, func() bool {
				_, runs := m.snapshot.Find("ns/low")
				_, there := m.snapshot.Queue("team")
				return there && runs == step.runs
			})
		}
		d, failed := m.Decide(high, "team", now)
		fmt.Println(step.what+":", d.Outcome, len(d.Victims), "victims", err, failed)
	}
	// Output:
	// low runs: Preempt 1 victims <nil> <nil>
	// low is gone: Fits 0 victims <nil> <nil>
}

// A state that follows events is the state of Kueue's own cache, whatever comes and goes, in any order.
func TestMirrorIsTheCache(t *testing.T) {
	for seed := range uint64(20) {
		ctx, cancel := context.WithCancel(t.Context())
		log := ctrl.LoggerFrom(ctx)
		r := rand.New(rand.NewPCG(seed, 2))
		client := fake.NewSimpleClientset()
		m, err := watch(ctx, client)
		if err != nil {
			t.Fatal(err)
		}
		kueue, create := client.KueueV1beta2(), metav1.CreateOptions{}
		var queues []*api.ClusterQueue
		var cohorts []*api.Cohort
		var workloads []*api.Workload
		var todo []func() error
		for i, name := range []string{"a", "b", "c", "d"} {
			q := clusterQueue(r, name, []api.CohortReference{"left", "left", "root", "right"}[i])
			queues = append(queues, q)
			todo = append(todo, func() error { _, err := kueue.ClusterQueues().Create(ctx, q, create); return err })
		}
		for _, name := range []string{"left", "root"} {
			c := &api.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: api.CohortSpec{ResourceGroups: groups(r), FairSharing: weight(r)}}
			if name == "left" {
				c.Spec.ParentName = "root"
			}
			cohorts = append(cohorts, c)
			todo = append(todo, func() error { _, err := kueue.Cohorts().Create(ctx, c, create); return err })
		}
		for i := range 8 {
			w := aWorkload(r, fmt.Sprint("w", i), 1+r.Int64N(3))
			admit(r, w, api.ClusterQueueReference([]string{"a", "b", "c"}[r.IntN(3)]))
			workloads = append(workloads, w)
			todo = append(todo, func() error { _, err := kueue.Workloads("ns").Create(ctx, w, create); return err })
		}
		r.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
		for _, do := range todo {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range workloads[:2] {
			if err := kueue.Workloads("ns").Delete(ctx, w.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if seed%2 == 0 { // left is there by its name alone, and a has other quota
			if err := kueue.Cohorts().Delete(ctx, "left", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			cohorts = cohorts[1:]
			queues[0] = queues[0].DeepCopy()
			queues[0].Spec.ResourceGroups = groups(r)
			if _, err := kueue.ClusterQueues().Update(ctx, queues[0], metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		all := schdcache.New(utiltesting.NewClientBuilder().Build(), schdcache.WithFairSharing(true))
		all.AddOrUpdateResourceFlavor(log, &api.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: flavor}})
		for _, c := range cohorts {
			if err := all.AddOrUpdateCohort(c); err != nil {
				t.Fatal(err)
			}
		}
		for _, q := range queues {
			if err := all.AddClusterQueue(ctx, q); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range workloads[2:] {
			all.AddOrUpdateWorkload(log, w)
		}
		snapshot, err := all.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := New(&config.Configuration{})
		if err == nil {
			err = whole.Follow(snapshot)
		}
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%+v", weighed(whole))
		if err := until(m, func() bool { return fmt.Sprintf("%+v", weighed(m.Adapter)) == want }); err != nil {
			t.Errorf("seed %d: %v; -cache +mirror:\n%s", seed, err, cmp.Diff(want, fmt.Sprintf("%+v", weighed(m.Adapter))))
		}
		cancel()
	}
}

// weighed is the state with the weights that are not set as what they count.
func weighed(a *Adapter) any {
	st := a.snapshot.State()
	st.Queues, st.Cohorts = slices.Clone(st.Queues), slices.Clone(st.Cohorts)
	for i := range st.Queues {
		st.Queues[i].FairWeight = weightOf(nil)
	}
	for i := range st.Cohorts {
		st.Cohorts[i].FairWeight = weightOf(nil)
	}
	return st
}
