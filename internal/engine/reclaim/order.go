package reclaim

import (
	"github.com/cedesched/cede/quota"
)

// standing is what siblings are compared by.
type standing struct {
	overAll     bool // it held more than its share of every resource
	withinQuota bool
	unshared    bool    // it held something of which nothing is allocatable to it
	dominant    float64 // the largest part that it held of what is allocatable to it
	left        float64 // the same without what is gone, and the workload that is next
}

// stand says how a node stands now.
func (t *Taker) stand(p *place) {
	s := standing{overAll: true, withinQuota: true}
	for i, held := range p.held {
		at := t.of.At(p.node, i)
		allocatable := t.of.Allocatable[at]
		s.overAll = s.overAll && held > t.of.Share[at]
		s.withinQuota = s.withinQuota && held <= t.of.Quota[at]
		s.unshared = s.unshared || held > 0 && allocatable == 0
		if allocatable == quota.Unlimited {
			allocatable = t.of.Total[i]
		}
		s.dominant = max(s.dominant, partOf(held, allocatable))
		s.left = max(s.left, partOf(quota.Sub(held, quota.Add(p.gone[i], t.next(p, i))), allocatable))
	}
	p.standing = s
}

// partOf is a part of what is allocatable. Of nothing, a thousand times what is held.
func partOf(held, allocatable int64) float64 {
	if allocatable > 0 {
		return float64(held) / float64(allocatable)
	}
	return float64(held) * 1000
}

// earlier is the order in which siblings yield, the reverse of the order in which they are served
// (KAI, queue order). The first difference decides; in the end the later creation, then the larger number, which is the
// larger name.
func (t *Taker) earlier(x, y *int32) bool {
	a, b := &t.places[*x], &t.places[*y]
	switch {
	case a.overAll != b.overAll:
		return a.overAll
	case a.withinQuota != b.withinQuota:
		return b.withinQuota
	case t.of.Priority[a.node] != t.of.Priority[b.node]:
		return t.of.Priority[a.node] < t.of.Priority[b.node]
	case a.unshared != b.unshared:
		return a.unshared
	case a.left != b.left:
		return a.left > b.left
	case a.dominant != b.dominant:
		return a.dominant > b.dominant
	}
	if less, more := t.smaller(a, b), t.smaller(b, a); less != more {
		return more
	}
	if p, q := t.of.Created[a.node], t.of.Created[b.node]; p != q {
		return p > q
	}
	return a.node > b.node
}

// next returns what is left of a resource of the workload of which the next candidate of a node is.
func (t *Taker) next(p *place, resource int) int64 {
	for len(p.heap) > 0 {
		p = &t.places[p.heap[0]]
	}
	if !p.line.more {
		return 0
	}
	v := &p.line.head
	return quota.Sub(t.left(v, resource), quota.Mul(p.line.taken, t.unit(v, resource)))
}

// smaller reports whether no more is allocatable to one node than to another of any resource, and less of some.
func (t *Taker) smaller(a, b *place) (less bool) {
	for i := range t.of.Resources {
		x, y := t.of.Allocatable[t.of.At(a.node, i)], t.of.Allocatable[t.of.At(b.node, i)]
		if x > y {
			return false
		}
		less = less || x < y
	}
	return less
}
