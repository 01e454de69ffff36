package search

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/budget"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/nodes/unit"
)

// findUsable finds the nodes on which a member may run.
func (s *usable) findUsable() {
	s.isUsable = room.Resize(s.isUsable, len(s.Nodes))
	for i, n := range s.Nodes {
		s.isUsable[i] = false
		for m := range s.Members {
			if s.Members[m].Same {
				continue
			}
			if s.isUsable[i] = s.IsPossible(&s.Members[m], n); s.isUsable[i] {
				break
			}
		}
	}
	s.smallest = room.Resize(s.smallest, s.Width())
	for slot := range s.smallest {
		s.smallest[slot] = s.SmallestNeed(slot)
	}
	if s.Request.Group == "" {
		s.AddOwnClaims(s.smallest)
	}
}

// usableDomains lists the domains: for a single pod each node on which it may run.
func (s *usable) usableDomains() []room.Domain {
	if s.Request.Group != "" {
		return s.Domains
	}
	return s.nodesWhere(func(i int) bool { return s.isUsable[i] })
}

// shortages lists what is missing without all units of lower priority, protected or not; if some domain then has
// enough, without all units that may yield now. For a request that preempts nothing no unit is left out. Each
// resource is counted alone, and each pod as if it needed no more than the smallest.
func (s *usable) shortages() []Shortage {
	s.Forget()
	if s.Request.Never {
		s.Open(room.NoFloor, false)
		return s.missing()
	}
	s.Open(s.Highest(), false)
	if list := s.missing(); list != nil || !s.AnyRule() {
		return list
	}
	s.KeepProtected(s.Now)
	s.Open(s.Highest(), false)
	return s.missing()
}

// missing lists the resources that some domain lacks; nil if one domain has enough of each.
func (s *usable) missing() []Shortage {
	width := s.Width()
	domains, least := make([]int, width), make([]int64, width)
	for slot := range least {
		least[slot] = math.MaxInt64
	}
	for _, d := range s.usableDomains() {
		short := false
		for slot := range s.Slots {
			if lacks, missing := s.lacks(d, slot); lacks {
				short = true
				domains[slot]++
				least[slot] = min(least[slot], missing)
			}
		}
		if !short {
			return nil
		}
	}
	var list []Shortage
	for slot, n := range domains {
		if n > 0 {
			list = append(list, Shortage{s.Slots[slot], least[slot], n})
		}
	}
	return list
}

// lacks reports whether a domain has too little of one resource alone for the least number of members, and the least
// additional amount for one more of them.
func (s *usable) lacks(d room.Domain, slot int) (short bool, missing int64) {
	need, most := s.smallest[slot], int64(s.AtLeast)
	if need == 0 {
		return false, 0
	}
	places := int64(0)
	missing = math.MaxInt64
	for i := d.From; i < d.To; i++ {
		if !s.isUsable[i] {
			continue
		}
		if free := s.FreeOn(i)[slot]; free >= need {
			places += min(free/need, most)
			missing = min(missing, need-free%need)
		} else {
			missing = min(missing, need-free)
		}
		if places >= most {
			return false, 0
		}
	}
	if missing == math.MaxInt64 { // there is no node
		missing = need
	}
	return true, missing
}

// blockers lists the units that may not yield, the least important first, with a pod on a node that a member may use,
// if that pod takes some of what is short (if nothing is short, some of what is requested).
func (s *usable) blockers(short []Shortage, most int) []Blocker {
	if most == 0 {
		return nil
	}
	var list []Blocker
	seen := map[*state.Unit]bool{}
	ledger, inTheWay := s.Ledger(), s.takes(short)
	byPriority := s.Request.Rules.Importance == nil
	rules := s.AnyRule() || s.Request.TerminationTimeout > 0 || s.Config.HardBudgets && len(s.Cluster.BudgetOrder) > 0
	for i, n := range s.Nodes {
		if !s.isUsable[i] || !rules && (len(n.Levels) == 0 || n.Levels[len(n.Levels)-1].Priority < s.Priority) {
			continue
		}
		for _, p := range n.Pods {
			later := byPriority && len(list) == most && p.Priority > list[most-1].Unit.Priority
			if later || !rules && p.Priority < s.Priority || !inTheWay(p) {
				continue
			}
			b, ok := s.blocker(p, ledger)
			if !ok || seen[b.Unit] {
				continue
			}
			at, _ := slices.BinarySearchFunc(list, b, func(a, b Blocker) int { return s.Compare(b.Unit, a.Unit) })
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

// takes returns a condition: a pod takes some of what is short.
func (s *usable) takes(short []Shortage) func(*state.Pod) bool {
	isShort := make([]bool, s.Width())
	for _, lacking := range short {
		isShort[slices.Index(s.Slots, lacking.Resource)] = true
	}
	takes := func(list []state.Amount) bool {
		return slices.ContainsFunc(list, func(a state.Amount) bool {
			slot := s.SlotOf(a)
			return slot >= 0 && isShort[slot]
		})
	}
	return func(p *state.Pod) bool {
		return len(short) == 0 || takes(p.Takes) ||
			slices.ContainsFunc(p.Facts.Claims, func(id string) bool { return takes(s.Cluster.Claim(id).Takes) })
	}
}

// blocker says why the unit of a running pod may not yield; ok is false if it may, or if it leaves and is waited for.
func (s *usable) blocker(p *state.Pod, ledger *budget.Ledger) (b Blocker, ok bool) {
	u, v := s.VerdictOf(p, s.Now)
	switch {
	case v.Rule == unit.Terminating && !s.AsBuilt && !s.Stuck(p):
		return Blocker{}, false
	case v.Rule == 0 && s.Config.HardBudgets && u.Covered && !ledger.Allows(u):
		return Blocker{Rule: unit.Budget, Unit: u, Until: unit.Never}, true
	case v.Rule == 0:
		return Blocker{}, false
	}
	b = Blocker{Rule: v.Rule, Unit: u, Until: v.Until}
	if v.Rule == unit.MinRuntime {
		b.SetBy, b.Source = s.SetBy(u, v.Until)
	}
	return b, true
}
