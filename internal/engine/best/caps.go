package best

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
)

// limit is a cap. It counts the workloads above a priority that yield by one right, or the
// workloads of a group of a limit on preemptions.
type limit struct {
	group int   // 0: of none
	size  int64 // of the group, replicas one by one
	right int
	above int64
	all   bool // of any priority
	most  int64
	taken int64
}

func (l *limit) holds(u *unit) bool {
	if l.group > 0 {
		return slices.Contains(u.groups, l.group)
	}
	return l.right == u.right && (l.all || u.Workload.Priority > l.above)
}

// capsOf returns the caps that victims set: for each right and each priority, a set has no more
// victims of at least that priority.
func (x *Solver) capsOf(taken []right.Victim) []limit {
	x.caps = x.caps[:0]
	counted := map[string]int{} // of the workloads of which a part may yield: the first victim of each
	for i := range taken {
		if v := &taken[i]; v.Workload.Divides() {
			if _, again := counted[v.Workload.Facts.ID]; !again {
				counted[v.Workload.Facts.ID] = i
			}
		}
	}
	for kind := range rights {
		list := x.priorities[:0]
		for i := range taken {
			v := &taken[i]
			if rightOf(v) == kind && (!v.Workload.Divides() || counted[v.Workload.Facts.ID] == i) {
				list = append(list, v.Workload.Priority)
			}
		}
		x.priorities = list
		slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
		if len(list) == 0 {
			x.caps = append(x.caps, limit{right: kind, all: true})
			continue
		}
		x.caps = append(x.caps, limit{right: kind, above: list[0]})
		for i, priority := range list {
			if last := i == len(list)-1; last || list[i+1] < priority {
				l := limit{right: kind, most: int64(i + 1), all: last}
				if !last {
					l.above = list[i+1]
				}
				x.caps = append(x.caps, l)
			}
		}
	}
	return x.caps
}

// ceiling returns how many workloads may yield at most by limits on preemptions; noLimit: there are
// none. Bounds of the number of victims are compared with it: what frees enough may be too many.
func (p *problem) ceiling() int64 {
	least := noLimit
	for i := range p.caps {
		if l := &p.caps[i]; l.group > 0 {
			all, held := p.workloads(l)
			least = min(least, all-max(0, held-l.most))
		}
	}
	return least
}

// workloads counts the workloads that may yield, and the workloads among them that a cap counts.
func (p *problem) workloads(l *limit) (all, held int64) {
	seen := make([]bool, len(p.yields))
	for i := range p.units {
		u := &p.units[i]
		if u.elastic >= 0 {
			if seen[u.elastic] {
				continue
			}
			seen[u.elastic] = true
		}
		if all++; l.holds(u) {
			held++
		}
	}
	return all, held
}

// capped reports whether a cap allows no unit and counts this one.
func (p *problem) capped(u *unit) bool {
	return slices.ContainsFunc(p.caps, func(l limit) bool { return l.most == 0 && l.holds(u) })
}

// groupsOf returns the groups in which limits on preemptions count a candidate, and adds a cap for
// each new one. These caps are never dropped, as those of the search in order may be.
func (p *problem) groupsOf(c *source.Candidate) []int {
	if p.s.Request.Limits == nil {
		return nil
	}
	var groups []int
	p.s.LimitGroups(&c.Victim, func(group int, most int64) {
		at := slices.IndexFunc(p.caps, func(l limit) bool { return l.group == group })
		if at < 0 {
			at, p.caps = len(p.caps), append(p.caps, limit{group: group, most: max(0, most)})
		}
		p.caps[at].size++
		groups = append(groups, group)
	})
	return groups
}

// idle reports whether a cap keeps no set away: it allows no unit, so the units that it holds were left out;
// or it allows as many as its group has.
func (l *limit) idle() bool { return l.most == 0 || l.group > 0 && l.size <= l.most }

// begins reports whether a cap counts a unit that it holds, because nothing of its workload is counted yet.
// Limits on preemptions do not count what was told to leave before.
func (p *problem) begins(l *limit, u *unit) bool {
	if u.elastic < 0 {
		return true
	}
	y := p.yields[u.elastic]
	if l.group > 0 {
		y.replicas -= y.leaving
	}
	return !y.whole && y.replicas == 0
}

// full reports whether the caps leave no place for one more workload.
func (p *problem) full(u *unit) bool {
	for i := range p.caps {
		if l := &p.caps[i]; l.taken == l.most && l.holds(u) && p.begins(l, u) {
			return true
		}
	}
	return false
}

// count counts a unit that is to be taken (1) or was put back (-1).
func (p *problem) count(u *unit, by int64) {
	for i := range p.caps {
		if l := &p.caps[i]; l.holds(u) && p.begins(l, u) {
			l.taken += by
		}
	}
}
