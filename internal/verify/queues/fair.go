package queues

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// round is one of the two rounds of fair sharing: the candidates left in each queue, and the
// nodes that are out.
type round struct {
	*judge
	left map[*node][]candidate
	out  map[*node]bool
}

func (j *judge) round(list []candidate) *round {
	r := &round{j, map[*node][]candidate{}, map[*node]bool{}}
	for _, c := range list {
		r.left[c.queue] = append(r.left[c.queue], c)
	}
	return r
}

// turn returns the queue whose turn it is; nil: none is left. The request must be counted in.
func (r *round) turn() *node {
	root := r.queue.root()
	for root != r.queue && !r.out[root] {
		if q := r.turnIn(root); q != nil {
			return q
		}
	}
	if root == r.queue && len(r.left[root]) > 0 {
		return root
	}
	return nil
}

// turnIn goes down to the child with the largest share. Without a child it puts the cohort
// out.
func (r *round) turnIn(cohort *node) *node {
	var best *node
	for _, n := range cohort.children {
		if r.out[n] || !r.queue.isUnder(n) && !n.share().Borrows || n.isQueue && len(r.left[n]) == 0 {
			r.out[n] = true
		} else if best == nil || r.compareNodes(n, best) < 0 {
			best = n
		}
	}
	switch {
	case best == nil:
		r.out[cohort] = true
		return nil
	case best.isQueue:
		return best
	}
	return r.turnIn(best)
}

// compareNodes is negative if the first is before the second.
func (r *round) compareNodes(a, b *node) int {
	if order := b.share().Compare(a.share()); order != 0 {
		return order
	}
	switch {
	case a.isQueue != b.isQueue:
		return first(!a.isQueue, !b.isQueue)
	case a.isQueue:
		x, y := r.left[a][0], r.left[b][0]
		return cmp.Or(first(x.Evicted, y.Evicted), first(a != r.queue, b != r.queue), r.compare(x, y))
	}
	x, y := r.firstUnder[a], r.firstUnder[b]
	if x == nil || y == nil {
		return cmp.Or(first(x != nil, y != nil), strings.Compare(a.name, b.name))
	}
	return cmp.Or(first(x.Evicted, y.Evicted), r.compareWhole(x, y), strings.Compare(a.name, b.name))
}

func (j *judge) compareWhole(x, y *running) int {
	return j.compare(candidate{running: x, set: -1}, candidate{running: y, set: -1})
}

// findFirst finds the first workload under each cohort that may ever yield and names something that it uses, in
// queues and through cohorts that borrow anything, nobody gone.
func (j *judge) findFirst() {
	j.firstUnder = map[*node]*running{}
	for _, r := range j.running {
		if j.stays(r) || !slices.ContainsFunc(r.PodSets, func(p workload.PodSet) bool { return len(p.Requests) > 0 }) {
			continue
		}
		for n := r.queue; n.parent != nil && n.borrowsAnything(); n = n.parent {
			best := j.firstUnder[n.parent]
			if best == nil || cmp.Or(first(r.Evicted, best.Evicted), j.compareWhole(r, best)) < 0 {
				j.firstUnder[n.parent] = r
			}
		}
	}
}

// fairSearch takes candidates of the queue whose turn it is, by the strategies. It leaves
// nobody gone.
func (j *judge) fairSearch(list []candidate, largestFirst bool) (taken []candidate) {
	j.findFirst()
	found := j.rounds(list, &taken, largestFirst)
	if found {
		taken = j.putBack(taken, true)
	}
	j.takeAll(taken, -1)
	if !found {
		return nil
	}
	return taken
}

// rounds makes the first round, and the second with those that the first refused. Who is
// taken stays gone.
func (j *judge) rounds(list []candidate, taken *[]candidate, largestFirst bool) (found bool) {
	for before := -1; before != len(*taken) && !found && len(list) > 0; {
		before = len(*taken)
		found, list = j.bothRounds(list, taken, largestFirst)
		if !j.Stable {
			return found
		}
	}
	return found
}

