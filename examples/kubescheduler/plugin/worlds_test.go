package plugin

import (
	"fmt"
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// classes are the kinds of random worlds. Each adds its part to a world that is full of pods.
var classes = map[string]func(*draw){
	"resources":             (*draw).resources,
	"affinity and taints":   (*draw).affinityAndTaints,
	"anti-affinity":         (*draw).antiAffinity,
	"host ports":            (*draw).hostPorts,
	"pod affinity":          (*draw).podAffinity,
	"nominated pods":        (*draw).nominatedPods,
	"terminating pods":      (*draw).terminatingPods,
	"topology spread":       (*draw).topologySpread,
	"overlapping budgets":   (*draw).overlappingBudgets,
	"huge requests":         (*draw).hugeRequests,
	"all of these together": (*draw).everything,
}

// draw makes a random world.
type draw struct {
	*rand.Rand
	world
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newRandom(class string, seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(len(class)), seed))
}

// drawWorld returns the world of a class and a seed.
func drawWorld(class string, seed uint64, nodes int) world {
	d := &draw{Rand: newRandom(class, seed)}
	for i := range nodes {
		d.nodes = append(d.nodes, st.MakeNode().Name(fmt.Sprintf("n%d", i)).UID(fmt.Sprintf("node-%d", i)).
			Capacity(map[v1.ResourceName]string{"cpu": fmt.Sprint(4 + d.IntN(4)), "memory": "8Gi", "pods": fmt.Sprint(3 + d.IntN(6)), "example.com/gpu": "4"}).
			Label("kubernetes.io/hostname", fmt.Sprintf("n%d", i)).Label("zone", d.pick("a", "b", "c")).Obj())
		used := int64(0)
		for j := range 1 + d.IntN(6) {
			p := d.newPod(fmt.Sprintf("p%d-%d", i, j), d.Int32N(5)*10-10)
			need := p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			if used+need > d.nodes[i].Status.Allocatable.Cpu().MilliValue() || int64(j) >= d.nodes[i].Status.Allocatable.Pods().Value() {
				break
			}
			used += need
			p.Spec.NodeName = d.nodes[i].Name
			d.pods = append(d.pods, p)
		}
	}
	d.pod = d.newPod("asks", 15+d.Int32N(30))
	d.pod.Spec.Containers[0].Resources.Requests["cpu"] = *resource.NewMilliQuantity(int64(1500+500*d.IntN(9)), resource.DecimalSI)
	d.pod.Status.StartTime = nil
	classes[class](d)
	return d.world
}

func (d *draw) pick(list ...string) string { return list[d.IntN(len(list))] }

// newPod makes a pod that started at an instant of its own: among pods of one priority and
// start kube-scheduler chooses by the order of its list.
func (d *draw) newPod(name string, priority int32) *v1.Pod {
	p := st.MakePod().Namespace("default").Name(name).UID(name).Priority(priority).Label("app", d.pick("web", "db")).
		StartTime(metav1.NewTime(epoch.Add(time.Duration(d.IntN(1<<30)) * time.Second))).
		Req(map[v1.ResourceName]string{"cpu": fmt.Sprintf("%dm", 500*d.IntN(6)), "memory": fmt.Sprintf("%dMi", 256*d.IntN(5))}).Obj()
	p.Labels["tier"] = d.pick("front", "back")
	return p
}

func (d *draw) some(share int, visit func(*v1.Pod)) {
	for _, p := range d.pods {
		if d.IntN(100) < share {
			visit(p)
		}
	}
}

func (d *draw) resources() {
	request := func(p *v1.Pod) {
		gpus := *resource.NewQuantity(int64(d.IntN(3)), resource.DecimalSI)
		p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = gpus
		p.Spec.Containers[0].Resources.Limits = v1.ResourceList{"example.com/gpu": gpus}
	}
	d.some(50, request)
	request(d.pod)
	d.some(20, func(p *v1.Pod) { p.Spec.Containers[0].Resources = v1.ResourceRequirements{} })
}

func (d *draw) affinityAndTaints() {
	for _, n := range d.nodes {
		if d.IntN(4) == 0 {
			n.Spec.Taints = []v1.Taint{{Key: "team", Value: d.pick("x", "y"), Effect: v1.TaintEffect(d.pick("NoSchedule", "NoExecute", "PreferNoSchedule"))}}
		}
		n.Spec.Unschedulable = d.IntN(8) == 0
	}
	if d.IntN(2) == 0 {
		d.pod.Spec.Tolerations = []v1.Toleration{{Key: "team", Operator: v1.TolerationOpEqual, Value: d.pick("x", "y")}}
	}
	if d.IntN(2) == 0 {
		d.pod.Spec.NodeSelector = map[string]string{"zone": d.pick("a", "b", "c")}
	} else {
		d.pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "zone", Operator: v1.NodeSelectorOpNotIn, Values: []string{d.pick("a", "b", "c")}}}}}}}}
	}
}

