package mirror

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func asking(requests map[v1.ResourceName]string) *v1.Pod {
	return st.MakePod().Namespace("default").Name("asks").UID("asks").Req(requests).Obj()
}

func nodeWith(name string, pods ...*v1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "5000"}).Obj())
	for _, p := range pods {
		one, _ := framework.NewPodInfo(p)
		info.AddPodInfo(one)
	}
	return info
}

func huge(name, memory string) *v1.Pod {
	return st.MakePod().Namespace("default").Name(name).UID(name).Node("n2").Req(map[v1.ResourceName]string{"cpu": "1m", "memory": memory}).Obj()
}

func noneNominated(string) []fwk.PodInfo { return nil }

// Whatever the API server takes: the snapshot follows, other nodes are as ever, and the pod is named once.
func TestStrangePodsCostThemselves(t *testing.T) {
	late := huge("late", "1Gi")
	late.Status.StartTime = &metav1.Time{Time: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, c := range []struct {
		name    string
		pods    []*v1.Pod
		strange int
	}{
		{"one", []*v1.Pod{huge("p1", "6Ei")}, 1},
		{"two", []*v1.Pod{huge("p1", "3Ei"), huge("p2", "3Ei")}, 2},
		{"more than int64 holds", []*v1.Pod{huge("p1", "7Ei"), huge("p2", "7Ei"), huge("p3", "7Ei")}, 3},
		{"starts in 9999", []*v1.Pod{late}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := asking(map[v1.ResourceName]string{"cpu": "1", "memory": "1Gi"})
			infos := []fwk.NodeInfo{nodeWith("n1", st.MakePod().Namespace("default").Name("ok").UID("ok").Node("n1").Req(map[v1.ResourceName]string{"memory": "1Gi"}).Obj()), nodeWith("n2", c.pods...)}
			var m Mirror
			for round := range 2 {
				if err := m.Follow(Cycle{Nodes: infos, Nominated: noneNominated, Asks: []*v1.Pod{ask}}); err != nil {
					t.Fatal(err)
				}
				if got := len(m.Strange()); got != c.strange*(1-round) {
					t.Errorf("round %d: %d objects are named, want %d: %v", round, got, c.strange*(1-round), m.Strange())
				}
			}
			for p := range m.Snapshot().PodsOn("n1") {
				if p.Requests["memory"] != 1<<30 {
					t.Errorf("the other pod is %+v", p)
				}
			}
		})
	}
}

// A nominated pod of which the scheduler hands out a copy each time is named once, and again when it has changed.
func TestCopiesOfNominatedPods(t *testing.T) {
	p := huge("nominated", "6Ei")
	p.Spec.NodeName, p.Status.NominatedNodeName = "", "n1"
	infos, ask := []fwk.NodeInfo{nodeWith("n1")}, asking(map[v1.ResourceName]string{"cpu": "1", "memory": "1Gi"})
	var m Mirror
	for i, version := range []string{"1", "1", "2", "2"} {
		p.ResourceVersion = version
		one, _ := framework.NewPodInfo(p.DeepCopy())
		if err := m.Follow(Cycle{Nodes: infos, Nominated: func(string) []fwk.PodInfo { return []fwk.PodInfo{one} }, Asks: []*v1.Pod{ask}}); err != nil {
			t.Fatal(err)
		}
		if got := len(m.Strange()); got != 1-i%2 {
			t.Errorf("cycle %d: %d objects are named", i, got)
		}
	}
}

// A node on which more runs than can be counted is full, until it can be counted again.
func TestNodeThatCannotBeCounted(t *testing.T) {
	infos := []fwk.NodeInfo{nodeWith("n1"), nodeWith("n2")}
	ask := asking(map[v1.ResourceName]string{"memory": "1Gi"})
	var m Mirror
	for i := range few + 1 {
		one, _ := framework.NewPodInfo(huge(fmt.Sprint("p", i), "2Pi"))
		if infos[1].AddPodInfo(one); i%100 != 0 && i < few-2 {
			continue
		}
		if err := m.Follow(Cycle{Nodes: infos, Nominated: noneNominated, Asks: []*v1.Pod{ask}}); err != nil {
			t.Fatalf("%d pods: %v", i+1, err)
		}
	}
	if n, _ := m.Snapshot().Node("n2"); len(n.Capacity) != 1 || n.Capacity["pods"] != 0 || len(m.Strange()) == 0 {
		t.Errorf("the node is %+v, named: %v", n, m.Strange())
	}
	for range 2 {
		if err := infos[1].RemovePod(klog.Background(), infos[1].GetPods()[0].GetPod()); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Follow(Cycle{Nodes: infos, Nominated: noneNominated, Asks: []*v1.Pod{ask}}); err != nil {
		t.Fatal(err)
	}
	var anew Mirror
	if err := anew.Follow(Cycle{Nodes: infos, Nominated: noneNominated, Asks: []*v1.Pod{ask}}); err != nil {
		t.Fatal(err)
	}
	if n, _ := m.Snapshot().Node("n2"); n.Capacity["memory"] != 8<<30 || len(m.Snapshot().State().Pods) != len(anew.Snapshot().State().Pods) {
		t.Errorf("the node is %+v", n)
	}
}

// However many resources the cluster has, those count that pods ask for.
func TestResourcesThatCount(t *testing.T) {
	info := framework.NewNodeInfo()
	capacity := map[v1.ResourceName]string{"cpu": "4", "pods": "10"}
	for i := range 1000 {
		capacity[v1.ResourceName(fmt.Sprintf("example.com/r%d", i))] = "3"
	}
	info.SetNode(st.MakeNode().Name("n1").Capacity(capacity).Obj())
	var m Mirror
	for i := range 1000 {
		name := v1.ResourceName(fmt.Sprintf("example.com/r%d", i))
		if err := m.Follow(Cycle{Nodes: []fwk.NodeInfo{info}, Nominated: noneNominated, Asks: []*v1.Pod{asking(map[v1.ResourceName]string{"cpu": "1", name: "1"})}}); err != nil {
			t.Fatal(err)
		}
		if n, _ := m.Snapshot().Node("n1"); n.Capacity["cpu"] != 4000 || n.Capacity[string(name)] != 3 || len(n.Capacity) > maxNames+5 {
			t.Fatalf("asked for %s: the node has %d resources, %d of it", name, len(n.Capacity), n.Capacity[string(name)])
		}
	}
}
