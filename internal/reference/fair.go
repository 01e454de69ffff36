package reference

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
)

// sharing is fair sharing.
type sharing struct {
	rights
	firstUnder map[*Node]*Running // see findFirst
}

// round is a round of fair sharing: the candidates left in each queue, and the nodes that are out.
type round struct {
	*sharing
	left map[*Node][]Candidate
	out  map[*Node]bool
}

func (q *sharing) round(list []Candidate) *round {
	r := &round{q, map[*Node][]Candidate{}, map[*Node]bool{}}
	for _, c := range list {
		r.left[c.At] = append(r.left[c.At], c)
	}
	return r
}

// turn returns the queue that gives next; nil: none is left.
func (r *round) turn() (next *Node) {
	root := r.Queue.root()
	if root == r.Queue {
		if len(r.left[root]) > 0 {
			return root
		}
		return nil
	}
	r.Counted(func() {
		for next == nil && !r.out[root] {
			next = r.turnIn(root)
		}
	})
	return next
}

// turnIn goes down to the member with the largest share. A cohort without a member that may give is out.
func (r *round) turnIn(cohort *Node) *Node {
	var best *Node
	for _, n := range cohort.Children {
		if r.out[n] || !r.Queue.IsUnder(n) && !n.Share().Borrows || n.Queue != nil && len(r.left[n]) == 0 {
			r.out[n] = true
		} else if best == nil || r.compareNodes(n, best) < 0 {
			best = n
		}
	}
	switch {
	case best == nil:
		r.out[cohort] = true
		return nil
	case best.Queue != nil:
		return best
	}
	return r.turnIn(best)
}

// compareNodes orders by share, the largest first; then cohorts before queues, and these by their first candidates.
func (r *round) compareNodes(a, b *Node) int {
	if order := b.Share().Compare(a.Share()); order != 0 {
		return order
	}
	switch {
	case (a.Queue != nil) != (b.Queue != nil):
		return first(a.Queue == nil, b.Queue == nil)
	case a.Queue != nil:
		x, y := r.left[a][0], r.left[b][0]
		return cmp.Or(first(x.Evicted, y.Evicted), first(a != r.Queue, b != r.Queue), r.compare(untiered(x), untiered(y)))
	}
	x, y := r.firstUnder[a], r.firstUnder[b]
	if x == nil || y == nil {
		return cmp.Or(first(x != nil, y != nil), strings.Compare(a.Name, b.Name))
	}
	return cmp.Or(r.compareWhole(x, y), strings.Compare(a.Name, b.Name))
}

func untiered(c Candidate) Candidate {
	c.tier = 0
	return c
}

// findFirst finds the first workload under each cohort that may ever yield and names something, in queues and
// through cohorts that borrow anything, while nothing is taken.
func (q *sharing) findFirst() {
	q.firstUnder = map[*Node]*Running{}
	for _, r := range q.Running {
		if neverYields(r) || !slices.Contains(r.names, true) {
			continue
		}
		for n := r.At; n.Parent != nil && n.borrows(q.tree.all); n = n.Parent {
			if best := q.firstUnder[n.Parent]; best == nil || q.compareWhole(r, best) < 0 {
				q.firstUnder[n.Parent] = r
			}
		}
	}
}

// fairAttempt takes candidates of the queue that gives next, by the strategies, until the request fits. What it took
// stays taken. With stable fair sharing it goes on with what the strategies refused, as long as that helps.
func (q *sharing) fairAttempt(list []Candidate, taken *[]Candidate) bool {
	q.findFirst()
	for before := -1; before != len(*taken) && len(list) > 0; {
		before = len(*taken)
		ok, refused := q.bothRounds(list, taken)
		if ok || q.Config.Sharing != preemption.Stable {
			return ok
		}
		list = refused
	}
	return false
}

// bothRounds makes the round of the first strategy, and with what that refused the round of the second. It returns
// what the strategies refused.
func (q *sharing) bothRounds(list []Candidate, taken *[]Candidate) (fits bool, refused []Candidate) {
	strategies, entitled := q.Strategies(), q.EntitledAtFirst
	passes := func(c *Candidate, s preemption.FairStrategy) bool {
		if c.Class == OwnQueue || entitled {
			return true
		}
		c.Reason = preemption.InCohortFairSharing
		return q.Passes(*c, s)
	}
	take := func(c Candidate) bool {
		q.Take(c)
		*taken = append(*taken, c)
		return q.Fits(true)
	}
	excluded := func(c Candidate) bool {
		return c.GoesWhole(*taken) || !q.KeepsShares(*taken, c) || q.Limited(*taken, c)
	}
	for again := false; ; again = true {
		r := q.round(list)
		for from := r.turn(); from != nil; from = r.turn() {
			for passed := false; !passed && len(r.left[from]) > 0; {
				c := r.left[from][0]
				r.left[from] = r.left[from][1:]
				if excluded(c) || again && entitled && c.Class != OwnQueue && q.ProtectedFor(c, q.Config.Protection.Reclaim) {
					continue
				}
				if passed = passes(&c, strategies[0]); !passed {
					refused = append(refused, c)
				} else if take(c) {
					return true, nil
				}
			}
		}
		own := func(c Candidate) bool { return c.Class == OwnQueue }
		if again || q.Config.Sharing != preemption.Reevaluated || entitled || len(refused) == 0 || !slices.ContainsFunc(*taken, own) {
			break
		}
		entitled = q.Entitled() // without the victims of its own queue
		list, refused = refused, nil
		for i := range list {
			list[i].Reason = preemption.InCohortReclamation
		}
	}
	if len(strategies) < 2 || entitled {
		return false, refused
	}
	r := q.round(refused)
	for from := r.turn(); from != nil; from = r.turn() {
		c := r.left[from][0]
		r.left[from] = nil
		if excluded(c) || !passes(&c, strategies[1]) {
			continue
		}
		if take(c) {
			return true, nil
		}
		i := slices.IndexFunc(refused, c.Same)
		refused = slices.Delete(slices.Clone(refused), i, i+1)
	}
	return false, refused
}