func (d *draw) term() []v1.PodAffinityTerm {
	return []v1.PodAffinityTerm{{TopologyKey: d.pick("kubernetes.io/hostname", "zone"), LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": d.pick("web", "db")}}}}
}

func (d *draw) antiAffinity() {
	avoid := func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: d.term()}}
	}
	if d.some(15, avoid); d.IntN(3) > 0 {
		avoid(d.pod)
	}
}

func (d *draw) podAffinity() {
	d.pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: d.term()}}
	if d.IntN(2) == 0 {
		d.antiAffinity()
	}
}

func (d *draw) hostPorts() {
	port := func(p *v1.Pod) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{HostPort: int32(80 + d.IntN(2)), ContainerPort: 80, Protocol: v1.Protocol(d.pick("TCP", "UDP")), HostIP: d.pick("", "", "10.0.0.1", "10.0.0.2")}}
	}
	d.some(40, port)
	port(d.pod)
}

func (d *draw) nominatedPods() {
	for i := range 1 + d.IntN(2*len(d.nodes)) {
		p := d.newPod(fmt.Sprintf("waits-%d", i), d.Int32N(6)*10)
		p.Status.NominatedNodeName, p.Status.StartTime = d.nodes[d.IntN(len(d.nodes))].Name, nil
		d.nominated = append(d.nominated, p)
	}
	if d.IntN(3) == 0 {
		d.pod.Status.NominatedNodeName = d.nodes[d.IntN(len(d.nodes))].Name
		d.nominated = append(d.nominated, d.pod)
	}
}

func (d *draw) terminatingPods() {
	d.some(30, func(p *v1.Pod) {
		p.DeletionTimestamp = &metav1.Time{Time: epoch}
		if d.IntN(2) == 0 {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}}
		}
	})
}

func (d *draw) topologySpread() {
	d.pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
		MaxSkew: int32(1 + d.IntN(2)), TopologyKey: d.pick("zone", "zone", "kubernetes.io/hostname"), WhenUnsatisfiable: v1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": d.pod.Labels["app"]}}}}
	if d.IntN(3) == 0 {
		d.pod.Spec.TopologySpreadConstraints = append(d.pod.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: v1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": d.pod.Labels["tier"]}}})
	}
}

func (d *draw) overlappingBudgets() {
	for i := range 1 + d.IntN(4) {
		b := &policy.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: d.pick("default", "default", "default", "other"), Name: fmt.Sprintf("b%d", i)},
			Spec:   policy.PodDisruptionBudgetSpec{MinAvailable: &intstr.IntOrString{}},
			Status: policy.PodDisruptionBudgetStatus{DisruptionsAllowed: d.Int32N(3)}}
		switch d.IntN(5) {
		case 0:
			b.Spec.Selector = &metav1.LabelSelector{}
		case 1:
			b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"db"}}}}
		case 2:
			b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "front"}}
		default:
			b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": d.pick("web", "db")}}
		}
		d.some(10, func(p *v1.Pod) { b.Status.DisruptedPods = map[string]metav1.Time{p.Name: metav1.NewTime(epoch)} })
		d.budgets = append(d.budgets, b)
	}
	d.some(10, func(p *v1.Pod) { p.Labels = nil })
}

// hugeRequests adds pods that were bound past the scheduler: one that asks for 6 Ei of memory, or two for 3
// Ei, or one for more resources than a snapshot of cede takes.
func (d *draw) hugeRequests() {
	for i, n := range d.nodes {
		var amounts []string
		switch d.IntN(4) {
		case 0:
			amounts = []string{"6Ei"}
		case 1:
			amounts = []string{"3Ei", "3Ei"}
		case 2:
			amounts = []string{"1Mi"}
		}
		for j, amount := range amounts {
			p := d.newPod(fmt.Sprintf("huge%d-%d", i, j), d.Int32N(5)*10-10)
			p.Spec.NodeName = n.Name
			list := p.Spec.Containers[0].Resources.Requests
			list["memory"] = resource.MustParse(amount)
			for k := range 300 * d.IntN(2) {
				list[v1.ResourceName(fmt.Sprintf("example.com/r%d-%d", i, k))] = resource.MustParse("1")
			}
			d.pods = append(d.pods, p)
		}
	}
}

// everything adds some of the parts.
func (d *draw) everything() {
	for _, part := range []func(){d.resources, d.affinityAndTaints, d.antiAffinity, d.hostPorts, d.nominatedPods, d.terminatingPods, d.topologySpread, d.overlappingBudgets} {
		if d.IntN(3) == 0 {
			part()
		}
	}
}
