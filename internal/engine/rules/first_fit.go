package rules

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/rules"
)

// outlook is the state of [Taker.FirstFit].
type outlook struct {
	all      []donor // of all tiers
	donors   []prospect
	expected []expected
	waiting  []expected // for the capacity
	moments  []int64    // of one workload
}

// prospect is a queue in which some tier may accept somebody at some time.
type prospect struct {
	donor
	begun bool // those were looked at whom some selector accepts without BorrowingCapacityFromPreemptor
	ended bool // the others, too
}

// expected is what some tier may accept from an instant on.
type expected struct {
	from  int64
	loads []quotatree.Load
	donor int  // an index of outlook.donors
	needs bool // only while BorrowingCapacityFromPreemptor holds
}

// FirstFit returns the first instant, from that of the search on, at which the quota suffices without
// everybody whom some tier may accept then or may have accepted before; ok is false if there is none.
// These become only more with time, and a tier takes no others. So at no earlier instant the request
// fits by rules alone, whatever triggers, limits and the room say. Nobody may be taken.
func (t *Taker) FirstFit(s *search.Search) (at int64, ok bool) {
	if t.hopeless(s) {
		return 0, false
	}
	defer func() {
		s.View.Fill(usage.Victims)
		t.shares.change()
		clear(t.outlook.expected)
	}()
	if t.expectAll(s); !s.QuotaFits() {
		return 0, false
	}
	s.View.Fill(usage.Victims)
	t.shares.change()
	return t.firstFit(s), true
}

// hopeless reports whether sums prove that the request never fits.
func (t *Taker) hopeless(s *search.Search) bool {
	var own, others rules.Reach
	for i := range t.tiers {
		by := t.rulesOf(i)
		if by == nil {
			continue
		}
		own.Add(by.Reach(s.Cluster.Queue(s.Request.Queue).Name))
		others.Add(by.Elsewhere())
		eachByTraits(s, by, func(node int, r rules.Reach) {
			if node == s.Request.Queue {
				own.Add(r)
			} else {
				others.Add(r)
			}
		})
	}
	if others.Free {
		return false // they reach queues that borrow nothing, of which there are no sums
	}
	return s.HopelessByRules(func(cohort int) search.Permission {
		switch {
		case cohort < 0:
			return upTo(own.Free, own.Most)
		case s.Advantage(cohort):
			return upTo(others.Any, others.Most)
		}
		return upTo(others.Others, others.MostOthers)
	})
}

// upTo permits priorities up to the highest one, if any.
func upTo(any bool, most int64) search.Permission {
	switch {
	case !any:
		return search.Nobody
	case most == math.MaxInt64:
		return search.Permission{All: true}
	}
	return search.Permission{Below: most + 1}
}

// expectAll removes everybody whom some tier may accept at some time, and collects the instants at
// which verdicts on these change.
func (t *Taker) expectAll(s *search.Search) {
	o := &t.outlook
	o.donors, o.expected, t.instants, o.all = o.donors[:0], o.expected[:0], t.instants[:0], o.all[:0]
	for i := range t.tiers {
		if t.ask(s, i) {
			o.all = append(o.all, t.tiers[i].all(s)...)
		}
	}
	for _, d := range united(o.all) {
		o.donors = append(o.donors, prospect{donor: d})
	}
	for depth := -2; depth != t.capacityDepth(s); t.shares.change() { // whoever is gone may give the capacity
		depth = t.capacityDepth(s)
		for i := range o.donors {
			t.expectFrom(s, i)
		}
	}
	t.collected = true
	slices.Sort(t.instants)
	t.instants = slices.Compact(t.instants)
}

// expectFrom looks at a queue: first at those whom some selector accepts without
// BorrowingCapacityFromPreemptor, then, if that holds, at the others.
func (t *Taker) expectFrom(s *search.Search, donor int) {
	d := &t.outlook.donors[donor]
	if !d.begun && d.Others {
		t.expectIn(s, donor, false, func(int64) bool { return false }, d.MostOthers)
	}
	if d.begun = true; d.ended || t.lacks(s, &d.donor) {
		return
	}
	d.ended = true
	t.expectIn(s, donor, true, func(priority int64) bool { return d.Others && priority <= d.MostOthers }, d.Most)
}

