package plugin

import (
	"context"
	"fmt"
	"math"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// racksOf is how many racks the nodes of BenchmarkRacks are in.
const racksOf = 250

// BenchmarkRacks: which pods yield to a group of 100 pods that must be in one of 250 racks, on 5,000 nodes with 85,000 pods. By
// kube-scheduler's evaluator, asked about each rack in turn, and by cede with its snapshot kept, asked once. No victim
// is told.
func BenchmarkRacks(b *testing.B) {
	withGroups(b)
	h, w := newHarness(b), size{5000, 17, 17, ""}.world()
	g := st.MakePodGroup().Namespace("default").Name("waits").UID("waits").Priority(10000).MinCount(100).Obj()
	w.podGroups, w.minimum = append(w.podGroups, g), 100
	w.groups.asks = &framework.PodGroupInfo{Namespace: "default", Name: "waits", Type: fwk.PodGroupKeyType, PodGroup: g}
	for i := range 100 {
		w.groups.asks.UnscheduledPods = append(w.groups.asks.UnscheduledPods, st.MakePod().Namespace("default").Name(fmt.Sprint("member-", i)).
			UID(fmt.Sprint("member-", i)).Priority(10000).PodGroupName("waits").Req(map[v1.ResourceName]string{"cpu": "3", "memory": "1Gi"}).Obj())
	}
	h.show(b, w)
	h.cede.DefaultPreemption = h.kube
	infos, err := h.lister.NodeInfos().List()
	if err != nil {
		b.Fatal(err)
	}
	domains := make([]placement.Domain, racksOf)
	for i, info := range infos {
		d := &domains[i*racksOf/len(infos)]
		d.Nodes = append(d.Nodes, info.Node().Name)
		d.Name = "rack of " + d.Nodes[0]
	}
	b.Run("kube-scheduler", func(b *testing.B) {
		var told kube.Candidate
		h.kube.Executor.PreemptPod = func(_ context.Context, c kube.Candidate, _ kube.ExecutorPreemptor, _ *v1.Pod, _ string) (bool, error) {
			told = c
			return false, nil
		}
		least := math.MaxInt
		for b.Loop() {
			for _, d := range domains {
				b.StopTimer()
				r := h.rack(b, d)
				b.StartTimer()
				_, status := kube.NewPodGroupEvaluator(r, h.kube.Executor, h.cede.features).Preempt(h.ctx, w.groups.asks, h.placeOn(b, w, r.nodes))
				b.StopTimer()
				if err := h.lister.EndMutations(); err != nil || !status.IsSuccess() {
					b.Fatal(status, err)
				}
				least = min(least, len(told.Victims().Pods))
				b.StartTimer()
			}
		}
		b.ReportMetric(float64(least), "victims-at-least")
	})
	b.Run("cede", func(b *testing.B) {
		a := &groupAttempt{Plugin: h.cede, ctx: h.ctx, group: w.groups.asks}
		request, err := a.ask()
		if err != nil {
			b.Fatal(err)
		}
		request.Placer, request.MinCount, request.Domains = nil, 100, domains
		if err := h.cede.follow(h.ctx, h.lister.NodeInfos(), w.groups.asks.UnscheduledPods...); err != nil {
			b.Fatal(err)
		}
		var d placement.Decision
		for b.Loop() {
			if err = h.cede.follow(h.ctx, h.lister.NodeInfos(), w.groups.asks.UnscheduledPods...); err == nil {
				d, err = h.cede.forGroups.Decide(h.cede.mirror.Snapshot(), request)
			}
			if err != nil || d.Outcome != preemption.Preempt {
				b.Fatal(d.Outcome, err)
			}
		}
		b.ReportMetric(float64(len(d.Victims)), "victims")
	})
}

// rack shows the nodes of a rack, in a copy of the scheduler's snapshot that the evaluator may change.
func (h *harness) rack(b *testing.B, d placement.Domain) rack {
	if err := h.lister.StartMutations(); err != nil {
		b.Fatal(err)
	}
	r := rack{Handle: h.framework}
	for _, name := range d.Nodes {
		info, err := h.lister.NodeInfos().Get(name)
		if err != nil {
			b.Fatal(err)
		}
		r.nodes = append(r.nodes, info)
	}
	return r
}

// rack is the handle of an evaluator that sees the nodes of a rack alone.
type rack struct {
	fwk.Handle
	nodes []fwk.NodeInfo
}

// MutableSnapshotSharedLister implements fwk.Handle.
func (r rack) MutableSnapshotSharedLister() fwk.MutableSnapshotSharedLister {
	return inRack{r.Handle.MutableSnapshotSharedLister(), r.nodes}
}

type inRack struct {
	fwk.MutableSnapshotSharedLister
	nodes []fwk.NodeInfo
}

func (r inRack) NodeInfos() fwk.NodeInfoLister {
	return listed{r.MutableSnapshotSharedLister.NodeInfos(), r.nodes}
}
