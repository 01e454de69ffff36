package twin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// tournament is one round of fair sharing: the remaining candidates of each queue, and the
// queues and cohorts that are out.
type tournament struct {
	*decision
	lists map[string][]candidate
	out   map[node]bool
}

func (d *decision) round(candidates []candidate) *tournament {
	t := &tournament{d, map[string][]candidate{}, map[node]bool{}}
	for _, c := range candidates { // in order inside each queue
		t.lists[c.w.Queue] = append(t.lists[c.w.Queue], c)
	}
	return t
}

// turn returns the queue whose turn it is.
func (t *tournament) turn() (string, bool) {
	root := t.queue
	for t.parent(root) != (node{}) {
		root = t.parent(root)
	}
	if root == t.queue {
		return root.name, len(t.lists[root.name]) > 0
	}
	for !t.out[root] {
		if q, ok := t.turnIn(root); ok {
			return q, true
		}
	}
	return "", false
}

// turnIn returns the queue whose turn it is under a cohort. Without one it puts a
// cohort out.
func (t *tournament) turnIn(cohort node) (string, bool) {
	var left []node
	for _, c := range t.children(cohort) {
		onPath := c == t.queue || slices.Contains(t.ancestors(t.queue), c)
		if t.out[c] || !onPath && !t.share(c).borrows || c.kind == "queue" && len(t.lists[c.name]) == 0 {
			t.out[c] = true
			continue
		}
		left = append(left, c)
	}
	if len(left) == 0 {
		t.out[cohort] = true
		return "", false
	}
	best := slices.MinFunc(left, t.compare)
	if best.kind == "queue" {
		return best.name, true
	}
	return t.turnIn(best)
}

// compare is negative when a's turn is before b's.
func (t *tournament) compare(a, b node) int {
	if order := compareShares(t.share(b), t.share(a)); order != 0 {
		return order
	}
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind) // a cohort first
	}
	if a.kind == "queue" {
		x, y := t.lists[a.name][0], t.lists[b.name][0]
		return cmp.Or(compareBool(y.w.Evicted, x.w.Evicted), compareBool(x.w.Queue == t.queue.name, y.w.Queue == t.queue.name), t.compareCandidates(x, y))
	}
	x, y := t.first(a), t.first(b)
	switch {
	case x != nil && y != nil:
		return cmp.Or(compareBool(y.Evicted, x.Evicted), t.compareCandidates(candidate{w: *x, podSet: -1}, candidate{w: *y, podSet: -1}))
	case x != nil:
		return -1
	case y != nil:
		return 1
	}
	return cmp.Compare(a.name, b.name)
}

func (d *decision) compareCandidates(x, y candidate) int {
	return cmp.Or(
		cmp.Compare(importance(&x.w), importance(&y.w)),
		compareBool(y.podSet >= 0, x.podSet >= 0),
		d.reserved(&y.w).Compare(d.reserved(&x.w)),
		cmp.Compare(x.w.UID, y.w.UID),
		cmp.Compare(x.w.ID, y.w.ID),
	)
}

// first returns the first workload under a cohort that may ever yield and uses something, before anything
// is taken, in queues and through cohorts that borrow anything.
func (d *decision) first(cohort node) *workload.Workload {
	w := *d.world
	w.gone, w.fewer, w.added = nil, nil, nil
	var first *workload.Workload
	for i := range d.running {
		r := &d.running[i]
		reached := true
		n := node{"queue", r.Queue}
		for ; n != cohort && n != (node{}); n = d.parent(n) {
			reached = reached && w.borrowsAnything(n)
		}
		if n == (node{}) || !reached || neverYields(r) || len(named(r)) == 0 {
			continue
		}
		if first == nil || cmp.Or(compareBool(first.Evicted, r.Evicted),
			d.compareCandidates(candidate{w: *r, podSet: -1}, candidate{w: *first, podSet: -1})) < 0 {
			first = r
		}
	}
	return first
}

// borrowsAnything reports whether a node uses more than its quota of anything.
func (w *world) borrowsAnything(n node) bool {
	all := map[quota.FlavorResource]bool{}
	for i := range w.running {
		for _, fr := range named(&w.running[i]) {
			all[fr] = true
		}
	}
	reserve := func(list []quota.Amount) {
		for _, a := range list {
			all[a.FlavorResource()] = true
		}
	}
	for _, q := range w.queues {
		reserve(q.Reserved)
	}
	for _, c := range w.cohorts {
		reserve(c.Reserved)
	}
	return !w.within(n, slices.Collect(maps.Keys(all)))
}

