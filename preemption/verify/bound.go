package verify

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// row is an amount that has to be freed. What the queue can take of a column is the least of
// several terms, one for each node from it to the root: the local quotas that are left up to the
// node, and what may come through it. A workload that leaves at or below the node raises the term
// by no more than what it takes; no other workload raises it.
type row struct {
	reference.Column
	at         *reference.Node
	nominal    bool // the term is the nominal quota of the queue
	amount     int64
	need       int64 // with nothing taken
	multiplier *big.Int
}

// missing returns by how much the term is too small without what is taken.
func (r *row) missing(from *reference.Node) int64 {
	if r.nominal {
		return quota.Sub(quota.Add(from.Used[r.Column], r.amount), from.Quotas[r.Column].Nominal)
	}
	local, n := int64(0), from
	for ; n != r.at; n = n.Parent {
		local = quota.Add(local, n.LocalLeft(r.Column))
	}
	if n.Parent == nil {
		return quota.Sub(r.amount, quota.Add(local, quota.Sub(n.Subtree[r.Column], n.Used[r.Column])))
	}
	return quota.Sub(r.amount, quota.Add(quota.Add(local, n.LocalLeft(r.Column)), n.Through(r.Column)))
}

// scale is the unit of costs: they are integers, in parts of one. They are rounded so that the bound never gets
// larger, so the computed bound holds. (A variable would link math/big into every program that decides.)
func scale() *big.Int { return big.NewInt(1 << 40) }

// scaled returns a multiplier in these parts.
func scaled(multiplier float64) (*big.Int, bool) {
	r := new(big.Rat).SetFloat64(multiplier)
	if r == nil || r.Sign() < 0 {
		return nil, false
	}
	r.Mul(r, new(big.Rat).SetInt(scale()))
	return new(big.Int).Quo(r.Num(), r.Denom()), true
}

// share returns amount × of / all, rounded down or up.
func share(amount *big.Int, of, all int64, up bool) *big.Int {
	out := new(big.Int).Mul(amount, big.NewInt(of))
	if up {
		out.Add(out, big.NewInt(all-1))
	}
	return out.Div(out, big.NewInt(all))
}

// price finds the rows, what each kind costs with the multipliers of the caps, and its reduced
// cost, and checks the bound of the attempt.
func (x *checker) price() error {
	x.sum = new(big.Int)
	for _, k := range x.kinds {
		if k.price = share(scale(), 1, k.part, false); x.byCost() {
			k.price = share(scale(), k.cost, 1, false)
		}
	}
	for i := range x.of.Caps {
		c := &x.of.Caps[i]
		m, ok := scaled(c.Multiplier)
		counts, most, holds := x.capOf(c)
		if !ok || !holds || x.bound == nil {
			return fmt.Errorf("caps[%d]: %v for a cap that does not hold", i, c.Multiplier)
		}
		for _, k := range x.kinds {
			if counts(k.list[0]) {
				k.price.Add(k.price, share(m, 1, k.part, false))
			}
		}
		x.sum.Sub(x.sum, share(m, most, 1, false))
	}
	for i := range x.of.Rows {
		if err := x.addRow(&x.of.Rows[i]); err != nil {
			return fmt.Errorf("rows[%d]: %v", i, err)
		}
	}
	for _, k := range x.kinds {
		k.reduced = new(big.Int).Set(k.price)
		for i := range x.rows {
			r := &x.rows[i]
			if c := k.list[0]; c.At.IsUnder(r.at) {
				k.reduced.Sub(k.reduced, share(r.multiplier, min(frees(c, r.Column), r.need), r.need, true))
			}
		}
	}
	for _, k := range x.kinds {
		if first := slices.Concat(k.group.whole, k.group.parts)[0]; k == first {
			x.sum.Add(x.sum, k.group.least())
		}
	}
	return x.checkBound()
}

// capOf returns which candidates a cap counts, and how many of them may yield; ok is false if it does not hold.
func (x *checker) capOf(of *preemption.CertifiedCap) (counts func(reference.Candidate) bool, most int64, ok bool) {
	if of.Limit != "" {
		counts = func(c reference.Candidate) bool {
			return slices.Contains(x.Counting(c), of.Limit) && (of.Queue == "" || c.Queue == of.Queue)
		}
		most, ok = x.LeftOf(of.Limit, of.Queue)
		return counts, most, ok
	}
	counts = func(c reference.Candidate) bool {
		return c.Reason == of.Reason && (of.AnyPriority || c.EffectivePriority() > of.Above)
	}
	return counts, workloads(x.greedy, counts), x.greedy != nil
}

// byCost: what is lost counts, not the number of victims.
func (x *checker) byCost() bool {
	return x.Config.Cost != nil && !x.Config.Exact.FewestFirst && !x.byNumber
}

func (x *checker) addRow(of *preemption.CertifiedRow) error {
	m, ok := scaled(of.Multiplier)
	c, known := x.Column(of.FlavorResource)
	r := row{Column: c, at: x.Queue, nominal: of.Nominal, multiplier: m}
	for r.at != nil && (of.Cohort != "" || r.at.Queue == nil) && (r.at.Queue != nil || r.at.Name != of.Cohort) {
		r.at = r.at.Parent
	}
	for _, a := range x.Asked {
		if known && a.Column == r.Column {
			r.amount = a.Amount
		}
	}
	switch {
	case !ok || x.bound == nil:
		return fmt.Errorf("%v is no multiplier", of.Multiplier)
	case r.at == nil:
		return fmt.Errorf("cohort %q is not above the queue", of.Cohort)
	case r.nominal && (!x.StaysNominal(r.Column, x.borrowing) || r.at.Queue == nil):
		return fmt.Errorf("the nominal quota does not count")
	}
	if r.amount > 0 {
		r.need = r.missing(x.Queue)
	}
	if r.need <= 0 {
		return fmt.Errorf("nothing of %v is missing", of.FlavorResource)
	}
	x.rows = append(x.rows, r)
	return nil
}

