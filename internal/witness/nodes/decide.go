package nodes

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// The order of the answers: package placement, Steps; KEP-5710, Delayed preemption.

// Decide answers a request, as [placement.Preemptor.Decide] does. The configuration, the state and the request are valid.
func Decide(c placement.Config, st placement.State, r placement.Request) placement.Decision {
	d := decideAt(c, st, r, r.Now)
	if d.Outcome.Possible() {
		return d
	}
	d.RetryAt = RetryAt(c, st, r)
	if !d.RetryAt.IsZero() {
		d.Outcome = preemption.Wait
		d.Placeable = len(d.Nominations)
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
func (w *world) decide(domains []domain) placement.Decision {
	if s, d := w.findsRoom(w.all(domains), nil); s != nil && !w.request.SkipFit {
		return w.decision(preemption.Fits, &choice{domain: d, seats: s.placed})
	}
	if w.config.Mode == placement.ModeDesign && len(w.leaving()) > 0 {
		if s, d := w.findsRoom(w.withoutRoom(w.all(domains)), w.leaving()); s != nil {
			c := &choice{domain: d, seats: s.placed}
			return w.decision(w.outcome(c), c) // "A promise that can be met without anybody leaving is Fits."
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

// findsRoom places the request beside all but some pods, in the first domain with room. A single pod looks at all nodes.
func (w *world) findsRoom(domains []domain, without []*pod) (*scene, domain) {
	if w.single() {
		domains = []domain{{nodes: nodesOf(domains)}}
	}
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

// nodesOf lists the nodes of all domains.
func nodesOf(domains []domain) (list []*node) {
	for _, d := range domains {
		list = append(list, d.nodes...)
	}
	return list
}

// withoutRoom leaves out, with SkipFit, the domains in which there is room: what leaves, too, "could not help there".
func (w *world) withoutRoom(domains []domain) []domain {
	if !w.request.SkipFit {
		return domains
	}
	return slices.DeleteFunc(slices.Clone(domains), func(d domain) bool {
		s := w.scene(nil)
		s.place(d)
		return s.enough()
	})
}

// preempt: "Once we find enough nodes feasible for preemption and list of victims for them, we score that and choose the
// best options." The reasons: "no unit that may yield has lower priority and runs in any domain"; "there would be room, but
// only by violating a disruption budget"; "there is too little room even without all units that may be preempted".
func (w *world) preempt(domains []domain) placement.Decision {
	most, why := 0, placement.ReasonNoVictims
	solve := func(d domain) *choice {
		c, placeable := w.solve(d, w.candidates(d))
		kept := w.keepBudgets(c)
		switch {
		case kept != nil && w.single() && len(kept.victims) == 0:
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
func (w *world) outcome(c *choice) preemption.Outcome {
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

// choices solves each domain. "If none of them has room, also by preemption, the group may be on the nodes of all of them."
func (w *world) choices(domains []domain, solve func(domain) *choice) (list []*choice) {
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
func (w *world) chosen(list []*choice) *choice {
	if w.config.Mode == placement.ModeInPlace && !w.single() {
		return list[0]
	}
	return best(list)
}

func (w *world) impossible(why placement.Reason, placeable int, domains []domain) placement.Decision {
	d := placement.Decision{Outcome: preemption.Impossible, Reason: why, Shortage: w.shortage(w.all(domains))}
	d.Placeable = placeable
	return d
}

// decision: nominations come "in the order of the request", victims "sorted by ID of the first pod"; Placeable "is the
// length of Nominations".
func (w *world) decision(o preemption.Outcome, c *choice) placement.Decision {
	d := placement.Decision{Outcome: o}
	d.Domain, d.Violations = c.domain.name, c.violations()
	for _, p := range w.pods {
		if i := slices.IndexFunc(c.seats, func(s seat) bool { return s.pod == p }); i >= 0 {
			d.Nominations = append(d.Nominations, placement.Nomination{Pod: p.ID, Node: c.seats[i].node.Name})
		}
	}
	d.Placeable = len(d.Nominations)
	for i, u := range c.victims {
		v := placement.Victim{Group: u.group, Priority: u.priority(), Violations: u.violations, Order: i + 1}
		for _, p := range u.pods {
			v.Pods = append(v.Pods, p.ID)
		}
		slices.Sort(v.Pods)
		d.Victims = append(d.Victims, v)
	}
	slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	if o == preemption.Preempt {
		d.Withdrawn = w.withdrawn(c)
	}
	return d
}

// withdrawn: "pods of lower priority nominated to a node of Nominations, and pods of a group that yields whole".
func (w *world) withdrawn(c *choice) (list []string) {
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
