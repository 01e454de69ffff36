package reclaim

import (
	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/quota"
)

// Taker finds victims by fair shares. The zero value is ready. It may be reused, by one goroutine at a
// time.
type Taker struct {
	s     *search.Search
	mode  source.Mode
	of    *right.Entitled
	asked *entitled.Asked
	// slots are, by resource, those of the view.
	slots [][]int
	// guaranteed says by level whether the child of its cohort that is above the preemptor is within its quotas.
	guaranteed []bool

	places  []place // of the nodes that may be next; the first is above all others
	amounts []int64 // of the places
}

// Find searches for victims: first of other queues, then of the own one. Like a classical attempt each
// takes victims until the request fits, and then puts back those not needed. What was told to leave is gone
// in both, but for what the request does not need.
func (t *Taker) Find(s *search.Search, m source.Mode) bool {
	t.begin(s, m)
	defer t.end()
	if t.asked.May() && (t.attempt(t.takeByShares, t.allows) || t.otherSets()) {
		return true
	}
	s.PutAllBack()
	if t.attempt(t.takeOwn, nil) {
		return true
	}
	s.Fail(m)
	return false
}

func (t *Taker) begin(s *search.Search, m source.Mode) {
	t.s, t.mode, t.of = s, m, s.Request.Entitled
	t.asked = right.AskEntitled(&s.Case)
	t.slots = t.slots[:0]
	for _, columns := range t.of.Columns {
		var slots []int
		for _, column := range columns {
			if slot := s.View.Slot(column); slot >= 0 {
				slots = append(slots, slot)
			}
		}
		t.slots = append(t.slots, slots)
	}
	t.guaranteed = t.guaranteed[:0]
	for i := range s.Levels {
		t.guaranteed = append(t.guaranteed, t.asked.Guaranteed(s.Levels[i].Except))
	}
}

func (t *Taker) end() {
	clear(t.places) // they refer to the cluster
	t.s, t.of, t.asked, t.places = nil, nil, nil, t.places[:0]
}

// attempt takes what leaves already, then others, and puts back what is not needed.
func (t *Taker) attempt(take func() bool, justified search.Justified) bool {
	s := t.s
	if trc := s.Request.Trace; trc != nil {
		trc.Add(trace.Step{Kind: trace.AttemptBegins, Attempt: trace.Attempt{Borrowing: true}})
	}
	if !t.takeLeaving() && !take() {
		return false
	}
	s.PutBack(true, justified)
	return true
}

// takeLeaving takes what was told to leave, until the request fits.
func (t *Taker) takeLeaving() (fits bool) {
	s := t.s
	if s.Fits(t.mode) {
		return true
	}
	for node, w := range s.Cluster.EachLeaving {
		v := right.Victim{Workload: w, Set: -1, Count: 1, Cohort: -1, Queue: node}
		if node != s.Request.Queue {
			if v.Cohort = s.Common(node); v.Cohort < 0 {
				continue
			}
		}
		if s.Take(v); s.Fits(t.mode) {
			return true
		}
	}
	return false
}

// takeByShares takes from the queues whose turn it is, until the request fits and the victims are allowed.
func (t *Taker) takeByShares() bool {
	for t.start(); ; {
		p := t.turn()
		if p == nil {
			return false
		}
		v := p.line.head
		if !t.yields(int(v.Level), v.Side) {
			t.skip(p)
			continue
		}
		if t.s.Limited(&v) {
			t.pass(p, v.Count)
			continue
		}
		n := v.Count
		v.Count = 1
		t.s.Take(v)
		t.move(p, 1)
		fits := t.s.Fits(t.mode)
		if n > 1 && !fits {
			v.Count += t.takeAlike(p, n-1)
			fits = t.s.Fits(t.mode)
		}
		if trc := t.s.Request.Trace; trc != nil {
			t.s.TraceTaken(trc, true, fits)
		}
		t.pass(p, v.Count)
		if fits && t.allowed(t.s.Remaining(t.s.Taken, nil)) {
			return true
		}
	}
}

// takeAlike takes as many more replicas alike the one taken last as the turns would, one after the other, and
// returns how many: until the request fits, or another queue is next.
func (t *Taker) takeAlike(p *place, most int64) int64 {
	s := t.s
	v := s.Taken[len(s.Taken)-1]
	to := func(n int64) {
		search.MoveLast(s, v.Count+n)
		t.move(p, v.Count+n)
	}
	n := least.Most(most, func(n int64) bool {
		to(n - 1)
		return !s.Fits(t.mode) && t.yields(int(v.Level), v.Side) && t.staysFirst(p)
	})
	to(n)
	return n
}

// takeOwn takes from the own queue until the request fits.
func (t *Taker) takeOwn() bool {
	s := t.s
	for of := t.ownLine(); of.more; t.advance(&of, of.head.Count) {
		v := of.head
		if s.Limited(&v) {
			continue
		}
		n := v.Count
		v.Count = 1
		s.Take(v)
		fits := s.Fits(t.mode)
		if n > 1 && !fits {
			v.Count += least.Most(n-1, func(n int64) bool {
				search.MoveLast(s, n)
				return !s.Fits(t.mode)
			})
			search.MoveLast(s, v.Count)
			fits = s.Fits(t.mode)
		}
		if trc := s.Request.Trace; trc != nil {
			s.TraceTaken(trc, true, fits)
		}
		if fits {
			return true
		}
	}
	return false
}

// holds returns what a node holds of a resource without the victims.
func (t *Taker) holds(node, resource int) (sum int64) {
	for _, slot := range t.slots[resource] {
		sum = quota.Add(sum, t.s.View.Used(node, slot))
	}
	return sum
}

// yields reports whether a sibling of the preemptor's side at a level may lose one more unit.
func (t *Taker) yields(level, side int) bool {
	return t.of.Yields(side, t.guaranteed[level], func(i int) int64 { return t.holds(side, i) })
}
