package nodes

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// The order of the answers: package placement, Steps; KEP-5710, Delayed preemption.

// Decide answers a request, as [placement.Preemptor.Decide] does. The configuration, the state and the request are valid.
func Decide(c placement.Config, st placement.State, r placement.Request) placement.Decision {
	d := decideAt(c, st, r, r.Now)
	d.Now = r.Now
	if d.Outcome.Possible() {
		return d
	}
	d.RetryAt = RetryAt(c, st, r)
	if !d.RetryAt.IsZero() {
		d.Outcome = preemption.Wait
	}
	return d
}

// decideAt answers at an instant; it does not know whether time will help.
func decideAt(c placement.Config, st placement.State, r placement.Request, at time.Time) placement.Decision {
	w := newWorld(c, st, r, at)
	if oneByOne(w) {
		return decideOneByOne(c, st, r, at)
	}
	return decide(w, w.domains())
}

// decide: "If a pod P can be scheduled without triggering preemption, we don't consider preemption at all." "If the
// request fits once terminating pods are gone, it waits for them." "Otherwise these steps follow for each domain."
func decide(w *World, domains []domain) placement.Decision {
	if s, d := findsRoom(w, searched(w, domains), nil); s != nil && !w.request.SkipFit {
		return decision(w, preemption.Fits, &choice{domain: d, seats: s.placed})
	}
	if w.config.Mode == placement.ModeDesign && len(w.leaving()) > 0 {
		if s, d := findsRoom(w, withoutRoom(w, searched(w, domains)), w.leaving()); s != nil {
			c := &choice{domain: d, seats: s.placed}
			if o := outcome(w, c); o != preemption.Fits || !w.request.SkipFit { // then "only preemption is considered"
				return decision(w, o, c) // "A promise that can be met without anybody leaving is Fits."
			}
		}
	}
	if w.request.Policy == placement.PreemptNever {
		most := 0
		for _, d := range all(w, domains) {
			_, placeable := solve(w, d, nil, nil)
			most = max(most, placeable)
		}
		return impossible(w, placement.ReasonPolicyNever, most, domains)
	}
	if d, waits := waitsInPlace(w); waits {
		return d
	}
	return preempt(w, domains)
}

// searched lists the domains in which room is looked for. A single pod looks at all nodes.
func searched(w *World, domains []domain) []domain {
	if single(w) {
		return []domain{cluster(w)}
	}
	return all(w, domains)
}

// findsRoom places the request beside all but some pods, in the first domain with room.
func findsRoom(w *World, domains []domain, without []*pod) (*scene, domain) {
	for _, keep := range []bool{true, false} {
		for _, d := range domains {
			s := w.scene(without)
			if keep && !s.keepPromises(d) {
				continue
			}
			kept := slices.Clone(s.placed)
			if s.place(d); s.enough() && !slices.ContainsFunc(kept, func(k seat) bool { return !s.has(k.pod) }) {
				if single(w) {
					d.name = s.placed[0].node.Name
				}
				return s, d
			}
		}
	}
	return nil, domain{}
}

// withoutRoom leaves out, with SkipFit, the nodes with room for a single pod: what leaves, too, "could not help there".
func withoutRoom(w *World, domains []domain) []domain {
	if !w.request.SkipFit || !single(w) {
		return domains
	}
	d := domains[0]
	d.nodes = slices.DeleteFunc(d.nodes, func(n *node) bool {
		s := w.scene(nil)
		s.place(domain{nodes: []*node{n}})
		return s.enough()
	})
	return []domain{d}
}

// preempt: "Once we find enough nodes feasible for preemption and list of victims for them, we score that and choose the
// best options." The reasons: "no unit that may yield has lower priority and runs in any domain"; "there would be room, but
// only by violating a disruption budget"; "there is too little room even without all units that may be preempted".
func preempt(w *World, domains []domain) placement.Decision {
	most, why := 0, placement.ReasonNoVictims
	solve := func(d domain) *choice {
		list := candidates(w, d)
		c, placeable := solve(w, d, list, w.charged(list))
		kept := keepBudgets(w, c)
		switch {
		case kept != nil && w.request.SkipFit && single(w) && len(kept.victims) == 0:
			kept, why = nil, max(why, placement.ReasonNoRoom) // "a node on which no unit has to yield is then no candidate"
		case kept == nil && c != nil:
			why = placement.ReasonBudgets
		case c == nil && len(list) > 0:
			why = max(why, placement.ReasonNoRoom)
		}
		most = max(most, placeable)
		return kept
	}
	list := choices(w, domains, solve)
	if len(list) == 0 {
		return impossible(w, why, most, domains)
	}
	c := chosen(w, list)
	return decision(w, outcome(w, c), c)
}

