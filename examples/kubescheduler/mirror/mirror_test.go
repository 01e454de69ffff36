package mirror

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// A snapshot that is kept while nodes, pods, budgets and nominations come, change and go equals
// one that is made anew; nodes that did not change are not looked at.
func TestMirrorFollows(t *testing.T) {
	for seed := range uint64(100) {
		s := &steps{Rand: rand.New(rand.NewPCG(3, seed)), nominated: map[string][]fwk.PodInfo{}}
		var kept Mirror
		for step := range 20 {
			for range 1 + s.IntN(4) {
				s.change()
			}
			asks := s.newPod("asks", 0)
			if len(s.waiting) > 0 && s.IntN(2) == 0 {
				asks = s.waiting[s.IntN(len(s.waiting))]
			}
			cycle := Cycle{Nodes: s.infos, Budgets: s.budgets, Nominated: s.nominatedTo, Asks: []*v1.Pod{asks}}
			if err := kept.Follow(cycle); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			var anew Mirror
			if err := anew.Follow(cycle); err != nil {
				t.Fatalf("seed %d, step %d: anew: %v", seed, step, err)
			}
			if diff := cmp.Diff(anew.Snapshot().State(), kept.Snapshot().State()); diff != "" {
				t.Fatalf("seed %d, step %d: (- anew, + kept)\n%s", seed, step, diff)
			}
			if len(kept.pods) != len(anew.pods) || len(kept.nodes) != len(anew.nodes) {
				t.Fatalf("seed %d, step %d: %d pods on %d nodes are kept, of %d on %d", seed, step, len(kept.pods), len(kept.nodes), len(anew.pods), len(anew.nodes))
			}
		}
	}
}

// steps is a cluster that changes.
type steps struct {
	*rand.Rand
	infos     []fwk.NodeInfo
	nominated map[string][]fwk.PodInfo // by node
	budgets   []*policy.PodDisruptionBudget
	waiting   []*v1.Pod
	version   int
}

// nominatedTo returns copies, as the scheduler does.
func (s *steps) nominatedTo(node string) (list []fwk.PodInfo) {
	for _, p := range s.nominated[node] {
		info, _ := framework.NewPodInfo(p.GetPod().DeepCopy())
		list = append(list, info)
	}
	return list
}

func (s *steps) cpus() map[v1.ResourceName]string {
	return map[v1.ResourceName]string{"cpu": fmt.Sprintf("%dm", 500*s.IntN(12)), "pods": "9"}
}

func (s *steps) newPod(name string, priority int32) *v1.Pod {
	p := st.MakePod().Namespace("default").Name(name).UID(name).Priority(priority).Label("app", []string{"web", "db"}[s.IntN(2)]).Obj()
	s.version++
	p.ResourceVersion = fmt.Sprint(s.version)
	p.Spec.Containers = []v1.Container{{Name: "one", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": *resource.NewMilliQuantity(500*s.Int64N(6), resource.DecimalSI)}}}}
	return p
}

// change makes one change. Names come again: on the same node, on another, and at once.
func (s *steps) change() {
	node := fmt.Sprintf("n%d", s.IntN(6))
	at := slices.IndexFunc(s.infos, func(n fwk.NodeInfo) bool { return n.Node().Name == node })
	switch kind := s.IntN(10); {
	case at < 0:
		info := framework.NewNodeInfo()
		info.SetNode(st.MakeNode().Name(node).Capacity(s.cpus()).Obj())
		s.infos = slices.Insert(s.infos, s.IntN(len(s.infos)+1), fwk.NodeInfo(info))
	case kind == 0:
		s.infos = slices.Delete(s.infos, at, at+1)
		delete(s.nominated, node)
	case kind == 1:
		changed := s.infos[at].Node().DeepCopy()
		changed.Status.Allocatable[v1.ResourceCPU] = *resource.NewMilliQuantity(500*s.Int64N(12), resource.DecimalSI)
		s.infos[at].SetNode(changed)
	case kind == 2:
		b := &policy.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("b", s.IntN(3))},
			Spec: policy.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": []string{"web", "db"}[s.IntN(2)]}}}}
		s.budgets = slices.DeleteFunc(slices.Clone(s.budgets), func(o *policy.PodDisruptionBudget) bool { return o.Name == b.Name })
		if s.IntN(3) > 0 {
			s.budgets = append(s.budgets, b)
		}
	case kind == 3:
		p := s.newPod(fmt.Sprintf("p%d", s.IntN(20)), s.Int32N(3))
		p.Status.NominatedNodeName = node
		info, _ := framework.NewPodInfo(p)
		for name := range s.nominated {
			s.nominated[name] = slices.DeleteFunc(s.nominated[name], func(o fwk.PodInfo) bool { return o.GetPod().Name == p.Name })
		}
		if s.nominated[node] = append(s.nominated[node], info); s.IntN(3) == 0 {
			s.nominated[node] = nil
		}
		s.waiting = append(s.waiting, p)
	case kind < 6 && len(s.infos[at].GetPods()) > 0:
		s.remove(s.infos[at].GetPods()[0].GetPod().Name)
	default:
		p := s.newPod(fmt.Sprintf("p%d", s.IntN(20)), s.Int32N(3))
		p.Spec.NodeName = node
		if s.remove(p.Name); s.IntN(2) == 0 {
			p.UID += "-again"
		}
		info, _ := framework.NewPodInfo(p)
		s.infos[at].AddPodInfo(info)
	}
}

// remove removes a pod from where it runs.
func (s *steps) remove(name string) {
	for _, info := range s.infos {
		for _, p := range info.GetPods() {
			if p.GetPod().Name == name {
				_ = info.RemovePod(klog.Background(), p.GetPod()) // it is there
				return
			}
		}
	}
}
