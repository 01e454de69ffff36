package placement

import "slices"

// disrupted reports whether the budget counts the pod as disrupted already.
func (b *Budget) disrupted(p *pod) bool { return slices.Contains(b.Disrupted, p.facts.ID) }

// ledger is what budgets still allow.
type ledger struct {
	budgets []Budget
	left    []int64
}

func (s *search) newLedger() ledger {
	s.left = resize(s.left, len(s.c.budgets))
	l := ledger{budgets: s.c.budgets, left: s.left}
	for i := range l.left {
		l.left[i] = l.budgets[i].Allowed
	}
	return l
}

// spend counts the pods of a unit that violate a budget, each using budgets up in order
// to the first that is exhausted (as built in v1.37).
func (l *ledger) spend(u *unit) (violations int) {
	for _, p := range u.pods {
		for _, b := range p.budgets {
			if len(l.budgets[b].Disrupted) > 0 && l.budgets[b].disrupted(p) {
				continue
			}
			if l.left[b]--; l.left[b] < 0 {
				violations++
				break
			}
		}
	}
	return violations
}

// spendAll uses up every budget that covers a pod of the unit, and reports whether all of
// them allow that; if not, nothing is used.
func (l *ledger) spendAll(u *unit) bool {
	ok := true
	charge := func(by int64) {
		for _, p := range u.pods {
			for _, b := range p.budgets {
				if !l.budgets[b].disrupted(p) {
					l.left[b] -= by
					ok = ok && l.left[b] >= 0
				}
			}
		}
	}
	if charge(1); !ok {
		charge(-1)
		return false
	}
	return true
}

// covered lists the units of the domain that may yield and that a budget covers, most
// important first, until the next list.
func (s *search) covered(d span) []*unit {
	if len(s.c.budgets) == 0 {
		return nil
	}
	if s.config.Importance != nil || d.size()*8 < s.c.nodes.Len() {
		return s.gather(d, everyone, func(l level) bool { return l.covered })
	}
	list := s.list[:0]
	index := s.c.covered
	if !s.asBuilt {
		index = s.c.coveredStaying
	}
	cursor := newCursor(index, s.priority)
	for u, ok := cursor.Item(); ok; u, ok = cursor.Item() {
		if s.within(d, u) && !s.stays[u] {
			list = append(list, u)
		}
		cursor.Next()
	}
	s.list = list
	return list
}

// split charges the units that may yield to the budgets, the more important first, and
// returns those that violate one, in the same order, with the number of pods that do.
func (s *search) split(d span) (violating []*unit) {
	clear(s.violations)
	violating = s.violating[:0]
	books := s.newLedger()
	for _, u := range s.covered(d) {
		if n := books.spend(u); n > 0 {
			s.violations[u] = n
			violating = append(violating, u)
		}
	}
	s.violating = violating
	return violating
}

// withinBudgets reports whether every budget allows all victims together.
func (s *search) withinBudgets() bool {
	books := s.newLedger()
	for _, u := range s.victims {
		if u.covered && !books.spendAll(u) {
			return false
		}
	}
	return true
}

// ration gives the allowance of the budgets to the least important units and keeps the
// others for good.
func (s *search) ration(d span) {
	clear(s.violations)
	books := s.newLedger()
	for _, u := range slices.Backward(s.covered(d)) {
		if !books.spendAll(u) {
			s.stay(u)
		}
	}
}
