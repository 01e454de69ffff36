// Package historytest draws histories of pods: clusters in which a scheduler decides, so that others can judge what it did.
package historytest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Scheduler decides about a pod that waits among objects, which are a List.
type Scheduler func(objects []byte, pod string, now time.Time) (Decision, error)

// Decision is what a scheduler does. The zero value: the pod waits.
type Decision struct {
	Node    string // where it runs; with victims: where it is nominated
	Victims []string
}

// Life is a cluster that lives: pods come, run, are told to stop and end. Make it with [New].
type Life struct {
	// Lines are the versions of all objects, and the Events, in the order of time, and Times when they were written.
	Lines []string
	Times []time.Time
	// Preempted are the victims, by time and preemptor; Spoilt those with one that the scheduler did not choose.
	Preempted map[string][]string
	Spoilt    map[string]bool

	*rand.Rand
	scheduler Scheduler
	now       time.Time
	nodes     []object
	pods      []*pod
	fixed     []object
	made      int
	cordons   bool
}

type object = map[string]any

// pod is a pod of a life.
type pod struct {
	id, uid, node, nominated string
	meta, spec, status       object
	told, ends               time.Time
	over                     bool
}

// New returns a cluster with nodes and no pods.
func New(seed uint64, s Scheduler) *Life {
	l := &Life{Rand: rand.New(rand.NewPCG(seed, 1)), scheduler: s, now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		Preempted: map[string][]string{}, Spoilt: map[string]bool{}, cordons: seed%4 == 3}
	for i := range 2 + l.IntN(4) {
		name := fmt.Sprintf("gpu-node-%d", i)
		n := object{"apiVersion": "v1", "kind": "Node", "metadata": l.head(name, "", "node-"+name), "spec": object{},
			"status": object{"allocatable": object{"cpu": fmt.Sprint(8 + 4*l.IntN(3)), "memory": "64Gi", "pods": fmt.Sprint(5 + l.IntN(6)), "nvidia.com/gpu": fmt.Sprint(4 + 2*l.IntN(3))}}}
		n["metadata"].(object)["labels"] = object{"kubernetes.io/hostname": name}
		l.nodes = append(l.nodes, n)
	}
	for _, app := range []string{"web", "db"}[:l.IntN(3)] {
		l.fixed = append(l.fixed, object{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": l.head(app, "team-a", "pdb-"+app),
			"spec": object{"minAvailable": 1, "selector": object{"matchLabels": object{"app": app}}}, "status": object{"disruptionsAllowed": l.IntN(2)}})
	}
	for _, o := range slices.Concat(l.nodes, l.fixed) {
		l.write(o)
	}
	return l
}

func (l *Life) pick(list ...string) string { return list[l.IntN(len(list))] }

func (l *Life) clock() string { return l.now.Format(time.RFC3339) }

func (l *Life) head(name, namespace, uid string) object {
	l.made++
	head := object{"name": name, "uid": uid, "creationTimestamp": l.clock(), "resourceVersion": fmt.Sprint(l.made)}
	if namespace != "" {
		head["namespace"] = namespace
	}
	return head
}

func (l *Life) write(o object) {
	text, _ := json.Marshal(o) // maps and texts
	l.Lines, l.Times = append(l.Lines, string(text)), append(l.Times, l.now)
}

// version writes a version of a pod.
func (l *Life) version(p *pod, kind string) {
	l.made++
	p.meta["resourceVersion"] = fmt.Sprint(l.made)
	l.write(object{"type": kind, "object": p.object()})
}

func (p *pod) object() object {
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": p.meta, "spec": p.spec, "status": p.status}
}

func (p *pod) set(kind, status, reason, at string) {
	list, _ := p.status["conditions"].([]object)
	list = slices.DeleteFunc(slices.Clone(list), func(c object) bool { return c["type"] == kind })
	p.status["conditions"] = append(list, object{"type": kind, "status": status, "reason": reason, "lastTransitionTime": at})
}

