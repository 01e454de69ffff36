package placement

import (
	"iter"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
)

// Candidates iterates once over the units that may yield to the request now, with a pod in one of its domains, the least important
// first: of lower priority, and protected by no rule. Each is copied when its turn comes. For a single pod the domains are the
// schedulable nodes that it names. Budgets do not count. Its errors are those of [Preemptor.Decide].
func (p *Preemptor) Candidates(snapshot *Snapshot, r Request) (iter.Seq[Unit], error) {
	if p == nil {
		p = &standard
	}
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return nil, err
	}
	candidates := sc.search.Candidates(&p.inside, c, &sc.request)
	return func(yield func(Unit) bool) {
		for u := range candidates {
			if !yield(unitOf(u)) {
				return
			}
		}
	}, nil
}

// Instants lists, rising, the instants after that of the request at which more units may yield or the wait for a terminating pod
// ends: at no other a decision succeeds that does not succeed before. Its errors are those of [Preemptor.Decide].
func (p *Preemptor) Instants(snapshot *Snapshot, r Request) ([]time.Time, error) {
	if p == nil {
		p = &standard
	}
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return nil, err
	}
	var list []time.Time
	for _, at := range sc.search.Instants(&p.inside, c, &sc.request) {
		list = append(list, instant.Time(at))
	}
	return list, nil
}
