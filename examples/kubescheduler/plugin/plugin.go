// Package plugin is a PostFilter plugin of kube-scheduler: when no node has room for a pod,
// package placement of cede decides which pods must yield, and on which node.
//
// It is kube-scheduler's own preemption with another search. Whether the pod may preempt at
// all, what extenders say, and how victims are told to stop are as there.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Name is the name of the plugin in the configuration of the scheduler.
const Name = "Cede"

// Plugin is kube-scheduler's own preemption, but for the search.
type Plugin struct {
	*defaultpreemption.DefaultPreemption
	features  feature.Features
	handle    fwk.Handle
	preemptor *placement.Preemptor // about single pods
	forGroups *placement.Preemptor
	mirror    mirror.Mirror
	ahead     ahead // makes the first mirror
	notes     notes

	// Watch, if it is set, is called with each decision while the scheduler's state is as it was for it.
	Watch func(Decided)
	// Clock says what time it is.
	Clock func() time.Time

	nominating sync.Map // *places by the UID of a group whose victims are being told
}

// Decided is a decision, and what it was made of.
type Decided struct {
	Preemptor *placement.Preemptor
	Snapshot  *placement.Snapshot
	Request   placement.Request
	Decision  placement.Decision
}

// New makes the plugin; see [Arguments].
func New(ctx context.Context, arguments runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	read, err := read(arguments)
	if err != nil {
		return nil, fmt.Errorf("pluginConfig of %s: args: %w", Name, err)
	}
	single, groups, err := read.configs()
	if err != nil {
		return nil, fmt.Errorf("pluginConfig of %s: %w", Name, err)
	}
	registerMetrics()
	pl := &Plugin{handle: handle, Clock: time.Now, features: feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)}
	// How many nodes are looked at is valid, and not read: cede looks at all of them.
	unread := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100}
	if pl.DefaultPreemption, err = defaultpreemption.New(ctx, unread, handle, pl.features); err != nil {
		return nil, err
	}
	pl.tellInOrder()
	if pl.preemptor, err = placement.New(single); err != nil {
		return nil, err
	}
	if pl.forGroups, err = placement.New(groups); err != nil {
		return nil, err
	}
	if read.Annotate == nil || *read.Annotate {
		pl.notes, err = newNotes(ctx, handle)
	}
	if err == nil {
		go pl.ahead.run(ctx, handle.SharedInformerFactory(), pl.features.EnableGenericWorkload)
	}
	return pl, err
}

// Config is how the plugin decides without arguments: as kube-scheduler v1.37.
var Config = placement.Config{Mode: placement.ModeInPlace, MaxBlockers: -1, MaxRetrySteps: -1}

// Name implements fwk.Plugin.
func (pl *Plugin) Name() string { return Name }

// EventsToRegister implements fwk.EnqueueExtensions, as kube-scheduler's own preemption does. The
// scheduler calls it once when a profile is complete, so here it is seen what else preempts. It fails if
// kube-scheduler's own preemption comes first: it would decide in place of cede, without a word. It also fails
// if cede decides about pods, and no plugin about pod groups.
func (pl *Plugin) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	f, ok := pl.handle.(framework.Framework)
	if !ok {
		return pl.DefaultPreemption.EventsToRegister(ctx)
	}
	on := f.ListPlugins()
	first := func(point string, plugins []config.Plugin) error {
		for _, p := range plugins {
			if p.Name == Name {
				break
			}
			if p.Name == defaultpreemption.Name {
				return fmt.Errorf("profile %q: %s is enabled before %s and decides in its place: disable it, at multiPoint or at %s",
					f.ProfileName(), defaultpreemption.Name, Name, point)
			}
		}
		return nil
	}
	err := first("postFilter", on.PostFilter.Enabled)
	if pl.features.EnableGenericWorkload {
		err = errors.Join(err, first("podGroupPostFilter", on.PodGroupPostFilter.Enabled))
		if len(on.PodGroupPostFilter.Enabled) == 0 {
			const none = "profile %q: no plugin is enabled at podGroupPostFilter, so no pod group preempts: enable %s there, or at multiPoint"
			err = errors.Join(err, fmt.Errorf(none, f.ProfileName(), Name))
		}
	}
	if err != nil {
		return nil, err
	}
	return pl.DefaultPreemption.EventsToRegister(ctx)
}

// follow brings the snapshot up to date with what the scheduler sees in this cycle.
func (pl *Plugin) follow(ctx context.Context, lister fwk.NodeInfoLister, asks ...*v1.Pod) error {
	all, err := lister.List()
	if err != nil {
		return err
	}
	budgets, err := pl.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return err
	}
	if first, strange, ok := pl.ahead.take(); ok {
		pl.mirror = first
		pl.tell(ctx, strange)
	}
	err = pl.mirror.Follow(mirror.Cycle{Nodes: all, Budgets: budgets, Nominated: pl.handle.NominatedPodsForNode, Groups: pl.groups(), Asks: asks})
	pl.tell(ctx, pl.mirror.Strange())
	if err == nil {
		now := time.Now()
		followed.Store(&now)
	}
	return err
}

// tell names what the snapshot does not hold as it is, in the log and as an event.
func (pl *Plugin) tell(ctx context.Context, strange []mirror.Strange) {
	for _, s := range strange {
		object, err := meta.Accessor(s.Object)
		if err != nil {
			continue // pods and nodes have names
		}
		klog.FromContext(ctx).Info("cede counts an object in another way", "object", klog.KObj(object), "problem", s.Problem)
		if recorder := pl.handle.EventRecorder(); recorder != nil {
			recorder.Eventf(s.Object, nil, v1.EventTypeWarning, "NotCounted", "Preempting", "%s", s.Problem)
		}
	}
}

// groups returns where the groups of this cycle are found.
func (pl *Plugin) groups() (out mirror.Groups) {
	if pl.features.EnableGenericWorkload {
		out.PodGroups = pl.handle.MutableSnapshotSharedLister().PodGroups()
	}
	if pl.features.EnableCompositePodGroup {
		out.Composites = pl.handle.MutableSnapshotSharedLister().CompositePodGroups()
	}
	return out
}

// delegate removes from a pod's requests extended resources that a class of devices backs, as
// NodeResourcesFit does: the filters answer for them, on nodes that have them as resources, too.
func (pl *Plugin) delegate(p *workload.Pod) (any bool) {
	manager := pl.handle.SharedDRAManager()
	if manager == nil || !utilfeature.DefaultFeatureGate.Enabled(features.DRAExtendedResource) {
		return false
	}
	for name := range p.Requests {
		if strings.Contains(name, "/") && manager.DeviceClassResolver().GetDeviceClass(v1.ResourceName(name)) != nil {
			delete(p.Requests, name)
			any = true
		}
	}
	return any
}
