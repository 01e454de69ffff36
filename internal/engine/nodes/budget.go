package nodes

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/workload"
)

// budget is a budget in a snapshot. It is immutable.
type budget struct {
	Facts     workload.DisruptionBudget
	disrupted map[string]bool // nil: none
	free      bool            // the slot has no budget
}

func newBudget(facts workload.DisruptionBudget) budget {
	b := budget{Facts: facts}
	if len(facts.Disrupted) > 0 {
		b.disrupted = make(map[string]bool, len(facts.Disrupted))
	}
	for _, id := range facts.Disrupted {
		b.disrupted[id] = true
	}
	return b
}

// covering appends the budgets that cover a pod, in order.
func (c *Cluster) covering(list []int32, p *workload.Pod) []int32 {
	first, _ := slices.BinarySearchFunc(c.byName, p.Namespace, func(slot int32, namespace string) int {
		return strings.Compare(c.budgets[slot].Facts.Namespace, namespace)
	})
	for _, slot := range c.byName[first:] {
		b := &c.budgets[slot].Facts
		if b.Namespace != p.Namespace {
			break
		}
		if b.Covers(p) {
			list = append(list, slot)
		}
	}
	return list
}

// ledger holds what budgets still allow.
type ledger struct {
	budgets []budget
	left    []int64
	first   bool // of the budgets of a pod those after the first violated one are not charged
}

// ledger returns a new ledger. It reuses left.
func (c *Cluster) ledger(left []int64) ledger {
	l := ledger{budgets: c.budgets, left: resize(left, len(c.budgets))}
	for i := range l.left {
		l.left[i] = l.budgets[i].Facts.Allowed
	}
	return l
}

func (s *Searcher) newLedger() ledger {
	l := s.c.ledger(s.left)
	s.left, l.first = l.left, s.config.FirstViolated
	return l
}

// charged reports whether the pod counts against the budget: not if the budget already counts
// it as disrupted.
func (l *ledger) charged(b int32, p *Pod) bool {
	disrupted := l.budgets[b].disrupted
	return disrupted == nil || !disrupted[p.Facts.ID]
}

// spend charges the pods of a unit to the budgets and counts those that violate one. Each pod
// is charged to every budget that covers it, also after one that it violates, or, if first is
// set, only up to that one.
func (l *ledger) spend(u *Unit) (violations int) {
	for _, p := range u.Pods {
		over := false
		for _, b := range p.budgets {
			if !l.charged(b, p) {
				continue
			}
			l.left[b]--
			if over = over || l.left[b] < 0; over && l.first {
				break
			}
		}
		if over {
			violations++
		}
	}
	return violations
}

// putBack takes back what spendAll charged for a unit.
func (l *ledger) putBack(u *Unit) {
	for _, p := range u.Pods {
		for _, b := range p.budgets {
			if l.charged(b, p) {
				l.left[b]++
			}
		}
	}
}

// spendAll charges the unit to every budget that covers a pod of it, and reports whether all
// of them allow it; if not, nothing is charged.
func (l *ledger) spendAll(u *Unit) bool {
	ok := true
	charge := func(by int64) {
		for _, p := range u.Pods {
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
// important first. The list is valid until the next one.
func (s *Searcher) covered(d span) []*Unit {
	if len(s.c.byName) == 0 {
		return nil
	}
	if s.r.Importance != nil || !s.isLarge(d) {
		// In a group that yields whole, the pod that a budget covers may run on another node.
		return s.gather(d, func(u *Unit) bool { return u.covered }, func(c class) bool { return c.covered || c.grouped })
	}
	list := s.list[:0]
	var cursor ordered.Cursor[*Unit, none]
	cursor.Seek(s.c.covered, func(u *Unit) bool { return u.Priority >= s.priority })
	for u, ok := cursor.Item(); ok; u, ok = cursor.Item() {
		s.Looked++
		if s.isCurrent(u) && s.within(d, u) && !s.stays[u] {
			list = append(list, u)
		}
		cursor.Next()
	}
	s.list = list
	return list
}

// isLarge reports whether a domain has so many nodes that all units of the cluster are fewer to
// look at than those of its nodes would be to sort.
func (s *Searcher) isLarge(d span) bool { return d.size()*8 >= len(s.c.order) }

// isCurrent reports whether a unit of the index has the pods that it has in this decision: with
// or without those that terminate.
func (s *Searcher) isCurrent(u *Unit) bool { return s.unitOf(u.Pods[0]) == u }

// split charges the units that may yield to the budgets, the most important first. It returns
// those that violate one, in the same order, with the number of pods that do.
func (s *Searcher) split(d span) (violating []*Unit) {
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

// withinBudgets reports whether the budgets allow all victims together.
func (s *Searcher) withinBudgets() bool {
	books := s.newLedger()
	for _, u := range s.victims {
		if u.covered && !books.spendAll(u) {
			return false
		}
	}
	return true
}

// ration gives the allowance of the budgets to the least important units; the other units
// stay until the end.
func (s *Searcher) ration(d span) {
	books := s.newLedger()
	for _, u := range slices.Backward(s.covered(d)) {
		if !books.spendAll(u) {
			s.stay(u)
		}
	}
}

// PotentialVictims returns the units of lower priority in the order in which they are put
// back, and for each the number of its pods that violate a budget if all more important units
// are evicted, too. Units that violate a budget come first; in both parts the most important
// comes first.
func (c *Cluster) PotentialVictims(priority int32) (units []*Unit, violations []int) {
	books := c.ledger(nil)
	var others []*Unit
	for _, u := range c.Units() {
		if u.Priority >= priority {
			continue
		}
		if n := books.spend(u); n > 0 {
			units, violations = append(units, u), append(violations, n)
		} else {
			others = append(others, u)
		}
	}
	return append(units, others...), append(violations, make([]int, len(others))...)
}

// Charge returns the budgets that cover some of the given running pods, with these pods
// counted as disrupted.
func (c *Cluster) Charge(pods []string) []workload.DisruptionBudget {
	charged := map[int32]*workload.DisruptionBudget{}
	for _, id := range pods {
		for _, at := range c.pod(c.pods, id).budgets {
			if charged[at] == nil {
				b := c.budgets[at].Facts.Clone()
				charged[at] = &b
			}
			if b := charged[at]; !slices.Contains(b.Disrupted, id) {
				b.Disrupted, b.Allowed = append(b.Disrupted, id), max(0, b.Allowed-1)
			}
		}
	}
	var list []workload.DisruptionBudget
	for _, slot := range c.byName {
		if b := charged[slot]; b != nil {
			list = append(list, *b)
		}
	}
	return list
}
