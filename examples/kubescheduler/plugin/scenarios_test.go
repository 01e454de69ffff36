package plugin

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/component-base/metrics/testutil"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/features"
)

// notAsked are the scenarios that the runner leaves out, each with the reason.
var notAsked = []struct {
	reason string
	is     func(scenario) bool
}{
	{"it needs a plugin of the test that scores nodes", func(s scenario) bool { return s.Input.Options.NodeScores != nil }},
	{"it needs a plugin of the test that refuses reservations", func(s scenario) bool { return s.Input.Options.Reserve != nil }},
	{"it asks which event wakes the queue, before any plugin runs", func(s scenario) bool { return s.Suite == "resize_queue" }},
	{"it places groups by topology and preempts nothing", func(s scenario) bool { return s.Input.Steps != nil && len(s.Want.Preempted) == 0 }},
}

// minScenarios is how many scenarios must have run, minPreempted how many decisions to preempt cede must have made.
const minScenarios, minPreempted = 42, 35

// Scenarios of kube-scheduler v1.37.2, with its own API server, scheduler and filters, come out with the plugin as they do
// with kube-scheduler's preemption: pods that must be bound, evicted or left waiting are.
func TestScenarios(t *testing.T) {
	list := slices.Concat(readScenarios(t, "integration"), readScenarios(t, "topology"), readScenarios(t, "resize"))
	overrides := featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.TopologyAwareWorkloadScheduling: true, features.CompositePodGroup: true,
		features.PodGroupPreemptionPolicy: true, features.InPlacePodVerticalScalingSchedulerPreemption: true,
	}
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, overrides)
	c := newCluster(t, "--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true")
	run, left := 0, map[string]int{}
	made, refused := counted(t, "preempt"), counted(t, "refused")
	for _, s := range list {
		if i := slices.IndexFunc(notAsked, func(n struct {
			reason string
			is     func(scenario) bool
		}) bool {
			return n.is(s)
		}); i >= 0 {
			left[notAsked[i].reason]++
			continue
		}
		run++
		t.Run(s.ID, func(t *testing.T) {
			gates := featuregatetesting.FeatureOverrides{}
			for name, value := range s.Input.Gates {
				gates[name] = value != false // also "both"
			}
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, gates)
			defer c.clearGroups(t)
			defer c.clear(t)
			defer c.schedule(t, bySample(t))()
			seen := c.watch(t)
			switch {
			case s.Suite == "resize":
				c.resizes(t, s)
			case s.Input.Steps != nil:
				c.inSteps(t, s)
			default:
				c.atOnce(t, s, seen)
			}
		})
	}
	made, refused = counted(t, "preempt")-made, counted(t, "refused")-refused
	t.Logf("%d scenarios, %v decisions to preempt; not asked: %v", run, made, left)
	if run < minScenarios || made < minPreempted || refused > 0 {
		t.Errorf("want %d scenarios, %d decisions to preempt; DefaultPreemption decided %v times", minScenarios, minPreempted, refused)
	}
}

// counted is how many decisions had an outcome.
func counted(t *testing.T, outcome string) float64 {
	t.Helper()
	n, err := testutil.GetCounterMetricValue(decisions.WithLabelValues(outcome))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// atOnce runs a scenario of one preemption.
func (c *cluster) atOnce(t *testing.T, s scenario, seen *sightings) {
	w := world{budgets: s.budgets()}
	for _, n := range s.Input.Nodes {
		w.nodes = append(w.nodes, n.object())
	}
	c.create(t, w, 0)
	waiting := map[string]bool{}
	for _, p := range s.Input.PreemptorPods {
		waiting[p.Group] = true
	}
	var later []scenarioGroup
	for _, g := range s.Input.Groups {
		runs := slices.ContainsFunc(s.Input.Pods, func(p scenarioPod) bool { return p.Group == g.Name })
		if s.Input.Options.AtOnce && waiting[g.Name] && !runs {
			later = append(later, g)
			continue
		}
		c.group(t, g)
	}
	for _, p := range s.Input.Pods {
		c.submit(t, p.object(), 0)
	}
	for _, p := range s.Input.Pods {
		c.await(t, p.Name, "bound", isBound)
	}
	for _, p := range s.Input.PreemptorPods {
		c.submit(t, p.object(), 0)
		if s.Input.Options.InOrder {
			c.queued(t, p)
		}
	}
	for _, g := range later {
		c.group(t, g)
	}
	c.check(t, scenarioCheck{Scheduled: s.Want.Scheduled, Removed: s.Want.Preempted, Unschedulable: s.Want.Unschedulable})
	for _, name := range s.Want.Nominated {
		if !seen.nominated(name) {
			t.Errorf("%s is never nominated", name)
		}
	}
	told := 0
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		list, err := c.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		names := map[string]bool{}
		for _, e := range list.Items {
			if e.Reason == "Preempted" && slices.Contains(s.Want.Preempted, e.InvolvedObject.Name) {
				names[e.InvolvedObject.Name] = true
			}
		}
		told = len(names)
		return told >= s.Want.Events, nil
	})
	if err != nil {
		t.Errorf("%d pods have an event of their preemption, want %d: %v", told, s.Want.Events, err)
	}
}

