package fairshare

import (
	"cmp"
	"iter"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"
)

// rounds divides what quotas leave of one resource among siblings: steps 2 and 3. Its memory is used
// again for each division. The zero value is ready.
type rounds struct {
	members []member  // by priority, then by name
	rounded []*member // those of a group whose part was rounded down
	// small says that there is no past usage, and that the weights of a group are small integers on some scale. Then parts are in proportion
	// to weights, and numbers of a word are enough.
	small             bool
	sum, restOfWord   uint64
	k, onePlusK       big.Int  // K = KValue, and 1 + K, on one scale of integers
	scaled            bool     // they are
	weights, parts    big.Int  // the sums of a round
	of                *big.Int // the sum of parts, which fractions keep
	product, quotient big.Int
	rest              big.Int
}

// member is a queue that may get something over its quota. Its part in a round is in proportion to
// scaled − penalty × the sum of weights, and never negative. All three are integers on one scale.
type member struct {
	*Queue
	share       *Share
	wants       int64 // what it may still request
	given, past decimal
	word        uint64 // the weight, if it is small
	*large             // else
	rounded     fraction
}

type large struct{ weight, scaled, penalty, part big.Int }

// fraction is what rounding down to whole units took from a part: whole + rest/of, or whole + word/ofWord. The zero value: nothing.
type fraction struct {
	whole        int64
	rest, of     *big.Int
	word, ofWord uint64
}

// start collects the siblings that have a weight and request more than they have.
func (r *rounds) start(d *draft, resource int, siblings []int) {
	r.members = slices.Grow(r.members[:0], len(siblings))
	for k, i := range siblings {
		q := d.at(i)
		c, s := q.claims[resource], &d.scratch[k]
		if wants := s.requestable(c) - s.FairShare; wants > 0 && c.OverQuotaWeight > 0 {
			r.members = append(r.members, member{Queue: q.Queue, share: s, wants: wants, given: decimalOf(c.OverQuotaWeight), past: decimalOf(c.PastUsage)})
		}
	}
}

// priorities yields the members of each priority, from the highest.
func (r *rounds) priorities() iter.Seq[[]member] {
	return func(yield func([]member) bool) {
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
func (r *rounds) scale(group []member, kValue float64) {
	if r.small = scaleWords(group); r.small {
		return
	}
	if !r.scaled {
		k := decimalOf(kValue)
		exponent := min(k.exponent, 0)
		k.times(&r.k, exponent)
		r.onePlusK.Add(&r.k, tenTo(-exponent))
		r.scaled = true
	}
	weights, pasts := group[0].given.exponent, 0
	for _, m := range group {
		weights, pasts = min(weights, m.given.exponent), min(pasts, m.past.exponent)
	}
	factor := &r.onePlusK
	if pasts < 0 {
		factor = new(big.Int).Mul(factor, tenTo(-pasts))
	}
	for i := range group {
		m := &group[i]
		m.large = new(large)
		m.given.times(&m.weight, weights)
		m.past.times(&m.penalty, pasts)
		m.scaled.Mul(&m.weight, factor)
		m.penalty.Mul(&m.penalty, &r.k)
	}
}

// scaleWords makes integers of the weights, of which the sum has to be an int64, if no queue has past usage.
func scaleWords(group []member) bool {
	lowest := group[0].given.exponent
	for i := range group {
		lowest = min(lowest, group[i].given.exponent)
	}
	most := uint64(math.MaxInt64) / uint64(len(group))
	for i := range group {
		m := &group[i]
		if m.word = uint64(m.given.mantissa); m.past.mantissa != 0 {
			return false
		}
		for range m.given.exponent - lowest {
			if m.word > most/10 {
				return false
			}
			m.word *= 10
		}
		if m.word > most {
			return false
		}
	}
	return true
}

// divide divides an amount among queues of one priority, and returns what is left.
func (r *rounds) divide(left, unit int64, group []member, kValue float64) int64 {
	r.scale(group, kValue)
	for left > 0 && r.weigh(group) {
		amount, again := left, false
		for i := range group {
			m := &group[i]
			if m.wants == 0 {
				continue
			}
			gets, less := r.give(m, amount, unit)
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

// weigh sets the part of each queue that still wants something, and their sum, and reports whether there is one.
func (r *rounds) weigh(group []member) bool {
	r.sum = 0
	r.weights.SetInt64(0)
	for i := range group {
		switch m := &group[i]; {
		case m.wants == 0:
		case r.small:
			r.sum += m.word
		default:
			r.weights.Add(&r.weights, &m.weight)
		}
	}
	if r.small {
		return r.sum > 0
	}
	r.parts.SetInt64(0)
	for i := range group {
		m := &group[i]
		if m.wants == 0 {
			continue
		}
		if m.part.Sub(&m.scaled, r.product.Mul(&m.penalty, &r.weights)); m.part.Sign() < 0 {
			m.part.SetInt64(0)
		}
		r.parts.Add(&r.parts, &m.part)
	}
	r.of = new(big.Int).Set(&r.parts)
	return r.parts.Sign() > 0
}

// give returns what a queue gets of an amount in a round. less says that it wants less than its part.
func (r *rounds) give(m *member, amount, unit int64) (gets int64, less bool) {
	part, exact := r.partOf(m, amount)
	if m.wants <= part {
		m.rounded = fraction{}
		return m.wants, m.wants < part || !exact
	}
	if whole := part % unit; whole > 0 || !exact {
		m.rounded = fraction{whole: whole, word: r.restOfWord, ofWord: r.sum}
		if !r.small {
			m.rounded = fraction{whole: whole, rest: new(big.Int).Set(&r.rest), of: r.of}
		}
	}
	return part - part%unit, false
}

// partOf returns the part of a queue, rounded down, and whether it is exact.
func (r *rounds) partOf(m *member, amount int64) (part int64, exact bool) {
	if r.small {
		high, low := bits.Mul64(uint64(amount), m.word)
		whole, rest := bits.Div64(high, low, r.sum) // the weight is no more than the sum, so the part is no more than the amount
		r.restOfWord = rest
		return int64(whole), rest == 0
	}
	r.product.Mul(r.product.SetInt64(amount), &m.part)
	r.quotient.QuoRem(&r.product, r.of, &r.rest)
	return r.quotient.Int64(), r.rest.Sign() == 0
}

// giveUnits gives single units to queues of one priority whose parts were rounded down, and returns
// what is left.
func (r *rounds) giveUnits(left, unit int64, group []member) int64 {
	if left == 0 {
		return 0
	}
	rounded := r.rounded[:0]
	for i := range group {
		if group[i].rounded != (fraction{}) {
			rounded = append(rounded, &group[i])
		}
	}
	r.rounded = rounded
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

// compare orders fractions by size. Both are of one group.
func (f fraction) compare(other fraction) int {
	switch {
	case f.whole != other.whole:
		return cmp.Compare(f.whole, other.whole)
	case f.ofWord > 0:
		high, low := bits.Mul64(f.word, other.ofWord)
		otherHigh, otherLow := bits.Mul64(other.word, f.ofWord)
		return cmp.Or(cmp.Compare(high, otherHigh), cmp.Compare(low, otherLow))
	case f.of == other.of: // of one round
		return f.rest.Cmp(other.rest)
	}
	return new(big.Int).Mul(f.rest, other.of).Cmp(new(big.Int).Mul(other.rest, f.of))
}
