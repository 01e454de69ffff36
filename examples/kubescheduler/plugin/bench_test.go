package plugin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
)

// size is a full cluster: every CPU is taken, by least to most pods of ten priorities on a
// node.
type size struct {
	nodes, least, most int
	extra              string // "", "affinity", "spread", "budgets" or "500 budgets"
}

func (s size) String() string {
	return fmt.Sprintf("nodes=%d/pods=%d-%d/extra=%s", s.nodes, s.least, s.most, s.extra)
}

func (s size) world() world {
	random := rand.New(rand.NewPCG(1, 1))
	var w world
	apps, budgets := 20, 10
	if s.extra == "500 budgets" {
		apps, budgets = 1000, 500
	}
	app := func() map[string]string { return map[string]string{"app": fmt.Sprint("app-", random.IntN(apps))} }
	apart := func(labels map[string]string, key string) []v1.PodAffinityTerm {
		return []v1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}
	}
	for i := range s.nodes {
		node := fmt.Sprintf("node-%05d", i)
		w.nodes = append(w.nodes, st.MakeNode().Name(node).Capacity(map[v1.ResourceName]string{"cpu": "32", "memory": "256Gi", "pods": "110"}).
			Label("kubernetes.io/hostname", node).Label("zone", fmt.Sprint(i%3)).Obj())
		count := s.least + random.IntN(s.most-s.least+1)
		for j := range count {
			name := fmt.Sprintf("%s-%d", node, j)
			p := st.MakePod().Namespace("default").Name(name).UID(name).Node(node).Priority(random.Int32N(10) * 100).Labels(app()).
				StartTime(metav1.NewTime(epoch.Add(time.Duration(random.IntN(1<<30)) * time.Second))).
				Req(map[v1.ResourceName]string{"cpu": fmt.Sprintf("%dm", 32000/count), "memory": "1Gi"}).Obj()
			if s.extra == "affinity" && random.IntN(5) == 0 {
				p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: apart(app(), "kubernetes.io/hostname")}}
			}
			w.pods = append(w.pods, p)
		}
	}
	w.pod = st.MakePod().Namespace("default").Name("asks").UID("asks").Priority(10000).Label("app", "app-1").Req(map[v1.ResourceName]string{"cpu": "16", "memory": "1Gi"}).Obj()
	switch s.extra {
	case "affinity":
		w.pod.Spec.Affinity = &v1.Affinity{
			PodAffinity:     &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: apart(map[string]string{"app": "app-2"}, "zone")},
			PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: apart(map[string]string{"app": "app-3"}, "kubernetes.io/hostname")},
		}
	case "spread":
		w.pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone",
			WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: w.pod.Labels}}}
	case "budgets", "500 budgets":
		for i := range budgets {
			w.budgets = append(w.budgets, &policy.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("b", i)},
				Spec: policy.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint("app-", i)}}}})
		}
	}
	return w
}

// BenchmarkPostFilter measures an attempt of preemption but for the writes to the API server:
// kube-scheduler with a sample of the nodes, as it is; with all nodes; cede, with its snapshot
// kept; the same after 100 nodes have changed; the first attempt, of a snapshot that was made ahead; and
// with a snapshot made anew. It reports what
// the decision costs the cluster.
func BenchmarkPostFilter(b *testing.B) {
	for _, s := range []size{
		{100, 4, 8, ""}, {1000, 4, 30, ""}, {5000, 4, 8, ""}, {5000, 4, 30, ""}, {5000, 4, 30, "budgets"}, {5000, 17, 17, "500 budgets"},
		{1000, 4, 8, "affinity"}, {5000, 4, 8, "affinity"}, {5000, 4, 8, "spread"},
	} {
		prepared := sync.OnceValue(func() *question { return s.ask(b) })
		for _, plugin := range []string{"kube-sampled", "kube-all", "cede", "cede-after-100-changes", "cede-first", "cede-anew"} {
			b.Run(s.String()+"/"+plugin, func(b *testing.B) { prepared().measure(b, plugin) })
		}
	}
}