// inSteps runs a scenario of many steps, with checks between them.
func (c *cluster) inSteps(t *testing.T, s scenario) {
	for i, step := range s.Input.Steps {
		var w world
		for _, n := range step.CreateNodes {
			w.nodes = append(w.nodes, n.object())
		}
		c.create(t, w, 0)
		if step.CreateGroup != nil {
			c.group(t, *step.CreateGroup)
		}
		for _, p := range step.CreatePods {
			c.submit(t, p.object(), 0)
		}
		for _, check := range s.Want.Checks {
			if check.AfterStep == i+1 {
				c.check(t, check)
			}
		}
	}
}

// resizes runs a scenario of a pod that is to grow where it runs; and, as a pod that never preempts proves little
// alone, the same with one that may.
func (c *cluster) resizes(t *testing.T, s scenario) {
	var w world
	for _, n := range s.Input.Nodes {
		w.nodes = append(w.nodes, n.object())
	}
	for _, p := range s.Input.Pods {
		w.pods = append(w.pods, p.object())
	}
	c.create(t, w, 0)
	grow := func(name string, policy v1.PreemptionPolicy) {
		r := s.Input.Resizing
		r.Name, r.Policy = name, policy
		p := c.submit(t, r.object(), 0)
		p.Status.Phase = v1.PodRunning
		p.Status.Conditions = []v1.PodCondition{
			{Type: v1.PodScheduled, Status: v1.ConditionTrue},
			{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: v1.PodReasonDeferred},
		}
		allocated := amountsOf(r.Allocated)
		p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: p.Spec.Containers[0].Name, AllocatedResources: allocated,
			Resources: &v1.ResourceRequirements{Requests: allocated}}}
		if _, err := c.CoreV1().Pods(p.Namespace).UpdateStatus(t.Context(), p, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if policy != v1.PreemptNever {
			return // its victim leaves, and wakes it again
		}
		c.await(t, name, "parked", func(p *v1.Pod) bool {
			parked := c.scheduler.SchedulingQueue.UnschedulablePods()
			return !isNominated(p) && slices.ContainsFunc(parked, func(o *v1.Pod) bool { return o.UID == p.UID })
		})
	}
	if s.Input.Resizing.Preempts != "Never" || len(s.Want.Victims) > 0 {
		t.Fatal("the runner knows only a pod that never preempts")
	}
	grow(s.Input.Resizing.Name, v1.PreemptNever)
	for _, p := range s.Input.Pods {
		c.await(t, p.Name, "left alone", func(p *v1.Pod) bool { return p.DeletionTimestamp == nil })
	}
	c.end(t, s.Input.Resizing.Name)
	grow("may-preempt", v1.PreemptLowerPriority)
	c.check(t, scenarioCheck{Removed: []string{s.Input.Pods[0].Name}})
}