// Step lets some time pass.
func (l *Life) Step() error {
	l.now = l.now.Add(time.Duration(11+l.IntN(30)) * time.Second)
	for _, p := range l.pods {
		switch {
		case p.over || p.node == "":
		case !p.told.IsZero() && l.IntN(3) > 0, p.told.IsZero() && l.now.After(p.ends):
			l.end(p)
		}
	}
	l.disturb()
	for range 1 + l.IntN(4) {
		l.submit()
	}
	waiting := slices.DeleteFunc(slices.Clone(l.pods), func(p *pod) bool { return p.over || p.node != "" })
	slices.SortStableFunc(waiting, func(a, b *pod) int { return b.spec["priority"].(int) - a.spec["priority"].(int) })
	for _, p := range waiting[:min(len(waiting), 4)] {
		l.now = l.now.Add(time.Duration(l.IntN(8)) * time.Second)
		if err := l.ask(p); err != nil {
			return err
		}
	}
	l.pods = slices.DeleteFunc(l.pods, func(p *pod) bool { return p.over })
	return nil
}

// disturb does what no scheduler does: a pod is deleted by hand, in some clusters a node is closed or opened.
func (l *Life) disturb() {
	if running := slices.DeleteFunc(slices.Clone(l.pods), func(p *pod) bool { return p.over || p.node == "" || !p.told.IsZero() }); len(running) > 0 && l.IntN(6) == 0 {
		l.remove(running[l.IntN(len(running))], l.now)
	}
	if l.cordons && l.IntN(12) == 0 {
		l.made++
		n := l.nodes[l.IntN(len(l.nodes))]
		n["metadata"].(object)["resourceVersion"] = fmt.Sprint(l.made)
		spec := n["spec"].(object)
		spec["unschedulable"] = spec["unschedulable"] != true
		l.write(object{"type": "MODIFIED", "object": n})
	}
}

// remove asks a pod to stop.
func (l *Life) remove(p *pod, at time.Time) {
	p.told = at
	p.meta["deletionTimestamp"], p.meta["deletionGracePeriodSeconds"] = at.Add(30*time.Second).Format(time.RFC3339), 30
	l.version(p, "MODIFIED")
}

// end ends a pod: its containers stop, and most are deleted.
func (l *Life) end(p *pod) {
	p.over = true
	p.status["phase"] = "Succeeded"
	p.status["containerStatuses"] = []object{{"name": "main", "state": object{"terminated": object{"exitCode": 0, "finishedAt": l.clock()}}}}
	p.set("Ready", "False", "PodCompleted", l.clock())
	l.version(p, "MODIFIED")
	if !p.told.IsZero() || l.IntN(2) == 0 {
		l.version(p, "DELETED")
	}
}

