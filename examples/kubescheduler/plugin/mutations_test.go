package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// object is a part of an object as JSON.
type object = map[string]any

// mutator changes objects on the API server at random. What the API server refuses does not happen.
type mutator struct {
	*cluster
	*draw
	ctx     context.Context
	next    int             // the number of the next object
	nodes   []string        // those there are
	pods    []v1.Pod        // as they were lately
	groups  []string        // pod groups and composite ones
	removed map[string]bool // pods that the mutator deleted
	strange map[string]bool // pods and nodes that cannot be counted as they are
	done    map[string]int  // changes by kind; those that failed with a minus
}

// changes are the kinds of changes, each as often as it stands here.
var changes = []struct {
	name string
	make func(*mutator) error
}{
	{"capacity", (*mutator).capacity}, {"capacity", (*mutator).capacity}, {"capacity", (*mutator).capacity},
	{"taint", (*mutator).taint}, {"cordon", (*mutator).cordon}, {"zone", (*mutator).zone}, {"node", (*mutator).node},
	{"labels", (*mutator).labels}, {"delete", (*mutator).delete}, {"delete", (*mutator).delete}, {"start", (*mutator).start},
	{"phase", (*mutator).phase}, {"nomination", (*mutator).nomination}, {"condition", (*mutator).condition}, {"resize", (*mutator).resize},
	{"bound", (*mutator).bound}, {"gate", (*mutator).gate},
	{"budget", (*mutator).budget}, {"budget", (*mutator).budget}, {"budget status", (*mutator).budgetStatus},
	{"no budget", (*mutator).noBudget}, {"group", (*mutator).group}, {"no group", (*mutator).noGroup},
}

// mutate makes one change.
func (m *mutator) mutate() {
	one := changes[m.IntN(len(changes))]
	if err := one.make(m); err != nil {
		m.done["-"+one.name]++
		return
	}
	m.done[one.name]++
}

func (m *mutator) name(kind string) string {
	m.next++
	return fmt.Sprint(kind, "-", m.next)
}

func some[T any](m *mutator, list []T) (one T) {
	if len(list) > 0 {
		one = list[m.IntN(len(list))]
	}
	return one
}

// look reads the pods.
func (m *mutator) look() {
	if list, err := m.CoreV1().Pods(metav1.NamespaceDefault).List(m.ctx, metav1.ListOptions{}); err == nil {
		m.pods = list.Items
	}
}

// patch patches an object: what is "nodes" or "pods".
func (m *mutator) patch(what, name string, change object, subresources ...string) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	if what == "nodes" {
		_, err = m.CoreV1().Nodes().Patch(m.ctx, name, types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	} else {
		pods := m.CoreV1().Pods(metav1.NamespaceDefault)
		_, err = pods.Patch(m.ctx, name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, subresources...)
	}
	return err
}

func (m *mutator) capacity() error {
	node := some(m, m.nodes)
	list := map[string]string{"cpu": m.pick("4", "4", "6", "8", "1", "0", "2E"), "memory": m.pick("8Gi", "8Gi", "8Gi", "4Gi", "4Pi", "0"),
		"pods": m.pick("10", "10", "3", "0"), fmt.Sprint("example.com/r", m.IntN(400)): "3"}
	if list["cpu"] == "2E" || list["memory"] == "4Pi" {
		m.strange[node] = true
	}
	return m.patch("nodes", node, object{"status": object{"capacity": list, "allocatable": list}}, "status")
}

func (m *mutator) taint() error {
	taints := []v1.Taint{{Key: "team", Value: m.pick("x", "y"), Effect: v1.TaintEffect(m.pick("NoSchedule", "NoExecute", "PreferNoSchedule"))}}
	return m.patch("nodes", some(m, m.nodes), object{"spec": object{"taints": taints[:m.IntN(2)]}})
}

func (m *mutator) cordon() error {
	return m.patch("nodes", some(m, m.nodes), object{"spec": object{"unschedulable": m.IntN(3) == 0}})
}

func (m *mutator) zone() error {
	return m.patch("nodes", some(m, m.nodes), object{"metadata": object{"labels": object{"zone": m.pick("a", "b", "c")}}})
}

// node removes a node with its pods, as the garbage collector of pods does, or adds one.
func (m *mutator) node() error {
	if m.IntN(2) == 0 && len(m.nodes) > 4 {
		i := m.IntN(len(m.nodes))
		gone := m.nodes[i]
		m.nodes = slices.Delete(m.nodes, i, i+1)
		err := m.CoreV1().Nodes().Delete(m.ctx, gone, metav1.DeleteOptions{})
		for _, p := range m.pods {
			if p.Spec.NodeName == gone {
				_ = m.replace(p.Name)
			}
		}
		return err
	}
	return m.addNode()
}