// check waits until all holds that a check says.
func (c *cluster) check(t *testing.T, check scenarioCheck) {
	t.Helper()
	for _, name := range check.Unschedulable {
		c.await(t, name, "unschedulable", func(p *v1.Pod) bool {
			_, is := podutil.GetPodCondition(&p.Status, v1.PodScheduled)
			return !isBound(p) && is != nil && is.Status == v1.ConditionFalse && is.Reason == v1.PodReasonUnschedulable
		})
	}
	for _, name := range check.Scheduled {
		c.await(t, name, "bound", isBound)
	}
	for _, name := range check.Removed {
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
			p, err := c.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return err == nil && p.DeletionTimestamp != nil, err
		})
		if err != nil {
			t.Errorf("%s is not evicted: %v", name, err)
		}
	}
	for _, name := range check.OnNodes.Pods {
		if p := c.await(t, name, "bound", isBound); !slices.Contains(check.OnNodes.Nodes, p.Spec.NodeName) {
			t.Errorf("%s runs on %s, want one of %v", name, p.Spec.NodeName, check.OnNodes.Nodes)
		}
	}
	domains := map[string]bool{}
	for _, name := range check.InOneDomain.Pods {
		p := c.await(t, name, "bound", isBound)
		n, err := c.CoreV1().Nodes().Get(t.Context(), p.Spec.NodeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		domains[n.Labels[check.InOneDomain.Key]] = true
	}
	if len(domains) > 1 {
		t.Errorf("%v run in several domains of %s: %v", check.InOneDomain.Pods, check.InOneDomain.Key, domains)
	}
}

// group creates a pod group or composite pod group.
func (c *cluster) group(t *testing.T, g scenarioGroup) {
	t.Helper()
	var err error
	if g.Kind == "PodGroup" {
		_, err = c.SchedulingV1beta1().PodGroups(metav1.NamespaceDefault).Create(t.Context(), g.podGroup(), metav1.CreateOptions{})
	} else {
		_, err = c.SchedulingV1alpha3().CompositePodGroups(metav1.NamespaceDefault).Create(t.Context(), g.composite(), metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// queued waits until the scheduler has a pod in its queue, or has bound it.
func (c *cluster) queued(t *testing.T, p scenarioPod) {
	t.Helper()
	group := p.object().Spec.SchedulingGroup
	c.await(t, p.Name, "queued", func(pod *v1.Pod) bool {
		_, is := c.scheduler.SchedulingQueue.GetPod(p.Name, metav1.NamespaceDefault, group)
		return is || isBound(pod)
	})
}

// clearGroups removes all groups, also those that a controller would keep.
func (c *cluster) clearGroups(t *testing.T) {
	t.Helper()
	free := []byte(`{"metadata":{"finalizers":null}}`)
	podGroups := c.SchedulingV1beta1().PodGroups(metav1.NamespaceDefault)
	composites := c.SchedulingV1alpha3().CompositePodGroups(metav1.NamespaceDefault)
	must := func(err error) {
		if t.Helper(); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	some, err := podGroups.List(t.Context(), metav1.ListOptions{})
	must(err)
	for _, g := range some.Items {
		_, err := podGroups.Patch(t.Context(), g.Name, types.MergePatchType, free, metav1.PatchOptions{})
		must(err)
		must(podGroups.Delete(t.Context(), g.Name, metav1.DeleteOptions{}))
	}
	more, err := composites.List(t.Context(), metav1.ListOptions{})
	must(err)
	for _, g := range more.Items {
		_, err := composites.Patch(t.Context(), g.Name, types.MergePatchType, free, metav1.PatchOptions{})
		must(err)
		must(composites.Delete(t.Context(), g.Name, metav1.DeleteOptions{}))
	}
	must(c.CoreV1().Events(metav1.NamespaceDefault).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
}

// sightings are the names of pods that were seen with a nomination.
type sightings struct {
	sync.Mutex
	names map[string]bool
}

func (s *sightings) nominated(name string) bool {
	s.Lock()
	defer s.Unlock()
	return s.names[name]
}

// watch watches pods until the test ends.
func (c *cluster) watch(t *testing.T) *sightings {
	t.Helper()
	events, err := c.CoreV1().Pods(metav1.NamespaceDefault).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(events.Stop)
	s := &sightings{names: map[string]bool{}}
	go func() {
		for e := range events.ResultChan() {
			if p, ok := e.Object.(*v1.Pod); ok && isNominated(p) {
				s.Lock()
				s.names[p.Name] = true
				s.Unlock()
			}
		}
	}()
	return s
}
