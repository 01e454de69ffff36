package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/trace"
)

// decide decides at the time of the request. The places of the result are numbers of the cluster.
func (s *domains) decide() Result {
	r, isNumbered := s.decideHere()
	if !isNumbered {
		s.Number(&r.Placement)
	}
	return r
}

func (s *domains) decideHere() (r Result, isNumbered bool) {
	if !s.Request.SkipFit {
		r, ok := s.fitsNow()
		s.noteFits(trace.Asked, ok)
		if ok {
			return r, false
		}
	}
	if !s.AsBuilt {
		if r, ok := s.fitsSoon(); ok {
			return r, false
		}
	}
	switch {
	case s.Request.Never:
		return s.never(), false
	case s.AsBuilt && s.isBlocked():
		return s.promisedAgain(), true
	}
	return s.preempt(), false
}

// fitsNow looks for room with everything that runs.
func (s *domains) fitsNow() (Result, bool) {
	if d, ok := s.FindRoom(true); ok {
		return s.without(Fits, s.placed(d)), true
	}
	return Result{}, false
}

// fitsSoon looks for room without terminating pods, if there are any. (KEP-5710, Delayed preemption: while the
// nomination is feasible there is no new preemption; else the decision starts again without the earlier victims.) If
// there is a place without a pod that has to leave, the request fits and does not wait. With SkipFit that is no
// place: the caller's scheduler has failed already.
func (s *domains) fitsSoon() (Result, bool) {
	if !s.AnyLeaving {
		return Result{}, false
	}
	d, ok := s.FindRoom(false)
	if !ok {
		return Result{}, false
	}
	x, order := s.placed(d), slices.Clone(s.Placed())
	switch {
	case !s.HaveRoomNow(x.Where, order):
		return s.without(Wait, x), true
	case s.Request.SkipFit:
		return Result{}, false
	}
	return s.without(Fits, x), true
}

// placed returns the current placement without victims.
func (s *domains) placed(d room.Domain) place.Placement {
	var x place.Placement
	s.Keep(&x, d, nil, s.Rate(nil))
	return x
}

// without returns a result without victims.
func (s *domains) without(outcome Outcome, x place.Placement) Result {
	if s.Request.Group == "" {
		x.Domain = s.Nodes[x.Where[0]].Facts.Name
	}
	return Result{Outcome: outcome, Placement: x}
}

// never is the result of a request that may not preempt. A placer is asked about each node that a single pod may be on.
func (s *domains) never() Result {
	list := s.Domains
	if !s.Request.IsAlone() {
		list = s.list()
	}
	for _, d := range list {
		s.placeable = max(s.placeable, s.CountBeside(d))
	}
	return Result{Outcome: Impossible, Reason: PolicyNever, Placeable: s.placeable}
}

// isBlocked reports whether earlier victims still terminate on a node that a member is nominated to (as built in
// v1.36 and v1.37). A node on which a single pod may not run does not block it.
func (s *domains) isBlocked() bool {
	for m := range s.Members {
		member := &s.Members[m]
		if member.Promise < 0 {
			continue
		}
		n := s.Cluster.Node(member.Promise)
		if s.Request.Group == "" && !s.IsPossible(member, n) {
			continue
		}
		if slices.ContainsFunc(n.Pods, func(p *state.Pod) bool { return p.Facts.Preempted && p.Priority < s.Priority && !s.Stuck(p) }) {
			return true
		}
	}
	return false
}

// promisedAgain keeps the nominations as they are, also on nodes where nothing can be placed any more.
func (s *domains) promisedAgain() Result {
	r := Result{Outcome: Wait}
	for m := range s.Members {
		r.Where = append(r.Where, s.Members[m].Promise)
	}
	return r
}
