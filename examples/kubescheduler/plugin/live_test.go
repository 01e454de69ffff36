package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// TestLive starts one API server for all of these.
func TestLive(t *testing.T) {
	c := newCluster(t)
	t.Run("victims leave gracefully", c.victimsLeaveGracefully)
	t.Run("drains a node", c.drains)
	t.Run("agrees with kube-scheduler", c.agrees)
}

// Graceful termination: in a full cluster two pods of high priority come. Each is nominated
// to a node, its victims are told to stop, and it is bound when they are gone; meanwhile no
// other pod is told.
func (c *cluster) victimsLeaveGracefully(t *testing.T) {
	var w world
	for i := range 4 {
		node := fmt.Sprintf("n%d", i)
		w.nodes = append(w.nodes, st.MakeNode().Name(node).Capacity(map[v1.ResourceName]string{"cpu": "4", "pods": "10"}).Obj())
		for j := range 4 {
			p := st.MakePod().Namespace("default").Name(fmt.Sprintf("low-%d-%d", i, j)).Priority(int32(i)).Node(node).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
			w.pods = append(w.pods, p)
		}
	}
	c.create(t, w, 600)
	defer c.clear(t)
	defer c.schedule(t, bySample(t))()
	for i, name := range []string{"first", "second"} {
		c.submit(t, st.MakePod().Namespace("default").Name(name).Priority(100).Req(map[v1.ResourceName]string{"cpu": "2"}).Obj(), 600)
		if p := c.await(t, name, "nominated", isNominated); p.Status.NominatedNodeName != "n0" || isBound(p) {
			t.Errorf("%s is nominated to %q and runs on %q, want n0 and none", name, p.Status.NominatedNodeName, p.Spec.NodeName)
		}
		want := 2 * (i + 1) // each takes the room of two
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			return len(c.told(t)) >= want, nil // the scheduler evicts beside the cycle that decided
		})
		if got := c.told(t); err != nil || len(got) != want {
			t.Fatalf("%s: %v are told to stop, want %d of node n0: %v", name, got, want, err)
		}
		c.explained(t, name, name, "It has a place once ")
	}
	for _, p := range c.all(t) {
		if _, stops := podutil.GetPodCondition(&p.Status, v1.DisruptionTarget); (stops != nil) != (p.DeletionTimestamp != nil) {
			t.Errorf("%s: told to stop: %v, condition %v", p.Name, p.DeletionTimestamp != nil, stops)
		}
		if p.DeletionTimestamp != nil {
			if p.Spec.NodeName != "n0" {
				t.Errorf("%s on %s is told to stop", p.Name, p.Spec.NodeName)
			}
			c.end(t, p.Name)
		}
	}
	for _, name := range []string{"first", "second"} {
		if p := c.await(t, name, "bound", isBound); p.Spec.NodeName != "n0" {
			t.Errorf("%s runs on %s", name, p.Spec.NodeName)
		}
	}
	if got := c.told(t); len(got) > 0 {
		t.Errorf("%v are told to stop in the end", got)
	}
}

// liveWorlds is how many worlds of each class both schedulers decide about.
const liveWorlds = 2

// kube-scheduler as it is and with cede evict the same pods of the same cluster, and bind the
// pod to the same node.
func (c *cluster) agrees(t *testing.T) {
	h := newHarness(t)
	preempted := 0
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if class == "huge requests" || class == "nominated pods" || class == "terminating pods" || class == "all of these together" {
			continue // they need other schedulers and a kubelet
		}
		for seed, n := uint64(0), 0; n < liveWorlds; seed++ {
			w := drawWorld(class, seed, 8)
			h.show(t, w)
			if _, _, waits := h.filter(t, w.pod); !waits {
				continue
			}
			n++
			var answers [2]string
			for i, configuration := range []string{byDefault, bySample(t)} {
				w := drawWorld(class, seed, 8)
				c.create(t, w, 0)
				stop := c.schedule(t, configuration)
				c.submit(t, w.pod, 0)
				p := c.await(t, w.pod.Name, "bound or refused", func(p *v1.Pod) bool {
					_, scheduled := podutil.GetPodCondition(&p.Status, v1.PodScheduled)
					return isBound(p) || scheduled != nil && strings.Contains(scheduled.Message, "preemption: ") && !strings.Contains(scheduled.Message, "found a potential placement")
				})
				answers[i] = p.Spec.NodeName + ":"
				for _, p := range c.all(t) {
					answers[i] += " " + p.Name
				}
				stop()
				c.clear(t)
				if isBound(p) {
					preempted++
				}
			}
			if answers[0] != answers[1] {
				t.Errorf("%s, seed %d: kube-scheduler leaves\n%s\nwith cede\n%s", class, seed, answers[0], answers[1])
			}
		}
	}
	if t.Logf("%d of %d pods run in the end", preempted, 2*liveWorlds*7); preempted < 2*liveWorlds*7/2 {
		t.Error("too few")
	}
}
