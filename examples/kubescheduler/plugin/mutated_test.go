package plugin

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
)

// While pods arrive, objects on the API server change at random. No pod is lost, and events name what cede does not count as it
// is. In the end another scheduler with cede, and then kube-scheduler's own preemption, has nothing to do: no pod waits that
// it would schedule.
func TestMutations(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.TopologyAwareWorkloadScheduling: true, features.CompositePodGroup: true,
		features.PodGroupPreemptionPolicy: true, features.InPlacePodVerticalScalingSchedulerPreemption: true,
	})
	nodes, arrivals, mutations := 12, 60, 300
	if allFaults() {
		nodes, arrivals, mutations = 90, 1000, 10000
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("CEDE_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal("CEDE_SEED: ", err)
	}
	c := newCluster(t, "--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true")
	front, d := c.behind(t, point{})
	defer c.kubelet(t, 100*time.Millisecond)()
	m := &mutator{cluster: c, draw: &draw{Rand: newRandom("mutations", seed)}, ctx: t.Context(),
		removed: map[string]bool{}, strange: map[string]bool{}, done: map[string]int{}}
	for range nodes {
		if err := m.addFullNode(); err != nil {
			t.Fatal(err)
		}
	}
	made, refused := counted(t, "preempt"), counted(t, "refused")
	stop := front.schedule(t, bySample(t))
	arrived := map[string]bool{}
	for i := range mutations {
		if i%20 == 0 {
			m.look()
		}
		if i*arrivals/mutations != (i+1)*arrivals/mutations {
			p := m.arrival()
			if err := m.add(p); err == nil {
				arrived[p.Name] = true
			} else {
				m.done["-arrival"]++
			}
		}
		m.mutate()
		time.Sleep(5 * time.Millisecond)
	}
	before := c.settled(t)
	stop()
	made, refused = counted(t, "preempt")-made, counted(t, "refused")-refused
	there := map[string]bool{}
	bound := 0
	for _, p := range c.all(t) {
		if there[p.Name] = true; isBound(&p) {
			bound++
		}
	}
	for name := range arrived {
		if !there[name] && !m.removed[name] && !d.evicted[name] {
			t.Errorf("%s is lost", name)
		}
	}
	t.Logf("%d arrived, %d pods are there, %d bound, %d evicted; %v decisions to preempt; changes: %v",
		len(arrived), len(there), bound, len(d.evicted), made, m.done)
	if refused > float64(1+mutations/2000) { // where amounts are over 2^50, or sums wrap around: TestGroupsOnPetabytes
		t.Errorf("DefaultPreemption decided %v times", refused)
	}
	if made == 0 || bound == 0 {
		t.Error("nothing happened")
	}
	c.named(t, m.strange)
	for _, again := range []string{bySample(t), byDefault} {
		stop := c.schedule(t, again)
		after := c.settled(t)
		stop()
		for name, is := range after {
			if is != before[name] {
				t.Errorf("%s: %s, then %s", name, before[name], is)
			}
		}
		before = after
	}
}

// settled waits until the scheduler has nothing to do, and returns where each pod is.
func (c *cluster) settled(t *testing.T) map[string]string {
	t.Helper()
	var before []string
	since := time.Now()
	for begin := time.Now(); time.Since(begin) < 3*time.Minute; time.Sleep(200 * time.Millisecond) {
		var now []string
		out := map[string]string{}
		for _, p := range c.all(t) {
			out[p.Name] = fmt.Sprintf("on %q, nominated to %q, told to stop: %v",
				p.Spec.NodeName, p.Status.NominatedNodeName, p.DeletionTimestamp != nil)
			now = append(now, p.Name+" "+out[p.Name])
		}
		if !slices.Equal(now, before) {
			before, since = now, time.Now()
		} else if time.Since(since) > 3*time.Second {
			return out
		}
	}
	t.Fatal("the scheduler does not come to rest")
	return nil
}

// named checks that events name what cannot be counted as it is, and nothing else.
func (c *cluster) named(t *testing.T, strange map[string]bool) {
	t.Helper()
	list, err := c.CoreV1().Events(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range list.Items {
		if e.Reason == "NotCounted" && !names[e.InvolvedObject.Name] {
			names[e.InvolvedObject.Name] = true
			if !strange[e.InvolvedObject.Name] && !strings.HasPrefix(e.InvolvedObject.Name, "group-") {
				t.Errorf("%s %s: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Message)
			}
		}
	}
	if t.Logf("%d objects are named, %d were strange at some time", len(names), len(strange)); len(names) == 0 {
		t.Error("no event names any of them")
	}
}
