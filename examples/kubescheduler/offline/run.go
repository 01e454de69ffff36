package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Preemption takes the place of kube-scheduler's own.
type Preemption struct {
	Name string
	New  frameworkruntime.PluginFactory
	Args runtime.Object
}

// Run asks kube-scheduler about a pod or group: its first attempt, while all others wait. Nil: it preempts by itself, and
// looks at all nodes for that. With another preemption, among the nodes that it likes best the first by name is taken, in
// place of any of them.
func Run(ctx context.Context, o *Objects, q Question, preemption *Preemption) (a Answer, err error) {
	catchCrashes()
	defer func() {
		if value := recover(); value != nil {
			crashed(value)
		}
		if why := hasCrashed(); why != "" {
			a, err = Answer{Outcome: Failed, Message: why}, nil
		}
	}()
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.Logger{}))
	defer cancel()
	if why := o.notTried(q); why != "" {
		return Answer{Outcome: NotTried, Message: why}, nil
	}
	seen := &observed{nodes: map[string]string{}, nominated: map[string]string{}, feasible: map[string][]string{}}
	watch := &observer{observed: seen}
	s, err := start(ctx, o, watch, preemption)
	if err != nil || s == nil {
		return Answer{}, err
	}
	s.FailureHandler = func(_ context.Context, _ framework.Framework, p *framework.QueuedPodInfo, status *fwk.Status, to *fwk.NominatingInfo, _ time.Time) {
		watch.mutex.Lock()
		defer watch.mutex.Unlock()
		if to != nil && to.NominatedNodeName != "" {
			seen.nominated[idOf(p.Pod)] = to.NominatedNodeName
		}
		if err := status.AsError(); err != nil {
			seen.failed = append(seen.failed, err.Error())
		}
	}
	entity, why, err := find(s, o, q)
	if err != nil || why != "" {
		return Answer{Outcome: NotTried, Message: why}, err
	}
	if preemption != nil {
		watch.firstByName(s)
	}
	s.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return entity, nil }
	s.ScheduleOne(ctx)
	watch.mutex.Lock()
	defer watch.mutex.Unlock()
	slices.Sort(seen.victims)
	return seen.answer(), nil
}

// start starts kube-scheduler's parts, but for the loop, and waits until they have seen all objects.
func start(ctx context.Context, o *Objects, watch *observer, preemption *Preemption) (*scheduler.Scheduler, error) {
	settings, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := settings.Profiles[0]
	on := &profile.Plugins.MultiPoint
	on.Enabled = append(on.Enabled, config.Plugin{Name: observerName})
	registry := frameworkruntime.Registry{observerName: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return watch, nil }}
	every := int32(100)
	if preemption != nil {
		for i := range on.Enabled {
			if on.Enabled[i].Name == names.DefaultPreemption {
				on.Enabled[i].Name = preemption.Name
			}
		}
		registry[preemption.Name] = preemption.New
		profile.PluginConfig = append(profile.PluginConfig, config.PluginConfig{Name: preemption.Name, Args: preemption.Args})
	}
	for i := range profile.PluginConfig {
		if args, ok := profile.PluginConfig[i].Args.(*config.DefaultPreemptionArgs); ok {
			args.MinCandidateNodesPercentage = every
		}
	}
	client := watch.client()
	factory, lists := informersOf(o, client)
	s, err := scheduler.New(ctx, client, factory, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(profile), scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithPercentageOfNodesToScore(&every), scheduler.WithParallelism(settings.Parallelism))
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	for !synced(ctx, s, lists) {
		if err := ctx.Err(); err != nil || hasCrashed() != "" {
			return nil, err
		}
	}
	return s, nil
}

// synced waits for a moment, and reports whether the scheduler has seen all objects.
func synced(ctx context.Context, s *scheduler.Scheduler, lists []cache.SharedIndexInformer) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
	defer cancel()
	if s.WaitForHandlersSync(ctx) != nil {
		return false
	}
	if slices.ContainsFunc(lists, func(i cache.SharedIndexInformer) bool { return !i.HasSynced() }) {
		<-ctx.Done()
		return false
	}
	return true
}

// notTried says why kube-scheduler would never see who asks.
func (o *Objects) notTried(q Question) string {
	if q.Pod == "" {
		return ""
	}
	p, ok := o.Get("Pod", q.Pod).(*v1.Pod)
	switch {
	case !ok:
		return "it is not in the input"
	case p.Spec.SchedulerName != v1.DefaultSchedulerName:
		return fmt.Sprintf("%s is its scheduler, not %s", p.Spec.SchedulerName, v1.DefaultSchedulerName)
	}
	return ""
}