// expectIn looks at the workloads of a queue after those of some priorities, up to another. Where time
// changes nothing it adds them up.
func (t *Taker) expectIn(s *search.Search, donor int, needs bool, passed func(priority int64) bool, most int64) {
	node := t.outlook.donors[donor].node
	expect := func(from int64, loads []quotatree.Load) {
		t.outlook.expected = append(t.outlook.expected, expected{from, loads, donor, needs})
		s.View.Move(usage.Victims, node, loads, -1)
	}
	for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
		set := s.Cluster.Running(node).Lane(lane)
		before := func(w *cluster.Workload) bool { return passed(w.Priority) }
		if !t.waitsFor(s, node) {
			var sum, less []quotatree.Load
			set.Sum(&sum, func(w *cluster.Workload) bool { return w.Priority <= most })
			set.Sum(&less, before)
			for i := range less {
				less[i].Amount = -less[i].Amount
			}
			expect(s.Now, quotatree.AddLoads(sum, less))
			continue
		}
		var cursor cluster.LaneCursor
		for cursor.Seek(*set, before); ; cursor.Next() {
			w, ok := cursor.Item()
			if !ok || w.Priority > most {
				break
			}
			s.Steps++
			if from, ever := t.acceptedFrom(s, w, node); ever {
				expect(from, w.Loads)
			}
		}
	}
}

// waitsFor reports whether time changes what some tier says of workloads of a queue.
func (t *Taker) waitsFor(s *search.Search, node int) bool {
	for i := range t.tiers {
		if t.tiers[i].rules != nil && t.waits(s, i, node) {
			return true
		}
	}
	return false
}

// acceptedFrom returns the first instant, from that of the search on, at which some tier accepts a
// workload, if its trigger was observed for long enough, whatever constraints on quota say. It collects
// the instants at which the verdicts on it change.
func (t *Taker) acceptedFrom(s *search.Search, w *cluster.Workload, node int) (first int64, ever bool) {
	lasts := protectedUntil(s, w, node)
	if lasts == math.MaxInt64 {
		return 0, false
	}
	first = math.MaxInt64
	for i := range t.tiers {
		by, n := t.tiers[i].rules, len(t.instants)
		if by == nil || !t.collectOf(s, by, w, node) {
			continue
		}
		t.outlook.moments = append(append(t.outlook.moments[:0], max(s.Now, lasts+1)), t.instants[n:]...)
		slices.Sort(t.outlook.moments)
		for _, at := range t.outlook.moments {
			if at > lasts && by.Accepts(&t.one, rules.Moment{Now: instant.Time(at), Since: longAgo, Quota: rules.AllQuota()}) {
				first, ever = min(first, at), true
				break
			}
		}
	}
	return first, ever
}

// longAgo is the earliest valid time.
var longAgo = instant.Time(instant.Unset + 1)

// firstFit removes those expected in the order of time, until the quota suffices; without all it does.
func (t *Taker) firstFit(s *search.Search) (at int64) {
	o := &t.outlook
	heap.Sort(o.expected, func(a, b *expected) bool { return a.from < b.from })
	at, o.waiting = s.Now, o.waiting[:0]
	for left, depth := o.expected, t.capacityDepth(s); ; at = left[0].from {
		for len(left) > 0 && left[0].from <= at {
			o.waiting, left = t.expectNow(s, o.waiting, left[0]), left[1:]
		}
		for t.shares.change(); t.capacityDepth(s) > depth; t.shares.change() {
			depth = t.capacityDepth(s)
			list := o.waiting
			o.waiting = o.waiting[:0]
			for _, e := range list {
				o.waiting = t.expectNow(s, o.waiting, e)
			}
		}
		if s.QuotaFits() || len(left) == 0 {
			return at
		}
	}
}

// expectNow removes what is expected, or adds it to those that wait for the capacity.
func (t *Taker) expectNow(s *search.Search, waiting []expected, e expected) []expected {
	d := &t.outlook.donors[e.donor].donor
	if e.needs && t.lacks(s, d) {
		return append(waiting, e)
	}
	s.View.Move(usage.Victims, d.node, e.loads, -1)
	return waiting
}
