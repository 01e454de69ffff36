package fairshare

import (
	"cmp"
	"iter"
	"math/big"
	"slices"
	"strings"
)

// rounds divides what quotas leave of one resource among siblings: steps 2 and 3. Its memory is used
// again for each division.
type rounds struct {
	members []*member // by priority, then by name
	spare   []*member
	// With K = KValue, k and onePlusK are K and 1 + K on one scale of integers.
	k, onePlusK big.Int
	// weights and parts are the sums of a round; the others are scratch.
	weights, parts, product, quotient, rest big.Int
}

// member is a queue that may get something over its quota. Its part in a round is in proportion to
// scaled − penalty × the sum of weights, and never negative. All three are integers on one scale.
type member struct {
	*Queue
	share                   *Share
	wants                   int64 // what it may still request
	given, past             decimal
	weight, scaled, penalty big.Int
	part                    big.Int
	rounded                 fraction
}

// fraction is what rounding down to whole units took from a part: whole + rest/of.
type fraction struct {
	whole    int64
	rest, of *big.Int
}

func newRounds(kValue decimal) *rounds {
	r, exponent := new(rounds), min(kValue.exponent, 0)
	kValue.times(&r.k, exponent)
	r.onePlusK.Add(&r.k, tenTo(-exponent))
	return r
}

// start collects the siblings that have a weight and request more than they have.
func (r *rounds) start(d *division, resource int, siblings []int) {
	r.spare, r.members = append(r.spare, r.members...), r.members[:0]
	for _, i := range siblings {
		q := &d.queues[i]
		c, s := q.claims[resource], &q.shares[resource]
		if wants := s.requestable(c) - s.FairShare; wants > 0 && c.OverQuotaWeight > 0 {
			m := r.unused()
			m.Queue, m.share, m.wants, m.rounded = q.Queue, s, wants, fraction{}
			m.given, m.past = decimalOf(c.OverQuotaWeight), decimalOf(c.PastUsage)
			r.members = append(r.members, m)
		}
	}
}

func (r *rounds) unused() *member {
	if n := len(r.spare); n > 0 {
		m := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return m
	}
	return new(member)
}

// priorities yields the members of each priority, from the highest.
func (r *rounds) priorities() iter.Seq[[]*member] {
	return func(yield func([]*member) bool) {
		for from := 0; from < len(r.members); {
			to := from
			for to < len(r.members) && r.members[to].Priority == r.members[from].Priority {
				to++
			}
			if !yield(r.members[from:to]) {
				return
			}
			from = to
		}
	}
}

// scale makes integers of the weights and past usage of a group. The part of a queue is in proportion
// to (1 + K) × weight/weights − K × past. All of it is times weights here: a positive factor changes
// nothing.
func (r *rounds) scale(group []*member) {
	weights, pasts := group[0].given.exponent, 0
	for _, m := range group {
		weights, pasts = min(weights, m.given.exponent), min(pasts, m.past.exponent)
	}
	factor := &r.onePlusK
	if pasts < 0 {
		factor = new(big.Int).Mul(factor, tenTo(-pasts))
	}
	for _, m := range group {
		m.given.times(&m.weight, weights)
		m.past.times(&m.penalty, pasts)
		m.scaled.Mul(&m.weight, factor)
		m.penalty.Mul(&m.penalty, &r.k)
	}
}

// divide divides an amount among queues of one priority, and returns what is left.
func (r *rounds) divide(left, unit int64, group []*member) int64 {
	r.scale(group)
	for left > 0 {
		if r.weigh(group); r.parts.Sign() == 0 {
			break
		}
		amount, again := left, false
		of := new(big.Int).Set(&r.parts)
		for _, m := range group {
			if m.wants == 0 {
				continue
			}
			gets, less := r.give(m, amount, unit, of)
			m.share.OverQuota += gets
			m.share.FairShare += gets
			m.wants -= gets
			left -= gets
			again = again || less
		}
		if !again {
			break
		}
	}
	return left
}

// weigh sets the part of each queue that still wants something, and their sum.
func (r *rounds) weigh(group []*member) {
	r.weights.SetInt64(0)
	for _, m := range group {
		if m.wants > 0 {
			r.weights.Add(&r.weights, &m.weight)
		}
	}
	r.parts.SetInt64(0)
	for _, m := range group {
		if m.wants == 0 {
			continue
		}
		if m.part.Sub(&m.scaled, r.product.Mul(&m.penalty, &r.weights)); m.part.Sign() < 0 {
			m.part.SetInt64(0)
		}
		r.parts.Add(&r.parts, &m.part)
	}
}

// give returns what a queue gets of an amount in a round. less says that it wants less than its part.
func (r *rounds) give(m *member, amount, unit int64, of *big.Int) (gets int64, less bool) {
	r.product.Mul(r.product.SetInt64(amount), &m.part)
	r.quotient.QuoRem(&r.product, of, &r.rest)
	part, exact := r.quotient.Int64(), r.rest.Sign() == 0
	if m.wants <= part {
		m.rounded = fraction{}
		return m.wants, m.wants < part || !exact
	}
	if whole := part % unit; whole > 0 || !exact {
		m.rounded = fraction{whole, new(big.Int).Set(&r.rest), of}
	}
	return part - part%unit, false
}

// giveUnits gives single units to queues of one priority whose parts were rounded down, and returns
// what is left.
func giveUnits(left, unit int64, group []*member) int64 {
	rounded := slices.DeleteFunc(slices.Clone(group), func(m *member) bool { return m.rounded.of == nil })
	slices.SortFunc(rounded, func(a, b *member) int {
		return cmp.Or(b.rounded.compare(a.rounded), a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Name, b.Name))
	})
	for _, m := range rounded {
		if left == 0 {
			break
		}
		m.share.Remainder = min(unit, left)
		m.share.FairShare += m.share.Remainder
		left -= m.share.Remainder
	}
	return left
}

// compare orders fractions by size.
func (f fraction) compare(other fraction) int {
	switch {
	case f.whole != other.whole:
		return cmp.Compare(f.whole, other.whole)
	case f.of == other.of: // of one round
		return f.rest.Cmp(other.rest)
	}
	return new(big.Int).Mul(f.rest, other.of).Cmp(new(big.Int).Mul(other.rest, f.of))
}
