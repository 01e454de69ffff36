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
	"github.com/cedesched/cede/queue/rules"
)

// outlook is the state of [Taker.FirstFit].
type outlook struct {
	all      []donor // of all tiers
	donors   []prospect
	expected []expected
	due      []due            // a heap
	waiting  []expected       // for the capacity
	moments  []int64          // of one workload
	sums     []quotatree.Load // of expected
	sum      []quotatree.Load
	less     []quotatree.Load
	sure     rules.Reach // in the own queue, by the tiers that are reached while the quota does not suffice
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
	sure  bool // it is taken then, as long as the quota does not suffice
}

// due says from when on somebody is expected; of is an index of outlook.expected.
type due struct {
	from int64
	of   int32
}

// FirstFit returns the first instant, from that of the search on, at which the quota suffices without
// everybody whom some tier may accept then or may have accepted before; ok is false if there is none.
// These become only more with time, and a tier takes no others. So at no earlier instant the request
// fits by rules alone, whatever triggers, limits and the room say. certain: it does at that instant.
// Nobody may be taken.
func (t *Taker) FirstFit(s *search.Search) (at int64, certain, ok bool) {
	if t.Hopeless(s) != usage.Victims {
		return 0, false, false
	}
	defer func() {
		s.View.Fill(usage.Victims)
		t.shares.change()
		clear(t.outlook.expected)
	}()
	if t.expectAll(s); !s.QuotaFits() {
		return 0, false, false
	}
	s.View.Fill(usage.Victims)
	t.shares.change()
	at = t.firstFit(s)
	s.View.Fill(usage.Victims)
	o := &t.outlook
	o.sum = o.sum[:0]
	for i := range o.expected {
		if e := &o.expected[i]; e.sure && e.from <= at {
			o.sum = quotatree.AddLoads(o.sum, e.loads)
		}
	}
	s.View.Move(usage.Victims, s.Request.Queue, o.sum, -1)
	return at, s.QuotaFits(), true
}

// expectAll removes everybody whom some tier may accept at some time, and collects the instants at
// which verdicts on these change.
func (t *Taker) expectAll(s *search.Search) {
	o := &t.outlook
	o.donors, o.expected, t.instants, o.all, o.sums, o.sure = o.donors[:0], o.expected[:0], t.instants[:0], o.all[:0], o.sums[:0], rules.Reach{}
	reached := s.Request.Room == nil && s.Request.Limits == nil
	for i, trigger := range rules.Triggers() {
		if !t.ask(s, i) {
			reached = false
			continue
		}
		o.all = append(o.all, t.tiers[i].all(s)...)
		if reached && trigger != rules.QuotaFeasibleAndInsufficientTopology {
			o.sure.Add(t.tiers[i].reach().Of(s.Cluster.Queue(s.Request.Queue).Name))
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
	o := &t.outlook
	node := o.donors[donor].node
	expect := func(from int64, loads []quotatree.Load, sure bool) {
		o.expected = append(o.expected, expected{from, loads, donor, needs, sure})
	}
	for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
		set := s.Cluster.Running(node).Lane(lane)
		before := func(w *cluster.Workload) bool { return passed(w.Priority) }
		if !t.waitsFor(s, node) {
			o.sum, o.less = o.sum[:0], o.less[:0]
			set.Sum(&o.sum, func(w *cluster.Workload) bool { return w.Priority <= most })
			set.Sum(&o.less, before)
			for i := range o.less {
				o.less[i].Amount = -o.less[i].Amount
			}
			first := len(o.sums)
			o.sums = append(o.sums, quotatree.AddLoads(o.sum, o.less)...)
			expect(s.Now, o.sums[first:], false)
			s.View.Move(usage.Victims, node, o.sums[first:], -1)
			continue
		}
		o.sum = o.sum[:0]
		var cursor cluster.LaneCursor
		for cursor.Seek(*set, before); ; cursor.Next() {
			w, ok := cursor.Item()
			if !ok || w.Priority > most {
				break
			}
			s.Steps++
			sure := node == s.Request.Queue && o.sure.Sure && w.Priority <= o.sure.MostSure
			if from, ever := t.acceptedFrom(s, w, node, sure); ever {
				expect(from, w.Loads, sure)
				o.sum = quotatree.AddLoads(o.sum, w.Loads)
			}
		}
		s.View.Move(usage.Victims, node, o.sum, -1)
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
// the instants at which the verdicts on it change. sure: some tier accepts it at any time.
func (t *Taker) acceptedFrom(s *search.Search, w *cluster.Workload, node int, sure bool) (first int64, ever bool) {
	lasts := protectedUntil(s, w, node)
	switch {
	case lasts == math.MaxInt64:
		return 0, false
	case sure && !s.UsesNeeded(w.Loads):
		return 0, false
	case sure && lasts < s.Now:
		return s.Now, true
	case sure:
		t.instants = append(t.instants, lasts+1)
		return lasts + 1, true
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
	at, o.due, o.waiting = s.Now, o.due[:0], o.waiting[:0]
	depth := t.capacityDepth(s)
	for i := range o.expected {
		if e := &o.expected[i]; e.from <= at {
			o.waiting = t.expectNow(s, o.waiting, *e)
		} else {
			o.due = append(o.due, due{e.from, int32(i)})
		}
	}
	heap.Init(o.due, sooner)
	for left := o.due; ; at = left[0].from {
		for len(left) > 0 && left[0].from <= at {
			o.waiting = t.expectNow(s, o.waiting, o.expected[left[0].of])
			left = heap.Drop(left, sooner)
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

func sooner(a, b *due) bool { return a.from < b.from }

// expectNow removes what is expected, or adds it to those that wait for the capacity.
func (t *Taker) expectNow(s *search.Search, waiting []expected, e expected) []expected {
	d := &t.outlook.donors[e.donor].donor
	if e.needs && t.lacks(s, d) {
		return append(waiting, e)
	}
	s.View.Move(usage.Victims, d.node, e.loads, -1)
	return waiting
}