// question is a cluster, and a pod that waits.
type question struct {
	*harness
	world
	state    fwk.CycleState
	statuses *framework.NodeToStatus
	plugin   *Plugin // kept from one measurement to the next
}

func (s size) ask(b *testing.B) *question {
	q := &question{harness: newHarness(b), world: s.world()}
	q.show(b, q.world)
	var waits bool
	if q.state, q.statuses, waits = q.filter(b, q.world.pod); !waits {
		b.Fatal("the pod does not wait")
	}
	return q
}

// own is kube-scheduler's plugin, which evicts no pod and notes the victims.
func (q *question) own(b *testing.B, percentage, absolute int32, told *[]*v1.Pod) *defaultpreemption.DefaultPreemption {
	own, err := defaultpreemption.New(q.ctx, &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: percentage, MinCandidateNodesAbsolute: absolute}, q.framework, feature.Features{})
	if err != nil {
		b.Fatal(err)
	}
	var mutex sync.Mutex
	own.Executor.PreemptPod = func(_ context.Context, _ kube.Candidate, _ kube.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		mutex.Lock()
		defer mutex.Unlock()
		*told = append(*told, victim)
		return false, nil
	}
	return own
}

func (q *question) measure(b *testing.B, name string) {
	var told []*v1.Pod
	var plugin fwk.PostFilterPlugin = q.own(b, 10, 100, &told)
	switch name {
	case "kube-sampled":
	case "kube-all":
		plugin = q.own(b, 100, 0, &told)
	default:
		q.plugin = &Plugin{DefaultPreemption: q.own(b, 100, 0, &told), handle: q.framework, Clock: q.cede.Clock, features: q.cede.features, preemptor: q.cede.preemptor, forGroups: q.cede.forGroups}
		plugin = q.plugin
		if _, status := plugin.PostFilter(q.ctx, q.state, q.world.pod, q.statuses); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
	b.ReportAllocs()
	var used time.Duration
	turns := 0
	for ; b.Loop(); turns++ {
		switch name {
		case "cede-after-100-changes":
			b.StopTimer()
			q.change(b, 100*turns, 100)
			b.StartTimer()
		case "cede-first":
			b.StopTimer()
			var made ahead
			made.follow(q.ctx, q.factory, false)
			q.plugin.mirror, _, _ = made.take()
			b.StartTimer()
		case "cede-anew":
			q.plugin.mirror = mirror.Mirror{}
		}
		told = told[:0]
		before := processorTime(b)
		if _, status := plugin.PostFilter(q.ctx, q.state, q.world.pod, q.statuses); !status.IsSuccess() {
			b.Fatal(status)
		}
		used += processorTime(b) - before
	}
	highest, violations := int32(0), 0
	for _, p := range told {
		highest = max(highest, *p.Spec.Priority)
		for _, budget := range q.budgets {
			if budget.Spec.Selector.MatchLabels["app"] == p.Labels["app"] {
				violations++
			}
		}
	}
	b.ReportMetric(float64(used.Nanoseconds())/float64(turns), "cpu-ns/op")
	b.ReportMetric(float64(highest), "highest-priority")
	b.ReportMetric(float64(len(told)), "pods")
	b.ReportMetric(float64(violations), "violations")
}

// change replaces a pod on each of some nodes by one that is equal to it.
func (q *question) change(b *testing.B, from, count int) {
	infos, err := q.lister.NodeInfos().List()
	if err != nil {
		b.Fatal(err)
	}
	for i := range min(count, len(infos)) {
		info := infos[(from+i)%len(infos)]
		p := info.GetPods()[0].GetPod()
		again, err := framework.NewPodInfo(p.DeepCopy())
		if err != nil {
			b.Fatal(err)
		}
		if err := info.RemovePod(klog.FromContext(q.ctx), p); err != nil {
			b.Fatal(err)
		}
		info.AddPodInfo(again)
	}
}

// processorTime is what the process has used, of all processors together.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