// submit draws a pod that waits from now on. Some have the name of one that is gone.
func (l *Life) submit() {
	namespace, app := l.pick("team-a", "team-b"), l.pick("web", "db", "train")
	name := fmt.Sprintf("%s-%d", app, l.made)
	if l.IntN(4) == 0 {
		name = fmt.Sprintf("stateful-%d", l.IntN(6))
	}
	id := namespace + "/" + name
	if slices.ContainsFunc(l.pods, func(p *pod) bool { return p.id == id }) {
		return
	}
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", l.made)
	requests := object{"cpu": fmt.Sprint(1 + l.IntN(6)), "memory": fmt.Sprintf("%dGi", 1+l.IntN(8))}
	limits := object{}
	if gpus := l.IntN(4); gpus > 0 {
		requests["nvidia.com/gpu"], limits["nvidia.com/gpu"] = fmt.Sprint(gpus), fmt.Sprint(gpus)
	}
	p := &pod{id: id, uid: uid, meta: l.head(name, namespace, uid), status: object{"phase": "Pending"}, spec: object{
		"priority": []int{0, 0, 10, 10, 50, 1000}[l.IntN(6)], "schedulerName": "default-scheduler", "preemptionPolicy": "PreemptLowerPriority",
		"containers": []object{{"name": "main", "image": "busybox", "resources": object{"requests": requests, "limits": limits}}}}}
	p.meta["labels"] = object{"app": app}
	if l.IntN(12) == 0 {
		p.meta["ownerReferences"] = []object{{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": app, "uid": "set-" + app, "controller": true}}
	}
	if l.IntN(12) == 0 {
		p.spec["preemptionPolicy"] = "Never"
	}
	if l.IntN(16) == 0 {
		p.spec["schedulerName"] = "trainer" // another one, which does what the first would
	}
	p.ends = l.now.Add(time.Duration(1+l.IntN(15)) * time.Minute)
	l.pods = append(l.pods, p)
	l.version(p, "ADDED")
}

// Objects are those that are there now, as a List.
func (l *Life) Objects() []byte {
	items := slices.Concat(l.nodes, l.fixed)
	for _, p := range l.pods {
		if !p.over {
			items = append(items, p.object())
		}
	}
	text, _ := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": items})
	return text
}

// ask asks the scheduler about a pod, and does what it says.
func (l *Life) ask(p *pod) error {
	name := p.spec["schedulerName"]
	p.spec["schedulerName"] = "default-scheduler"
	d, err := l.scheduler(l.Objects(), p.id, l.now)
	p.spec["schedulerName"] = name
	switch {
	case err != nil:
		return err
	case d.Node == "":
		p.set("PodScheduled", "False", "Unschedulable", l.clock())
		l.version(p, "MODIFIED")
	case len(d.Victims) == 0:
		p.node, p.nominated = d.Node, ""
		p.spec["nodeName"] = d.Node
		delete(p.status, "nominatedNodeName")
		p.set("PodScheduled", "True", "", l.clock())
		l.version(p, "MODIFIED")
		p.status["phase"], p.status["startTime"] = "Running", l.clock()
		l.version(p, "MODIFIED")
	default:
		l.preempt(p, &d)
	}
	return nil
}

// preempt tells victims to stop, some a second later, as kube-scheduler does beside its cycle; some a victim more.
func (l *Life) preempt(by *pod, d *Decision) {
	key := l.clock() + " " + by.id
	victims := d.Victims
	others := slices.DeleteFunc(slices.Clone(l.pods), func(o *pod) bool {
		return o.over || o.node == "" || !o.told.IsZero() || slices.Contains(victims, o.id)
	})
	if here := slices.DeleteFunc(slices.Clone(others), func(o *pod) bool { return o.node != d.Node }); len(here) > 0 && l.IntN(2) == 0 {
		others = here
	}
	if l.IntN(4) == 0 && len(others) > 0 {
		victims = append(slices.Clone(victims), others[l.IntN(len(others))].id)
		l.Spoilt[key] = true
	}
	l.Preempted[key] = victims
	by.nominated, by.status["nominatedNodeName"] = d.Node, d.Node
	by.set("PodScheduled", "False", "Unschedulable", l.clock())
	l.version(by, "MODIFIED")
	told := l.now
	for _, v := range l.pods {
		if !slices.Contains(victims, v.id) || v.over || v.node == "" {
			continue
		}
		at := told.Format(time.RFC3339)
		v.set("DisruptionTarget", "True", "PreemptionByScheduler", at)
		l.version(v, "MODIFIED")
		l.remove(v, told)
		l.event(v, by, d.Node, at)
		if l.IntN(5) == 0 {
			told = told.Add(time.Second)
		}
	}
}

// event writes the Event of a victim, in the words of one version or another.
func (l *Life) event(v, by *pod, node, at string) {
	message := []string{fmt.Sprintf("Preempted by pod %s on node %s", by.uid, node), fmt.Sprintf("Preempted by a pod on node %s", node),
		fmt.Sprintf("Preempted by %s on node %s", by.id, node), fmt.Sprintf("by %s on node %s", by.id, node), fmt.Sprintf("Preempted by pod %s on node %s (in kube-scheduler memory).", by.uid, node)}[l.IntN(5)]
	reference := func(p *pod) object {
		namespace, name, _ := strings.Cut(p.id, "/")
		return object{"kind": "Pod", "namespace": namespace, "name": name, "uid": p.uid}
	}
	head := l.head(v.uid+".1", reference(v)["namespace"].(string), "event-"+v.uid)
	if l.IntN(2) == 0 {
		o := object{"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": head, "reason": "Preempted", "regarding": reference(v), "note": message, "eventTime": at, "type": "Normal"}
		if !strings.Contains(message, by.id) && !strings.Contains(message, by.uid) || l.IntN(2) == 0 {
			o["related"] = reference(by)
		}
		l.write(o)
		return
	}
	l.write(object{"apiVersion": "v1", "kind": "Event", "metadata": head, "reason": "Preempted", "involvedObject": reference(v), "related": reference(by), "message": message, "lastTimestamp": nil, "eventTime": at, "type": "Normal"})
}