// frees returns what leaves with a candidate. With a whole workload, the parts that leave already
// go, too.
func frees(c reference.Candidate, of reference.Column) int64 {
	total := c.Frees(of)
	for _, part := range c.Parts {
		if c.PodSet < 0 {
			total = quota.Add(total, reference.Candidate{Running: part, PodSet: -1}.Frees(of))
		}
	}
	return total
}

// checkBound checks that the bound of the attempt is what the multipliers come to, up to what
// floating point is wrong by.
func (x *checker) checkBound() error {
	if x.bound == nil {
		if x.of.Bound != 0 {
			return fmt.Errorf("bound is %v, but there are no victims", x.of.Bound)
		}
		return nil
	}
	sum := new(big.Rat).SetFrac(x.reached(), scale())
	exact, _ := sum.Float64()
	if off := math.Abs(x.of.Bound - exact); !(off <= 1e-6+1e-9*math.Abs(exact)) {
		return fmt.Errorf("bound is %v, but the multipliers come to %v", x.of.Bound, exact)
	}
	return nil
}

// roundUp returns an amount of cost as a whole number, and none below zero.
func roundUp(sum *big.Int) *big.Int {
	if sum.Sign() <= 0 {
		return new(big.Int)
	}
	up := new(big.Int).Add(sum, scale())
	up.Sub(up, big.NewInt(1))
	return up.Div(up, scale())
}

// least returns the least reduced cost that what is left of the group adds to what is taken.
func (g *group) least() *big.Int {
	of := func(kinds []*kind) *big.Int {
		sum := new(big.Int)
		for _, k := range kinds {
			if left := int64(len(k.list) - k.taken); !k.closed && !k.excluded() && k.reduced.Sign() < 0 {
				sum.Add(sum, share(k.reduced, left, 1, false))
			}
		}
		return sum
	}
	whole, parts := of(g.whole), of(g.parts)
	if whole.Cmp(parts) < 0 {
		return whole
	}
	return parts
}

// change changes what is left of the kind's group.
func (x *checker) change(k *kind, change func()) {
	x.sum.Sub(x.sum, k.group.least())
	change()
	x.sum.Add(x.sum, k.group.least())
}

// move takes the next one of a kind (1), or puts the last one back (-1).
func (x *checker) move(k *kind, times int64) {
	x.sum.Add(x.sum, share(k.price, times, 1, false))
	x.change(k, func() { k.taken += int(times) })
	if times > 0 {
		x.taken = append(x.taken, k.list[k.taken-1])
		x.Take(k.list[k.taken-1])
		return
	}
	x.taken = x.taken[:len(x.taken)-1]
	x.Return(k.list[k.taken])
}

// close decides against all others of a kind, or takes that back.
func (x *checker) close(k *kind, closed bool) {
	x.change(k, func() { k.closed = closed })
}

// reached returns the bound of all sets with what is taken and others of what is left.
func (x *checker) reached() *big.Int {
	sum := new(big.Int).Set(x.sum)
	for i := range x.rows {
		if r := &x.rows[i]; r.missing(x.Queue) > 0 {
			sum.Add(sum, share(r.multiplier, min(r.missing(x.Queue), r.need), r.need, false))
		}
	}
	return sum
}

// reaches reports whether that bound, with something more, shows that no set is better.
func (x *checker) reaches(more *big.Int) bool {
	sum := x.reached()
	if more != nil {
		sum.Add(sum, more)
	}
	return roundUp(sum).Cmp(x.bound) >= 0
}

// cheapest returns the least reduced cost of the candidates that are left.
func (x *checker) cheapest() (least *big.Int, any bool) {
	for _, k := range x.kinds {
		if k.open() && !k.excluded() && (least == nil || k.reduced.Cmp(least) < 0) {
			least = k.reduced
		}
	}
	return least, least != nil
}

// value returns what is taken, by what counts first.
func (x *checker) value() *big.Int {
	if !x.byCost() {
		return big.NewInt(workloads(x.taken, func(reference.Candidate) bool { return true }))
	}
	sum := new(big.Int)
	for _, c := range x.taken {
		sum.Add(sum, big.NewInt(x.costOf(c)))
	}
	return sum
}

// overLimits reports whether the victims taken are over a limit.
func (x *checker) overLimits() bool {
	for i, c := range x.taken {
		if x.Limited(x.taken[:i], c) {
			return true
		}
	}
	return false
}

// ceiling returns how many workloads may yield at most by limits.
func (x *checker) ceiling() int64 {
	all, leaving := map[string]bool{}, map[string]bool{}
	held := map[preemption.CertifiedCap]map[string]bool{}
	for _, k := range x.kinds {
		for _, c := range k.list {
			all[c.ID] = true
			leaving[c.ID] = leaving[c.ID] || c.Evicted // of it that may yield whatever the limits say
			for _, name := range x.Counting(c) {
				for _, of := range []preemption.CertifiedCap{{Limit: name}, {Limit: name, Queue: c.Queue}} {
					if held[of] == nil {
						held[of] = map[string]bool{}
					}
					held[of][c.ID] = true
				}
			}
		}
	}
	least := int64(len(all))
	for of, list := range held {
		maps.DeleteFunc(list, func(id string, _ bool) bool { return leaving[id] })
		if most, ok := x.LeftOf(of.Limit, of.Queue); ok {
			least = min(least, int64(len(all))-max(0, int64(len(list))-most))
		}
	}
	return least
}
