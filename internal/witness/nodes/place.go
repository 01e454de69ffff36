package nodes

import (
	"math/big"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
)

// Placing: Config.Order, and the domains of a request.

// domain is a set of nodes within which the preemptor is placed.
type domain struct {
	name  string
	nodes []*node // in order of preference
}

func (d domain) has(name string) bool {
	return slices.ContainsFunc(d.nodes, func(n *node) bool { return n.Name == name })
}

func (d domain) names() (list []string) {
	for _, n := range d.nodes {
		list = append(list, n.Name)
	}
	return list
}

// domains: "for pod P, it will always be individual nodes"; "a gang has the domains of the request, or the whole
// cluster".
func (w *World) domains() (list []domain) {
	if single(w) {
		for _, n := range w.pods[0].nodes {
			if mayBeOn(w, w.pods[0], n) {
				list = append(list, domain{n.Name, []*node{n}})
			}
		}
		return list
	}
	if len(w.request.Domains) == 0 {
		return []domain{cluster(w)}
	}
	for _, d := range w.request.Domains {
		list = append(list, within(w, d.Name, func(n *node) bool { return slices.Contains(d.Nodes, n.Name) }))
	}
	return list
}

// all adds the last domain of a group that prefers its domains: "the nodes of all of them, which are tried domain after domain.
// Placement.Domain is then empty."
func all(w *World, domains []domain) []domain {
	if !w.request.DomainsPreferred || len(w.request.Domains) == 0 {
		return domains
	}
	var union domain
	for _, d := range domains {
		for _, n := range d.nodes {
			if !slices.Contains(union.nodes, n) {
				union.nodes = append(union.nodes, n)
			}
		}
	}
	return append(slices.Clip(domains), union)
}

func cluster(w *World) domain { return within(w, "", func(*node) bool { return true }) }

// within: "Unschedulable excludes the node from all domains."
func within(w *World, name string, in func(*node) bool) domain {
	d := domain{name: name}
	for _, n := range w.nodes {
		if !n.Unschedulable && in(n) {
			d.nodes = append(d.nodes, n)
		}
	}
	return d
}

// place places the pods of the request within a domain, in their order, each beside those before it and those that
// have their place. A pod without place is left out.
func (s *scene) place(d domain) {
	s.last = nil
	if nests(s.World) {
		if !s.placeMembers(s.request.Group, d) {
			s.placed = nil // "If it does not get that, none of its pods is placed."
		}
		return
	}
	if s.request.Placer != nil {
		s.placeAsTold(d)
		return
	}
	for _, p := range s.pods {
		if !s.has(p) {
			s.seat(p, d)
		}
	}
}

// seat gives a pod the node that the order chooses: FirstFit "the first node with room", RoundRobin "the first node
// with room after the one chosen last".
func (s *scene) seat(p *pod, d domain) {
	var free []*node
	for _, n := range s.turn(d.nodes) {
		if s.fits(p, n) {
			free = append(free, n)
		}
	}
	if len(free) == 0 {
		return
	}
	chosen := free[0]
	if s.config.Order == placement.BestFit {
		for _, n := range free {
			if s.left(p, n).Cmp(s.left(p, chosen)) < 0 {
				chosen = n
			}
		}
	}
	s.placed, s.last = append(s.placed, seat{p, chosen}), chosen
}

// turn begins with the node after the one chosen last.
func (s *scene) turn(nodes []*node) []*node {
	if s.config.Order != placement.RoundRobin || s.last == nil {
		return nodes
	}
	i := slices.Index(nodes, s.last) + 1
	return slices.Concat(nodes[i:], nodes[:i])
}

// left: BestFit chooses "the smallest sum, over the requested resources, of the free part of the capacity, each rounded
// down to units of 2^-32", after the pod. What a pod requests is "besides one of PodsResource", and besides its claims.
func (s *scene) left(p *pod, n *node) *big.Int {
	sum, on := new(big.Int), s.on(n)
	for resource, amount := range p.Requests {
		if capacity := n.Capacity[resource]; capacity > 0 && amount > 0 {
			free := big.NewInt(capacity - plus(s.used(on, resource), amount))
			sum.Add(sum, free.Quo(free.Lsh(free, 32), big.NewInt(capacity)))
		}
	}
	return sum
}

// enough: "MinCount is the number of Pods that must have room. Zero: any number", of one at least.
func (s *scene) enough() bool { return len(s.placed) >= max(1, s.request.MinCount) }

// keepPromises: "Of several nominations those that have room are kept if the other pods find a place." It reports whether some
// are.
func (s *scene) keepPromises(d domain) bool {
	for _, p := range s.pods {
		if n := p.promised; n != nil && d.has(n.Name) && s.fits(p, n) {
			s.placed = append(s.placed, seat{p, n})
		}
	}
	return len(s.placed) > 0
}

// has reports whether a pod has its place already.
func (s *scene) has(p *pod) bool {
	return slices.ContainsFunc(s.placed, func(k seat) bool { return k.pod == p })
}
