package judge

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/controller/tas"
	tasindexer "sigs.k8s.io/kueue/pkg/controller/tas/indexer"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"
	"sigs.k8s.io/kueue/pkg/workload"
)

// control is Kueue in this process: its caches, its controllers, its scheduler, over objects in memory.
type control struct {
	objects   clienttesting.ObjectTracker // of the client
	client    client.Client
	cache     *schdcache.Cache
	queues    *qcache.Manager
	workloads *core.WorkloadReconciler
	scheduler *scheduler.Scheduler
	at        time.Time
}

// start makes Kueue and shows it all objects but the workloads that wait, as its informers would.
func (c *cluster) start(ctx context.Context, at time.Time) (*control, error) {
	ctrl.SetLogger(logr.Discard())
	k := &control{at: at}
	if err := k.connect(ctx, c); err != nil {
		return nil, err
	}
	now := testingclock.NewFakeClock(at)
	if err := k.make(c, now); err != nil {
		return nil, err
	}
	return k, k.fill(ctx, c, now)
}

// connect makes the client, with the objects and without workloads.
func (k *control) connect(ctx context.Context, c *cluster) error {
	k.objects = clienttesting.NewObjectTracker(scheme, codecs.UniversalDecoder()) // a simple one: who owns which field is not kept
	b := &indexed{fake.NewClientBuilder().WithScheme(scheme).WithObjectTracker(k.objects).WithObjects(c.objects...).WithStatusSubresource(
		&kueue.Workload{}, &kueue.ClusterQueue{}, &kueue.LocalQueue{}, &kueue.Cohort{}, &kueue.AdmissionCheck{})}
	if err := indexer.Setup(ctx, b); err != nil {
		return err
	}
	if features.Enabled(features.TopologyAwareScheduling) {
		if err := tasindexer.SetupIndexes(ctx, b); err != nil {
			return err
		}
	}
	if err := core.SetupResourceSliceIndexer(ctx, b); err != nil {
		return err
	}
	k.client = b.Build()
	return nil
}

// indexed lets Kueue set up the indexes of a client in memory.
type indexed struct{ *fake.ClientBuilder }

func (b *indexed) IndexField(_ context.Context, of client.Object, field string, extract client.IndexerFunc) error {
	b.ClientBuilder = b.WithIndex(of, field, extract)
	return nil
}

// fill shows the objects to the controllers, in an order in which nothing comes before what it names.
func (k *control) fill(ctx context.Context, c *cluster, now clock.Clock) error {
	log := logr.Discard()
	for _, t := range of[*kueue.Topology](c) {
		k.cache.AddOrUpdateTopology(log, t)
	}
	flavors := core.NewResourceFlavorReconciler(k.client, k.queues, k.cache, nil)
	for _, f := range of[*kueue.ResourceFlavor](c) {
		flavors.Create(event.TypedCreateEvent[*kueue.ResourceFlavor]{Object: f})
	}
	checks := core.NewAdmissionCheckReconciler(k.client, k.queues, k.cache, nil)
	for _, a := range of[*kueue.AdmissionCheck](c) {
		checks.Create(event.TypedCreateEvent[*kueue.AdmissionCheck]{Object: a})
	}
	cohorts := core.NewCohortReconciler(k.client, k.cache, k.queues, core.CohortReconcilerWithFairSharing(fairsharing.Enabled(c.config.FairSharing)))
	for _, o := range of[*kueue.Cohort](c) {
		_, _ = cohorts.Reconcile(ctx, requestOf(o)) // a cycle is an error, and known to the cache
	}
	queues := core.NewClusterQueueReconciler(k.client, k.queues, k.cache, core.WithFairSharing(fairsharing.Enabled(c.config.FairSharing)))
	for _, q := range of[*kueue.ClusterQueue](c) {
		queues.Create(event.TypedCreateEvent[*kueue.ClusterQueue]{Object: q})
	}
	locals := core.NewLocalQueueReconciler(k.client, k.queues, k.cache, core.WithAdmissionFairSharingConfig(c.config.AdmissionFairSharing), core.WithClock(now))
	for _, q := range of[*kueue.LocalQueue](c) {
		locals.Create(event.TypedCreateEvent[*kueue.LocalQueue]{Object: q})
	}
	for _, n := range of[*corev1.Node](c) {
		k.cache.TASCache().SyncNode(n)
	}
	for _, p := range of[*corev1.Pod](c) {
		if new(tas.NonTasUsageReconciler).Create(event.TypedCreateEvent[*corev1.Pod]{Object: p}) {
			k.cache.TASCache().Update(p, log)
		}
	}
	for _, w := range c.workloads {
		if workload.HasQuotaReservation(w) {
			if err := k.add(w); err != nil {
				return err
			}
		}
	}
	for _, q := range of[*kueue.ClusterQueue](c) {
		if _, err := queues.Reconcile(ctx, requestOf(q)); err != nil {
			return fmt.Errorf("ClusterQueue %s: %w", q.Name, err)
		}
	}
	for _, q := range of[*kueue.LocalQueue](c) {
		if _, err := locals.Reconcile(ctx, requestOf(q)); err != nil {
			return fmt.Errorf("LocalQueue %s/%s: %w", q.Namespace, q.Name, err)
		}
	}
	return nil
}

