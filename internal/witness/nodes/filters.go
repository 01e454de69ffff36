package nodes

import (
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Package placement, Filter, SetFilter and Placer: the rules of the caller about where pods may run.

func (p *pod) at(n *node) workload.Pod {
	at := p.Pod
	at.Node = n.Name
	return at
}

// filters: those of the request are "besides those of the Config".
func filters(w *World) []placement.Filter {
	return slices.Concat(w.config.Filters, w.request.Filters)
}

func setFilters(w *World) []placement.SetFilter {
	return slices.Concat(w.config.SetFilters, w.request.SetFilters)
}

// mayBeOn: a filter says "whether the pod may run on the node, whatever else runs there".
func mayBeOn(w *World, p *pod, n *node) bool {
	refuses := func(f placement.Filter) bool { return !f.Feasible(p.at(n), n.Node) }
	return slices.Contains(p.nodes, n) && !slices.ContainsFunc(filters(w), refuses)
}

// conflicts: a filter says "whether the pod, on node pod.Node, and another pod on other.Node exclude each other. The other pod
// runs, is placed or is nominated. It is asked about nominated pods only if their priority is not lower." "ReachNode: conflicts
// are between pods on the same node."
func (s *scene) conflicts(k seat) bool {
	for _, f := range filters(s.World) {
		for _, n := range s.nodes {
			if n != k.node && f.Reach() == placement.ReachNode {
				continue
			}
			excludes := func(o *pod) bool { return o != k.pod && f.Conflict(k.pod.at(k.node), o.at(n)) }
			if slices.ContainsFunc(s.on(n), excludes) {
				return true
			}
		}
	}
	return false
}

// allows asks the set filters and the placer about a pod beside who is there, and those placed before it. A trial "is asked with
// the pods that are nominated to the node and have no lower priority, and without".
func (s *scene) allows(k seat, before []seat) bool {
	for _, t := range s.trials(before) {
		if !t.Allows(k.pod.at(k.node), k.node.Node) {
			return false
		}
		for _, p := range ahead(s.World, k.node) {
			t.Add(p.Pod)
		}
		if !t.Allows(k.pod.at(k.node), k.node.Node) {
			return false
		}
	}
	return true
}

// trials begins anew for each question, "about the snapshot in which every running pod is there, also one that terminates, and no
// other pod". The placer "must allow what Place returns".
func (s *scene) trials(placed []seat) (list []placement.Trial) {
	for _, f := range setFilters(s.World) {
		list = append(list, s.told(f.Begin(begun(s.World), s.request), placed))
	}
	if s.request.Placer != nil {
		list = append(list, s.told(s.request.Placer.Begin(begun(s.World), s.request), placed))
	}
	return list
}

func begun(w *World) *placement.Snapshot {
	if w.snapshot == nil {
		w.snapshot, _ = placement.NewSnapshot(w.state)
	}
	return w.snapshot
}

// told tells a trial who is gone, and who is placed.
func (s *scene) told(t placement.Trial, placed []seat) placement.Trial {
	for _, p := range s.running {
		if s.gone[p] {
			t.Remove(p.Pod)
		}
	}
	for _, k := range placed {
		t.Add(k.pod.at(k.node))
	}
	return t
}

// placeAsTold: Placer "places the pods of a request in place of Config.Order". "A pod on an unknown node, outside the domain,
// without room, or refused by a filter has no place."
func (s *scene) placeAsTold(d domain) {
	var waiting []*pod
	var pods []workload.Pod
	for _, p := range s.pods {
		if !s.has(p) {
			waiting, pods = append(waiting, p), append(pods, p.Pod)
		}
	}
	trial := s.request.Placer.Begin(begun(s.World), s.request)
	s.told(trial, s.placed)
	for i, name := range trial.Place(pods, d.names()) {
		if i < len(waiting) && d.has(name) && s.fits(waiting[i], s.node(name)) {
			s.placed = append(s.placed, seat{waiting[i], s.node(name)})
		}
	}
}
