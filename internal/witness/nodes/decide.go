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
	if w.oneByOne() {
		return decideOneByOne(c, st, r, at)
	}
	return w.decide(w.domains())
}

// decide: "If a pod P can be scheduled without triggering preemption, we don't consider preemption at all." "If the
// request fits once terminating pods are gone, it waits for them." "Otherwise these steps follow for each domain."
func (w *World) decide(domains []domain) placement.Decision {
	if s, d := w.findsRoom(w.searched(domains), nil); s != nil && !w.request.SkipFit {
		return w.decision(preemption.Fits, &choice{domain: d, seats: s.placed})
	}
	if w.config.Mode == placement.ModeDesign && len(w.leaving()) > 0 {
		if s, d := w.findsRoom(w.withoutRoom(w.searched(domains)), w.leaving()); s != nil {
			c := &choice{domain: d, seats: s.placed}
			if o := w.outcome(c); o != preemption.Fits || !w.request.SkipFit { // then "only preemption is considered"
				return w.decision(o, c) // "A promise that can be met without anybody leaving is Fits."
			}
		}
	}
	if w.request.Policy == placement.PreemptNever {
		most := 0
		for _, d := range w.all(domains) {
			_, placeable := w.solve(d, nil)
			most = max(most, placeable)
		}
		return w.impossible(placement.ReasonPolicyNever, most, domains)
	}
	if d, waits := w.waitsInPlace(); waits {
		return d
	}
	return w.preempt(domains)
}

// searched lists the domains in which room is looked for. A single pod looks at all nodes.
func (w *World) searched(domains []domain) []domain {
	if w.single() {
		return []domain{w.cluster()}
	}
	return w.all(domains)
}

// findsRoom places the request beside all but some pods, in the first domain with room.
func (w *World) findsRoom(domains []domain, without []*pod) (*scene, domain) {
	for _, keep := range []bool{true, false} {
		for _, d := range domains {
			s := w.scene(without)
			if keep && !s.keepPromises(d) {
				continue
			}
			kept := slices.Clone(s.placed)
			if s.place(d); s.enough() && !slices.ContainsFunc(kept, func(k seat) bool { return !s.has(k.pod) }) {
				if w.single() {
					d.name = s.placed[0].node.Name
				}
				return s, d
			}
		}
	}
	return nil, domain{}
}

// withoutRoom leaves out, with SkipFit, the nodes with room for a single pod: what leaves, too, "could not help there".
func (w *World) withoutRoom(domains []domain) []domain {
	if !w.request.SkipFit || !w.single() {
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
func (w *World) preempt(domains []domain) placement.Decision {
	most, why := 0, placement.ReasonNoVictims
	solve := func(d domain) *choice {
		c, placeable := w.solve(d, w.candidates(d))
		kept := w.keepBudgets(c)
		switch {
		case kept != nil && w.request.SkipFit && w.single() && len(kept.victims) == 0:
			kept, why = nil, max(why, placement.ReasonNoRoom) // "a node on which no unit has to yield is then no candidate"
		case kept == nil && c != nil:
			why = placement.ReasonBudgets
		case c == nil && len(w.candidates(d)) > 0:
			why = max(why, placement.ReasonNoRoom)
		}
		most = max(most, placeable)
		return kept
	}
	list := w.choices(domains, solve)
	if len(list) == 0 {
		return w.impossible(why, most, domains)
	}
	c := w.chosen(list)
	return w.decision(w.outcome(c), c)
}

// outcome: "The outcome is Preempt, or Fits for a placement without victims"; or Wait, if it needs the room of what terminates.
func (w *World) outcome(c *choice) preemption.Outcome {
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
	if w.oneByOne() {
		w = newWorld(c, st, alone(r, r.Pods[0]), r.Now)
	}
	for _, found := range w.choices(w.domains(), func(d domain) *choice {
		found, _ := w.solve(d, w.candidates(d))
		if found = w.keepBudgets(found); found == nil || len(found.victims) == 0 {
			return nil
		}
		return found
	}) {
		list = append(list, w.decision(preemption.Preempt, found).Placement)
	}
	if r.MaxDomains > 0 && w.single() {
		slices.SortStableFunc(list, func(a, b placement.Placement) int { return number(a.Violations > 0) - number(b.Violations > 0) })
	}
	return list
}

// choices solves each domain. "If none of them has room, also by preemption, the group may be on the nodes of all of them."
func (w *World) choices(domains []domain, solve func(domain) *choice) (list []*choice) {
	if w.single() {
		return w.sampled(domains, solve)
	}
	for i, d := range w.all(domains) {
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
func (w *World) chosen(list []*choice) *choice {
	if w.config.Mode == placement.ModeInPlace && !w.single() {
		return list[0]
	}
	return best(list)
}

func (w *World) impossible(why placement.Reason, placeable int, domains []domain) placement.Decision {
	d := w.placed(preemption.Impossible, nil)
	d.Reason, d.Placeable = why, placeable
	d.Shortage = w.shortage(w.all(domains))
	d.Blockers = w.blockers(w.all(domains), d.Shortage)
	return d
}

// placed: nominations come "in the order of the request"; Placeable "is the length of Nominations"; Pods are those of the request
// "in the same order, and on the Node of their nomination".
func (w *World) placed(o preemption.Outcome, seats []seat) placement.Decision {
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
func (w *World) decision(o preemption.Outcome, c *choice) placement.Decision {
	d := w.placed(o, c.seats)
	d.Domain, d.Violations = c.domain.name, c.violations()
	for i, u := range c.victims {
		d.Victims = append(d.Victims, placement.Victim{
			Group: u.group, Pods: u.ids(), Priority: u.priority(), Violations: u.violations, Order: i + 1,
		})
	}
	slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	if o == preemption.Preempt {
		d.Withdrawn = w.withdrawn(c)
	}
	return d
}

// withdrawn: "pods of lower priority nominated to a node of Nominations, and pods of a group that yields whole".
func (w *World) withdrawn(c *choice) (list []string) {
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