func (m *mutator) addNode() error {
	name := m.name("node")
	m.nodes = append(m.nodes, name)
	n := st.MakeNode().Name(name).Label("kubernetes.io/hostname", name).Label("zone", m.pick("a", "b", "c")).
		Capacity(map[v1.ResourceName]string{"cpu": "6", "memory": "8Gi", "pods": "10", "example.com/gpu": "4"}).Obj()
	_, err := m.CoreV1().Nodes().Create(m.ctx, n, metav1.CreateOptions{})
	return err
}

// addFullNode adds a node, and pods that leave little room on it.
func (m *mutator) addFullNode() error {
	if err := m.addNode(); err != nil {
		return err
	}
	for range 4 {
		p := m.newPod(m.name("runs"), m.Int32N(4)*10-10)
		p.Spec.NodeName, p.Spec.Containers[0].Resources.Requests["cpu"] = m.nodes[len(m.nodes)-1], resource.MustParse("1300m")
		if err := m.add(p); err != nil {
			return err
		}
	}
	return nil
}

// replace deletes a pod, and adds another one, as a controller does.
func (m *mutator) replace(name string) error {
	m.removed[name] = true
	err := m.CoreV1().Pods(metav1.NamespaceDefault).Delete(m.ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
	if err != nil {
		return err
	}
	return m.add(m.arrival())
}

func (m *mutator) labels() error {
	list := object{"app": m.pick("web", "db"), "tier": m.pick("front", "back")}
	return m.patch("pods", some(m, m.pods).Name, object{"metadata": object{"labels": list}})
}

func (m *mutator) delete() error { return m.replace(some(m, m.pods).Name) }

func (m *mutator) start() error {
	p := some(m, m.pods)
	at := time.Date([]int{1600, 1970, 2026, 9999}[m.IntN(4)], 1, 1, 0, 0, m.IntN(100), 0, time.UTC)
	m.strange[p.Name] = true
	return m.patch("pods", p.Name, object{"status": object{"startTime": metav1.NewTime(at)}}, "status")
}

func (m *mutator) phase() error {
	p := some(m, m.pods)
	if !isBound(&p) {
		return m.patch("pods", p.Name, object{"status": object{"phase": "Pending"}}, "status")
	}
	m.removed[p.Name] = true
	phase := m.pick("Running", "Running", "Running", "Succeeded", "Failed")
	return m.patch("pods", p.Name, object{"status": object{"phase": phase}}, "status")
}

func (m *mutator) nomination() error {
	node := m.pick("", "none", some(m, m.nodes))
	return m.patch("pods", some(m, m.pods).Name, object{"status": object{"nominatedNodeName": node}}, "status")
}

func (m *mutator) condition() error {
	one := v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionStatus(m.pick("True", "False")),
		Reason: m.pick(v1.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI")}
	return m.patch("pods", some(m, m.pods).Name, object{"status": object{"conditions": []v1.PodCondition{one}}}, "status")
}

func (m *mutator) resize() error {
	p := some(m, m.pods)
	if p.Name == "" {
		return nil
	}
	m.strange[p.Name] = true
	requests := object{"requests": object{"cpu": m.pick("100m", "1", "3", "1P")}}
	containers := []any{object{"name": p.Spec.Containers[0].Name, "resources": requests}}
	return m.patch("pods", p.Name, object{"spec": object{"containers": containers}}, "resize")
}

// bound binds a pod past the scheduler: one that asks for too much, or for more resources than a snapshot takes.
func (m *mutator) bound() error {
	p := m.newPod(m.name("bound"), []int32{math.MinInt32, -10, 0, 20, math.MaxInt32}[m.IntN(5)])
	p.Spec.NodeName = some(m, m.nodes)
	list := p.Spec.Containers[0].Resources.Requests
	if amount := m.pick("1Gi", "2Pi", "3Ei", "6Ei"); m.IntN(2) == 0 {
		list["memory"] = resource.MustParse(amount)
		m.strange[p.Name] = amount != "1Gi"
	} else {
		for k := range 300 {
			name := v1.ResourceName(fmt.Sprintf("example.com/r%d-%d", m.next, k))
			list[name] = resource.MustParse("1")
		}
		p.Spec.Containers[0].Resources.Limits = nil
	}
	return m.add(p)
}

// gate adds a pod that may not be scheduled yet, or lets one.
func (m *mutator) gate() error {
	if m.IntN(2) == 0 {
		p := m.arrival()
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
		return m.add(p)
	}
	i := slices.IndexFunc(m.pods, func(p v1.Pod) bool { return len(p.Spec.SchedulingGates) > 0 })
	if i < 0 {
		return nil
	}
	return m.patch("pods", m.pods[i].Name, object{"spec": object{"schedulingGates": nil}})
}

// add creates a pod; the kubelet ends it a moment after it is told.
func (m *mutator) add(p *v1.Pod) error {
	grace := int64(600 * m.IntN(2))
	p.UID, p.Spec.TerminationGracePeriodSeconds = "", &grace
	_, err := m.CoreV1().Pods(p.Namespace).Create(m.ctx, p, metav1.CreateOptions{})
	return err
}

// arrival is a pod that waits, with rules of its own, or in a group that there may be.
func (m *mutator) arrival() *v1.Pod {
	d := &draw{Rand: m.Rand}
	d.pod = d.newPod(m.name("pod"), d.Int32N(5)*10)
	part := []func(*draw){(*draw).resources, (*draw).affinityAndTaints, (*draw).antiAffinity, (*draw).podAffinity,
		(*draw).hostPorts, (*draw).topologySpread}
	if i := d.IntN(3 * len(part)); i < len(part) {
		part[i](d)
	}
	if d.IntN(6) == 0 {
		name := m.pick("none", some(m, m.groups), some(m, m.groups))
		d.pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
		if *d.pod.Spec.Priority > 0 { // else of another priority than its group: such a group is not scheduled
			*d.pod.Spec.Priority = ofGroups
		}
	}
	return d.pod
}

func (m *mutator) budget() error {
	w := world{}
	for len(w.budgets) == 0 {
		d := &draw{Rand: m.Rand}
		d.overlappingBudgets()
		w = d.world
	}
	b := w.budgets[0]
	b.Name, b.Namespace, b.Spec.MinAvailable = fmt.Sprint("b", m.IntN(20)), metav1.NamespaceDefault, &intstr.IntOrString{}
	_, err := m.PolicyV1().PodDisruptionBudgets(b.Namespace).Create(m.ctx, b, metav1.CreateOptions{})
	return err
}

func (m *mutator) budgetStatus() error {
	budgets := m.PolicyV1().PodDisruptionBudgets(metav1.NamespaceDefault)
	b, err := budgets.Get(m.ctx, fmt.Sprint("b", m.IntN(20)), metav1.GetOptions{})
	if err != nil {
		return err
	}
	b.Status = policy.PodDisruptionBudgetStatus{DisruptionsAllowed: []int32{0, 1, 5, math.MaxInt32}[m.IntN(4)], ExpectedPods: 1}
	if p := some(m, m.pods); p.Name != "" {
		b.Status.DisruptedPods = map[string]metav1.Time{p.Name: metav1.Now(), "none": {}}
	}
	_, err = budgets.UpdateStatus(m.ctx, b, metav1.UpdateOptions{})
	return err
}

func (m *mutator) noBudget() error {
	return m.PolicyV1().PodDisruptionBudgets(metav1.NamespaceDefault).Delete(m.ctx, fmt.Sprint("b", m.IntN(20)), metav1.DeleteOptions{})
}

// ofGroups is the priority of all groups. A pod's is its group's, and a group's is that of the one above it.
const ofGroups = 20

// group adds a pod group or a composite one, below one that there is, or is not, or below itself.
func (m *mutator) group() (err error) {
	g := scenarioGroup{Kind: m.pick("PodGroup", "CompositePodGroup"), Name: m.name("group"), Mode: m.pick("all", "single", ""),
		Policy: m.pick("gang", "basic"), Priority: ofGroups, MinCount: 1 + m.Int32N(3), MinGroups: 1}
	g.Parent = m.pick("", "", "none", g.Name, some(m, m.groups))
	m.groups = append(m.groups, g.Name)
	if g.Kind == "PodGroup" {
		_, err = m.SchedulingV1beta1().PodGroups(metav1.NamespaceDefault).Create(m.ctx, g.podGroup(), metav1.CreateOptions{})
	} else {
		_, err = m.SchedulingV1alpha3().CompositePodGroups(metav1.NamespaceDefault).Create(m.ctx, g.composite(), metav1.CreateOptions{})
	}
	return err
}

func (m *mutator) noGroup() error {
	name, free := some(m, m.groups), []byte(`{"metadata":{"finalizers":null}}`)
	groups := m.SchedulingV1beta1().PodGroups(metav1.NamespaceDefault)
	if _, err := groups.Patch(m.ctx, name, types.MergePatchType, free, metav1.PatchOptions{}); err != nil {
		return err
	}
	return groups.Delete(m.ctx, name, metav1.DeleteOptions{})
}