// find finds who asks in the queue; or why it is not to be tried.
func find(s *scheduler.Scheduler, o *Objects, q Question) (entity framework.QueuedEntityInfo, why string, err error) {
	queue, id := s.SchedulingQueue, q.Pod+q.Group
	namespace, name, _ := strings.Cut(id, "/")
	if q.Pod != "" {
		p := o.Get("Pod", id).(*v1.Pod) // see notTried
		info, has := queue.GetPod(name, namespace, p.Spec.SchedulingGroup)
		if !has {
			return nil, "it is not in the queue", nil
		}
		entity = info
	} else {
		kind := fwk.PodGroupKeyType
		if q.Composite {
			kind = fwk.CompositePodGroupKeyType
		}
		info, has := queue.GetPodGroup(name, namespace, kind)
		if !has {
			return nil, "its pods do not wait in the queue of kube-scheduler: a group above it is missing, or they have another scheduler", nil
		}
		entity = info
	}
	if entity.Gated() {
		return nil, gate(s, entity), nil
	}
	for {
		next, err := queue.Pop(klog.Background())
		switch {
		case err != nil:
			return nil, "", err
		case next == nil:
			return nil, "", errors.New("the queue of kube-scheduler is closed")
		case next == entity:
			return entity, "", nil
		}
	}
}

// gate says why who asks is held.
func gate(s *scheduler.Scheduler, entity framework.QueuedEntityInfo) (why string) {
	entity.ForEachPodInfo(func(p *framework.QueuedPodInfo) bool {
		profile := s.Profiles[p.Pod.Spec.SchedulerName]
		if profile == nil {
			return true
		}
		for _, plugin := range profile.PreEnqueuePlugins() {
			if status := plugin.PreEnqueue(context.Background(), p.Pod); !status.IsSuccess() {
				why = fmt.Sprintf("%s: %s", plugin.Name(), status.Message())
				return false
			}
		}
		return true
	})
	if why == "" {
		why = "a plugin of kube-scheduler holds it"
	}
	return why
}

const observerName = "Observer"

// observer sees which nodes a pod fits, and which it gets. It changes nothing.
type observer struct {
	mutex sync.Mutex
	*observed
}

// Name implements fwk.Plugin.
func (*observer) Name() string { return observerName }

// PreScore implements fwk.PreScorePlugin.
func (w *observer) PreScore(_ context.Context, _ fwk.CycleState, p *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var list []string
	for _, n := range nodes {
		list = append(list, n.Node().Name)
	}
	slices.Sort(list)
	w.feasible[idOf(p)] = list
	return nil
}

// Permit implements fwk.PermitPlugin: the node is reserved for the pod.
func (w *observer) Permit(_ context.Context, _ fwk.CycleState, p *v1.Pod, node string) (*fwk.Status, time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.nodes[idOf(p)] = node
	return nil, 0
}

// firstByName makes the choice among the best nodes of a pod certain.
func (w *observer) firstByName(s *scheduler.Scheduler) {
	schedule := s.SchedulePod
	s.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		result, err := schedule(ctx, f, state, p)
		if err != nil || result.FeasibleNodes < 2 {
			return result, err
		}
		var nodes []fwk.NodeInfo
		w.mutex.Lock()
		names := w.feasible[idOf(p.Pod)]
		w.mutex.Unlock()
		for _, name := range names {
			info, err := f.SnapshotSharedLister().NodeInfos().Get(name)
			if err != nil {
				return result, err
			}
			nodes = append(nodes, info)
		}
		scores, status := f.RunScorePlugins(ctx, state, p.Pod, nodes)
		if !status.IsSuccess() {
			return result, status.AsError()
		}
		best := scores[0]
		for _, one := range scores[1:] { // by name
			if one.TotalScore > best.TotalScore {
				best = one
			}
		}
		result.SuggestedHost = best.Name
		return result, nil
	}
}

// client has no objects, and keeps the pods that are told to stop.
func (w *observer) client() *fake.Clientset {
	client := fake.NewClientset()
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		gone, isDelete := action.(clienttesting.DeleteAction)
		if isDelete && action.GetResource().Resource == "pods" {
			w.mutex.Lock()
			w.victims = append(w.victims, gone.GetNamespace()+"/"+gone.GetName())
			w.mutex.Unlock()
		}
		verb := action.GetVerb()
		return verb != "list" && verb != "watch", nil, nil
	})
	return client
}