// fairAttempt is the decision in fair sharing.
func (d *decision) fairAttempt(candidates []candidate, _ bool) []preemption.Victim {
	if d.policy.ReclaimWithinCohort == queue.Never {
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool { return c.class != 2 })
	}
	defer d.setGone(nil)
	var taken []candidate
	for list := candidates; ; {
		before := len(taken)
		victims, refused := d.pass(list, &taken)
		if victims != nil {
			return victims
		}
		if !d.config.Fair.Stable || len(taken) == before || len(refused) == 0 {
			break
		}
		list = refused
	}
	d.noteMissing(taken, true)
	return nil
}

// pass makes both rounds. It returns the victims, or nobody and those that the strategies
// refused.
func (d *decision) pass(candidates []candidate, all *[]candidate) (victims []preemption.Victim, refused []candidate) {
	strategies, entitled, again := d.strategies(), d.entitled(), false
	d.addedTo = d.queue.name
	taken := *all
	d.setGone(taken)
	defer func() { *all = taken }()
	// try takes a candidate for good if the test, which sees the shares, says so.
	try := func(c candidate, test func(ours, before, after share) bool) (passed, enough bool) {
		d.added = d.asked
		ours, before := d.sides(c)
		d.setGone(append(slices.Clone(taken), c))
		_, after := d.sides(c)
		d.added = nil
		if !test(ours, before, after) {
			d.setGone(taken)
			return false, false
		}
		taken = append(taken, c)
		return true, d.fits(true)
	}
	always := func(_, _, _ share) bool { return true }
	strategy := func(s preemption.FairStrategy) func(ours, before, after share) bool {
		return func(ours, before, after share) bool { return passes(s, ours, before, after) }
	}
first:
	used := map[string]bool{} // queues that the second strategy was used on, with the largest first
	for t := d.round(candidates); ; {
		d.added = d.asked
		q, ok := t.turn()
		d.added = nil
		if !ok {
			break
		}
		for len(t.lists[q]) > 0 {
			c := t.lists[q][0]
			t.lists[q] = t.lists[q][1:]
			if partOf(taken, c) || !d.keepsShares(taken, c) || d.limited(taken, c) {
				continue
			}
			test := always
			switch {
			case c.class == 2:
			case !entitled:
				test, c.reason = strategy(strategies[0]), preemption.InCohortFairSharing
			case again && d.protectedFor(&c, d.config.Protection.Reclaim):
				continue
			default:
				c.reason = preemption.InCohortReclamation
			}
			passed, enough := try(c, test)
			if !passed && d.largestFirst && len(strategies) == 2 && !used[q] {
				passed, enough = try(c, strategy(strategies[1]))
				used[q] = passed
			}
			if enough {
				return d.putBack(taken), nil
			}
			if passed {
				break
			}
			refused = append(refused, c)
		}
	}
	own := func(c candidate) bool { return c.class == 2 }
	if d.config.Fair.ReevaluateCandidates && !again && !entitled && len(refused) > 0 && slices.ContainsFunc(taken, own) {
		d.added, again = d.asked, true
		entitled = !d.config.Fair.IgnoreNominalEntitlement && d.within(d.queue, d.needed)
		d.added = nil
		candidates, refused = refused, nil
		goto first
	}
	if len(strategies) == 2 && !entitled && !d.largestFirst {
		for t := d.round(refused); ; {
			d.added = d.asked
			q, ok := t.turn()
			d.added = nil
			if !ok {
				break
			}
			c := t.lists[q][0]
			t.lists[q] = nil
			if partOf(taken, c) || !d.keepsShares(taken, c) || d.limited(taken, c) {
				continue
			}
			passed, enough := try(c, strategy(strategies[1]))
			if enough {
				return d.putBack(taken), nil
			}
			if i := slices.IndexFunc(refused, func(o candidate) bool { return o.w.ID == c.w.ID && o.podSet == c.podSet }); passed {
				refused = slices.Delete(slices.Clone(refused), i, i+1)
			}
		}
	}
	return nil, refused
}

