package fairshare

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/cedesched/cede/quota"
)

// model divides a tree as the comment of the package says it, in fractions, without any thought of speed.
func model(tree Tree) (list []QueueShares) {
	byQueue := map[string][]Share{}
	for _, q := range tree.Queues {
		byQueue[q.Name] = make([]Share, len(tree.Resources))
	}
	for r, resource := range tree.Resources {
		m := modelOf{tree, resource, map[string]*Share{}, big.NewRat(max(resource.Unit, 1), 1)}
		for _, q := range tree.Queues {
			request, usage, never := new(big.Int), new(big.Int), new(big.Int)
			for _, below := range tree.Queues {
				if m.isBelow(below, q.Name) {
					c := claimOf(below, resource.Name)
					request.Add(request, big.NewInt(c.Request))
					usage.Add(usage, big.NewInt(c.Usage))
					never.Add(never, big.NewInt(c.NonPreemptible))
				}
			}
			m.shares[q.Name] = &Share{Resource: resource.Name, Request: clamp(request), Usage: clamp(usage), NonPreemptible: clamp(never)}
		}
		m.below("", resource.Total)
		for _, q := range tree.Queues {
			c, s := claimOf(q, resource.Name), m.shares[q.Name]
			s.Allocatable = max(c.Quota, s.FairShare)
			wants := s.Request
			if limit, has := c.Limit.Get(); has {
				s.Allocatable, wants = min(s.Allocatable, limit), min(wants, limit)
			}
			if may := min(s.FairShare, wants); may > s.Usage {
				s.Starved = may - s.Usage
			}
			if s.Usage > s.FairShare {
				s.Over = s.Usage - s.FairShare
			}
			byQueue[q.Name][r] = *s
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byQueue)) {
		list = append(list, QueueShares{name, byQueue[name]})
	}
	return list
}

func clamp(x *big.Int) int64 {
	if !x.IsInt64() {
		return quota.Unlimited
	}
	return x.Int64()
}

// modelOf divides one resource.
type modelOf struct {
	tree     Tree
	resource Resource
	shares   map[string]*Share
	unit     *big.Rat
}

// sibling is a queue that gets something over its quota; a part that was rounded down has an entry.
type sibling struct {
	Queue
	weight, past, wants, gets, entry *big.Rat
}

func (m *modelOf) isBelow(q Queue, name string) bool {
	for q.Name != name {
		at := slices.IndexFunc(m.tree.Queues, func(o Queue) bool { return o.Name == q.Parent })
		if at < 0 {
			return false
		}
		q = m.tree.Queues[at]
	}
	return true
}

func exact(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
	return r
}

func whole(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// below divides an amount among the queues with this parent, and what each gets among those below it.
func (m *modelOf) below(parent string, amount int64) {
	left := whole(amount)
	groups := map[int64][]*sibling{}
	for _, q := range m.tree.Queues {
		if q.Parent != parent {
			continue
		}
		c, s := claimOf(q, m.resource.Name), m.shares[q.Name]
		requestable := min(s.Request, c.Limit.Or(quota.Unlimited))
		if s.Deserved = min(c.Quota, requestable); c.Quota == quota.Unlimited {
			s.Deserved = min(amount, requestable)
		}
		s.FairShare = s.Deserved
		left.Sub(left, whole(s.Deserved))
		to := &sibling{Queue: q, weight: exact(c.OverQuotaWeight), past: exact(c.PastUsage)}
		to.wants, to.gets = whole(requestable-s.Deserved), new(big.Rat)
		groups[q.Priority] = append(groups[q.Priority], to)
	}
	if left.Sign() > 0 {
		priorities := slices.Sorted(maps.Keys(groups))
		slices.Reverse(priorities)
		for _, p := range priorities {
			for m.round(left, groups[p]) {
			}
			for _, q := range groups[p] {
				m.shares[q.Name].OverQuota = q.gets.Num().Int64() // no part is a fraction of an amount
			}
		}
		for _, p := range priorities {
			m.remainder(left, groups[p])
		}
	}
	for _, q := range m.tree.Queues {
		if s := m.shares[q.Name]; q.Parent == parent {
			s.FairShare = s.Deserved + s.OverQuota + s.Remainder
			m.below(q.Name, s.FairShare)
		}
	}
}

// round divides what is left once among queues of one priority. Another round follows if it returns true.
func (m *modelOf) round(left *big.Rat, group []*sibling) (again bool) {
	weights := new(big.Rat)
	for _, q := range group {
		if q.wants.Sign() > 0 {
			weights.Add(weights, q.weight)
		}
	}
	if weights.Sign() == 0 {
		return false
	}
	parts, sum := map[string]*big.Rat{}, new(big.Rat)
	for _, q := range group {
		if q.wants.Sign() == 0 {
			continue
		}
		n := new(big.Rat).Quo(q.weight, weights)
		less := new(big.Rat).Sub(n, q.past) // n + K(n - past)
		part := less.Add(n, less.Mul(exact(m.tree.KValue.Or(1)), less))
		if part.Sign() > 0 {
			parts[q.Name] = part
			sum.Add(sum, part)
		}
	}
	amount := new(big.Rat).Set(left)
	for _, q := range group {
		part := parts[q.Name]
		if part == nil {
			continue
		}
		part.Mul(amount, part.Quo(part, sum))
		gets := q.wants
		switch compared := gets.Cmp(part); {
		case compared <= 0:
			q.entry = nil
			again = again || compared < 0
		default:
			units := new(big.Rat).Quo(part, m.unit)
			floor := new(big.Rat).SetInt(new(big.Int).Quo(units.Num(), units.Denom()))
			if fraction := new(big.Rat).Sub(units, floor); fraction.Sign() > 0 {
				q.entry = fraction
			}
			gets = floor.Mul(floor, m.unit)
		}
		q.wants, q.gets = new(big.Rat).Sub(q.wants, gets), new(big.Rat).Add(q.gets, gets)
		left.Sub(left, gets)
	}
	return again && left.Sign() > 0
}

// remainder gives single units to those whose parts were rounded down.
func (m *modelOf) remainder(left *big.Rat, group []*sibling) {
	group = slices.DeleteFunc(slices.Clone(group), func(q *sibling) bool { return q.entry == nil })
	slices.SortFunc(group, func(a, b *sibling) int {
		return cmp.Or(b.entry.Cmp(a.entry), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	for _, q := range group {
		one := m.unit
		if left.Cmp(one) < 0 {
			one = new(big.Rat).Set(left)
		}
		m.shares[q.Name].Remainder = one.Num().Int64()
		left.Sub(left, one)
	}
}
