package nodes

import (
	"slices"

	"github.com/cedesched/cede/preemption/placement"
)

// What package verify asks: the sentences of the other files, about a decision that another scheduler has taken.

// New returns the state and the request about it, at the time of the request.
func New(c placement.Config, st placement.State, r placement.Request) *World {
	return newWorld(c, st, r, r.Now)
}

// Units lists the units that run, the most important first.
func (w *World) Units() (list []placement.Unit) {
	for _, u := range w.units() {
		list = append(list, u.public())
	}
	return list
}

// find finds a unit, or some of its pods, again.
func find(w *World, u placement.Unit) *unit {
	ids := idsOf(u)
	for _, of := range w.units() {
		of.pods = slices.DeleteFunc(of.pods, func(p *pod) bool { return !slices.Contains(ids, p.ID) })
		if len(of.pods) > 0 {
			return of
		}
	}
	return nil
}

func idsOf(u placement.Unit) (list []string) {
	for _, p := range u.Pods {
		list = append(list, p.ID)
	}
	return list
}

// KeptBy returns what keeps a unit, or some pods of one, from yielding. Zero Rule: it may yield.
func (w *World) KeptBy(u placement.Unit) placement.Blocker { return keptBy(w, find(w, u)) }

// Candidates lists the units that may yield in a domain, with the pods of them that violate a budget.
func (w *World) Candidates(d placement.Domain) (list []placement.PotentialVictim) {
	units := candidates(w, within(w, d.Name, func(n *node) bool { return slices.Contains(d.Nodes, n.Name) }))
	charge(w, w.charged(units))
	for _, u := range units {
		list = append(list, placement.PotentialVictim{Unit: u.public(), Violations: u.violations})
	}
	return list
}

// Charge says how many pods of units violate a budget if no other unit is charged. The most important unit comes first.
func (w *World) Charge(units []placement.Unit) (out []placement.PotentialVictim) {
	var list []*unit
	for _, u := range units {
		list = append(list, find(w, u))
	}
	charge(w, list)
	for i, u := range list {
		out = append(out, placement.PotentialVictim{Unit: units[i], Violations: u.violations})
	}
	return out
}

// Violate reports whether units are too many for a budget.
func (w *World) Violate(units []placement.Unit) bool {
	return slices.ContainsFunc(w.Charge(units), func(v placement.PotentialVictim) bool { return v.Violations > 0 })
}

// Domains lists the domains in which room is looked for.
func (w *World) Domains() (list []placement.Domain) {
	for _, d := range searched(w, w.domains()) {
		list = append(list, placement.Domain{Name: d.name, Nodes: d.names()})
	}
	return list
}

// Leaving lists the pods that are waited for.
func (w *World) Leaving() (list []string) {
	for _, p := range goneAlready(w) {
		list = append(list, p.ID)
	}
	return list
}

// HasTrials reports whether set filters or a placer are asked, which need not be monotone.
func (w *World) HasTrials() bool { return len(setFilters(w)) > 0 || w.request.Placer != nil }

func runningOf(w *World, ids []string) []*pod {
	return slices.DeleteFunc(slices.Clone(w.running), func(p *pod) bool { return !slices.Contains(ids, p.ID) })
}

// Fits reports whether the request has room beside all but some pods.
func (w *World) Fits(gone []string) bool {
	s, _ := findsRoom(w, searched(w, w.domains()), runningOf(w, gone))
	return s != nil
}

// MayBeOn reports whether a pod of the request may run on a node, whatever else runs there.
func (w *World) MayBeOn(n placement.Nomination) bool {
	return mayBeOn(w, requested(w, n.Pod), w.node(n.Node))
}

// Stand reports whether pods of the request have room on their nodes beside all but some pods, placed in this order, or those first
// that keep a nomination.
func (w *World) Stand(list []placement.Nomination, gone []string) bool {
	s := w.scene(runningOf(w, gone))
	if s.placed = seats(w, list); s.keeps() {
		return true
	}
	kept := w.scene(runningOf(w, gone))
	for _, k := range s.placed {
		if k.node == k.pod.promised && kept.fits(k.pod, k.node) {
			kept.placed = append(kept.placed, k)
		}
	}
	for _, k := range s.placed {
		if !kept.has(k.pod) {
			kept.placed = append(kept.placed, k)
		}
	}
	return kept.keeps()
}

func seats(w *World, list []placement.Nomination) (seats []seat) {
	for _, n := range list {
		seats = append(seats, seat{requested(w, n.Pod), w.node(n.Node)})
	}
	return seats
}

// Lacking lists the groups of the request that do not get what they need in a domain, though pods of them have a place.
func (w *World) Lacking(list []placement.Nomination, d placement.Domain) []string {
	if !nests(w) || len(list) == 0 {
		return nil
	}
	s := w.scene(nil)
	s.placed = seats(w, list)
	return s.lacking(w.request.Group, []domain{within(w, d.Name, func(n *node) bool { return slices.Contains(d.Nodes, n.Name) })})
}

// lacking looks at a group, which is within the first of its domains that holds its pods, and then at those below it.
func (s *scene) lacking(group string, domains []domain) (list []string) {
	at := slices.IndexFunc(domains, func(d domain) bool { return !s.isOutside(group, d) })
	got := 0
	for _, below := range s.groupsBelow(group) {
		if at >= 0 && s.members(below) > 0 {
			lacking := s.lacking(below, s.domainsOf(need(s.World, below), domains[at]))
			got += number(!slices.Contains(lacking, below))
			list = append(list, lacking...)
		}
	}
	if at < 0 || !s.getsItsNeed(group, got) {
		list = append(list, group)
	}
	return list
}
