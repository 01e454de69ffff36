package rules

import (
	"github.com/cedesched/cede/internal/engine/source"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue/rules"
)

// shareHeads finds the queues that a tier reaches only while they borrow, in an order by their shares, by
// the share heads of the cohorts above the preemptor's queue (see cluster.ShareHead): a queue is opened when
// its share, and if these are the next keys the priority and the reservation of its first workload, are
// the next of all. The share of a queue changes only with what runs there, so queues of which somebody was
// taken before are opened at once. A cohort whose queues come later is in the heap of the order as a source.
type shareHeads struct {
	// bound is the number of the first keys of which a source knows the least; 0: the order does not begin
	// by shares. Those before that of shares are the same for all queues of a source.
	bound       int
	descending  bool
	sources     []shareSource
	usedSources int     // how many were in use since the last release
	found       []donor // by them
	of          *tier
	reach       rules.Reach  // of the tier in other queues
	met         search.Marks // the queues that have groups of their own
}

// shareSource gives the children of a cohort by their share heads.
type shareSource struct {
	cursor cluster.ShareCursor
	except int // the child above the preemptor's queue
	// same: the cohort is that of the preemptor's queue. If keys ask which queues are members of that, it
	// gives only these, or only the others.
	same            bool
	queues, cohorts bool
}

// begin finds out how far an order is that of share heads.
func (h *shareHeads) begin(by []rules.Ordering) {
	h.bound = 0
	shares, inside := false, 0
	for i, o := range by {
		switch descending := o.Direction == rules.Descending; {
		case o.Key == rules.ByOtherQueue || o.Key == rules.ByOtherCohort:
		case o.Key == rules.ByQueueShare:
			shares, h.descending = true, descending
		case shares && inside == 0 && o.Key == rules.ByPriority && !descending, shares && inside == 1 && o.Key == rules.ByAdmission && descending:
			inside++
		default:
			return
		}
		if shares {
			h.bound = i + 1
		}
	}
}

// Indexes returns what a cluster has to keep for the configurations.
func Indexes(e *rules.Evaluator) (kept cluster.Indexes) {
	for config := range e.Each {
		var h shareHeads
		if h.begin(usable(nil, config.Ordering)); h.bound > 0 {
			kept.Ascending = kept.Ascending || !h.descending
			kept.Descending = kept.Descending || h.descending
		}
		kept.Everybody = kept.Everybody || slices.ContainsFunc(config.Rules, func(r rules.Rule) bool {
			return slices.ContainsFunc(r.CandidateSelectors, func(s rules.CandidateSelector) bool {
				return s.Quota == "" && s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue
			})
		})
	}
	return kept
}

// serve reports whether a cluster has the share heads in the order.
func (h *shareHeads) serve(c *cluster.Cluster) bool {
	return h.bound > 0 && c.HasShareHeads(h.descending)
}

// openSources adds the sources of a phase, and the queues of which somebody was taken before. Those that have
// groups already are left out.
func (o *ordered) openSources(of *tier) {
	s, h := o.s, &o.shareHeads
	h.of, h.reach, h.sources, h.found = of, of.reach().Elsewhere(), h.sources[:0], h.found[:0]
	queue, parent := s.Request.Queue, s.Cluster.Tree.Parent(s.Request.Queue)
	lanes, any := &phases[o.phase].lanes, false
	for n := parent; n >= 0 && !any; n = s.Cluster.Tree.Parent(n) {
		reach := s.Cluster.ReachOf(extentOf(&h.reach), n)
		any = reach.Has(lanes[0]) || reach.Has(lanes[1])
	}
	if !any {
		return
	}
	h.met.Next(s.View.Tree.Len())
	for i := range of.donors {
		h.met.Add(of.donors[i].node)
	}
	for i := range s.Taken {
		node := s.Taken[i].Queue
		if node != queue && lowestAbove(s.Cluster, node, queue) >= 0 && h.met.Add(node) {
			if d, ok := o.donorAt(node, s.Cluster.Tree.Parent(node) == parent); ok {
				o.add(d)
			}
		}
	}
	split := slices.ContainsFunc(o.by[:h.bound], func(b rules.Ordering) bool { return b.Key == rules.ByOtherCohort })
	for from, n := queue, parent; n >= 0; from, n = n, s.Cluster.Tree.Parent(n) {
		if n == parent && split {
			o.addSource(n, shareSource{except: from, same: true, queues: true})
			o.addSource(n, shareSource{except: from, cohorts: true})
		} else {
			o.addSource(n, shareSource{except: from, same: n == parent, queues: true, cohorts: true})
		}
	}
}

// donorAt returns a queue that is found; ok is false if nobody is accepted there: with constraints on quota,
// if it borrows nothing of what needs preemption, which it does not again while others are taken.
func (o *ordered) donorAt(node int, same bool) (d *donor, ok bool) {
	h := &o.shareHeads
	o.s.Steps++
	within := o.s.View.WithinNominal(node, o.s.Needs)
	if within && !h.reach.Free || o.s.Cluster.Queue(node).Inactive {
		return nil, false
	}
	reach, ok := h.of.reach().Beside(same)
	if !ok {
		reach = h.of.reach().Of(o.s.Cluster.Queue(node).Name)
	}
	if !reach.Any || within && !reach.Free {
		return nil, false
	}
	h.found = append(h.found, donor{node, reach}) // those before keep their place if the list moves
	return &h.found[len(h.found)-1], true
}

