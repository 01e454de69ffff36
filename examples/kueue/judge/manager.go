package judge

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/admissionchecks/multikueue"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/util/admissioncheck"
	utilmaps "sigs.k8s.io/kueue/pkg/util/maps"
	"sigs.k8s.io/kueue/pkg/workload"
)

// Managed is what Kueue's manager of MultiKueue does about a workload when it looks at it.
type Managed struct {
	Opens string        // the worker whose gate it opens; empty: none
	Again time.Duration // when it looks again if nothing happens before; zero: it does not
	Check string        // the state of the check of MultiKueue afterwards
	Gone  []string      // workers from which it takes the copy
	Error string        // what it ends with
}

// Manage lets Kueue's own controller of MultiKueue, in a manager with the gate MultiKueueOrchestratedPreemption on and the dispatcher
// that names clusters itself, look once at a workload. Workers that the manager's objects call inactive are lost; of the others each
// has objects.
func Manage(ctx context.Context, manager []byte, workers map[string][]byte, id string, at time.Time) (m Managed, err error) {
	alone.Lock()
	defer alone.Unlock()
	defer resetGates()
	ctrl.SetLogger(logr.Discard())
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(features.MultiKueueOrchestratedPreemption): true, string(features.WorkloadRequestUseMergePatch): true}); err != nil {
		return m, err
	}
	hub, local, err := held(manager)
	if err != nil {
		return m, err
	}
	remotes := map[string]client.WithWatch{}
	for _, c := range of[*kueue.MultiKueueCluster](hub) {
		if apimeta.IsStatusConditionTrue(c.Status.Conditions, kueue.MultiKueueClusterActive) {
			if _, remotes[c.Name], err = held(workers[c.Name]); err != nil {
				return m, fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	w := hub.workload(id)
	if w == nil {
		return m, fmt.Errorf("workload %q is not in the input", id)
	}
	before := positions(ctx, remotes, w)
	controller, err := managerOf(local, remotes, at)
	if err != nil {
		return m, err
	}
	if m.Again, err = look(ctx, controller, w); errors.Is(err, errPanics) {
		return m, err
	} else if err != nil {
		m.Error = err.Error()
	}
	for name, now := range positions(ctx, remotes, w) {
		switch was := before[name]; {
		case was != nil && now == nil:
			m.Gone = append(m.Gone, name)
		case was != nil && *now != *was:
			if m.Opens != "" {
				return m, errors.New("it opened two gates")
			}
			m.Opens = name
		}
	}
	slices.Sort(m.Gone)
	after := &kueue.Workload{}
	if err := local.Get(ctx, client.ObjectKeyFromObject(w), after); err != nil {
		return m, err
	}
	if check, err := admissioncheck.GetMultiKueueAdmissionCheck(ctx, local, after); err == nil && check != nil {
		m.Check = string(check.State)
	}
	return m, nil
}

// look lets the controller look at a workload. It fails where Kueue panics about objects.
func look(ctx context.Context, controller reconcile.Reconciler, w client.Object) (again time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanics, p)
		}
	}()
	result, err := controller.Reconcile(ctx, requestOf(w))
	return result.RequeueAfter, err
}

// held reads objects into a client in memory.
func held(text []byte) (*cluster, client.WithWatch, error) {
	c, err := read(text)
	if err != nil {
		return nil, nil, err
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.objects...).WithStatusSubresource(&kueue.Workload{}).WithIndex(&kueue.Workload{}, "metadata.ownerReferences.uid", func(o client.Object) (list []string) {
		for _, r := range o.GetOwnerReferences() {
			list = append(list, string(r.UID))
		}
		return list
	})
	for _, w := range c.workloads {
		b = b.WithObjects(w.DeepCopy())
	}
	return c, b.Build(), nil
}

// positions are the gates of MultiKueue of the copies: position and time of each; nil: there is no copy.
func positions(ctx context.Context, remotes map[string]client.WithWatch, w *kueue.Workload) map[string]*string {
	list := map[string]*string{}
	for name, c := range remotes {
		one := &kueue.Workload{}
		if c.Get(ctx, client.ObjectKeyFromObject(w), one) != nil {
			list[name] = nil
			continue
		}
		text := ""
		if g := workload.FindPreemptionGate(one, "kueue.x-k8s.io/multikueue"); g != nil {
			text = fmt.Sprint(g.Position, g.LastTransitionTime.UTC())
		}
		if len(one.Spec.PreemptionGates) == 0 && !workload.IsAdmitted(one) {
			text += one.ResourceVersion // a gate that it does not name is opened in vain: the copy is written as it is
		}
		list[name] = &text
	}
	return list
}

// managerOf makes Kueue's controller, which has no other door in than its manager's set-up: that asks for clusters that answer over
// HTTP.
func managerOf(local client.Client, remotes map[string]client.WithWatch, at time.Time) (reconcile.Reconciler, error) {
	helper, err := admissioncheck.NewMultiKueueStoreHelper(local)
	if err != nil {
		return nil, err
	}
	controller := reflect.New(reflect.TypeFor[multikueue.Option]().In(0).Elem())
	clusters := reflect.New(hidden(controller, "clusters").Type().Elem())
	known := reflect.MakeMap(hidden(clusters, "remoteClients").Type())
	for name, c := range remotes {
		remote := reflect.New(known.Type().Elem().Elem())
		set(remote, "clusterName", name)
		set(remote, "client", multikueue.NewNeverCachingClient(c))
		set(remote, "origin", "multikueue")
		set(hidden(remote, "connState").Addr(), "connected", true)
		known.SetMapIndex(reflect.ValueOf(name), remote)
	}
	hidden(clusters, "remoteClients").Set(known)
	hidden(controller, "clusters").Set(clusters)
	for name, value := range map[string]any{
		"client": local, "helper": helper, "origin": "multikueue", "workerLostTimeout": 15 * time.Minute, "clock": testingclock.NewFakeClock(at),
		"deletedWlCache": utilmaps.NewSyncMap[string, *kueue.Workload](0), "recorder": events.NewFakeRecorder(100), "dispatcherName": "external",
		"adapters": map[string]jobframework.MultiKueueAdapter{anyJob{}.GVK().String(): anyJob{}},
	} {
		set(controller, name, value)
	}
	return controller.Interface().(reconcile.Reconciler), nil
}

// hidden is a field of a struct of Kueue's that has no other way to it.
func hidden(of reflect.Value, name string) reflect.Value {
	f := of.Elem().FieldByName(name)
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

func set(of reflect.Value, name string, value any) { hidden(of, name).Set(reflect.ValueOf(value)) }

// anyJob stands for the Job of a workload, of which nothing is in the input.
type anyJob struct{}

func (anyJob) SyncJob(context.Context, client.Client, client.Client, types.NamespacedName, string, string) (bool, error) {
	return false, nil
}

func (anyJob) DeleteRemoteObject(context.Context, client.Client, client.Client, types.NamespacedName) error {
	return nil
}

func (anyJob) IsJobManagedByKueue(context.Context, client.Client, types.NamespacedName) (bool, string, error) {
	return true, "", nil
}

func (anyJob) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
}
