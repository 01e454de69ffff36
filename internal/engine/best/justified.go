package best

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/quota"
)

// In fair sharing each victim taken by a strategy must also pass one when only those before it
// are gone. It compares the share of the preemptor's side of the common cohort with that of
// the victim's side.
//
// Victims below the common cohort on the preemptor's side make its share smaller, and no other
// victim changes it. So the best order takes the own queue first, then the levels from the
// nearest to the farthest; no victim of a farther level has to come before one of a nearer
// level. On a side the share only falls. If the last victim passes the final share, all
// before it do, in any order. Else the last one must pass the initial share; then those
// before it, which find a larger share, pass it, too. So it is enough to try each victim of
// the side as the last one.

// fairness is what fair sharing needs besides the search.
type fairness struct {
	best  []quota.Share
	sides []int
}

// findBestShares finds the smallest shares that the preemptor's sides can have: without all
// units below the level.
func (p *problem) findBestShares() {
	p.fair.best = p.fair.best[:0]
	if !p.s.Request.Fair.Enabled() {
		return
	}
	s := p.s
	var gone []*unit
	for level := range s.Levels {
		for _, whole := range [...]bool{true, false} {
			for i := range p.units {
				if u := &p.units[i]; u.depth == level && !u.Partial() == whole && !p.conflicts(u) {
					p.take(u)
					gone = append(gone, u)
				}
			}
		}
		p.fair.best = append(p.fair.best, s.Share(s.Levels[level].Except))
	}
	for i := len(gone) - 1; i >= 0; i-- {
		p.putBack(gone[i])
	}
}

// mayBeJustified reports whether the victims of the unit's side, the unit included, pass the
// strategies if the preemptor's share is as small as it can be. If not, no larger set does.
func (p *problem) mayBeJustified(u *unit) bool {
	return !u.Fair || p.justifiedOn(u.Side, p.fair.best[u.Level])
}

// justified reports whether the victims have an order in which all of them pass.
func (p *problem) justified() bool {
	s := p.s
	if !s.Request.Fair.Enabled() {
		return true
	}
	p.looks += len(s.Taken)
	p.fair.sides = p.fair.sides[:0]
	for i := range s.Taken {
		v := &s.Taken[i]
		if !v.Fair || p.seen(v.Side) {
			continue
		}
		p.fair.sides = append(p.fair.sides, v.Side)
		if !p.justifiedOn(v.Side, s.Share(s.Levels[p.levelOf(v)].Except)) {
			return false
		}
	}
	return true
}

func (p *problem) seen(side int) bool {
	for _, n := range p.fair.sides {
		if n == side {
			return true
		}
	}
	return false
}

func (p *problem) levelOf(v *right.Victim) int {
	for i := range p.s.Levels {
		if p.s.Levels[i].Cohort == v.Cohort {
			return i
		}
	}
	return -1
}

// justifiedOn reports whether the taken victims of a side have an order in which all of them
// pass against a share of the preemptor.
func (p *problem) justifiedOn(side int, ours quota.Share) bool {
	s, c := p.s, &p.s.Request.Fair
	if c.Has(right.FinalShare) && ours.Compare(s.View.Share(side)) <= 0 {
		return true
	}
	if !c.Has(right.InitialShare) {
		return false
	}
	for i := range s.Taken {
		v := &s.Taken[i]
		if v.Side != side || i > 0 && v.Alike(&s.Taken[i-1]) {
			continue
		}
		p.moves += 2
		s.Move(v, 1, s.Taken)
		before := s.View.Share(side)
		s.Move(v, -1, s.Taken)
		if ours.Compare(before) < 0 && p.sideInOrder(side, i) {
			return true
		}
	}
	return false
}
