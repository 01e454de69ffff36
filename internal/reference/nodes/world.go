package nodes

import (
	"math"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// World is a question about nodes. Its rules are in layers: each asks only the layers below it.
type World struct {
	units
}

// room is the request, the pods that are there, and what is free beside them: the layer that all others stand on.
type room struct {
	Config  placement.Config
	State   placement.State
	Request placement.Request
	// Members are the pods of the request, with the group, the priority and the queue that count.
	Members []workload.Pod
	filters []placement.Filter
	sets    []placement.SetFilter
	nodes   map[string]*workload.Node
	there   map[string]bool // running pods, by ID
	placed  []workload.Pod  // members
	free    map[string]workload.Resources
	holders map[held]int
}

// New returns the world in which all running pods are there.
func New(c placement.Config, st placement.State, r placement.Request) *World {
	w := new(World)
	w.room = room{
		Config: c, State: st, Request: r,
		filters: slices.Concat(c.Filters, r.Filters), sets: slices.Concat(c.SetFilters, r.SetFilters),
		nodes: map[string]*workload.Node{}, there: map[string]bool{}, free: map[string]workload.Resources{}, holders: map[held]int{},
	}
	for _, m := range r.Pods {
		if m.Priority, m.Queue = r.Priority, r.Queue; m.Group == "" {
			m.Group = r.Group
		}
		w.Members = append(w.Members, m)
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		w.nodes[n.Name], w.free[n.Name] = n, workload.Resources{workload.PodsResource: math.MaxInt64}
		for resource, amount := range n.Capacity {
			w.free[n.Name][resource] = amount
		}
	}
	for _, p := range st.Nominated {
		if w.isAhead(p) {
			w.move(p, -1)
		}
	}
	w.only(Everyone)
	return w
}

// Everyone holds for each running pod.
func Everyone(workload.Pod) bool { return true }

// Stays reports whether a running pod counts as running: in the design a pod that is waited for does not.
func (w *room) Stays(p workload.Pod) bool {
	return w.Config.Mode != placement.ModeDesign || !p.Terminating || w.stuck(p)
}

// stuck reports whether a terminating pod is not waited for: it terminates for too long, or it was not preempted and
// the request could not preempt it.
func (w *room) stuck(p workload.Pod) bool {
	if w.Config.Mode == placement.ModeDesign && p.Terminating && !p.Preempted && w.priorityOf(p) >= w.Request.Priority {
		return true
	}
	return p.Terminating && w.Request.TerminationTimeout > 0 && !p.TerminatingSince.IsZero() &&
		!p.TerminatingSince.Add(w.Request.TerminationTimeout).After(w.Request.Now)
}

// around lists the groups around a pod, from its own to the root; none if the state does not have its group.
func (w *room) around(p workload.Pod) (list []workload.PodGroup) {
	for id := p.Group; id != ""; {
		i := slices.IndexFunc(w.State.Groups, func(g workload.PodGroup) bool { return g.ID == id })
		if i < 0 {
			break
		}
		list = append(list, w.State.Groups[i])
		id = w.State.Groups[i].Parent
	}
	return list
}

// root returns the group of which the priority and the queue count; the zero value if the pod has none.
func (w *room) root(p workload.Pod) (root workload.PodGroup) {
	for _, root = range w.around(p) {
	}
	return root
}

// yieldsWith returns the group that the pod yields with: the highest that yields whole. Empty: the pod yields alone.
func (w *room) yieldsWith(p workload.Pod) (id string) {
	for _, g := range w.around(p) {
		if g.DisruptionMode == workload.DisruptionModePodGroup {
			id = g.ID
		}
	}
	return id
}

// priorityOf returns the priority that counts: that of the root of its groups, if it has one.
func (w *room) priorityOf(p workload.Pod) int32 {
	if g := w.root(p); g.ID != "" {
		return g.Priority
	}
	return p.Priority
}

// isAhead reports whether the nomination of a waiting pod holds against the request.
func (w *room) isAhead(p workload.Pod) bool {
	own := slices.ContainsFunc(w.Members, func(m workload.Pod) bool { return m.ID == p.ID })
	return !own && w.priorityOf(p) >= w.Request.Priority
}

// takes returns how much a pod takes of a resource.
func takes(p workload.Pod, resource string) int64 {
	if resource == workload.PodsResource {
		return 1
	}
	return p.Requests[resource]
}

// move changes what is free on the node of a pod.
func (w *room) move(p workload.Pod, times int64) {
	free := w.free[p.Node]
	for resource, amount := range p.Requests {
		free[resource] += times * amount
	}
	free[workload.PodsResource] += times
	w.hold(p, -int(times))
}

// only makes the running pods be there for which keep holds, and no others.
func (w *room) only(keep func(workload.Pod) bool) {
	for _, p := range w.State.Pods {
		w.set(p, keep(p))
	}
}

// set makes a running pod be there, or not.
func (w *room) set(p workload.Pod, there bool) {
	switch {
	case there && !w.there[p.ID]:
		w.move(p, -1)
	case !there && w.there[p.ID]:
		w.move(p, 1)
	}
	w.there[p.ID] = there
}

// setAll makes the pods of units be there, or not.
func (w *room) setAll(units []Unit, there bool) {
	for _, u := range units {
		for _, p := range u.Pods {
			w.set(p, there)
		}
	}
}

// put places members on their nodes.
func (w *room) put(pods ...workload.Pod) {
	for _, p := range pods {
		w.move(p, -1)
	}
	w.placed = append(w.placed, pods...)
}

// unplace takes the members placed last away, until so many are left.
func (w *room) unplace(left int) {
	for _, p := range w.placed[left:] {
		w.move(p, 1)
	}
	w.placed = slices.Clip(w.placed[:left])
}

// snapshot returns the pods that are there, with the placed members before them and others after them; nil if a node
// then holds more than a node can.
func (w *room) snapshot(placed []workload.Pod, others ...workload.Pod) *placement.Snapshot {
	pods := slices.Clone(placed)
	for _, p := range w.State.Pods {
		if w.there[p.ID] {
			pods = append(pods, p)
		}
	}
	st := placement.State{Nodes: w.State.Nodes, Groups: w.State.Groups, Claims: w.State.Claims, Pods: append(pods, others...)}
	s, err := placement.NewSnapshot(st)
	if err != nil {
		return nil
	}
	return s
}
