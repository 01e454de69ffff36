package search

import (
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/trace"
)

func (s *domains) begin() { s.placeable, s.trace = 0, s.Request.Trace }

// end drops the references to the cluster and the request.
func (s *domains) end() {
	clear(s.victims[:cap(s.victims)])
	clear(s.sums.yielding[:cap(s.sums.yielding)])
	s.victims, s.trace = s.victims[:0], nil
	s.Board.End()
}

// list lists the domains in order: for a single pod the nodes that it names. Whether the filters permit a node is
// asked when the pod is placed there.
func (s *domains) list() []room.Domain {
	if s.Request.Group != "" {
		return s.Domains
	}
	return s.nodesWhere(func(i int) bool { return s.Members[0].Names(s.Nodes[i]) })
}

// nodesWhere lists the nodes of which a condition holds as domains. The list is valid until the next one.
func (s *domains) nodesWhere(holds func(i int) bool) []room.Domain {
	s.single = s.single[:0]
	for i := range s.Nodes {
		if holds(i) {
			s.single = append(s.single, room.Domain{From: i, To: i + 1})
		}
	}
	return s.single
}

// each searches the domains one by one, except where skip returns true, until visit says stop.
func (s *domains) each(skip func(d room.Domain) bool, visit func(d room.Domain, found trace.Found) (stop bool)) {
	list := s.list()
	first := 0
	if s.Request.Group == "" && s.Request.MaxDomains > 0 && len(list) > 0 {
		first = s.Request.FirstNode % len(list)
	}
	for i := range list {
		d := list[(first+i)%len(list)]
		if skip != nil && skip(d) {
			s.noteDomain(trace.DomainSkipped, d, 0)
			continue
		}
		found, refused := s.refusal(d)
		if refused {
			s.noteRefused(d, found)
		} else {
			found = s.search(d)
		}
		if visit(d, found) {
			return
		}
	}
}

// search searches a domain.
func (s *domains) search(d room.Domain) trace.Found {
	s.noteDomain(trace.DomainBegins, d, 0)
	found := s.run(d, false)
	if found == trace.Victims && s.Config.HardBudgets && !s.keepsBudgets() {
		if t := s.trace; t != nil {
			t.Add(trace.Step{Kind: trace.DomainBegins, Place: trace.Place{Domain: s.DomainName(d)}, Attempt: trace.Attempt{Second: true}})
		}
		if found = s.run(d, true); found != trace.Victims {
			found = trace.Budgets
		}
	}
	if found == trace.Victims && s.Config.HardBudgets {
		s.ClearViolations()
	}
	if found == trace.Victims && len(s.victims) == 0 && s.Request.Group == "" && s.Request.SkipFit {
		found = trace.NoRoom
	}
	return found
}

// isSampled reports whether enough domains with victims were found for a single pod.
func (s *domains) isSampled(clean, violating int) bool {
	n := s.Request.MaxDomains
	return n > 0 && s.Request.Group == "" && clean > 0 && clean+min(violating, n) >= n
}
