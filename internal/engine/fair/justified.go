package fair

import (
	"github.com/cedesched/cede/internal/engine/right"
)

// justified reports whether there is an order of the victims, all of them gone, in which each
// victim taken by a strategy passes a strategy with only the victims before it gone.
//
// Removing a workload below a level makes the preemptor's share at that level smaller and
// changes no other share of the preemptor; removing a workload on one side changes the shares
// of that side only. So no order is better than the own queue first, then from the nearest
// level to the farthest, and each side can be judged alone.
func (f *Sharing) justified(_ *right.Victim, others, needed []right.Victim) bool {
	victims := f.s.Remaining(others, needed)
	f.seen.Next(f.s.View.Tree.Len())
	for i := range victims {
		if v := &victims[i]; v.Fair && f.seen.Add(v.Side) && !f.justifiedOn(v.Side, int(v.Level), victims) {
			return false
		}
	}
	return true
}

// justifiedOn is justified for the victims of one side. A share only falls: if the last
// victim passes the final share, so do those before it, in any order. So either all of them
// pass by the final share, or one that passes by the initial share is last.
func (f *Sharing) justifiedOn(side, level int, victims []right.Victim) bool {
	s := f.s
	c, ours, final := &s.Request.Fair, f.shareOfPreemptor(level), s.View.Share(side)
	if c.Has(right.FinalShare) && right.FinalShare.Permits(ours, final, final) {
		return true
	}
	if !c.Has(right.InitialShare) {
		return false
	}
	for i := range victims {
		v := victims[i]
		if !v.Fair || v.Side != side || i > 0 && v.Alike(&victims[i-1]) {
			continue
		}
		v.Count = 1 // of replicas the last one
		s.MoveQuota(&v, 1, victims)
		before := s.View.Share(side)
		s.MoveQuota(&v, -1, victims)
		if right.InitialShare.Permits(ours, before, final) {
			return true
		}
	}
	return false
}
