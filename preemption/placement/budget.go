package placement

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/persist/ordered"
)

// budget is a budget inside of a snapshot. It is never changed.
type budget struct {
	facts     Budget
	disrupted map[string]bool // nil for none
}

func newBudget(facts Budget) budget {
	b := budget{facts: facts}
	if len(facts.Disrupted) > 0 {
		b.disrupted = make(map[string]bool, len(facts.Disrupted))
	}
	for _, id := range facts.Disrupted {
		b.disrupted[id] = true
	}
	return b
}

// covering lists the budgets that cover a pod, in order, after those in the list.
func (c *cluster) covering(list []int32, p *Pod) []int32 {
	first, _ := slices.BinarySearchFunc(c.budgets, p.Namespace, func(b budget, namespace string) int {
		return strings.Compare(b.facts.Namespace, namespace)
	})
	for i := first; i < len(c.budgets) && c.budgets[i].facts.Namespace == p.Namespace; i++ {
		if c.budgets[i].facts.Selector.Matches(p.Labels) {
			list = append(list, int32(i))
		}
	}
	return list
}

// ledger is what budgets still allow.
type ledger struct {
	budgets []budget
	left    []int64
}

// ledger opens one on memory that may be used before.
func (c *cluster) ledger(left []int64) ledger {
	l := ledger{c.budgets, resize(left, len(c.budgets))}
	for i := range l.left {
		l.left[i] = l.budgets[i].facts.Allowed
	}
	return l
}

func (s *search) newLedger() ledger {
	l := s.c.ledger(s.left)
	s.left = l.left
	return l
}

// charged reports whether the pod counts against the budget: not if it counts as disrupted
// already.
func (l *ledger) charged(b int32, p *pod) bool {
	disrupted := l.budgets[b].disrupted
	return disrupted == nil || !disrupted[p.facts.ID]
}

// spend counts the pods of a unit that violate a budget, each using budgets up in order
// to the first that is exhausted (as built in v1.37).
func (l *ledger) spend(u *unit) (violations int) {
	for _, p := range u.pods {
		for _, b := range p.budgets {
			if !l.charged(b, p) {
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
				if l.charged(b, p) {
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
		// Of a group that yields whole the pod that a budget covers may run elsewhere.
		return s.gather(d, func(u *unit) bool { return u.covered }, func(l level) bool { return l.covered || l.grouped })
	}
	list := s.list[:0]
	index := s.c.covered
	if !s.asBuilt {
		index = s.c.coveredStaying
	}
	var cursor ordered.Cursor[*unit, none]
	cursor.Seek(index, func(u *unit) bool { return u.priority >= s.priority })
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
