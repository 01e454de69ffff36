package best

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/quota"
)

// unit is a candidate: a whole workload, or one replica of a surplus.
type unit struct {
	source.Candidate
	place  int   // in the documented order
	right  int   // see rightOf
	depth  int   // 0: in the own queue; 1 + the index of the level
	cost   int64 // what is lost; see problem.cost
	kind   int   // units of one kind may stand for each other
	groups []int // of limits on preemptions that count the unit
	// Of a workload with surplus units: its index, and one part of how many replicas this is.
	// -1 and 1 for all others.
	elastic int
	part    float64
	// Of such a workload as a whole: how many units of replicas exclude it.
	excludes int
}

// rights are the rights of the policies; units refer to them by number.
var rights = [...]trace.Right{trace.InQueue, trace.TimeIsOver, trace.ByShares, trace.ReclaimedWhileBorrowing, trace.Reclaimed}

// rightOf returns the number of the right by which a victim yields.
func rightOf(v *right.Victim) int { return slices.Index(rights[:], v.Right()) }

// yields is what has been taken of a workload with surplus units.
type yields struct {
	whole    bool
	replicas int64 // units of replicas, among them those that leave already
	leaving  int64
}

// problem is what is asked in one attempt.
type problem struct {
	s         *search.Search
	borrowing bool
	units     []unit
	yields    []yields // by unit.elastic
	either    [][]int  // a whole workload, then the units of its replicas
	caps      []limit
	fair      fairness
	order     []int  // scratch of sideInOrder
	placed    []bool // by index of search.Taken: whether it is in order
	counted   []bool // scratch of value, by unit.elastic
	moves     int    // how often a victim was moved to look for orders
	looks     int    // at units and victims, beside the moves
	// The quota that is short, see rows.go.
	path []int
	rows []row
}

// collect lists candidates of all attempts, up to a number. No victim may be taken.
func (x *Solver) collect(most int) {
	s := x.problem.s
	x.list = s.Source.AppendCandidates(&s.Case, x.list[:0], most)
	entitled := s.Request.Fair.Enabled() && s.Entitled()
	for i := range x.list {
		if c := &x.list[i]; c.Class != right.Own && s.Request.Fair.Enabled() {
			c.Fair = !entitled
		}
	}
}

// open makes the problem of an attempt, and what branch and bound needs of it.
func (x *Solver) open(borrowing bool, caps []limit) {
	p := &x.problem
	x.enter(borrowing, caps)
	p.findEither()
	p.findRows()
	if x.alone {
		return
	}
	for i := range p.units {
		p.cost(&p.units[i])
	}
	x.findKinds()
	p.findBestShares()
}

// enter makes the problem of an attempt from the candidates.
func (x *Solver) enter(borrowing bool, caps []limit) {
	p := &x.problem
	p.borrowing, p.units, p.yields, p.caps = borrowing, p.units[:0], p.yields[:0], append(p.caps[:0], caps...)
	numbers, total := map[*cluster.Workload]int{}, []int64{}
	for i := range x.list {
		c := &x.list[i]
		if !c.Partial() || !c.PermittedIn(borrowing) {
			continue
		}
		of := p.s.Cluster.Whole(c.Workload)
		n, known := numbers[of]
		if !known {
			n = len(total)
			numbers[of], total = n, append(total, 0)
		}
		total[n]++
	}
	p.yields = append(p.yields, make([]yields, len(total))...)
	for i := range x.list {
		c := &x.list[i]
		if !c.PermittedIn(borrowing) {
			continue
		}
		u := unit{Candidate: *c, place: i, right: rightOf(&c.Victim), depth: c.Level + 1, elastic: -1, part: 1, cost: 1}
		if n, ok := numbers[p.s.Cluster.Whole(c.Workload)]; ok {
			u.elastic = n
			if c.Partial() {
				u.part = 1 / float64(total[n])
			}
		}
		if p.s.Request.Better.Cost != nil {
			u.cost = unknown
		}
		if u.groups = p.groupsOf(c); p.capped(&u) {
			continue
		}
		p.units = append(p.units, u)
	}
	p.caps = slices.DeleteFunc(p.caps, func(l limit) bool { return l.idle() })
}

// findEither finds the units that exclude each other.
func (p *problem) findEither() {
	p.either = p.either[:0]
	if len(p.yields) == 0 {
		return
	}
	replicas := make([][]int, len(p.yields))
	for i := range p.units {
		if u := &p.units[i]; u.Partial() {
			replicas[u.elastic] = append(replicas[u.elastic], i)
		}
	}
	for i := range p.units {
		if u := &p.units[i]; u.elastic >= 0 && !u.Partial() && len(replicas[u.elastic]) > 0 {
			u.excludes = len(replicas[u.elastic])
			p.either = append(p.either, append([]int{i}, replicas[u.elastic]...))
		}
	}
}

const unknown = -1

// cost returns what is lost if a unit yields. It is asked once, because it may cost more than
// a look at the unit.
func (p *problem) cost(u *unit) int64 {
	if u.cost == unknown {
		u.cost = p.s.Request.Better.Cost(u.Workload, u.Set)
	}
	return u.cost
}

