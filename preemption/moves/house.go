package moves

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// leaver is a unit that leaves its nodes.
type leaver struct {
	placement.Unit
	yield, move int64    // negative: it must not
	to          []string // by pod; nil: it yields
}

func (l *leaver) mustMove() bool { return l.yield < 0 }

// terminates reports whether a pod of the unit leaves anyway: the unit has no place then.
func (l *leaver) terminates() bool {
	return slices.ContainsFunc(l.Pods, func(p workload.Pod) bool { return p.Terminating })
}

// id names the unit.
func (l *leaver) id() string { return cmp.Or(l.Group, l.Pods[0].ID) }

// cost is what the unit costs as it leaves.
func (l *leaver) cost() Cost {
	c := Cost{l.yield, int64(len(l.Pods))}
	if l.to != nil {
		c.Lost = l.move
	}
	return c
}

func costOf(list []leaver) (sum Cost) {
	for i := range list {
		sum = sum.plus(list[i].cost())
	}
	return sum
}

// leaver prices a unit.
func (c *Config) leaver(u placement.Unit) leaver {
	yield, move := c.price(&u)
	return leaver{Unit: u, yield: yield, move: move}
}

// leavers returns the victims of a decision about a snapshot.
func (c *Config) leavers(s *placement.Snapshot, victims []placement.Victim) []leaver {
	list := make([]leaver, len(victims))
	for i, v := range victims {
		u := placement.Unit{Group: v.Group, Priority: v.Priority}
		for _, id := range v.Pods {
			p, _ := s.Find(id)
			u.Pods = append(u.Pods, p)
		}
		list[i] = c.leaver(u)
		if v.Violations > 0 || list[i].terminates() {
			list[i].move = -1
		}
	}
	return list
}

// house gives places to leavers that are on no node of the snapshot any more: first to those that must not yield, then by what a
// move saves, then to the largest. It reports whether each that must move has a place.
func (c *Config) house(p *placement.Preemptor, after *placement.Snapshot, list []leaver) (bool, error) {
	order, size := make([]*leaver, 0, len(list)), sizes(list)
	for i := range list {
		if list[i].to = nil; list[i].move >= 0 {
			order = append(order, &list[i])
		}
	}
	slices.SortFunc(order, func(a, b *leaver) int {
		return cmp.Or(first(a.mustMove(), b.mustMove()), cmp.Compare(saved(b), saved(a)), cmp.Compare(size[b], size[a]),
			comparePods(a.Pods, b.Pods), cmp.Compare(a.id(), b.id()))
	})
	units := make([]placement.Unit, len(order))
	for i, l := range order {
		units[i] = placement.Unit{Group: l.Group, Priority: l.Priority}
		for _, pod := range l.Pods {
			units[i].Pods = append(units[i].Pods, waiting(pod))
		}
	}
	places, err := p.Places(after, units, c.domains(units))
	if err != nil {
		return false, err
	}
	for i, l := range order {
		for _, n := range places[i] {
			l.to = append(l.to, n.Node)
		}
	}
	return !slices.ContainsFunc(list, func(l leaver) bool { return l.mustMove() && l.to == nil }), nil
}

func (c *Config) domains(units []placement.Unit) func(int) []placement.Domain {
	if c.Domains == nil {
		return nil
	}
	return func(i int) []placement.Domain { return c.Domains(units[i]) }
}

// waiting returns a pod as it waits to start anew.
func waiting(p workload.Pod) workload.Pod {
	p.Node, p.Started, p.Terminating, p.TerminatingSince, p.Preempted = "", time.Time{}, false, time.Time{}, false
	return p
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// saved is what a move saves; nothing beyond all for a unit that must move.
func saved(l *leaver) int64 {
	if l.mustMove() {
		return 0
	}
	return l.yield - l.move
}

// sizes returns how large units are beside each other: the sum over resources of what a unit requests, as a part of the most
// that one of them does, in units of 2^-20.
func sizes(list []leaver) map[*leaver]int64 {
	sums, most := make([]workload.Resources, len(list)), workload.Resources{}
	for i := range list {
		sums[i] = workload.Resources{}
		for _, p := range list[i].Pods {
			for name, amount := range p.Requests {
				sums[i][name] = quota.Add(sums[i][name], amount)
				most[name] = max(most[name], sums[i][name])
			}
		}
	}
	size := make(map[*leaver]int64, len(list))
	for i := range list {
		for name, amount := range sums[i] {
			if amount > 0 {
				size[&list[i]] += part(amount, most[name])
			}
		}
	}
	return size
}

// part returns a part of an amount that is not smaller, in units of 2^-20.
func part(amount, of int64) int64 {
	high, low := bits.Mul64(uint64(amount), 1<<20)
	part, _ := bits.Div64(high, low, uint64(of))
	return int64(part)
}

// comparePods puts units with equal requests, and mostly with equal nodes, beside each other.
func comparePods(a, b []workload.Pod) int {
	return slices.CompareFunc(a, b, func(p, q workload.Pod) int {
		if order := cmp.Compare(len(p.Nodes), len(q.Nodes)); order != 0 {
			return order
		}
		return compareRequests(p.Requests, q.Requests)
	})
}

func compareRequests(a, b workload.Resources) int {
	if maps.Equal(a, b) {
		return 0
	}
	names := slices.Sorted(maps.Keys(a))
	if order := slices.CompareFunc(names, slices.Sorted(maps.Keys(b)), strings.Compare); order != 0 {
		return order
	}
	for _, name := range names {
		if order := cmp.Compare(a[name], b[name]); order != 0 {
			return order
		}
	}
	return 0
}

// movesOf lists the leavers with places.
func movesOf(list []leaver) (out []Move) {
	for i := range list {
		l := &list[i]
		if l.to == nil {
			continue
		}
		m := Move{Group: l.Group, Lost: l.move}
		for k, p := range l.Pods {
			m.Pods = append(m.Pods, PodMove{p.ID, p.Node, l.to[k]})
		}
		slices.SortFunc(m.Pods, func(a, b PodMove) int { return cmp.Compare(a.Pod, b.Pod) })
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Move) int { return cmp.Compare(a.Pods[0].Pod, b.Pods[0].Pod) })
	return out
}