// bothRounds also returns those that the strategies refused.
func (j *judge) bothRounds(list []candidate, taken *[]candidate, largestFirst bool) (found bool, refused []candidate) {
	entitled, again := j.entitledBesides(*taken), false
	try := func(c candidate, strategies ...Strategy) (passed bool) {
		switch {
		case c.class == ownQueue:
		case entitled && again && j.protectedFor(c, j.Protection.Reclaim):
			return false
		case entitled:
		default:
			if c.reason = InCohortFairSharing; !j.passes(c, strategies) {
				return false
			}
		}
		j.take(c, 1)
		*taken = append(*taken, c)
		return true
	}
	turn := func(r *round) *node {
		j.ask(1)
		defer j.ask(-1)
		return r.turn()
	}
first:
	second := map[*node]bool{} // queues that the second strategy was used on already
	r := j.round(list)
	for q := turn(r); q != nil; q = turn(r) {
		for passed := false; !passed && len(r.left[q]) > 0; {
			c := r.left[q][0]
			r.left[q] = r.left[q][1:]
			if !j.keepsShares(*taken, c) || j.limited(*taken, c) {
				continue
			}
			if passed = try(c, j.Strategies[0]); !passed && largestFirst && len(j.Strategies) == 2 && !second[q] {
				passed = try(c, j.Strategies[1])
				second[q] = passed
			}
			if passed && j.fits(true) {
				return true, nil
			}
			if !passed {
				refused = append(refused, c)
			}
		}
	}
	own := func(c candidate) bool { return c.class == ownQueue }
	if j.Reevaluate && !again && !entitled && len(refused) > 0 && slices.ContainsFunc(*taken, own) {
		again, entitled = true, j.entitled()
		list, refused = refused, nil
		goto first
	}
	if len(j.Strategies) < 2 || entitled || largestFirst {
		return false, refused
	}
	r = j.round(refused)
	for q := turn(r); q != nil; q = turn(r) {
		c := r.left[q][0]
		r.left[q] = nil
		if !j.keepsShares(*taken, c) || j.limited(*taken, c) || !try(c, j.Strategies[1]) {
			continue
		}
		if j.fits(true) {
			return true, nil
		}
		i := slices.IndexFunc(refused, func(o candidate) bool { return o.running == c.running && o.set == c.set })
		refused = slices.Delete(slices.Clone(refused), i, i+1)
	}
	return false, refused
}

// entitledBesides is entitled while some are gone.
func (j *judge) entitledBesides(gone []candidate) bool {
	j.takeAll(gone, -1)
	defer j.takeAll(gone, 1)
	return j.entitled()
}

// entitled: a preemptor that stays within its nominal quota of what needs preemption needs no
// strategy.
func (j *judge) entitled() bool {
	j.ask(1)
	defer j.ask(-1)
	return !j.IgnoreNominalEntitlement && j.ownQuota()
}

// sides returns the children of the common cohort above the preemptor and above a victim.
func (j *judge) sides(c candidate) (ours, theirs *node) {
	for ours = j.queue; ours.parent != c.cohort; {
		ours = ours.parent
	}
	for theirs = c.queue; theirs.parent != c.cohort; {
		theirs = theirs.parent
	}
	return ours, theirs
}

// passes reports whether one of the strategies permits a candidate that is still there, with
// those gone that are.
func (j *judge) passes(c candidate, strategies []Strategy) bool {
	ours, theirs := j.sides(c)
	j.ask(1)
	defer j.ask(-1)
	share, before := ours.share(), theirs.share()
	j.take(c, 1)
	after := theirs.share()
	j.take(c, -1)
	return passesOne(strategies, share, before, after)
}

func passesOne(strategies []Strategy, ours, before, after quota.Share) bool {
	return slices.Contains(strategies, FinalShare) && ours.Compare(after) <= 0 ||
		slices.Contains(strategies, InitialShare) && ours.Compare(before) < 0
}

// unjustified returns the victims, all gone, of a side for which there is no order in which
// each victim by fair sharing passes a strategy with only those before it gone; nil if there
// is none. Who is taken on a side changes no share of another side, and who is taken below a
// level can only make the preemptor's share at that level smaller. So each side is judged
// alone, with all the others gone. A share only falls: if the last one on a side passes by
// the final share so do those before it; else the last one passes by the initial share, and
// those before it, which leave more, do so, too.
func (j *judge) unjustified(victims []candidate) []candidate {
	j.ask(1)
	defer j.ask(-1)
	sides := map[*node][]candidate{}
	for _, c := range victims {
		if c.reason == InCohortFairSharing {
			_, theirs := j.sides(c)
			sides[theirs] = append(sides[theirs], c)
		}
	}
	for _, c := range victims {
		if c.reason != InCohortFairSharing {
			continue
		}
		ours, theirs := j.sides(c)
		share, after := ours.share(), theirs.share()
		justified := false
		for _, last := range sides[theirs] {
			j.take(last, -1)
			justified = justified || passesOne(j.Strategies, share, theirs.share(), after)
			j.take(last, 1)
		}
		if !justified {
			return sides[theirs]
		}
	}
	return nil
}
