package rules

import (
	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/queue/rules"
)

// heads finds the queues of other workloads that a tier reaches, by the heads of the cohorts above
// the preemptor's queue, and of other roots (see cluster.Head): a queue is opened when its first workload is the next of
// all. A cohort whose queues come later is in the heap of the order as a source.
type heads struct {
	sources []branch
	of      *tier
	reach   rules.Reach // of the tier in other queues than the preemptor's; none: it has no sources
	waiting []int       // sources, as lanes wait
}

// source is a lane of the queues under a cohort, or of a cohort under that. Its first workload is no
// later than any of those under it.
type branch struct {
	cursor cluster.HeadCursor
	lane   cluster.Lane
	except int // the child above the preemptor's queue
	common int // the lowest cohort above its queues and the preemptor's; -1: there is none
	lacks  bool
}

// ofSource encodes the index of a source so that it differs from those of lanes: 0 is -1, 1 is -2.
func ofSource(n int) int { return -1 - n }

func (it *nextOf) isSource() bool { return it.lane < 0 }

// head returns the head of the next child.
func (src *branch) head() (head cluster.Head, ok bool) {
	for ; ; src.cursor.Next() {
		head, ok = src.cursor.Item()
		if !ok || head.Lane != src.lane {
			return head, false
		}
		if int(head.Node) != src.except {
			return head, true
		}
	}
}

// openHeads opens the sources of a phase.
func (o *order) openHeads(t *Taker, s *search.Search, of *tier, phase int) {
	h := &o.heads
	if !of.byHeads || phases[phase].own {
		return
	}
	h.of, h.reach = of, of.reach().Elsewhere()
	open := func(cohort int, src branch) {
		reach := s.Cluster.ReachOf(extentOf(&h.reach), cohort)
		for _, src.lane = range phases[phase].lanes {
			if !reach.Has(src.lane) {
				continue
			}
			if it, ok := o.place(o.openSource(s, cohort, src)); ok {
				o.heap = append(o.heap, it)
			}
		}
	}
	from := s.Request.Queue
	for n := s.Cluster.Tree.Parent(from); n >= 0; from, n = n, s.Cluster.Tree.Parent(n) {
		open(n, branch{except: from, common: n, lacks: t.constrained && !t.hasCapacity(s, n)})
	}
	if of.reach().OtherTrees() {
		for cohort := range s.Cluster.Cohorts {
			if cohort != from && s.Cluster.Tree.Parent(cohort) < 0 {
				open(cohort, branch{except: -1, common: -1})
			}
		}
	}
}

// extentOf returns which other queues have the workloads that a tier may accept.
func extentOf(r *rules.Reach) cluster.Extent {
	if r.Free {
		return cluster.Everybody
	}
	return cluster.Borrowers
}

// openSource adds a source of a cohort's children and returns its index.
func (o *order) openSource(s *search.Search, cohort int, of branch) (n int) {
	h := &o.heads
	n = len(h.sources)
	h.sources = source.Grown(h.sources)
	src := &h.sources[n]
	src.lane, src.except, src.common, src.lacks = of.lane, of.except, of.common, of.lacks
	cluster.SeekLane(&src.cursor, s.Cluster.ReachOf(extentOf(&h.reach), cohort).Heads, src.lane)
	return n
}

// place returns the item of a source; ok is false if its first workload is not given now.
func (o *order) place(n int) (it nextOf, ok bool) {
	h := &o.heads
	head, ok := h.sources[n].head()
	if !ok {
		return it, false
	}
	ok, later := mayGive(&h.reach, h.sources[n].lacks, head.Workload)
	if later {
		h.waiting, o.waited = append(h.waiting, n), true
	}
	return nextOf{head.Workload, ofSource(n)}, ok
}

// expand opens the next child of the source at the top of the heap.
func (o *order) expand(t *Taker, s *search.Search) {
	n := ofSource(o.heap[0].lane)
	src := &o.heads.sources[n]
	head, _ := src.head()
	src.cursor.Next()
	if it, ok := o.place(n); ok {
		o.heap[0] = it
		heap.Fix(o.heap, 0, earlier)
	} else {
		o.drop()
	}
	o.openChild(t, s, n, head, nil)
}

// openChild opens a child of a source; with constraints on quota, unless it borrows nothing of what needs
// preemption, which no child does again while others are taken. If the source has waited, last is whom its workloads come after.
func (o *order) openChild(t *Taker, s *search.Search, n int, head cluster.Head, last *nextOf) {
	h, child := &o.heads, int(head.Node)
	src := &h.sources[n]
	within := s.View.WithinNominal(child, s.Needs)
	if within && !h.reach.Free {
		return
	}
	var it nextOf
	var ok bool
	if s.Cluster.IsQueue(child) {
		s.Steps++
		d := donor{child, h.of.reach().Of(s.Cluster.Queue(child).Name)}
		if !d.Any || within && !d.Free {
			return
		}
		it, ok = o.openLane(s, &d, src.lane, src.lacks)
		if ok && last != nil {
			o.resume(it.lane, last)
			return
		}
	} else {
		m := o.openSource(s, child, branch{lane: src.lane, except: src.except, common: src.common, lacks: src.lacks})
		if last != nil {
			o.wake(t, s, m, last)
			return
		}
		it, ok = o.place(m)
	}
	if ok {
		o.heap = heap.Push(o.heap, it, earlier)
	}
}

// changeHeads lets sources for which the preemptor has the capacity now go on after the last one taken.
func (o *order) changeHeads(t *Taker, s *search.Search, last *nextOf) {
	h := &o.heads
	for i := range h.sources {
		if src := &h.sources[i]; src.common >= 0 {
			src.lacks = !t.hasCapacity(s, src.common)
		}
	}
	left := h.waiting[:0]
	for _, n := range h.waiting {
		if h.sources[n].lacks {
			left = append(left, n)
		} else {
			o.wake(t, s, n, last)
		}
	}
	h.waiting = left
}

// wake lets a source go on after a workload: it opens the children with earlier heads.
func (o *order) wake(t *Taker, s *search.Search, n int, last *nextOf) {
	for {
		head, ok := o.heads.sources[n].head()
		if !ok || head.Workload.Priority > o.heads.reach.Most {
			return
		}
		if !earlier(&nextOf{Workload: head.Workload}, last) {
			o.heap = heap.Push(o.heap, nextOf{head.Workload, ofSource(n)}, earlier)
			return
		}
		o.heads.sources[n].cursor.Next()
		o.openChild(t, s, n, head, last)
	}
}

// empty drops the sources and their references to the cluster.
func (h *heads) empty() {
	clear(h.sources)
	h.sources, h.waiting, h.of = h.sources[:0], h.waiting[:0], nil
}
