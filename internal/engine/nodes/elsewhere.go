package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/persist/ordered"
)

// Of the units that a budget covers, most violate it and share no node with the members placed
// first. All of these stay. They are not listed: whether a unit is one of them follows from
// where its budgets' allowances end, and is asked only on the nodes that a placement looks at.
//
// (Listing them took nine tenths of a decision about a gang. Sums of covered units, kept by the
// nodes, would not know which units are within an allowance, nor groups over several nodes.)

// elsewhere holds which units stay without a look at each.
type elsewhere struct {
	stay   bool    // they stay
	domain span    // in which units are charged to the budgets
	used   []bool  // by node: a member was placed there first
	upTo   []int64 // by node: its pods of such units up to this priority are counted in fixed
	moved  []moved // those pods
	ends   []end   // by slot of budget
	asked  *Unit   // the group that was asked about last: its pods often run on nodes next to each other
	stays  bool    // the answer
}

// end is where the allowance of a budget ends.
type end struct {
	known bool
	unit  *Unit // the most important one that violates it; nil: none does
	pod   int   // the index of the first pod of that unit that does
}

// mayStayElsewhere reports whether nobody asks about the single units that stay. Then the rest
// of a run need not know them.
func (s *Searcher) mayStayElsewhere(d span) bool {
	return s.config.Mode != Replace && !s.config.HardBudgets && (!s.config.FirstViolated || len(s.c.byName) == 1) && s.r.Trace == nil && s.r.Importance == nil &&
		!s.r.filtered() && len(s.stayed) == 0 && len(s.c.byName) > 0 && s.isLarge(d)
}

// splitNear is split for units that share a node with a placed member. The others that violate
// a budget stay.
func (s *Searcher) splitNear(d span) (violating []*Unit) {
	e := &s.elsewhere
	e.domain, e.ends = d, resize(e.ends, len(s.c.budgets))
	e.used, e.upTo = resize(e.used, len(s.nodes)), resize(e.upTo, len(s.nodes))
	clear(e.ends)
	clear(e.used)
	for i := range e.upTo {
		e.upTo[i] = nobody
	}
	list := s.list[:0]
	for _, i := range s.used {
		e.used[i] = true
		list = s.gatherNode(list, int(i), func(u *Unit) bool { return u.covered })
	}
	s.list = list
	clear(s.violations)
	violating = s.violating[:0]
	for _, u := range s.distinct(list) {
		if n := s.overBudget(u); n > 0 {
			s.violations[u] = n
			violating = append(violating, u)
		}
	}
	s.violating = violating
	e.stay, e.asked = true, nil
	return violating
}

// overBudget counts the pods of a unit that violate a budget.
func (s *Searcher) overBudget(u *Unit) (violations int) {
	books := ledger{budgets: s.c.budgets}
	for k, p := range u.Pods {
		if slices.ContainsFunc(p.budgets, func(b int32) bool { return books.charged(b, p) && s.isOver(b, u, k) }) {
			violations++
		}
	}
	return violations
}

// isOver reports whether a pod of a unit violates a budget that it is charged to.
func (s *Searcher) isOver(b int32, u *Unit, pod int) bool {
	if s.c.budgets[b].Facts.Allowed <= 0 {
		return true
	}
	e := s.endOf(b)
	if e.unit == nil {
		return false
	}
	order := compareUnits(e.unit, u)
	return order < 0 || order == 0 && e.pod <= pod
}

// endOf finds where the allowance of a budget ends: it is charged for the most important units
// first.
func (s *Searcher) endOf(b int32) *end {
	e := &s.elsewhere.ends[b]
	if e.known {
		return e
	}
	e.known = true
	books, left := ledger{budgets: s.c.budgets}, s.c.budgets[b].Facts.Allowed
	var cursor ordered.Cursor[coverage, none]
	cursor.Seek(s.c.byBudget, func(x coverage) bool { return x.slot < b || x.slot == b && x.unit.Priority >= s.priority })
	for x, ok := cursor.Item(); ok && x.slot == b; x, ok = cursor.Item() {
		s.Looked++
		if s.isCurrent(x.unit) && s.within(s.elsewhere.domain, x.unit) {
			for k, p := range x.unit.Pods {
				if !slices.Contains(p.budgets, b) || !books.charged(b, p) {
					continue
				}
				if left--; left < 0 {
					e.unit, e.pod = x.unit, k
					return e
				}
			}
		}
		cursor.Next()
	}
	return e
}

// staysElsewhere reports whether a unit violates a budget and shares no node with the members
// placed first.
func (s *Searcher) staysElsewhere(u *Unit) bool {
	e := &s.elsewhere
	if !e.stay || !u.covered {
		return false
	}
	if e.asked != u {
		e.asked = u
		e.stays = !slices.ContainsFunc(u.Pods, s.sharesNode) && s.overBudget(u) > 0
	}
	return e.stays
}

// sharesNode reports whether a pod runs on a node with a member placed first.
func (s *Searcher) sharesNode(p *Pod) bool {
	i := s.local[p.node]
	return i >= 0 && s.elsewhere.used[i]
}

// fixElsewhere counts the pods on a node whose units stay elsewhere as fixed, up to a priority:
// the others are not gone at that floor anyway.
func (s *Searcher) fixElsewhere(i int, priority int64) {
	e := &s.elsewhere
	if !e.stay || e.used[i] || e.upTo[i] >= priority {
		return
	}
	done := e.upTo[i]
	e.upTo[i] = priority
	from, to := s.rowsOf(i)
	if !slices.ContainsFunc(s.rows[from:to], func(c class) bool {
		return (c.covered || c.grouped) && int64(c.priority) > done && int64(c.priority) <= priority
	}) {
		return
	}
	n := s.nodes[i]
	for k, b := range n.briefs {
		if int64(b.priority) <= done || int64(b.priority) > priority || !b.whole && !b.isCovered() {
			continue
		}
		s.Looked++
		p := n.pods[k]
		stays := s.isOverAlone(b)
		if !stays {
			u := s.unitOf(p)
			stays = u != nil && s.staysElsewhere(u)
		}
		if stays {
			s.Elsewhere++
			m := moved{i, s.rowOf(i, b.class()), p.takes}
			s.shift(m, 1)
			e.moved = append(e.moved, m)
		}
	}
}

// isOverAlone reports whether a pod on an unused node is a unit that violates its only budget,
// whoever else yields. If not, it may still violate it.
func (s *Searcher) isOverAlone(b brief) bool {
	if b.budget < 0 || b.whole || b.leaving {
		return false
	}
	of := &s.c.budgets[b.budget]
	return of.Facts.Allowed <= 0 && of.disrupted == nil
}

// unfixElsewhere undoes all that splitNear led to.
func (s *Searcher) unfixElsewhere() {
	e := &s.elsewhere
	e.stay = false
	for _, m := range e.moved {
		s.shift(m, -1)
	}
	e.moved = e.moved[:0]
}

// clear drops the references to a cluster.
func (e *elsewhere) clear() {
	e.stay, e.asked = false, nil
	clear(e.moved[:cap(e.moved)])
	clear(e.ends)
	e.moved = e.moved[:0]
}