// outcome: "The outcome is Preempt, or Fits for a placement without victims"; or Wait, if it needs the room of what terminates.
func outcome(w *World, c *choice) preemption.Outcome {
	s := w.scene(nil)
	s.placed = c.seats
	switch {
	case len(c.victims) > 0:
		return preemption.Preempt
	case s.keeps():
		return preemption.Fits
	}
	return preemption.Wait
}

// Placements returns "every domain in which preemption makes room, with its victims, in the order of the domains. With
// [placement.Request.MaxDomains] only those that are compared: domains without violations first. It looks at preemption alone: a
// domain where no unit has to yield is not in the list, and PreemptNever and nominations do not count."
func Placements(c placement.Config, st placement.State, r placement.Request) (list []placement.Placement) {
	w := newWorld(c, st, r, r.Now)
	if oneByOne(w) {
		w = newWorld(c, st, alone(r, r.Pods[0]), r.Now)
	}
	for _, found := range choices(w, w.domains(), func(d domain) *choice {
		units := candidates(w, d)
		found, _ := solve(w, d, units, w.charged(units))
		if found = keepBudgets(w, found); found == nil || len(found.victims) == 0 {
			return nil
		}
		return found
	}) {
		list = append(list, decision(w, preemption.Preempt, found).Placement)
	}
	if r.MaxDomains > 0 && single(w) {
		slices.SortStableFunc(list, func(a, b placement.Placement) int { return number(a.Violations > 0) - number(b.Violations > 0) })
	}
	return list
}

// choices solves each domain. "If none of them has room, also by preemption, the group may be on the nodes of all of them."
func choices(w *World, domains []domain, solve func(domain) *choice) (list []*choice) {
	if single(w) {
		return sampled(w, domains, solve)
	}
	for i, d := range all(w, domains) {
		if i >= len(domains) && len(list) > 0 {
			break
		}
		if c := solve(d); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// chosen: "score that and choose the best"; in [placement.ModeInPlace] "a group in the first domain with room".
func chosen(w *World, list []*choice) *choice {
	if w.config.Mode == placement.ModeInPlace && !single(w) {
		return list[0]
	}
	return best(list)
}

func impossible(w *World, why placement.Reason, placeable int, domains []domain) placement.Decision {
	d := placed(w, preemption.Impossible, nil)
	d.Reason, d.Placeable = why, placeable
	d.Shortage = shortage(w, all(w, domains))
	d.Blockers = blockers(w, all(w, domains), d.Shortage)
	return d
}

// placed: nominations come "in the order of the request"; Placeable "is the length of Nominations"; Pods are those of the request
// "in the same order, and on the Node of their nomination".
func placed(w *World, o preemption.Outcome, seats []seat) placement.Decision {
	d := placement.Decision{Outcome: o}
	for _, p := range w.pods {
		at := p.Pod
		if i := slices.IndexFunc(seats, func(s seat) bool { return s.pod == p }); i >= 0 {
			at = p.at(seats[i].node)
			d.Nominations = append(d.Nominations, placement.Nomination{Pod: at.ID, Node: at.Node})
		}
		d.Pods = append(d.Pods, at)
	}
	d.Placeable = len(d.Nominations)
	if w.resized != nil {
		d.Pods = nil // "if it fits, it runs with its new requests"
		if o == preemption.Fits {
			d.Pods = []workload.Pod{*w.resized}
		}
	}
	return d
}

// decision adds the victims, "sorted by ID of the first pod".
func decision(w *World, o preemption.Outcome, c *choice) placement.Decision {
	d := placed(w, o, c.seats)
	d.Domain, d.Violations = c.domain.name, c.violations()
	for i, u := range c.victims {
		d.Victims = append(d.Victims, placement.Victim{
			Group: u.group, Pods: u.ids(), Priority: u.priority(), Violations: u.violations, Order: i + 1,
		})
	}
	slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	if o == preemption.Preempt {
		d.Withdrawn = withdrawn(w, c)
	}
	return d
}

// withdrawn: "pods of lower priority nominated to a node of Nominations, and pods of a group that yields whole".
func withdrawn(w *World, c *choice) (list []string) {
	for _, p := range w.nominated {
		taken := slices.ContainsFunc(c.seats, func(s seat) bool { return s.node.Name == p.Node })
		whole := w.wholeGroup(p)
		yields := slices.ContainsFunc(c.victims, func(u *unit) bool { return whole != "" && u.group == whole })
		if taken && p.priority < w.request.Priority || yields {
			list = append(list, p.ID)
		}
	}
	slices.Sort(list)
	return list
}