func requestOf(o client.Object) ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}

// add shows a workload to the client and to the caches.
func (k *control) add(w *kueue.Workload) error {
	if err := k.create(w); err != nil {
		return err
	}
	k.workloads.Create(event.TypedCreateEvent[*kueue.Workload]{Object: w.DeepCopy()})
	return nil
}

// create puts a workload into the client as it is, its status and what it has of a deletion too.
func (k *control) create(w *kueue.Workload) error {
	w = w.DeepCopy()
	w.ResourceVersion = "1"
	if err := k.objects.Add(w); err != nil {
		return fmt.Errorf("workload %s: %w", workload.Key(w), err)
	}
	return nil
}

// rounds is how often a controller looks at a workload that waits. Some it never leaves alone: it says by turns that a gate
// holds one, and that its queue is missing.
const rounds = 100

// wait does what Kueue's controller does with a workload that waits, until nothing changes, and queues it.
func (k *control) wait(ctx context.Context, w *kueue.Workload) error {
	if err := k.create(w); err != nil {
		return err
	}
	last := ""
	for round := 0; ; round++ {
		now := &kueue.Workload{}
		if err := k.client.Get(ctx, client.ObjectKeyFromObject(w), now); err != nil {
			return client.IgnoreNotFound(err) // it was being deleted, and nobody owns it
		}
		if now.ResourceVersion == last || round == rounds {
			// The queue has a clock of its own: what is not over yet must not be over there.
			if s := now.Status.RequeueState; s != nil && s.RequeueAt != nil && s.RequeueAt.After(k.at) {
				s.RequeueAt = &metav1.Time{Time: time.Now().Add(24 * time.Hour)}
				if err := k.client.Status().Update(ctx, now); err != nil {
					return err
				}
			}
			k.workloads.Create(event.TypedCreateEvent[*kueue.Workload]{Object: now})
			return nil
		}
		last = now.ResourceVersion
		if _, err := k.workloads.Reconcile(ctx, requestOf(w)); err != nil && ctx.Err() != nil {
			return err
		}
	}
}

// considers reports whether the scheduler will take up a workload, and in which queue.
func (k *control) considers(w *kueue.Workload) (kueue.ClusterQueueReference, bool) {
	for queue, ids := range k.queues.Dump() {
		if slices.Contains(ids, workload.Key(w)) {
			return queue, k.cache.ClusterQueueActive(queue)
		}
	}
	return "", false
}

// whyHeld says why the scheduler does not take up a workload.
func (k *control) whyHeld(ctx context.Context, w *kueue.Workload) string {
	now := &kueue.Workload{}
	if k.client.Get(ctx, client.ObjectKeyFromObject(w), now) != nil {
		return "it is being deleted"
	}
	queue, _ := k.queues.ClusterQueueForWorkload(now)
	if queue != "" && !k.cache.ClusterQueueActive(queue) {
		_, reason, why := k.cache.ClusterQueueReadiness(queue)
		return fmt.Sprintf("ClusterQueue %s is inactive: %s (%s)", queue, why, reason)
	}
	if !workload.IsActive(now) {
		return "it is deactivated"
	}
	for _, kind := range []string{kueue.WorkloadWaitingForReplacementPods, kueue.WorkloadRequeued, kueue.WorkloadQuotaReserved} {
		if c := apimeta.FindStatusCondition(now.Status.Conditions, kind); c != nil && (c.Status == "False") == (kind != kueue.WorkloadWaitingForReplacementPods) {
			return fmt.Sprintf("%s is %s: %s (%s)", kind, c.Status, c.Message, c.Reason)
		}
	}
	if s := w.Status.RequeueState; s != nil && s.RequeueAt != nil && s.RequeueAt.After(k.at) {
		return "it waits until " + s.RequeueAt.UTC().Format(time.RFC3339)
	}
	return "Kueue does not queue it"
}

// schedule runs the scheduler until the context ends.
func (k *control) schedule(ctx context.Context) {
	go k.queues.CleanUpOnContext(ctx)
	go k.cache.CleanUpOnContext(ctx)
	_ = k.scheduler.Start(ctx)
}

// setClock gives a controller a clock: it has no other way to it.
func setClock(controller any, c clock.Clock) {
	f := reflect.ValueOf(controller).Elem().FieldByName("clock")
	reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(c))
}
