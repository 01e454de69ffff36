package fair

import "github.com/cedesched/cede/internal/engine/search"

// justified reports whether there is an order of victims, all of whom are gone, in which
// each that was taken by a strategy passes one, with only those before it gone.
//
// What leaves below a level makes the preemptor's share there smaller and no other; what
// leaves on one side changes the shares of that side alone. So the order from the nearest
// level to the farthest, the own queue before all, is as good as any, and each side is a
// question by itself. A workload that goes whole is one victim: replicas of its surplus that
// were taken before are part of it.
func (f *Sharing) justified(others, needed []search.Victim) bool {
	s := f.s
	f.replay = f.replay[:0]
	for _, list := range [...][]search.Victim{others, needed} {
		for _, v := range list {
			if v.Set < 0 || !search.GoesWhole(v.Workload, others) && !search.GoesWhole(v.Workload, needed) {
				f.replay = append(f.replay, v)
			}
		}
	}
	kept := s.Taken
	s.Taken = f.replay
	f.addRequest(1)
	f.seen.next(s.View.Tree.Len())
	justified := true
	for i := range f.replay {
		if v := &f.replay[i]; v.Fair && f.seen.add(v.Side) && !f.justifiedOn(v.Side, v.Level) {
			justified = false
			break
		}
	}
	f.addRequest(-1)
	s.Taken = kept
	return justified
}

// justifiedOn is justified for the victims of one side. A share only falls: where the
// last one passes, so do those before it, in any order of them. So all of them pass by
// the final share, or one of them is last that passes by the initial share.
func (f *Sharing) justifiedOn(side, level int) bool {
	s := f.s
	c, ours, final := &s.Request.Fair, f.shareOfPreemptor(level), s.View.Share(side)
	if c.Has(search.FinalShare) && permits(search.FinalShare, ours, final, final) {
		return true
	}
	if !c.Has(search.InitialShare) {
		return false
	}
	for _, v := range f.replay {
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
