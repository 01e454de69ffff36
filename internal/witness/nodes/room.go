package nodes

import (
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/workload"
)

// Room on a node: what is there, and what a pod needs.

// scene is who is on the nodes while a decision is tried.
type scene struct {
	*World
	gone   map[*pod]bool // running pods that are not there
	placed []seat
	last   *node // chosen last by the order
}

type seat struct {
	pod  *pod
	node *node
}

// scene begins with everybody there but some.
func (w *World) scene(without []*pod) *scene {
	s := &scene{World: w, gone: map[*pod]bool{}}
	s.remove(without)
	return s
}

func (s *scene) remove(pods []*pod) {
	for _, p := range pods {
		s.gone[p] = true
	}
}

func (s *scene) putBack(pods []*pod) {
	for _, p := range pods {
		delete(s.gone, p)
	}
}

// on lists the pods that take room on a node. "Nominated are the waiting pods that are promised room on a node.
// Requests that are not of higher priority leave that room free."
func (s *scene) on(n *node) (list []*pod) {
	for _, p := range s.running {
		if p.Node == n.Name && !s.gone[p] {
			list = append(list, p)
		}
	}
	list = append(list, ahead(s.World, n)...)
	for _, seat := range s.placed {
		if seat.node == n {
			list = append(list, seat.pod)
		}
	}
	return list
}

// ahead lists the pods that are promised a node, and hold it against the request.
func ahead(w *World, n *node) (list []*pod) {
	for _, p := range w.nominated {
		if p.Node == n.Name && p.priority >= w.request.Priority {
			list = append(list, p)
		}
	}
	return list
}

// used sums what pods take. "A claim takes its amounts once on a node, from the first of its pods there until the
// last has left."
func (s *scene) used(on []*pod, resource string) (sum int64) {
	for _, p := range on {
		sum = plus(sum, takes(p, resource))
	}
	for _, c := range s.state.Claims {
		if slices.ContainsFunc(on, func(p *pod) bool { return slices.Contains(p.Claims, c.ID) }) {
			sum = plus(sum, c.Requests[resource])
		}
	}
	return sum
}

// takes: "what the pod takes, besides one of PodsResource".
func takes(p *pod, resource string) int64 {
	if resource == workload.PodsResource {
		return 1
	}
	return p.Requests[resource]
}

// plus: "sums saturate, never wrap".
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// holds reports whether a node has what the pods there take, of one resource. "An absent resource is not available on
// the node; only an absent PodsResource means no limit."
func (s *scene) holds(n *node, on []*pod, resource string) bool {
	capacity, present := n.Capacity[resource]
	return resource == workload.PodsResource && !present || s.used(on, resource) <= capacity
}

// fits reports whether a pod may be placed on a node beside who is there.
func (s *scene) fits(p *pod, n *node) bool {
	s.placed = append(s.placed, seat{p, n})
	defer func() { s.placed = s.placed[:len(s.placed)-1] }()
	return mayBeOn(s.World, p, n) && s.keepsSeat(len(s.placed)-1)
}

// keeps reports whether all pods that were placed have their room still.
func (s *scene) keeps() bool {
	for i := range s.placed {
		if !s.keepsSeat(i) {
			return false
		}
	}
	return true
}

// keepsSeat: "Only resources that the preemptor requests are checked." Then the rules of the caller are asked.
func (s *scene) keepsSeat(i int) bool {
	k := s.placed[i]
	on := s.on(k.node)
	for _, resource := range needs(s.World, k.pod) {
		if !s.holds(k.node, on, resource) {
			return false
		}
	}
	return s.claimsAre(k.pod, k.node) && !s.conflicts(k) && s.allows(k, s.placed[:i])
}

// needs lists what a pod requests: more than nothing of it.
func needs(w *World, p *pod) []string {
	amounts := workload.Resources{workload.PodsResource: 1}
	maps.Copy(amounts, p.Requests)
	for _, c := range w.state.Claims {
		for resource, amount := range c.Requests {
			if slices.Contains(p.Claims, c.ID) {
				amounts[resource] = plus(amounts[resource], amount)
			}
		}
	}
	maps.DeleteFunc(amounts, func(_ string, amount int64) bool { return amount == 0 })
	return slices.Sorted(maps.Keys(amounts))
}

// claimsAre: "A waiting pod goes only where pods run or are nominated that hold its claims, and pods of one request with a claim
// go to one node: that of the first of them." Nominations of the request are among those.
func (s *scene) claimsAre(p *pod, n *node) bool {
	others := slices.Concat(s.running, s.nominated)
	for _, claim := range p.Claims {
		holds := func(q *pod) bool { return slices.Contains(q.Claims, claim) }
		here := func(q *pod) bool { return holds(q) && q.Node == n.Name }
		elsewhere := func(k seat) bool { return holds(k.pod) && k.node != n }
		known := !slices.ContainsFunc(others, holds) || slices.ContainsFunc(slices.Concat(others, s.own), here)
		if !known || slices.ContainsFunc(s.placed, elsewhere) {
			return false
		}
	}
	return true
}