// Entitled reports whether the preemptor needs no strategy: with its request counted in, its queue stays within its
// quota of what needs preemption; with stable fair sharing, of all that its tree has a quota for and that is asked.
func (q *sharing) Entitled() (entitled bool) {
	of := q.Needed
	if q.Config.Sharing == preemption.Stable {
		of = nil
		for c, held := range q.Queue.root().held {
			if held || slices.ContainsFunc(q.Asked, func(a Amount) bool { return a.Column == Column(c) }) {
				of = append(of, Column(c))
			}
		}
	}
	q.Counted(func() { entitled = !q.Config.Compat.Kueue016 && !q.Queue.borrows(of) })
	return entitled
}

// Strategies are the one or two of the configuration.
func (q *sharing) Strategies() []preemption.FairStrategy {
	if len(q.Config.Strategies) > 0 {
		return q.Config.Strategies
	}
	return []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare, preemption.LessThanInitialShare}
}

// Rechecks: the strategies are asked again before a victim is put back.
func (q *sharing) Rechecks() bool {
	return q.Config.Sharing == preemption.Stable || q.Config.Search != preemption.Greedy
}

// Passes reports whether one of the given strategies permits a candidate after what is taken; with none given, one of
// the configuration's. The preemptor's share is that below the common cohort, with the request.
func (q *sharing) Passes(c Candidate, strategies ...preemption.FairStrategy) bool {
	if len(strategies) == 0 {
		strategies = q.Strategies()
	}
	ours, theirs := q.Sides(c)
	var share, before, after Share
	q.Counted(func() {
		share, before = ours.Share(), theirs.Share()
		q.Take(c)
		after = theirs.Share()
		q.Return(c)
	})
	return slices.ContainsFunc(strategies, func(s preemption.FairStrategy) bool { return permits(s, share, before, after) })
}

// permits is what a strategy says of the shares.
func permits(s preemption.FairStrategy, ours, before, after Share) bool {
	if s == preemption.LessThanOrEqualToFinalShare {
		return ours.Compare(after) <= 0
	}
	return ours.Compare(before) < 0
}

// Unjustified returns the victims of the first side that has no order in which each victim by fair sharing passes a
// strategy after the victims before it; nil: every side has one. All victims are taken. What is taken on a side
// changes no share of another side, and what is taken farther down only makes the preemptor's share smaller. So each
// side is judged alone, with all others taken. A share only falls. If the last victim of a side passes by the final
// share, so do the victims before it; else it must pass by the initial share, and the victims before it, which leave
// a larger share, then pass, too.
func (q *sharing) Unjustified(victims []Candidate) (left []Candidate) {
	var along []Candidate // they go with their workloads: before these go, they are there
	for _, c := range victims {
		if c.GoesWhole(victims) {
			along = append(along, c)
		}
	}
	q.Return(along...)
	defer q.Take(along...)
	sides := q.bySide(victims, func(c Candidate) bool {
		return c.Reason == preemption.InCohortFairSharing && !c.GoesWhole(victims)
	})
	q.Counted(func() {
		for _, list := range sides {
			ours, theirs := q.Sides(list[0])
			share, after, justified := ours.Share(), theirs.Share(), false
			for _, last := range list {
				q.Return(last)
				before := theirs.Share()
				q.Take(last)
				for _, s := range q.Strategies() {
					justified = justified || permits(s, share, before, after)
				}
			}
			if !justified && left == nil {
				left = list
			}
		}
	})
	return left
}

// bySide lists the victims for which something holds by the member of the common cohort that they are under.
func (q *sharing) bySide(victims []Candidate, holds func(Candidate) bool) (lists [][]Candidate) {
	var sides []*Node
	for _, c := range victims {
		if !holds(c) {
			continue
		}
		_, theirs := q.Sides(c)
		i := slices.Index(sides, theirs)
		if i < 0 {
			i, sides, lists = len(sides), append(sides, theirs), append(lists, nil)
		}
		lists[i] = append(lists[i], c)
	}
	return lists
}
