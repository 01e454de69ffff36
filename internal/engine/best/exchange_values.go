package best

import (
	"math/bits"
	"slices"

	"github.com/cedesched/cede/quota"
)

// values returns the values of the set.
func (x exchanger) values() (values [objectives]int64) {
	for of := range objectives {
		values[of] = x.problem.value(of, x.exchanges.chosen)
	}
	return values
}

// lessBy compares values by the goals.
func (x exchanger) lessBy(a, b *[objectives]int64) bool {
	for _, g := range x.exchanges.goals {
		if a[g] != b[g] {
			return a[g] < b[g]
		}
	}
	return false
}

// valuesAfter returns the values after an exchange.
func (x exchanger) valuesAfter(in, a, b int) [objectives]int64 {
	p, e := &x.problem, &x.exchanges
	values := e.values
	values[lost] = x.lostAfter(in, a, b)
	var units [3]*unit
	for n, i := range [...]int{a, b, in} {
		if i == noUnit {
			continue
		}
		by := int64(1)
		if n < 2 {
			i, by = e.chosen[i], -1
		}
		u := &p.units[i]
		units[n] = u
		switch {
		case !u.Partial():
			values[wholes] += by
		case u.Set >= 0:
			values[replicas] += by
		default:
			values[leaving] += by
		}
		if u.elastic < 0 {
			values[victims] += by
			continue
		}
		if slices.ContainsFunc(units[:n], func(v *unit) bool { return v != nil && v.elastic == u.elastic }) {
			continue
		}
		if p.yields[u.elastic] != (yields{}) {
			values[victims]--
		}
		if x.yieldsAfter(u.elastic, in, a, b) {
			values[victims]++
		}
	}
	return values
}

// yieldsAfter reports whether a workload with surplus units yields anything after an exchange.
func (x exchanger) yieldsAfter(elastic, in, a, b int) bool {
	p, e := &x.problem, &x.exchanges
	left := p.yields[elastic].replicas
	if p.yields[elastic].whole {
		left++
	}
	for _, i := range [...]int{a, b} {
		if i != noUnit && p.units[e.chosen[i]].elastic == elastic {
			left--
		}
	}
	if in != noUnit && p.units[in].elastic == elastic {
		left++
	}
	return left > 0
}

// lostAfter returns what is lost after an exchange. The sum saturates at its end only.
func (x exchanger) lostAfter(in, a, b int) int64 {
	p, e := &x.problem, &x.exchanges
	if p.s.Request.Better.Cost == nil {
		return 0
	}
	if sum := e.values[lost]; sum < noLimit {
		for _, i := range [...]int{a, b} {
			if i != noUnit {
				sum -= p.cost(&p.units[e.chosen[i]])
			}
		}
		if in != noUnit {
			sum = quota.Add(sum, p.cost(&p.units[in]))
		}
		return sum
	}
	var high, low uint64
	add := func(i int) {
		var carry uint64
		low, carry = bits.Add64(low, uint64(p.cost(&p.units[i])), 0)
		high += carry
	}
	for n, i := range e.chosen {
		if n != a && n != b {
			add(i)
		}
	}
	if in != noUnit {
		add(in)
	}
	if high > 0 || low > uint64(noLimit) {
		return noLimit
	}
	return int64(low)
}
