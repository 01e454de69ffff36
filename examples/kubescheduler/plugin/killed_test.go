package plugin

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// allFaults reports whether the tests of faults are as large as they are meant to be: it takes minutes.
func allFaults() bool { return os.Getenv("CEDE_FAULTS") == "all" }

// points are where the scheduler is killed. Three pods yield to the pod that waits.
var points = []point{
	{nominates, 1, false, ""}, {nominates, 1, true, ""},
	{condition, 1, false, ""}, {condition, 1, true, ""},
	{evicts, 1, false, ""}, {evicts, 1, true, ""}, {evicts, 1, true, nominates},
	{evicts, 3, false, ""}, {evicts, 3, true, ""}, {evicts, 3, true, nominates},
	{binds, 1, false, ""}, {binds, 1, true, ""},
}

func (p point) String() string {
	when := "before"
	if p.after {
		when = "after"
	}
	text := fmt.Sprintf("%s %s %d", when, p.kind, p.nth)
	if p.without != "" {
		text += ", no " + string(p.without)
	}
	return text
}

// The scheduler is killed at each point of a preemption, and another one starts: no pod is lost or has yielded for nothing.
func TestKilled(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.TopologyAwareWorkloadScheduling: true, features.CompositePodGroup: true,
	})
	c := newCluster(t, "--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true")
	for _, grace := range []int64{0, 600} {
		for _, at := range points {
			t.Run(fmt.Sprintf("a pod, grace %d, %v", grace, at), func(t *testing.T) { c.killed(t, at, grace, 1) })
		}
	}
	for _, grace := range []int64{0, 600} {
		for _, at := range append([]point{{nominates, 2, false, ""}, {nominates, 2, true, ""}}, points...) {
			if at.without == "" { // without nominations, victims are not told
				t.Run(fmt.Sprintf("a group, grace %d, %v", grace, at), func(t *testing.T) { c.killed(t, at, grace, 2) })
			}
		}
	}
}

// killed is one such preemption, for a pod or a group of pods.
func (c *cluster) killed(t *testing.T, at point, grace int64, members int) {
	before := c.full(t, 4, grace)
	defer c.clear(t)
	defer c.clearGroups(t)
	defer c.kubelet(t, 600*time.Millisecond)()
	front, d := c.behind(t, at)
	inOrder := members > 1 && at == point{nominates, 2, false, ""}
	if inOrder {
		d.lag = 300 * time.Millisecond // in which a victim could be told
	}
	stop := front.schedule(t, bySample(t))
	if members > 1 {
		c.group(t, scenarioGroup{Kind: "PodGroup", Name: "group", Policy: "gang", MinCount: int32(members), Priority: 100})
	}
	for i := range members {
		p := high(i)
		if members > 1 {
			p.PodGroupName("group")
		}
		c.submit(t, p.Obj(), grace)
	}
	d.await(t)
	stop()
	if inOrder && d.told() {
		t.Error("a victim is told before all members are nominated")
	}
	defer c.schedule(t, bySample(t))()
	c.inTheEnd(t, before, members)
}

// etcd stops in the middle of evictions and comes back: in the end no pod is lost or has yielded for nothing.
func TestStorageIsDown(t *testing.T) {
	c := newCluster(t)
	down, waits := time.Second, 10
	if allFaults() {
		down, waits = time.Minute, 100
	}
	before := c.full(t, waits+waits/2, 600)
	front, d := c.behind(t, point{evicts, 3 * waits / 2, true, ""})
	d.then = func() { c.etcd.Close() }
	defer c.kubelet(t, time.Second)()
	defer front.schedule(t, bySample(t))()
	for i := range waits {
		c.submit(t, high(i).Obj(), 600)
	}
	d.await(t)
	time.Sleep(down)
	c.startEtcd(t)
	c.inTheEnd(t, before, waits)
}

// full creates nodes, each full of four pods, and returns the nodes of the pods by name.
func (c *cluster) full(t *testing.T, nodes int, grace int64) (on map[string]string) {
	var w world
	on = map[string]string{}
	for i := range nodes {
		node := fmt.Sprintf("n%d", i)
		w.nodes = append(w.nodes, st.MakeNode().Name(node).Capacity(map[v1.ResourceName]string{"cpu": "4", "pods": "10"}).Obj())
		for j := range 4 {
			name := fmt.Sprintf("low-%d-%d", i, j)
			on[name] = node
			w.pods = append(w.pods, st.MakePod().StartTime(metav1.NewTime(epoch)).Namespace("default").Name(name).Priority(int32(j)).Node(node).
				Req(map[v1.ResourceName]string{"cpu": "1"}).Obj())
		}
	}
	c.create(t, w, grace)
	return on
}

// high is a pod that takes the room of three.
func high(i int) *st.PodWrapper {
	return st.MakePod().Namespace("default").Name(fmt.Sprint("high-", i)).Priority(100).Req(map[v1.ResourceName]string{"cpu": "3"})
}

// inTheEnd waits until all that waited run. Then of the pods before those are gone that each of them needs, on its
// node, and no other pod.
func (c *cluster) inTheEnd(t *testing.T, before map[string]string, waited int) {
	t.Helper()
	taken := map[string]int{}
	for i := range waited {
		taken[c.await(t, fmt.Sprint("high-", i), "bound", isBound).Spec.NodeName]++
	}
	now := map[string]string{}
	for _, p := range c.all(t) {
		if now[p.Name] = p.Spec.NodeName; p.DeletionTimestamp != nil {
			t.Errorf("%s on %s is told to stop in the end", p.Name, p.Spec.NodeName)
		}
	}
	gone := map[string][]string{}
	for name, node := range before {
		if now[name] == "" {
			gone[node] = append(gone[node], name)
		} else if now[name] != node {
			t.Errorf("%s runs on %s, before on %s", name, now[name], node)
		}
	}
	for node, list := range gone {
		if slices.Sort(list); len(list) != 3*taken[node] {
			t.Errorf("on %s %v yielded, for %d pods that take the room of three", node, list, taken[node])
		}
	}
}

// kubelet ends pods that were told to stop so long ago, until stop is called.
func (c *cluster) kubelet(t *testing.T, after time.Duration) (stop func()) {
	done, ended, pods := make(chan struct{}), make(chan struct{}), c.CoreV1().Pods(metav1.NamespaceDefault)
	go func() {
		defer close(ended)
		told := map[types.UID]time.Time{}
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
			list, err := pods.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				continue // what it cannot read now it reads later
			}
			for _, p := range list.Items {
				if p.DeletionTimestamp == nil {
					continue
				}
				if told[p.UID].IsZero() {
					told[p.UID] = time.Now()
				} else if time.Since(told[p.UID]) > after {
					_ = pods.Delete(t.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
