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

// place is a node with candidates, or one that may have some.
type place struct {
	node  int
	above int32 // the place of the node above; -1: none
	// level is that of the deepest cohort above the preemptor that is the node or above it. side is the child of that cohort that is
	// the node or above it; -1 for the cohort itself.
	level, side int
	stage       stage
	// Standing is how the node stands; before it is open, the most that it may stand as.
	entitled.Standing
	// held is, by resource, what the node held before anybody yielded, and gone, of a queue, what KAI takes off it when the turns are
	// found: with each candidate that is taken all that is left of its workload. Before the node is open, gone is what the next candidate
	// takes at least.
	held, gone []int64
	// line holds the candidates of a queue.
	line line
	// heap holds the places of the children of a cohort, the next one first.
	heap []int32
}

// stage says how much is known of a place. Nothing below a node is looked at before the node may be next: what it holds bounds
// how it stands whoever is its candidate, and what the smallest workload below it holds bounds that closer.
type stage uint8

const (
	closed stage = iota
	weighed
	open
)

// start begins the turns.
func (t *Taker) start() {
	s := t.s
	t.places, t.amounts = t.places[:0], t.amounts[:0]
	if last := len(s.Levels) - 1; last >= 0 {
		t.open(t.add(s.Levels[last].Cohort, last, -1, -1))
	}
}

// add makes the place of a node.
func (t *Taker) add(node, level, side int, above int32) int32 {
	n := int32(len(t.places))
	t.places = append(t.places, place{node: node, above: above, level: level, side: side})
	p := &t.places[n]
	p.held, p.gone = t.zeros(), t.zeros()
	for i := range p.held {
		p.held[i] = t.asked.Held(node, i)
	}
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

// addChild makes the place of a child of a cohort, unless the shares refuse all below it.
func (t *Taker) addChild(list []int32, child, level, side int, above int32) []int32 {
	s := t.s
	switch except := s.Levels[level].Except; {
	case side >= 0:
	case child != except:
		if ok, _ := t.asked.Candidate(except, child); !ok {
			t.traceRefused(child)
			return list
		}
		side = child
	case level == 0:
		return list // the own queue
	default:
		level--
	}
	return append(list, t.add(child, level, side, above))
}

// open finds the candidates of a queue, or the child of a cohort that is next.
func (t *Taker) open(at int32) {
	p := t.places[at]
	clear(p.gone)
	if t.s.Cluster.IsQueue(p.node) {
		p.line = t.lineAt(p.node, p.level, p.side)
	} else {
		for _, list := range [...][]int32{t.s.Cluster.ChildQueues[p.node], t.s.Cluster.ChildCohorts[p.node]} {
			for _, child := range list {
				p.heap = t.addChild(p.heap, int(child), p.level, p.side, at)
			}
		}
		heap.Init(p.heap, t.earlier)
		if len(p.heap) > 0 {
			t.open(p.heap[0])
		}
	}
	p.stage = open
	t.places[at] = p
	t.settle(at)
}

// settle finds which child of a cohort is next, after the first of them changed, and how the node stands.
func (t *Taker) settle(at int32) {
	p := &t.places[at]
	for len(p.heap) > 0 {
		first := p.heap[0]
		if c := &t.places[first]; c.stage == open && !c.line.more && len(c.heap) == 0 {
			p.heap = heap.Drop(p.heap, t.earlier)
			continue
		}
		heap.Fix(p.heap, 0, t.earlier)
		if first = p.heap[0]; t.places[first].stage == open {
			break
		}
		t.lookInto(first)
		p = &t.places[at] // which may have moved
	}
	t.stand(p)
}

// lookInto learns more of a place that may be next.
func (t *Taker) lookInto(at int32) {
	p := &t.places[at]
	if p.stage == weighed {
		t.open(at)
		return
	}
	p.stage = weighed
	t.of.Least(p.gone, t.s.Cluster, p.node, compareUnits)
	t.stand(p)
}

// turn returns the place of the queue that is next; nil: no candidate is left. It stays where it is until the next queue is asked for.
func (t *Taker) turn() *place {
	if len(t.places) == 0 {
		return nil
	}
	p := &t.places[0]
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
	for at := p.above; at >= 0; at = t.places[at].above {
		t.settle(at)
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

// staysFirst reports whether a queue is certainly still next, with what is gone now.
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
