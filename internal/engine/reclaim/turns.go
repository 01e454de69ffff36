package reclaim

import (
	"math"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/quota"
)

// place is a node with candidates.
type place struct {
	node  int
	above int32 // the place of the node above; -1: none
	entitled.Standing
	// held is, by resource, what the node held before anybody yielded, and gone, of a queue, what KAI takes off it when the turns are
	// found: with each candidate that is taken all that is left of its workload.
	held, gone []int64
	// line holds the candidates of a queue.
	line line
	// heap holds the places of the children of a cohort, the next one first.
	heap []int32
}

// start finds all queues with candidates.
func (t *Taker) start() {
	s := t.s
	t.places, t.amounts = t.places[:0], t.amounts[:0]
	t.root = -1
	if last := len(s.Levels) - 1; last >= 0 {
		t.root = int(t.open(s.Levels[last].Cohort, last, -1, -1))
	}
}

// open makes the place of a node; -1: it has no candidates. level is that of the deepest cohort above the preemptor that is
// the node or above it. side is the child of that cohort that is the node or above it; -1 for the cohort itself.
func (t *Taker) open(node, level, side int, above int32) int32 {
	s := t.s
	n := int32(len(t.places))
	t.places = append(t.places, place{node: node, above: above})
	var of line
	var children []int32
	if s.Cluster.IsQueue(node) {
		of = t.lineAt(node, level, side)
	} else {
		for _, list := range [][]int32{s.Cluster.ChildQueues[node], s.Cluster.ChildCohorts[node]} {
			for _, child := range list {
				if at := t.openChild(int(child), level, side, n); at >= 0 {
					children = append(children, at)
				}
			}
		}
	}
	if !of.more && len(children) == 0 {
		t.places = t.places[:n]
		return -1
	}
	p := &t.places[n]
	p.line, p.heap = of, children
	p.held, p.gone = t.zeros(), t.zeros()
	for i := range p.held {
		p.held[i] = t.asked.Held(node, i)
	}
	heap.Init(p.heap, t.earlier)
	t.stand(p)
	return n
}

// zeros makes a list of zeros, one for each resource.
func (t *Taker) zeros() []int64 {
	n := len(t.amounts)
	for range t.of.Resources {
		t.amounts = append(t.amounts, 0)
	}
	return t.amounts[n:len(t.amounts):len(t.amounts)]
}

// openChild opens a child of a cohort, unless the shares refuse all below it.
func (t *Taker) openChild(child, level, side int, above int32) int32 {
	s := t.s
	switch {
	case side >= 0:
		return t.open(child, level, side, above)
	case child != s.Levels[level].Except:
		if ok, _ := t.asked.Candidate(s.Levels[level].Except, child); !ok {
			t.traceRefused(child)
			return -1
		}
		return t.open(child, level, child, above)
	case level == 0:
		return -1 // the own queue
	}
	return t.open(child, level-1, -1, above)
}

// turn returns the place of the queue that is next; nil: no candidate is left.
func (t *Taker) turn() *place {
	if t.root < 0 {
		return nil
	}
	p := &t.places[t.root]
	for len(p.heap) > 0 {
		p = &t.places[p.heap[0]]
	}
	if !p.line.more {
		return nil
	}
	return p
}

// pass goes past so many of the next candidates of a queue, which are alike.
func (t *Taker) pass(p *place, n int64) {
	t.advance(&p.line, n)
	t.stand(p)
	for empty := !p.line.more; p.above >= 0; {
		p = &t.places[p.above]
		if empty {
			p.heap = heap.Drop(p.heap, t.earlier)
		} else {
			heap.Fix(p.heap, 0, t.earlier)
		}
		t.stand(p)
		empty = len(p.heap) == 0
	}
}

// skip goes past the next candidate of a queue, of which its side may lose no more.
func (t *Taker) skip(p *place) {
	v := &p.line.head
	if trc := t.s.Request.Trace; trc != nil {
		trc.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.FairShare, Until: math.MaxInt64, SetBy: -1}, Node: v.Queue, Workload: v.Workload.Facts.ID, Count: 1})
	}
	t.pass(p, v.Count)
}

// move notes that so many of the next candidate of a queue are taken.
func (t *Taker) move(p *place, taken int64) {
	v := &p.line.head
	for i := range p.gone {
		left, one := t.left(v, i), t.unit(v, i)
		of := func(n int64) int64 { return quota.Sub(quota.Mul(n, left), quota.Mul(n*(n-1)/2, one)) } // the sum of left, left-one, ...
		p.gone[i] = quota.Add(p.gone[i], quota.Sub(of(taken), of(p.line.taken)))
	}
	p.line.taken = taken
	for q := p; ; q = &t.places[q.above] {
		if t.stand(q); q.above < 0 {
			break
		}
	}
}

// left returns what is left of a resource of a workload, of which a candidate is the next one to yield.
func (t *Taker) left(v *right.Victim, resource int) int64 {
	w := v.Workload
	amount := t.of.Amount(w.Loads, resource)
	for set := range w.Surplus {
		count := w.Surplus[set].Count
		switch {
		case v.Set >= 0 && v.Set < set:
			count = 0 // comes later
		case v.Set == set:
			count -= v.Count
		}
		amount = quota.Sub(amount, quota.Mul(count, t.of.Amount(w.Surplus[set].Loads, resource)))
	}
	return amount
}

// staysFirst reports whether a queue is still next, with what is gone now.
func (t *Taker) staysFirst(p *place) bool {
	for ; p.above >= 0; p = &t.places[p.above] {
		list := t.places[p.above].heap
		for i := 1; i < min(3, len(list)); i++ { // below the top of the heap
			if !t.earlier(&list[0], &list[i]) {
				return false
			}
		}
	}
	return true
}

// traceRefused notes that the shares refuse all below a node.
func (t *Taker) traceRefused(node int) {
	trc := t.s.Request.Trace
	if trc == nil {
		return
	}
	var first *cluster.Workload
	count := int64(0)
	of := func(queue int) bool {
		for w := range t.s.Cluster.Running(queue).Whole {
			if !w.Facts.Evicted && !w.Facts.NeverYields {
				if count++; first == nil {
					first = w
				}
			}
		}
		return true
	}
	if t.s.Cluster.IsQueue(node) {
		of(node)
	} else {
		t.s.Cluster.EachQueueUnder(node, -1, func(int) bool { return true }, of)
	}
	if first != nil {
		trc.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.FairShare, Until: math.MaxInt64, SetBy: -1}, Node: node, Workload: first.Facts.ID, Count: count})
	}
}
