package nodes

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// KEP-5710, Pod Group priorities; the state that a request is about.

// pod is a pod that runs, is nominated, or waits in the request.
type pod struct {
	workload.Pod
	priority int32
	queue    string
	nodes    []*node // that it names, in order of preference; of a pod of the request only
	promised *node   // to which it is nominated; of a pod of the request only
}

type node struct{ workload.Node }

// World is a state, and the request about it.
type World struct {
	config    placement.Config
	state     placement.State
	request   placement.Request
	resized   *workload.Pod // as it runs
	nodes     []*node       // in order of preference
	running   []*pod
	nominated []*pod                      // others than those of the request
	own       []*pod                      // as those of the request are nominated
	budgets   []workload.DisruptionBudget // by name
	pods      []*pod
	at        time.Time
	snapshot  *placement.Snapshot // what trials begin with, once one has begun
}

// newWorld reads a state. A pod that is resized waits for its own node: "what it has now is free for
// them, and its node, also an unschedulable one, is the only one".
func newWorld(c placement.Config, st placement.State, r placement.Request, at time.Time) *World {
	w := &World{config: c, state: st, request: r, at: at}
	w.budgets = slices.Clone(st.Budgets)
	slices.SortFunc(w.budgets, func(a, b workload.DisruptionBudget) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range st.Nodes {
		w.nodes = append(w.nodes, &node{n})
	}
	slices.SortFunc(w.nodes, func(a, b *node) int {
		return cmp.Or(cmp.Compare(preference(w, a), preference(w, b)), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range st.Pods {
		if r.Resize && p.ID == r.Pods[0].ID {
			resize(w, p)
			continue
		}
		w.running = append(w.running, newPod(w, p))
	}
	if !r.Resize {
		for _, p := range r.Pods {
			w.pods = append(w.pods, newRequested(w, p))
		}
	}
	for _, p := range st.Nominated {
		if own := requested(w, p.ID); own != nil {
			own.promised = w.node(p.Node)
			w.own = append(w.own, newPod(w, p))
		} else {
			w.nominated = append(w.nominated, newPod(w, p))
		}
	}
	return w
}

// preference: "Prefer lists names of nodes in the order in which placement tries them; the others follow
// by name."
func preference(w *World, n *node) int {
	if i := slices.Index(w.request.Prefer, n.Name); i >= 0 {
		return i
	}
	return len(w.request.Prefer)
}

// newPod: "The priority defined in the PodGroup object will be used, and priority defined in the Pod itself
// will be ignored." "The priority of the root counts." "The same holds for their Queue."
func newPod(w *World, p workload.Pod) *pod {
	q := &pod{Pod: p, priority: p.Priority, queue: p.Queue}
	if around := around(w, p.Group); len(around) > 0 {
		root := around[len(around)-1]
		q.priority, q.queue = root.Priority, root.Queue
	}
	return q
}

// newRequested reads a waiting pod. "Nodes lists the nodes on which the pod may run. Empty: all nodes, unless
// Nowhere is set." "Unschedulable excludes the node from all domains."
func newRequested(w *World, p workload.Pod) *pod {
	if p.Group == "" {
		p.Group = w.request.Group
	}
	q := newPod(w, p)
	q.priority, q.queue = w.request.Priority, w.request.Queue
	q.Priority, q.Queue = q.priority, q.queue // "with the group and the priority that count"
	for _, n := range w.nodes {
		if !n.Unschedulable && !p.Nowhere && (len(p.Nodes) == 0 || slices.Contains(p.Nodes, n.Name)) {
			q.nodes = append(q.nodes, n)
		}
	}
	return q
}

// resize: "Its ID and Requests are read, all else is that of the pod that runs."
func resize(w *World, p workload.Pod) {
	p.Requests = w.request.Pods[0].Requests
	as := p
	w.resized = &as
	own := w.node(p.Node)
	own.Unschedulable = false // for it
	p.Node, p.Nodes, p.Nowhere = "", []string{p.Node}, false
	q := newPod(w, p)
	q.nodes = []*node{own}
	w.pods = []*pod{q}
	w.state.Pods = slices.DeleteFunc(slices.Clone(w.state.Pods), func(o workload.Pod) bool { return o.ID == p.ID })
	w.request.Priority, w.request.Queue = q.priority, q.queue
	w.request.Resize, w.request.Pods = false, []workload.Pod{p}
	q.Priority, q.Queue = q.priority, q.queue
}

// around lists the groups around a pod of a group, from its own to the root. "The group may be missing in
// the state."
func around(w *World, id string) (list []*workload.PodGroup) {
	for g := group(w, id); g != nil; g = group(w, g.Parent) {
		list = append(list, g)
	}
	return list
}

func group(w *World, id string) *workload.PodGroup {
	for i := range w.state.Groups {
		if w.state.Groups[i].ID == id {
			return &w.state.Groups[i]
		}
	}
	return nil
}

func (w *World) node(name string) *node {
	for _, n := range w.nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

func requested(w *World, id string) *pod {
	for _, p := range w.pods {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// single: "The domains of a single pod are the nodes, also if the pod is in a group."
func single(w *World) bool { return w.request.Group == "" }
