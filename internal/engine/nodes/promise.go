package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/trace"
)

// fitsNow looks for room with everything that runs.
func (s *Searcher) fitsNow() (Result, bool) {
	if d, ok := s.findRoom(true); ok {
		return s.without(Fits, s.placed(d)), true
	}
	return Result{}, false
}

// fitsSoon looks for room without terminating pods, if there are any. (KEP-5710, Delayed
// preemption: while the nomination is feasible there is no new preemption; else the decision
// starts again without the earlier victims.) A place for which nobody has to leave is not
// waited for: the request fits. With SkipFit it is no place: the caller's scheduler has
// failed already.
func (s *Searcher) fitsSoon() (Result, bool) {
	if !s.anyLeaving {
		return Result{}, false
	}
	d, ok := s.findRoom(false)
	if t := s.r.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.Awaited, Fits: ok})
	}
	if !ok {
		return Result{}, false
	}
	c, order := s.placed(d), slices.Clone(s.trials.order)
	switch {
	case !s.standsNow(c, order):
		return s.without(Wait, c), true
	case s.r.SkipFit:
		return Result{}, false
	}
	return s.without(Fits, c), true
}

// findRoom places the members beside running pods, with terminating pods if now is set, else
// without. It first tries the nominations with the other members around them, then all nodes.
func (s *Searcher) findRoom(now bool) (span, bool) {
	if s.isAlone() {
		return s.findNode(now)
	}
	if s.promised {
		for _, d := range s.ranges {
			s.open(nobody, now)
			if kept := s.placePromised(d); kept > 0 && kept+s.place(d) >= s.atLeast {
				return d, true
			}
		}
	}
	for _, d := range s.ranges {
		s.open(nobody, now)
		if s.place(d) >= s.atLeast {
			return d, true
		}
	}
	return span{}, false
}

// standsNow reports whether the members of a choice have their room now, in the order in which they were
// placed: rules about sets may refuse another one.
func (s *Searcher) standsNow(c *Placement, order []int32) bool {
	everywhere := span{"", 0, len(s.nodes)}
	s.open(nobody, true)
	for _, m := range order {
		at := c.Where[m]
		if !s.fits(everywhere, &s.members[m], int(at)) {
			return false
		}
		s.put(int(m), at)
	}
	return true
}

// inOrder lists the members that a choice places, in their order.
func (s *Searcher) inOrder(c *Placement) (order []int32) {
	for m := range s.members {
		if c.Where[m] >= 0 {
			order = append(order, int32(m))
		}
	}
	return order
}

// placePromised places the nominated members in the domain on their nodes. It returns how
// many still fit.
func (s *Searcher) placePromised(d span) int {
	placed := 0
	for m := range s.members {
		one := &s.members[m]
		if one.promise < 0 {
			continue
		}
		at := s.local[one.promise]
		if int(at) >= d.from && int(at) < d.to && s.fits(d, one, int(at)) {
			s.put(m, at)
			placed++
		}
	}
	return placed
}

// placed returns the current placement as a choice without victims.
func (s *Searcher) placed(d span) *Placement {
	c := new(Placement)
	s.victims = s.victims[:0]
	s.keep(c, d, score{})
	return c
}

// without returns a result without victims.
func (s *Searcher) without(outcome Outcome, c *Placement) Result {
	if s.r.Group == "" {
		c.Domain = s.nodes[c.Where[0]].Facts.Name
	}
	return Result{Outcome: outcome, Placement: *c}
}

// blocked reports whether earlier victims still terminate on a node that a member is
// nominated to (as built in v1.36 and v1.37). A node on which a single pod may no longer run
// does not block it.
func (s *Searcher) blocked() bool {
	for m := range s.members {
		one := &s.members[m]
		if one.promise < 0 {
			continue
		}
		n := s.c.nodes.At(int(one.promise))
		if s.r.Group == "" && !s.possible(one, n) {
			continue
		}
		if slices.ContainsFunc(n.pods, func(p *Pod) bool { return p.Facts.Preempted && p.priority < s.priority && !s.stuck(p) }) {
			return true
		}
	}
	return false
}

// possible reports whether a member may run on a node, whatever else runs there.
func (s *Searcher) possible(one *member, n *node) bool {
	if n.Facts.Unschedulable || !one.names(n) {
		return false
	}
	for _, f := range s.r.Filters {
		if !f.Rule.Feasible(*one.Facts, n.Facts) {
			return false
		}
	}
	return true
}

// promisedAgain keeps the nominations as they are, also on nodes where nothing can be placed
// any more.
func (s *Searcher) promisedAgain() Result {
	found := Result{Outcome: Wait}
	for m := range s.members {
		found.Where = append(found.Where, s.members[m].promise)
	}
	found.isNumbered = true
	return found
}