// sides returns the shares of the two children of the lowest common cohort.
func (d *decision) sides(c candidate) (ours, theirs share) {
	if c.class == 2 {
		return share{}, share{}
	}
	below := func(n node) node {
		for d.parent(n) != c.lca {
			n = d.parent(n)
		}
		return n
	}
	return d.share(below(d.queue)), d.share(below(node{"queue", c.w.Queue}))
}

// Justified reports whether there is an order of whole victims in which each that was
// taken by fair sharing passes one of the strategies, with only those before it gone.
func Justified(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim) bool {
	d := decide(st, r)
	d.config = c
	if len(victims) == 0 {
		return true
	}
	all := make([]candidate, len(victims))
	for i, v := range victims {
		all[i] = candidate{lca: node{"cohort", v.Cohort}, reason: v.Reason, podSet: -1}
		if v.Cohort == "" {
			all[i].class = 2
		}
		for _, w := range st.Admitted {
			if w.ID == v.Workload {
				all[i].w = w
			}
		}
	}
	return d.justifiedInSomeOrder(nil, all)
}

// justifiedInSomeOrder reports whether the rest can be taken one after the other, once
// those before are gone, so that each by fair sharing passes one of the strategies. It tries
// every order, but each set of victims that are gone only once.
func (d *decision) justifiedInSomeOrder(before, rest []candidate) bool {
	return d.inSomeOrder(before, rest, d.passesAfter)
}

// inSomeOrder reports whether the rest can be taken one after the other so that each passes.
func (d *decision) inSomeOrder(before, rest []candidate, passes func(before []candidate, c candidate) bool) bool {
	tried := map[string]bool{}
	var try func(before, rest []candidate) bool
	try = func(before, rest []candidate) bool {
		var names []string
		for _, c := range rest {
			names = append(names, fmt.Sprint(c.w.ID, c.podSet))
		}
		slices.Sort(names)
		if key := strings.Join(names, " "); tried[key] {
			return false
		} else {
			tried[key] = true
		}
		for i, c := range rest {
			if passes(before, c) && try(append(slices.Clone(before), c), slices.Delete(slices.Clone(rest), i, i+1)) {
				return true
			}
		}
		return len(rest) == 0
	}
	return try(before, rest)
}

// withoutParts leaves out the replicas of those that go whole.
func withoutParts(taken []candidate) []candidate {
	return slices.DeleteFunc(slices.Clone(taken), func(part candidate) bool {
		return partOf(taken, part)
	})
}

// passesAfter reports whether a candidate by fair sharing passes one of the strategies
// with those before it gone.
func (d *decision) passesAfter(before []candidate, c candidate) bool {
	if c.reason != preemption.InCohortFairSharing {
		return true
	}
	defer func() { d.added = nil }()
	d.added, d.addedTo = d.asked, d.queue.name
	d.setGone(before)
	ours, first := d.sides(c)
	d.setGone(append(slices.Clone(before), c))
	_, after := d.sides(c)
	return slices.ContainsFunc(d.strategies(), func(s preemption.FairStrategy) bool { return passes(s, ours, first, after) })
}

func (d *decision) strategies() []preemption.FairStrategy {
	if len(d.config.Fair.Strategies) > 0 {
		return d.config.Fair.Strategies
	}
	return []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare, preemption.LessThanInitialShare}
}

func passes(s preemption.FairStrategy, ours, before, after share) bool {
	if s == preemption.LessThanOrEqualToFinalShare {
		return compareShares(ours, after) <= 0
	}
	return compareShares(ours, before) < 0
}

// putBack puts back, latest first, each victim that is not needed. If shares are checked
// again it is repeated: a victim that is put back may justify another one.
func (d *decision) putBack(taken []candidate) []preemption.Victim {
	for before := -1; before != len(taken); {
		before = len(taken)
		for i := len(taken) - 2; i >= 0; i-- {
			without := slices.Delete(slices.Clone(taken), i, i+1)
			d.setGone(without)
			if !partOf(without, taken[i]) && d.fits(true) && (!d.recheck() || d.justifiedInSomeOrder(nil, withoutParts(without))) {
				taken = without
			}
		}
	}
	return d.victims(taken)
}