// addSource adds a source of a cohort's children to a list, which is no heap then; ok is false if it has none.
func (o *ordered) addSource(cohort int, of shareSource) (ok bool) {
	n := len(o.sources)
	o.sources = source.Grown(o.sources)
	src := &o.sources[n]
	o.usedSources = max(o.usedSources, n+1)
	src.except, src.same, src.queues, src.cohorts = of.except, of.same, of.queues, of.cohorts
	evicted := phases[o.phase].lanes[0] == cluster.Evicted
	src.cursor.First(o.s.Cluster.ReachOf(extentOf(&o.reach), cohort).ShareHeads(o.descending, evicted))
	g := group{keys: len(o.keys), at: n, known: true}
	if !o.settleSource(&g) {
		return false
	}
	o.queues = append(o.queues, g)
	o.note()
	return true
}

// settleSource moves a source to the next child in which somebody may be accepted, and sets its keys.
func (o *ordered) settleSource(g *group) (ok bool) {
	src := &o.sources[g.at]
	for {
		head, ok := src.cursor.Item()
		if !ok {
			return false
		}
		node := int(head.Node)
		isQueue := o.s.Cluster.IsQueue(node)
		switch {
		case head.Least > o.reach.Most:
			src.cursor.NextIn(func(p cluster.LeastPriority) bool { return p.UpTo(o.reach.Most) })
		case node == src.except || isQueue && (!src.queues || o.met.Has(node)) || !isQueue && !src.cohorts:
			src.cursor.Next()
		default:
			g.next = head.Workload
			o.bind(g, src, &head)
			return true
		}
	}
}

// bind sets the keys of a source: those of its next child are no less.
func (o *ordered) bind(g *group, src *shareSource, head *cluster.ShareHead) {
	o.keys = slices.Grow(o.keys, len(o.by))
	if g.keys == len(o.keys) {
		o.keys = o.keys[:g.keys+len(o.by)]
	}
	for k, key := range o.by[:o.bound] {
		at := &o.keys[g.keys+k]
		switch key.Key {
		case rules.ByOtherQueue:
			*at = value{whole: 1}
		case rules.ByOtherCohort:
			*at = value{whole: oneIf(!src.same)}
		case rules.ByQueueShare:
			*at = shareOf(head.Share, o.descending)
		default:
			*at = ofWorkload(o.s, head.Workload, key.Key)
		}
	}
}

// earlierSource compares two groups, of which at least one is a source, as far as sources know. In doubt a
// source comes first: then it opens its next child.
func (o *ordered) earlierSource(a, b *group) bool {
	x, y := o.keys[a.keys:], o.keys[b.keys:]
	first := min(o.first, o.bound)
	if order := compareKeys(o.by[:first], x, y); order != 0 {
		return order < 0
	}
	if o.bound > first {
		for _, g := range [...]*group{a, b} {
			if g.donor != nil {
				o.know(g)
			}
		}
		if a.next == nil || b.next == nil {
			return a.next != nil
		}
		if order := compareKeys(o.by[first:o.bound], x[first:], y[first:]); order != 0 {
			return order < 0
		}
	}
	if o.inQueue.whole && o.bound == len(o.by) {
		if order := cluster.CompareIDs(a.next, b.next); order != 0 {
			return order < 0
		}
	}
	return a.donor == nil && b.donor != nil
}

// expand opens the next child of the source at the top of the heap.
func (o *ordered) expand() {
	g := &o.queues[0]
	src := &o.sources[g.at]
	head, _ := src.cursor.Item()
	except, same, keys := src.except, src.same, len(o.keys)
	o.keys = append(o.keys, o.keys[g.keys:][:len(o.by)]...) // of the child, which is as it was at first
	src.cursor.Next()
	if o.settleSource(g) {
		heap.Fix(o.queues, 0, o.earlier)
	} else {
		o.queues = heap.Drop(o.queues, o.earlier)
	}
	before := len(o.queues)
	if node := int(head.Node); o.s.Cluster.IsQueue(node) {
		if d, ok := o.donorAt(node, same); ok {
			o.add(d)
			if len(o.queues) > before {
				o.queues[before].keys = keys
				for k, key := range o.by[o.bound:] {
					o.keys[keys+o.bound+k] = o.t.ofQueue(o.s, node, key.Key)
				}
			}
		}
	} else if o.s.Steps++; o.reach.Free || !o.s.View.WithinNominal(node, o.s.Needs) {
		o.addSource(node, shareSource{except: except, queues: true, cohorts: true})
	}
	if len(o.queues) > before {
		g := o.queues[before]
		o.queues = heap.Push(o.queues[:before], g, o.earlier)
	}
}

// shareOf returns the value of a share in the index.
func shareOf(key uint64, descending bool) value {
	if descending {
		key = ^key
	}
	part := math.Float64frombits(key &^ (1 << 63))
	if key>>63 != 0 {
		return value{1, part}
	}
	return value{part: part}
}