// findKinds numbers the kinds of units. Workloads are alike if no rule and no sum tells them
// apart; replicas, if they are of the same surplus.
func (x *Solver) findKinds() {
	p := &x.problem
	if p.s.Request.Room != nil {
		for i := range p.units { // a room tells workloads apart
			p.units[i].kind = i
			if u := &p.units[i]; i > 0 && u.Set >= 0 && compareKinds(&p.units[i-1], u) == 0 {
				u.kind = p.units[i-1].kind
			}
		}
		return
	}
	list := x.byKind[:0]
	for i := range p.units {
		list = append(list, i)
	}
	slices.SortFunc(list, func(a, b int) int {
		u, v := &p.units[a], &p.units[b]
		return cmp.Or(compareKinds(u, v), cmp.Compare(u.place, v.place))
	})
	for n, i := range list {
		if n > 0 && compareKinds(&p.units[list[n-1]], &p.units[i]) == 0 {
			p.units[i].kind = p.units[list[n-1]].kind
		} else {
			p.units[i].kind = n
		}
	}
	x.byKind = list
}

func compareKinds(u, v *unit) int {
	if u.elastic >= 0 || v.elastic >= 0 {
		return cmp.Or(cmp.Compare(u.elastic, v.elastic), cmp.Compare(u.Set, v.Set), cmp.Compare(u.Workload.Leaving, v.Workload.Leaving))
	}
	return cmp.Or(
		cmp.Compare(u.Queue, v.Queue), cmp.Compare(u.right, v.right), cmp.Compare(u.Workload.Priority, v.Workload.Priority),
		cmp.Compare(u.cost, v.cost), slices.Compare(u.groups, v.groups),
		compareLoads(u.Workload.Loads, v.Workload.Loads),
	)
}

// compareLoads compares loads without those of zero, which free nothing.
func compareLoads(a, b []quotatree.Load) (order int) {
	for order == 0 {
		for len(a) > 0 && a[0].Amount == 0 {
			a = a[1:]
		}
		for len(b) > 0 && b[0].Amount == 0 {
			b = b[1:]
		}
		if len(a) == 0 || len(b) == 0 {
			return cmp.Compare(len(a), len(b))
		}
		order = cmp.Or(cmp.Compare(a[0].Column, b[0].Column), cmp.Compare(a[0].Amount, b[0].Amount))
		a, b = a[1:], b[1:]
	}
	return order
}

// frees returns what a unit frees in a slot.
func (p *problem) frees(u *unit, slot int) int64 {
	column := p.s.Request.Columns[slot]
	if u.Set >= 0 {
		return quotatree.AmountIn(u.Workload.Surplus[u.Set].Loads, column)
	}
	amount := quotatree.AmountIn(u.Workload.Loads, column)
	for _, part := range u.Workload.Parts {
		amount = quota.Add(amount, quotatree.AmountIn(part.Loads, column))
	}
	return amount
}

// conflicts reports whether the rest of the unit's workload is taken: replicas and the whole
// exclude each other.
func (p *problem) conflicts(u *unit) bool {
	return u.elastic >= 0 && (p.yields[u.elastic].whole || !u.Partial() && p.yields[u.elastic].replicas > 0)
}

// take removes a unit. Units are put back in reverse.
func (p *problem) take(u *unit) {
	p.count(u, 1)
	p.yield(u, 1)
	p.s.Take(u.Victim)
}

// putBack puts back the unit taken last.
func (p *problem) putBack(u *unit) {
	p.s.PutLastBack()
	p.yield(u, -1)
	p.count(u, -1)
}

// yield notes what is taken of a workload with surplus units.
func (p *problem) yield(u *unit, by int64) {
	if u.elastic < 0 {
		return
	}
	y := &p.yields[u.elastic]
	if !u.Partial() {
		y.whole = by > 0
		return
	}
	if y.replicas += by; u.leaves() {
		y.leaving += by
	}
}

// objective is something that is to be little.
type objective int

const (
	lost     objective = iota // what the victims lose
	victims                   // workloads that yield anything
	wholes                    // workloads that yield as a whole
	replicas                  // replicas of workloads that do not, without those that were leaving already
	leaving                   // pod sets of such workloads with replicas that were
	objectives
)

// value returns an objective of chosen units.
func (p *problem) value(of objective, chosen []int) (sum int64) {
	p.counted = sized(p.counted, len(p.yields))
	clear(p.counted)
	for _, i := range chosen {
		u := &p.units[i]
		switch of {
		case lost:
			sum = quota.Add(sum, p.cost(u))
		case victims:
			if u.elastic < 0 {
				sum++
			} else if !p.counted[u.elastic] {
				p.counted[u.elastic] = true
				sum++
			}
		case wholes:
			if !u.Partial() {
				sum++
			}
		case replicas:
			if u.Set >= 0 {
				sum++
			}
		case leaving:
			if u.leaves() {
				sum++
			}
		}
	}
	return sum
}

// leaves reports whether the unit is replicas that were told to leave before.
func (u *unit) leaves() bool { return u.Partial() && u.Set < 0 }

// weight is the part of a unit in an objective. The weights of chosen units add up to no more
// than the objective.
func (u *unit) weight(of objective) float64 {
	switch {
	case of == lost:
		return float64(u.cost)
	case of == victims:
		return u.part
	case of == wholes && !u.Partial(), of == replicas && u.Set >= 0, of == leaving && u.leaves():
		return 1
	}
	return 0
}

const noLimit = int64(math.MaxInt64)
