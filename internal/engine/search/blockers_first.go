package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
)

// firstHolder returns the first workload of a queue that uses what is short.
func (s *Search) firstHolder(q int) *cluster.Workload {
	running := s.Cluster.Running(q)
	return s.firstUser(func(lane cluster.Lane) *cluster.Workload {
		var cursor cluster.LaneCursor
		for cursor.First(*running.Lane(lane)); ; cursor.NextIn(s.holdShort) {
			s.Steps++
			if w, ok := cursor.Item(); !ok || s.holdShort(w.Loads) {
				return w
			}
		}
	})
}

// firstKept returns the first workload, in the order of candidates, that uses what is short
// and would be a candidate if it were not for its minimum runtime, the guards, or because it
// never yields.
func (s *Search) firstKept(q, lca int, c Class) (Blocker, bool) {
	g, p, running := s.guaranteeOf(q, lca), s.Permission(c, false), s.Cluster.Running(q)
	w := s.firstUser(func(lane cluster.Lane) *cluster.Workload {
		switch {
		case p == Nobody:
			return nil
		case !lane.Yields():
			return s.firstKeptIn(running.Lane(lane), c, p, everyone)
		case s.Request.Guard != nil, g.admission > 0:
			return s.firstKeptIn(running.Lane(lane), c, p, func(w *cluster.Workload) bool { return s.protected(g, w) || s.guarded(w) })
		case g.Minimum >= 0 && lane == cluster.Active: // evicted workloads and those without start are not protected
			return s.firstProtected(running.Lane(lane), g, c, p)
		}
		return nil
	})
	switch {
	case w == nil:
		return Blocker{}, false
	case w.Facts.NeverYields && !w.Facts.Evicted:
		return Blocker{NeverYields, q, w, 0, -1}, true
	case s.protected(g, w):
		until, _ := g.Protects(w)
		return Blocker{GuaranteedRuntime, q, w, until, g.setByFor(w)}, true
	}
	return Blocker{Guarded, q, w, s.Request.Guard(w), -1}, true
}

func everyone(*cluster.Workload) bool { return true }

// firstKeptIn asks about each workload that the policies permit whether it is kept.
func (s *Search) firstKeptIn(lane *cluster.LaneSet, c Class, p Permission, kept func(*cluster.Workload) bool) *cluster.Workload {
	var cursor cluster.LaneCursor
	for cursor.First(*lane); ; cursor.NextIn(s.holdShort) {
		w, ok := cursor.Item()
		if !ok || !s.mayBePermitted(w, c, p) {
			return nil
		}
		s.Steps++
		if s.holdShort(w.Loads) && (p.Permits(w) || s.ownMayYield(w)) && kept(w) {
			return w
		}
	}
}

// firstProtected looks, at each priority, at the workloads reserved last: if the first of
// them is not protected, none is.
func (s *Search) firstProtected(lane *cluster.LaneSet, g guarantee, c Class, p Permission) *cluster.Workload {
	var cursor cluster.LaneCursor
	for cursor.First(*lane); ; {
		w, ok := cursor.Item()
		if !ok || !s.mayBePermitted(w, c, p) {
			return nil
		}
		s.Steps++
		switch {
		case !s.protected(g, w):
			cursor.Seek(*lane, func(o *cluster.Workload) bool { return o.Priority <= w.Priority })
		case s.holdShort(w.Loads) && (p.Permits(w) || s.ownMayYield(w)):
			return w
		default:
			cursor.NextIn(s.holdShort)
		}
	}
}

// mayBePermitted reports whether the policies may permit the workload or a later one in its
// lane.
func (s *Search) mayBePermitted(w *cluster.Workload, c Class, p Permission) bool {
	return p.Permits(w) || c == Own && s.EqualsMayYield() && w.Priority <= s.Request.Priority
}

// holdsShort reports whether a node uses anything of what is short.
func (s *Search) holdsShort(node int) bool {
	row := s.View.AtFirst.Row(node) // without victims
	for _, sh := range s.WhyNot.Shortages {
		if quotatree.AmountIn(row, s.Request.Columns[sh.Slot]) > 0 {
			return true
		}
	}
	return false
}

// firstRefused returns the first workload, in the order of candidates, that uses what is
// short and may not yield.
func (s *Search) firstRefused(q int, c Class, borrowing bool) *cluster.Workload {
	p := s.Permission(c, borrowing)
	if p.All {
		return nil
	}
	running := s.Cluster.Running(q)
	return s.firstUser(func(lane cluster.Lane) *cluster.Workload { return s.firstRefusedIn(running.Lane(lane), c, p) })
}

func (s *Search) firstRefusedIn(lane *cluster.LaneSet, c Class, p Permission) *cluster.Workload {
	if lane.Len() == 0 {
		return nil
	}
	var cursor cluster.LaneCursor
	for cursor.Seek(*lane, p.Permits); ; cursor.NextIn(s.holdShort) {
		w, ok := cursor.Item()
		if !ok {
			return nil
		}
		s.Steps++
		if (c != Own || !s.ownMayYield(w)) && s.holdShort(w.Loads) {
			return w
		}
	}
}

// holdShort reports whether the loads use anything of what is short.
func (s *Search) holdShort(loads []quotatree.Load) bool {
	for _, sh := range s.WhyNot.Shortages {
		if quotatree.AmountIn(loads, s.Request.Columns[sh.Slot]) > 0 {
			return true
		}
	}
	return false
}
