package twin

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// MostExhausted is the largest number of candidates, replicas counted one by one, of which
// Exhaust tries all sets.
const MostExhausted = 12

// Exhausted is what all sets of candidates come to.
type Exhausted struct {
	// Candidates is their number. If it is over MostExhausted, nothing was tried.
	Candidates int
	// Victims is the best allowed set, sorted; empty: no set is allowed.
	Victims []preemption.Victim
	Values  [5]int64 // what is lost, workloads, whole workloads, replicas, pod sets of which some leave
	Fits    bool
	Allowed int // the number of allowed sets
}

// Exhaust tries every set of candidates with every order of removal: a set can be reached if
// it can without one of its members, and that one may then be taken. greedy, if not empty,
// are victims whose number by right and priority must not be exceeded; if no set keeps to
// that, it is dropped. Cost is what a workload loses, or one replica of a pod set; nil: each
// victim counts one. order says which of Values count, the most important first.
func Exhaust(c preemption.Config, st preemption.State, r preemption.Request, greedy []preemption.Victim, cost func(id, podSet string) int64, order []int) Exhausted {
	d := decide(st, r)
	d.config = c
	fits := d.fitsNow() && !d.inactive(d.queue)
	if fits || d.inactive(d.queue) || r.Workload.NeverPreempts {
		return Exhausted{Fits: fits}
	}
	x, attempts := d.exhaust(cost, order)
	if x.answer.Candidates > MostExhausted {
		return x.answer
	}
	for _, borrowing := range attempts {
		x.try(borrowing, greedy)
	}
	if x.best == nil && len(greedy) > 0 {
		for _, borrowing := range attempts {
			x.try(borrowing, nil)
		}
	}
	if x.best != nil {
		d.setGone(nil)
		x.answer.Victims, x.answer.Values = d.victims(x.best), x.values
		slices.SortFunc(x.answer.Victims, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	}
	return x.answer
}

// exhaust prepares to try all sets, and returns the attempts.
func (d *decision) exhaust(cost func(id, podSet string) int64, order []int) (x *exhaustion, attempts []bool) {
	x = &exhaustion{decision: d, all: d.candidates(), cost: cost, order: order}
	x.answer.Candidates = len(x.all)
	if len(x.all) > MostExhausted {
		return x, nil
	}
	x.densify()
	if d.config.Sharing == preemption.Fair {
		return x, []bool{true}
	}
	return x, d.attempts(x.all)
}

// exhaustion holds the quota tree with numbers for names.
type exhaustion struct {
	*decision
	all    []candidate
	cost   func(id, podSet string) int64
	order  []int
	answer Exhausted
	best   []candidate
	values [5]int64

	nodes    []node
	parents  []int
	children [][]int // leaves first: a child has a smaller number than its parent
	columns  []quota.FlavorResource
	cells    [][]dense // by node and column
	at       []int     // by candidate: its queue
	takes    [][]int64 // by candidate and column
	mine     int
	asks     []int64 // by column
	// By set:
	usage [][]int64 // by node and column
	with  [][]int64 // the same with the request counted
}

// dense is the quota of a node in a column.
type dense struct {
	nominal, subtree, lendable, local int64
	limit                             int64
	limited, held                     bool // held: the node or one below it has a quota
	potential                         int64
}

func (x *exhaustion) densify() {
	number := map[node]int{}
	var add func(n node) int
	add = func(n node) int {
		var below []int
		for _, c := range x.below[n] {
			below = append(below, add(c))
		}
		number[n] = len(x.nodes)
		x.nodes, x.children, x.parents = append(x.nodes, n), append(x.children, below), append(x.parents, -1)
		for _, c := range below {
			x.parents[c] = number[n]
		}
		return number[n]
	}
	root := x.queue
	for x.parent(root) != (node{}) {
		root = x.parent(root)
	}
	add(root)
	x.mine = number[x.queue]
	for fr := range x.quotasUnder(root) {
		x.columns = append(x.columns, fr)
	}
	for _, a := range x.asked {
		x.columns = append(x.columns, a.FlavorResource())
	}
	for _, r := range x.running {
		x.columns = append(x.columns, named(&r)...)
	}
	x.columns = append(x.columns, x.needed...)
	slices.SortFunc(x.columns, quota.FlavorResource.Compare)
	x.columns = slices.Compact(x.columns)
	for _, n := range x.nodes {
		var row []dense
		held := x.quotasUnder(n)
		for _, fr := range x.columns {
			e := x.entry(n, fr)
			limit, limited := e.BorrowingLimit.Get()
			row = append(row, dense{
				e.Nominal, x.subtreeQuota(n, fr), x.lendable(n, fr), x.localQuota(n, fr), limit, limited, held[fr], x.potential(n, fr),
			})
		}
		x.cells = append(x.cells, row)
	}
	x.asks = make([]int64, len(x.columns))
	for _, a := range x.asked {
		x.asks[slices.Index(x.columns, a.FlavorResource())] = a.Amount
	}
	for _, c := range x.all {
		x.at = append(x.at, number[node{"queue", c.w.Queue}])
		takes := make([]int64, len(x.columns))
		for i, fr := range x.columns {
			if c.podSet < 0 {
				for n := range x.running {
					if of := &x.running[n]; of.ID == c.w.ID || idOf(of.ID) == c.w.ID {
						takes[i] = quota.Add(takes[i], amountOf(of, fr, nil))
					}
				}
			} else {
				for _, a := range c.w.PodSets[c.podSet].Requests {
					if a.FlavorResource() == fr {
						takes[i] = a.Amount
					}
				}
			}
		}
		x.takes = append(x.takes, takes)
	}
	x.sumUp()
}

// sumUp computes the usage without each set.
func (x *exhaustion) sumUp() {
	first := make([][]int64, len(x.nodes)) // of the queues, and what cohorts reserve
	for n, of := range x.nodes {
		first[n] = make([]int64, len(x.columns))
		for i, fr := range x.columns {
			first[n][i] = x.world.usage(of, fr)
			for _, c := range x.children[n] {
				first[n][i] -= x.pastLocal(x.nodes[c], fr)
			}
		}
	}
	sets := 1 << len(x.all)
	x.usage, x.with = make([][]int64, sets), make([][]int64, sets)
	for set := range sets {
		x.usage[set] = x.sum(first, set, nil)
		x.with[set] = x.sum(first, set, x.asks)
	}
}

func (x *exhaustion) sum(first [][]int64, set int, asks []int64) []int64 {
	width := len(x.columns)
	out := make([]int64, len(x.nodes)*width)
	for n := range x.nodes {
		copy(out[n*width:], first[n])
	}
	for c := range x.all {
		if set>>c&1 == 1 {
			for i, amount := range x.takes[c] {
				out[x.at[c]*width+i] -= amount
			}
		}
	}
	for i, amount := range asks {
		out[x.mine*width+i] = quota.Add(out[x.mine*width+i], amount)
	}
	for n := range x.nodes {
		for _, c := range x.children[n] {
			for i := range width {
				out[n*width+i] = quota.Add(out[n*width+i], max(0, quota.Sub(out[c*width+i], x.cells[c][i].local)))
			}
		}
	}
	return out
}

func (x *exhaustion) available(n, column int, usage []int64) int64 {
	c, used := &x.cells[n][column], usage[n*len(x.columns)+column]
	if x.parents[n] < 0 {
		return quota.Sub(c.subtree, used)
	}
	through := quota.Unlimited
	if c.limited {
		through = quota.Add(quota.Sub(c.lendable, max(0, quota.Sub(used, c.local))), c.limit)
	}
	return quota.Add(max(0, quota.Sub(c.local, used)), min(through, x.available(x.parents[n], column, usage)))
}

// fitsWithout reports whether the request fits without a set.
func (x *exhaustion) fitsWithout(set int, borrowing bool) bool {
	usage := x.usage[set]
	for i, amount := range x.asks {
		if amount == 0 {
			continue
		}
		if amount > x.available(x.mine, i, usage) ||
			x.withinNominal(x.columns[i], borrowing) && quota.Add(usage[x.mine*len(x.columns)+i], amount) > x.cells[x.mine][i].nominal {
			return false
		}
	}
	gone, fewer := map[string]bool{}, map[string]map[string]int64{}
	for c := range x.all {
		switch of := &x.all[c]; {
		case set>>c&1 == 0:
		case of.podSet < 0:
			gone[of.w.ID] = true
		default:
			count(fewer, of)
		}
	}
	return x.roomyWithout(gone, fewer)
}

// borrows reports whether a node borrows what a victim under it needs to be taken.
func (x *exhaustion) borrows(n, set int) bool {
	for i, fr := range x.columns {
		c := &x.cells[n][i]
		if x.config.Sharing == preemption.Fair && !c.held || x.config.Sharing != preemption.Fair && !slices.Contains(x.needed, fr) {
			continue
		}
		if x.usage[set][n*len(x.columns)+i] > c.subtree {
			return true
		}
	}
	return false
}

func (x *exhaustion) shareOf(n int, usage []int64) (s share) {
	weight := x.queues[x.nodes[n].name].FairWeight
	if x.nodes[n].kind == "cohort" {
		weight = x.cohorts[x.nodes[n].name].FairWeight
	}
	s.weight = weight.Or(1)
	p := x.parents[n]
	if p < 0 {
		return s
	}
	root := len(x.nodes) - 1
	for i, fr := range x.columns {
		again := slices.ContainsFunc(x.columns[:i], func(o quota.FlavorResource) bool { return o.Resource == fr.Resource })
		if again {
			continue
		}
		borrowed, lendable := int64(0), int64(0)
		for j, o := range x.columns {
			if o.Resource != fr.Resource {
				continue
			}
			if c := &x.cells[n][j]; c.held {
				borrowed = quota.Add(borrowed, max(0, quota.Sub(usage[n*len(x.columns)+j], c.subtree)))
			}
			if x.cells[root][j].held {
				lendable = quota.Add(lendable, x.cells[p][j].potential)
			}
		}
		if lendable > 0 {
			s.ratio = max(s.ratio, float64(borrowed)*1000/float64(lendable))
		}
	}
	return s
}

// mayTake reports whether a candidate may be taken when a set is gone.
func (x *exhaustion) mayTake(c, set int, borrowing, entitled bool) bool {
	of := &x.all[c]
	var taken []candidate
	for o := range x.all {
		if set>>o&1 == 1 {
			taken = append(taken, x.all[o])
		}
	}
	if x.limited(taken, *of) || x.config.Fair.Stable && !x.keepsShares(taken, *of) {
		return false
	}
	if of.class == 2 {
		return true
	}
	if !x.permitted(*of, borrowing) {
		return false
	}
	theirs := x.at[c]
	for n := x.at[c]; x.nodes[n] != of.lca; n = x.parents[n] {
		if theirs = n; !x.borrows(n, set) {
			return false
		}
	}
	if x.config.Sharing != preemption.Fair || entitled {
		return true
	}
	ours := x.mine
	for x.nodes[x.parents[ours]] != of.lca {
		ours = x.parents[ours]
	}
	share := x.shareOf(ours, x.with[set])
	strategies := x.config.Fair.Strategies
	if len(strategies) == 0 {
		strategies = []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare, preemption.LessThanInitialShare}
	}
	for _, s := range strategies {
		switch s {
		case preemption.LessThanOrEqualToFinalShare:
			if compareShares(share, x.shareOf(theirs, x.usage[set|1<<c])) <= 0 {
				return true
			}
		default:
			if compareShares(share, x.shareOf(theirs, x.usage[set])) < 0 {
				return true
			}
		}
	}
	return false
}

