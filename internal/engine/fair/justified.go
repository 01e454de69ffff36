package fair

import "github.com/cedesched/cede/internal/engine/search"

// justified reports whether there is an order of the victims, all of them gone, in which each
// victim taken by a strategy passes a strategy with only the victims before it gone.
//
// Removing a workload below a level makes the preemptor's share at that level smaller and
// changes no other share of the preemptor; removing a workload on one side changes the shares
// of that side only. So no order is better than the own queue first, then from the nearest
// level to the farthest, and each side can be judged alone.
func (f *Sharing) justified(_ *search.Victim, others, needed []search.Victim) bool {
	s := f.s
	return s.Replay(others, needed, func(victims []search.Victim) bool {
		f.addRequest(1)
		defer f.addRequest(-1)
		f.seen.Next(s.View.Tree.Len())
		for i := range victims {
			if v := &victims[i]; v.Fair && f.seen.Add(v.Side) && !f.justifiedOn(v.Side, int(v.Level)) {
				return false
			}
		}
		return true
	})
}

// justifiedOn is justified for the victims of one side. A share only falls: if the last
// victim passes the final share, so do those before it, in any order. So either all of them
// pass by the final share, or one that passes by the initial share is last.
func (f *Sharing) justifiedOn(side, level int) bool {
	s := f.s
	c, ours, final := &s.Request.Fair, f.shareOfPreemptor(level), s.View.Share(side)
	if c.Has(search.FinalShare) && permits(search.FinalShare, ours, final, final) {
		return true
	}
	if !c.Has(search.InitialShare) {
		return false
	}
	for _, v := range s.Taken {
		if !v.Fair || v.Side != side {
			continue
		}
		s.Move(v, 1)
		before := s.View.Share(side)
		s.Move(v, -1)
		if permits(search.InitialShare, ours, before, final) {
			return true
		}
	}
	return false
}
