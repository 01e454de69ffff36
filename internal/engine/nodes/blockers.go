package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// Rule is a rule that keeps a unit from yielding.
type Rule uint8

const (
	Priority Rule = 1 + iota
	GuaranteedRuntime
	Guarded
	Terminating
	Budget
)

// Blocker is a unit that may not yield.
type Blocker struct {
	Rule  Rule
	Unit  *Unit
	Until int64 // never: without end
	// SetBy is, for GuaranteedRuntime, the pod whose minimum runtime ends last. The minimum
	// is its own, its group's, or else the default.
	SetBy          *Pod
	OfPod, OfGroup bool
}

// blockers lists the units that may not yield, the least important first, with a pod on a
// node that a member may use, if that pod takes some of what is short (if nothing is short,
// some of what is requested).
func (s *Searcher) blockers(short []Shortage, most int) []Blocker {
	if most == 0 {
		return nil
	}
	var list []Blocker
	seen := map[*Unit]bool{}
	books := s.newLedger()
	inTheWay := s.takesOf(short)
	rules := s.anyRules() || s.r.TerminationTimeout > 0 || s.config.HardBudgets && len(s.c.byName) > 0
	for i, n := range s.nodes {
		if !s.usable[i] || !rules && (len(n.levels) == 0 || n.levels[len(n.levels)-1].priority < s.priority) {
			continue
		}
		for _, p := range n.pods {
			if !rules && p.priority < s.priority || len(list) == most && p.priority > list[most-1].Unit.Priority || !inTheWay(p) {
				continue
			}
			b, ok := s.blocker(p, &books)
			if !ok || seen[b.Unit] {
				continue
			}
			at, _ := slices.BinarySearchFunc(list, b, func(a, b Blocker) int { return compareUnits(b.Unit, a.Unit) })
			if at == most {
				continue
			}
			seen[b.Unit] = true
			if len(list) == most {
				delete(seen, list[most-1].Unit)
				list = list[:most-1]
			}
			list = slices.Insert(list, at, b)
		}
	}
	return list
}

// takesOf returns a predicate for pods that take some of what is short.
func (s *Searcher) takesOf(short []Shortage) func(*Pod) bool {
	slots := make([]bool, len(s.slots))
	for _, sh := range short {
		slots[slices.Index(s.slots, sh.Resource)] = true
	}
	return func(p *Pod) bool {
		return len(short) == 0 || slices.ContainsFunc(p.takes, func(a amount) bool {
			slot := s.slotOf[a.column]
			return slot >= 0 && slots[slot]
		})
	}
}

// blocker says why the unit of a running pod may not yield; ok is false if it may, or is
// terminating.
func (s *Searcher) blocker(p *Pod, books *ledger) (b Blocker, ok bool) {
	u := s.unitOf(p)
	if u == nil && s.stuck(p) { // it counts as running, and was told to stop already
		u = s.c.unitOf(p, false)
		return Blocker{Rule: Terminating, Unit: u, Until: never}, true
	}
	switch {
	case u == nil:
		return Blocker{}, false
	case p.priority >= s.priority:
		return Blocker{Rule: Priority, Unit: u, Until: never}, true
	}
	if rule, until := s.keptFor(u); rule != 0 {
		b := Blocker{Rule: rule, Unit: u, Until: until}
		if rule == GuaranteedRuntime {
			s.setBy(&b)
		}
		return b, true
	}
	if s.config.HardBudgets && u.covered {
		if !books.spendAll(u) {
			return Blocker{Rule: Budget, Unit: u, Until: never}, true
		}
		books.putBack(u)
	}
	return Blocker{}, false
}

// setBy finds the pod whose minimum runtime ends last.
func (s *Searcher) setBy(b *Blocker) {
	kind := s.kindOf(b.Unit)
	for _, p := range b.Unit.Pods {
		at, minimum := instant.Of(p.Facts.Started), p.minimum[kind]
		if minimum == unsetMinimum {
			minimum = s.config.MinRuntime[kind]
		}
		if p.Facts.Terminating || at == instant.Unset || minimum <= 0 || quota.Add(at, minimum) != b.Until {
			continue
		}
		b.SetBy = p
		_, b.OfPod = [...]quota.OptionalDuration{p.Facts.MinRuntime, p.Facts.ReclaimMinRuntime}[kind].Get()
		b.OfGroup = !b.OfPod && p.minimum[kind] != unsetMinimum
		return
	}
}
