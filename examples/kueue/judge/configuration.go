package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/featuregate"
	testingclock "k8s.io/utils/clock/testing"

	api "sigs.k8s.io/kueue/apis/config/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/config"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"
	"sigs.k8s.io/kueue/pkg/util/expectations"
	"sigs.k8s.io/kueue/pkg/util/waitforpodsready"
)

// gates are those of the process before anybody changed one.
var gates = func() map[string]bool {
	set := map[string]bool{}
	for name := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		set[string(name)] = utilfeature.DefaultMutableFeatureGate.Enabled(name)
	}
	return set
}()

func resetGates() {
	changed := map[string]bool{}
	for name, on := range gates {
		if utilfeature.DefaultMutableFeatureGate.Enabled(featuregate.Feature(name)) != on {
			changed[name] = on
		}
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(changed); err != nil {
		panic(err) // they were set like this before
	}
}

// configure reads the Configuration, with Kueue's defaults, sets its gates and checks it, as Kueue does when it starts.
func (c *cluster) configure() error {
	switch len(c.configurations) {
	case 0:
		scheme.Default(&c.config)
	case 1:
		if err := runtime.DecodeInto(strict.UniversalDecoder(), c.configurations[0], &c.config); err != nil {
			return err
		}
	default:
		return errors.New("there are several")
	}
	for name, on := range c.config.FeatureGates { // the gates of the process remember what they refuse
		if g, known := utilfeature.DefaultMutableFeatureGate.GetAll()[featuregate.Feature(name)]; !known || g.LockToDefault && g.Default != on {
			return fmt.Errorf("featureGates.%s: there is no such gate, or it cannot be %v", name, on)
		}
	}
	if errs := config.LoadAndValidateFeatureGates("", c.config.FeatureGates); len(errs) > 0 {
		return errs.ToAggregate()
	}
	errs := slices.DeleteFunc(config.Validate(&c.config, scheme), func(e *field.Error) bool {
		return strings.HasPrefix(e.Field, "integrations.") // controllers of jobs are not here
	})
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	// How Kueue writes an object, not what it writes: a client in memory does not know who owns which field.
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(features.WorkloadRequestUseMergePatch): true})
}

// make makes the caches, the controller of workloads and the scheduler, as Kueue's main does.
func (k *control) make(c *cluster, now *testingclock.FakeClock) error {
	cfg, format := &c.config, resources.NewResourceFormatter()
	timestamp, strategy := api.EvictionTimestamp, api.QuotaCheckBlockUndeclared
	if w := cfg.WaitForPodsReady; w != nil && w.RequeuingStrategy != nil && w.RequeuingStrategy.Timestamp != nil {
		timestamp = *w.RequeuingStrategy.Timestamp
	}
	if r := cfg.Resources; features.Enabled(features.QuotaCheckStrategy) && r != nil && r.QuotaCheckStrategy != nil {
		strategy = *r.QuotaCheckStrategy
	}
	blocks := waitforpodsready.Enabled(cfg.WaitForPodsReady) && cfg.WaitForPodsReady.BlockAdmission != nil && *cfg.WaitForPodsReady.BlockAdmission
	cacheOptions := []schdcache.Option{schdcache.WithPodsReadyTracking(blocks), schdcache.WithResourceFormatter(format),
		schdcache.WithFairSharing(fairsharing.Enabled(cfg.FairSharing)), schdcache.WithAdmissionFairSharing(cfg.AdmissionFairSharing)}
	told := expectations.NewStore("preemption")
	queueOptions := []qcache.Option{qcache.WithPodsReadyRequeuingTimestamp(timestamp), qcache.WithResourceFormatter(format), qcache.WithClock(now),
		qcache.WithAdmissionFairSharing(cfg.AdmissionFairSharing), qcache.WithPreemptionExpectations(told)}
	if r := cfg.Resources; r != nil {
		cacheOptions = append(cacheOptions, schdcache.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes), schdcache.WithResourceTransformations(r.Transformations))
		queueOptions = append(queueOptions, qcache.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes), qcache.WithResourceTransformations(r.Transformations))
	}
	classes, extended, err := devices(c)
	if err != nil {
		return err
	}
	if extended != nil {
		for _, name := range slices.Concat(classes.CounterBasedResourceNames(), classes.CapacityBasedResourceNames()) {
			format.RegisterBinaryFormattedResource(name)
		}
		queueOptions = append(queueOptions, qcache.WithDRABackedResources(extended))
	}
	k.cache = schdcache.New(k.client, cacheOptions...)
	k.queues = qcache.NewManagerForUnitTests(k.client, k.cache, queueOptions...) // nothing is queued again behind our back
	k.workloads = core.NewWorkloadReconciler(k.client, k.queues, k.cache, new(events.FakeRecorder), core.WithPreemptionExpectations(told),
		core.WithAdmissionFairSharing(cfg.AdmissionFairSharing), core.WithDRAMapper(classes), core.WithDRABackedResources(extended),
		core.WithResourceFormatter(format), core.WithResourceSliceAPIAvailable(true))
	setClock(k.workloads, now)
	k.scheduler = scheduler.New(k.queues, k.cache, k.client, new(events.FakeRecorder), scheduler.WithPodsReadyRequeuingTimestamp(timestamp),
		scheduler.WithFairSharing(cfg.FairSharing), scheduler.WithAdmissionFairSharing(cfg.AdmissionFairSharing), scheduler.WithQuotaCheckStrategy(strategy),
		scheduler.WithPreemptionExpectations(told), scheduler.WithResourceFormatter(format), scheduler.WithClock(nil, now))
	return nil
}

// devices returns what Kueue reads of classes of devices.
func devices(c *cluster) (*dra.ResourceMapper, *dra.ExtendedResourceCache, error) {
	if !features.Enabled(features.KueueDRAIntegration) {
		return nil, nil, nil
	}
	mapper, extended := dra.NewResourceMapper(), dra.NewExtendedResourceCache()
	if r := c.config.Resources; r != nil {
		if err := mapper.PopulateFromConfiguration(r.DeviceClassMappings); err != nil {
			return nil, nil, err
		}
	}
	for _, d := range of[*resourcev1.DeviceClass](c) {
		if d.Spec.ExtendedResourceName != nil {
			extended.Add(corev1.ResourceName(*d.Spec.ExtendedResourceName), d.Name)
		}
	}
	return mapper, extended, nil
}
