package search

import "github.com/cedesched/cede/internal/engine/usage"

// succeedsAt tries an instant. Once one has failed, a test that costs less comes first: a
// classical attempt takes of each donor its candidates in order, at most until the queue is
// within nominal quota, whatever is taken of others. So the request must fit with that much
// of every donor gone; and at an instant only the donors change whose runs do.
func (s *Searcher) succeedsAt(at int64) bool {
	s.request.Now = at
	if s.draining {
		for _, donor := range s.changed {
			s.drain(donor)
		}
		s.changed = s.changed[:0]
		if !s.fits(true) {
			return false
		}
		s.shiftAll(-1)
	}
	found := s.findVictims()
	s.restore()
	if s.draining {
		s.shiftAll(1)
	} else if !found {
		s.startDraining()
	}
	return found
}

// startDraining makes succeedsAt drain all donors first, where every attempt takes the same
// of a donor: in fair sharing, and with the largest first, that depends on the others.
func (s *Searcher) startDraining() {
	if s.request.Fair.enabled() || s.request.LargestFirst || s.request.Room != nil || s.mayPermitMore() {
		return
	}
	s.draining, s.changed = true, s.changed[:0]
	for i := range s.donors {
		s.changed = append(s.changed, i)
	}
	s.clearMoved()
}

// stopDraining puts everybody back.
func (s *Searcher) stopDraining() {
	if s.draining {
		s.shiftAll(-1)
		s.draining = false
	}
}

// drain takes from a donor what an attempt takes at most, instead of what is taken so far.
func (s *Searcher) drain(donor int) {
	slots, d := len(s.request.Amounts), s.donors[donor]
	if d.class != own {
		d.lca = s.view.Tree.Parent(d.queue) // cohorts between are others' as well
	}
	for slot, moved := range s.moved[donor*slots:][:slots] {
		s.shift(donor, slot, -moved)
	}
	before := append(s.rest[:0], make([]int64, slots)...)
	for slot := range before {
		before[slot] = s.view.Cells(d.queue)[slot].Used(usage.Victims)
	}
	for n := range phases {
		p := s.permission(d.class, true)
		if phases[n].class != d.class || p == nobody || !s.hasTier(phases[n].tier) {
			continue
		}
		s.streams, s.sources, s.heap, s.bySize = s.streams[:0], s.sources[:0], s.heap[:0], s.bySize[:0]
		for _, lane := range phases[n].lanes {
			s.queueStream(s.cluster.Running(d.queue), d, lane, p, phases[n].tier)
		}
		for {
			v, ok := s.next()
			if !ok {
				break
			}
			s.take(v)
		}
	}
	s.taken = s.taken[:0]
	for slot := range before {
		s.moved[donor*slots+slot] = s.view.Cells(d.queue)[slot].Used(usage.Victims) - before[slot]
	}
	s.rest = before
}
