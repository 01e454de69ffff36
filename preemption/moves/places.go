package moves

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// victim is a unit that leaves its nodes, with its prices and its places.
type victim struct {
	placement.Unit
	yield, move int64    // negative: it must not
	to          []string // by pod; nil: it yields
}

func (l *victim) mustMove() bool { return l.yield < 0 }

// terminates reports whether a pod of the unit leaves anyway: the unit has no place then.
func (l *victim) terminates() bool {
	return slices.ContainsFunc(l.Pods, func(p workload.Pod) bool { return p.Terminating })
}

// cost is what the unit costs as it leaves.
func (l *victim) cost() Cost {
	c := Cost{l.yield, int64(len(l.Pods))}
	if l.to != nil {
		c.Lost = l.move
	}
	return c
}

func costOf(list []victim) (sum Cost) {
	for i := range list {
		sum = sum.plus(list[i].cost())
	}
	return sum
}

// victim prices a unit.
func (c *Config) victim(u placement.Unit) victim {
	yield, move := c.price(&u)
	return victim{Unit: u, yield: yield, move: move}
}

// victimsOf returns the victims of a decision about a snapshot.
func (c *Config) victimsOf(s *placement.Snapshot, victims []placement.Victim) []victim {
	list := make([]victim, len(victims))
	for i, v := range victims {
		u := placement.Unit{Group: v.Group, Priority: v.Priority}
		for _, id := range v.Pods {
			p, _ := s.Find(id)
			u.Pods = append(u.Pods, p)
		}
		list[i] = c.victim(u)
		if v.Violations > 0 || list[i].terminates() {
			list[i].move = -1
		}
	}
	return list
}

// findPlaces gives places to victims: first to those that must not yield, then by what a move saves, then to the largest. beside says what
// counts as gone and as placed. It reports whether each victim that must move has a place.
func (c *Config) findPlaces(p *placement.Preemptor, after *placement.Snapshot, beside placement.Beside, list []victim) (bool, error) {
	order, size := make([]*victim, 0, len(list)), sizes(list)
	for i := range list {
		if list[i].to = nil; list[i].move >= 0 {
			order = append(order, &list[i])
		}
	}
	slices.SortFunc(order, func(a, b *victim) int {
		return cmp.Or(first(a.mustMove(), b.mustMove()), cmp.Compare(saved(b), saved(a)), cmp.Compare(size[b], size[a]),
			cmp.Compare(a.ID(), b.ID()))
	})
	units := make([]placement.Unit, len(order))
	for i, l := range order {
		units[i] = placement.Unit{Group: l.Group, Priority: l.Priority}
		for _, pod := range l.Pods {
			units[i].Pods = append(units[i].Pods, waiting(pod))
		}
	}
	beside.Domains = c.domains(units)
	places, err := p.Places(after, units, beside)
	if err != nil {
		return false, err
	}
	for i, l := range order {
		for _, n := range places[i] {
			l.to = append(l.to, n.Node)
		}
	}
	return !slices.ContainsFunc(list, func(l victim) bool { return l.mustMove() && l.to == nil }), nil
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
func saved(l *victim) int64 {
	if l.mustMove() {
		return 0
	}
	return l.yield - l.move
}

// sizes returns how large victims are beside each other: by what one of them requests at most.
func sizes(list []victim) map[*victim]uint64 {
	most := workload.Resources{}
	for i := range list {
		for name, amount := range requestsOf(list[i].Pods) {
			most[name] = max(most[name], amount)
		}
	}
	size := make(map[*victim]uint64, len(list))
	for i := range list {
		size[&list[i]] = sizeOf(list[i].Pods, most)
	}
	return size
}

// requestsOf adds up what pods request. The caller does not change it.
func requestsOf(pods []workload.Pod) workload.Resources {
	if len(pods) == 1 {
		return pods[0].Requests
	}
	sum := workload.Resources{}
	for i := range pods {
		for name, amount := range pods[i].Requests {
			sum[name] = quota.Add(sum[name], amount)
		}
	}
	return sum
}

// sizeOf is the sum, over resources, of what pods request as a part of an amount. More than the amount counts as all of it.
func sizeOf(pods []workload.Pod, of workload.Resources) (size uint64) {
	for name, amount := range requestsOf(pods) {
		if most := of[name]; most > 0 {
			size += room.Part(min(amount, most), most)
		}
	}
	return size
}

// movesOf lists the victims with places.
func movesOf(list []victim) (out []Move) {
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

// yieldsOf lists the victims without places.
func yieldsOf(list []victim) (out []placement.Victim) {
	for i := range list {
		if list[i].to == nil {
			out = append(out, list[i].asVictim())
		}
	}
	slices.SortFunc(out, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	for i := range out {
		out[i].Order = i + 1
	}
	return out
}

// asVictim returns it as package placement has it.
func (l *victim) asVictim() placement.Victim {
	v := placement.Victim{Group: l.Group, Priority: l.Priority}
	for _, p := range l.Pods {
		v.Pods = append(v.Pods, p.ID)
	}
	slices.Sort(v.Pods)
	return v
}
