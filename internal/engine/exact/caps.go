package exact

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/search"
)

// limit is a cap: of the workloads that yield by one right, at most so many may have a priority
// above another one.
type limit struct {
	right int
	above int64
	all   bool // of any priority
	most  int64
	taken int64
}

func (l *limit) holds(right int, priority int64) bool {
	return l.right == right && (l.all || priority > l.above)
}

// rights is the number of rights.
const rights = 5

// capsOf returns the caps that victims set: by each right, at each priority and above, no
// more victims.
func (x *Solver) capsOf(taken []search.Victim) []limit {
	x.caps = x.caps[:0]
	for right := range rights {
		list := x.priorities[:0]
		for i := range taken {
			v := &taken[i]
			again := len(v.Workload.Surplus) > 0 && slices.ContainsFunc(taken[:i], func(o search.Victim) bool { return o.Workload == v.Workload })
			if rightOf(v) == right && !again {
				list = append(list, v.Workload.Priority)
			}
		}
		x.priorities = list
		slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
		if len(list) == 0 {
			x.caps = append(x.caps, limit{right: right, all: true})
			continue
		}
		x.caps = append(x.caps, limit{right: right, above: list[0]})
		for i, priority := range list {
			if last := i == len(list)-1; last || list[i+1] < priority {
				l := limit{right: right, most: int64(i + 1), all: last}
				if !last {
					l.above = list[i+1]
				}
				x.caps = append(x.caps, l)
			}
		}
	}
	return x.caps
}

// capped reports whether no cap leaves a place for a unit at all.
func (p *problem) capped(u *unit) bool {
	return slices.ContainsFunc(p.caps, func(l limit) bool { return l.most == 0 && l.holds(u.right, u.Workload.Priority) })
}

// full reports whether the caps leave no place for one more workload.
func (p *problem) full(u *unit) bool {
	if len(p.caps) == 0 || !p.isNew(u) {
		return false
	}
	for i := range p.caps {
		if l := &p.caps[i]; l.taken == l.most && l.holds(u.right, u.Workload.Priority) {
			return true
		}
	}
	return false
}

// count counts a workload that begins to yield (1) or stays (-1).
func (p *problem) count(u *unit, by int64) {
	for i := range p.caps {
		if l := &p.caps[i]; l.holds(u.right, u.Workload.Priority) {
			l.taken += by
		}
	}
}
