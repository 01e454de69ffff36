package nodes

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Decision.Shortage: "the resources that are missing, by name".

// shortage "is computed without units, the first of these sets without which a resource is still missing: all units of lower
// priority, protected or not; then the units that may yield now. For a request that preempts nothing no unit is left out.
// Terminating pods that are waited for count as gone."
func shortage(w *World, domains []domain) []placement.Shortage {
	sets := []func(*unit) bool{w.lower, w.mayYield}
	if w.request.Policy == placement.PreemptNever {
		sets = []func(*unit) bool{func(*unit) bool { return false }}
	}
	for _, in := range sets {
		s := w.scene(goneAlready(w))
		for _, u := range w.units() {
			if in(u) {
				s.remove(u.pods)
			}
		}
		if list := s.missing(domains); len(list) > 0 {
			return list
		}
	}
	return nil
}

// missing: "It is empty if some domain has enough of each resource alone." Domains is "the number of domains with too little of
// it".
func (s *scene) missing(domains []domain) (list []placement.Shortage) {
	for _, d := range domains {
		short := false
		for _, resource := range smallest(s.World) {
			least := s.leastMissing(d, resource)
			if least == 0 {
				continue
			}
			short = true
			i := slices.IndexFunc(list, func(e placement.Shortage) bool { return e.Resource == resource })
			if i < 0 {
				i = len(list)
				list = append(list, placement.Shortage{Resource: resource, Missing: math.MaxInt64})
			}
			list[i].Missing = min(list[i].Missing, least)
			list[i].Domains++
		}
		if !short {
			return nil
		}
	}
	slices.SortFunc(list, func(a, b placement.Shortage) int { return cmp.Compare(a.Resource, b.Resource) })
	return list
}

// smallest lists what the smallest pod of the request needs some of.
func smallest(w *World) []string {
	return slices.DeleteFunc(needs(w, w.pods[0]), func(resource string) bool { return amount(w, resource) == 0 })
}

// amount is what the smallest pod needs of a resource. "Claims count for a single pod, and only those that no other pod holds."
func amount(w *World, resource string) int64 {
	least := int64(math.MaxInt64)
	for _, p := range w.pods {
		least = min(least, takes(p, resource))
	}
	others := slices.Concat(w.running, w.nominated)
	for _, c := range w.state.Claims {
		holds := func(p *pod) bool { return slices.Contains(p.Claims, c.ID) }
		if single(w) && holds(w.pods[0]) && !slices.ContainsFunc(others, holds) {
			least = plus(least, c.Requests[resource])
		}
	}
	return least
}

// leastMissing is "the least additional amount that would have to be free on one node to place one more pod, if that pod needs no
// more than the smallest pod"; 0 if the domain has enough of the resource for as many pods as must have room.
func (s *scene) leastMissing(d domain, resource string) int64 {
	fit, least, amount := int64(0), int64(math.MaxInt64), amount(s.World, resource)
	for _, n := range d.nodes {
		if !slices.ContainsFunc(s.pods, func(p *pod) bool { return mayBeOn(s.World, p, n) }) {
			continue
		}
		capacity, limited := n.Capacity[resource]
		if resource == workload.PodsResource && !limited {
			return 0
		}
		free := capacity - s.used(s.on(n), resource)
		here := max(0, free) / amount
		fit, least = plus(fit, here), min(least, plus(amount-max(0, free)%amount, -min(0, free)))
	}
	switch {
	case least == math.MaxInt64:
		return amount // there is no node to run on
	case fit >= s.least(s.request.Group):
		return 0
	}
	return least
}

// least is how many pods a group needs at least: its own minimum, or those of as many groups below it as it needs.
func (s *scene) least(group string) int64 {
	var below []int64
	for _, g := range s.groupsBelow(group) {
		below = append(below, s.least(g))
	}
	slices.Sort(below)
	need, sum := need(s.World, group), int64(0)
	for i := range need.MinGroups {
		sum += below[i]
	}
	return max(int64(need.MinCount), sum)
}
