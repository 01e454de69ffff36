package room

import "github.com/cedesched/cede/internal/engine/nodes/state"

// Stays has the units of lower priority that stay until the end: they count as fixed at every floor, on the nodes of
// all domains.
type Stays struct {
	Over
	stays map[*state.Unit]bool
	order []*state.Unit // in which they were made to stay
}

func (s *Stays) begin() {
	if s.stays == nil {
		s.stays = map[*state.Unit]bool{}
	}
	s.Over.begin()
}

func (s *Stays) end() {
	clear(s.stays)
	clear(s.order[:cap(s.order)])
	s.order = s.order[:0]
	s.Over.end()
}

// IsStaying reports whether a unit of lower priority stays until the end.
func (s *Stays) IsStaying(u *state.Unit) bool { return s.stays[u] || s.staysOver(u) }

// AnyStays reports whether a unit was made to stay.
func (s *Stays) AnyStays() bool { return len(s.order) > 0 }

// Stay makes a unit stay.
func (s *Stays) Stay(u *state.Unit) {
	s.stays[u] = true
	s.order = append(s.order, u)
	s.fixUnit(u, 1)
}

// Unstay undoes the last Stay.
func (s *Stays) Unstay() {
	last := len(s.order) - 1
	s.fixUnit(s.order[last], -1)
	delete(s.stays, s.order[last])
	s.order = s.order[:last]
}

// Forget makes no unit stay.
func (s *Stays) Forget() {
	s.forgetOver()
	for len(s.order) > 0 {
		s.Unstay()
	}
}

func (s *Stays) fixUnit(u *state.Unit, sign int64) {
	for _, p := range u.Pods {
		if i := s.Of(p); i >= 0 {
			s.fix(s.cellsOf(i, p.Class(), p.Takes), sign)
		}
	}
}

// KeepProtected makes the units that may not yield at an instant stay, on all nodes.
func (s *Stays) KeepProtected(at int64) {
	if !s.AnyRule() {
		return
	}
	for _, n := range s.Nodes {
		for _, p := range n.Pods {
			if p.Priority >= s.Priority {
				continue
			}
			if u := s.UnitOf(p); u != nil && !s.stays[u] && s.Verdict(u, at).Rule != 0 {
				s.Stay(u)
			}
		}
	}
}
