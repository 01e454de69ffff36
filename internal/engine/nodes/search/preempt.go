package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/trace"
)

// preempt chooses among the domains.
func (s *domains) preempt() Result {
	var best place.Placement
	clean, violating, chosen := 0, 0, false
	reason := NoVictims
	s.short = s.short[:0]
	s.sums.least = s.LeastNeeds()
	skip := func(d room.Domain) bool { return chosen && (d.IsLast || s.isBeaten(d, &best)) }
	s.each(skip, func(d room.Domain, found trace.Found) bool {
		if found != trace.Victims {
			switch found {
			case trace.NoRoom:
				s.short = append(s.short, d)
			case trace.Budgets:
				reason = Budgets
			}
			s.noteDomain(trace.DomainEnds, d, found)
			return s.isSampled(clean, violating)
		}
		score := s.Rate(s.victims)
		if score.Violations > 0 {
			violating++
		} else {
			clean++
		}
		over := score.Violations > 0 && s.Request.MaxDomains > 0 && violating > s.Request.MaxDomains
		better := !over && (!chosen || score.Compare(best.Score) < 0)
		if better {
			s.Keep(&best, d, s.victims, score)
			chosen = true
		}
		s.noteRating(d, score, better)
		return s.isSampled(clean, violating) || s.Config.DecidesTogether(s.Request)
	})
	if !chosen {
		return s.impossible(reason)
	}
	if t := s.trace; t != nil {
		t.Add(trace.Step{Kind: trace.Chosen, Place: trace.Place{Domain: best.Domain}})
	}
	r := Result{Outcome: Preempt, Placement: best}
	switch {
	case len(best.Victims) > 0:
		r.Withdrawn = s.withdrawn(&best, func(i int32) *state.Node { return s.Nodes[i] })
	case s.AnyLeaving && !s.HaveRoomNow(best.Where, best.InOrder()):
		r.Outcome = Wait // found because members change places, which happens only in a group
	default:
		r.Outcome = Fits
	}
	return r
}

// impossible is the result if there are victims in no domain. If filters do not permit a node, it is not room that is
// missing there.
func (s *domains) impossible(reason Reason) Result {
	lacksRoom := func(d room.Domain) bool { return s.Request.Group != "" || s.IsPossible(&s.Members[0], s.Nodes[d.From]) }
	if reason == NoVictims && slices.ContainsFunc(s.short, lacksRoom) {
		reason = NoRoom
	}
	return Result{Outcome: Impossible, Reason: reason, Placeable: s.placeable}
}

// withdrawn lists the nominations that a placement makes void: they conflict with the members, or are of waiting pods
// of a group that yields whole.
func (s *domains) withdrawn(x *place.Placement, node func(int32) *state.Node) []string {
	var list []string
	for _, at := range x.Where {
		if at >= 0 {
			for _, p := range node(at).Promised {
				if p.Priority < s.Priority && !s.IsMember(p.Facts.ID) {
					list = append(list, p.Facts.ID)
				}
			}
		}
	}
	if slices.ContainsFunc(x.Victims, func(u *state.Unit) bool { return u.Group != "" }) {
		for p := range s.Cluster.Promised.All {
			g := s.Cluster.YieldsWith(p.Facts.Group)
			of := func(u *state.Unit) bool { return g != nil && u.Group == g.Facts.ID }
			if slices.ContainsFunc(x.Victims, of) && !s.IsMember(p.Facts.ID) {
				list = append(list, p.Facts.ID)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// placements returns the domains in which preemption makes room, in their order. With sampling it returns at most
// MaxDomains: domains without violations first.
func (s *domains) placements() []place.Placement {
	var all, clean, violating []place.Placement // all: in the order of the domains
	count := func() int { return len(all) + len(clean) + len(violating) }
	skip := func(d room.Domain) bool { return d.IsLast && count() > 0 }
	s.each(skip, func(d room.Domain, found trace.Found) bool {
		if found == trace.Victims && len(s.victims) > 0 {
			var x place.Placement
			s.Keep(&x, d, s.victims, s.Rate(s.victims))
			s.Number(&x)
			n := s.Request.MaxDomains
			switch {
			case n == 0:
				all = append(all, x)
			case x.Score.Violations == 0:
				clean = append(clean, x)
			case len(violating) < n:
				violating = append(violating, x)
			}
		}
		return s.isSampled(len(clean), len(violating))
	})
	return slices.Concat(all, clean, violating)
}