// try tries all sets in one attempt.
func (x *exhaustion) try(borrowing bool, greedy []preemption.Victim) {
	for set, reached := range x.reach(borrowing) {
		if reached && set != 0 && x.capped(set, greedy) {
			x.note(set, borrowing)
		}
	}
}

// reach says of each set whether it has an order of removal.
func (x *exhaustion) reach(borrowing bool) []bool {
	entitled := x.config.Sharing == preemption.Fair && x.entitled()
	for i := range x.all {
		if x.all[i].class != 2 && x.config.Sharing == preemption.Fair && !entitled {
			x.all[i].reason = preemption.InCohortFairSharing
		}
	}
	reached := make([]bool, 1<<len(x.all))
	reached[0] = true
	for set := range reached {
		if !reached[set] {
			continue
		}
		for c := range x.all {
			if set>>c&1 == 0 && x.next(c, set) && x.mayTake(c, set, borrowing, entitled) {
				reached[set|1<<c] = true
			}
		}
	}
	return reached
}

// next reports whether a candidate goes with a set: replicas of a pod set come in order, and
// none with their whole workload.
func (x *exhaustion) next(c, set int) bool {
	for o := range x.all {
		same := idOf(x.all[o].w.ID) == idOf(x.all[c].w.ID)
		whole := func(c candidate) bool { return c.podSet < 0 && !leaves(c.w.ID) }
		switch taken := set>>o&1 == 1; {
		case !same || o == c:
		case taken && (whole(x.all[o]) || whole(x.all[c])):
			return false
		case !taken && x.all[o].w.ID == x.all[c].w.ID && x.all[o].podSet == x.all[c].podSet && o < c:
			return false
		}
	}
	return true
}

// capped reports whether a set has, by each right and at each priority and above, no more
// victims than greedy.
func (x *exhaustion) capped(set int, greedy []preemption.Victim) bool {
	if len(greedy) == 0 {
		return true
	}
	priority := map[string]int64{}
	for i := range x.running {
		priority[idOf(x.running[i].ID)] = importance(&x.running[i])
	}
	seen := map[string]bool{}
	var mine []candidate
	for c := range x.all {
		if set>>c&1 == 1 && !seen[idOf(x.all[c].w.ID)] {
			seen[idOf(x.all[c].w.ID)] = true
			mine = append(mine, x.all[c])
		}
	}
	for _, c := range mine {
		count, most := 0, 0
		for _, o := range mine {
			if o.reason == c.reason && importance(&o.w) >= importance(&c.w) {
				count++
			}
		}
		for _, v := range greedy {
			if v.Reason == c.reason && priority[v.Workload] >= importance(&c.w) {
				most++
			}
		}
		if count > most {
			return false
		}
	}
	return true
}
