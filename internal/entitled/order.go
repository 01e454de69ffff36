package entitled

import (
	"cmp"

	"github.com/cedesched/cede/quota"
)

// Standing is how a queue stands among its siblings. Make it with [Stand], and [Standing.Count] each resource.
type Standing struct {
	// OverAll: it holds more than its share of every resource.
	OverAll bool
	// Within: it is within its quota of every resource.
	Within bool
	// Unshared: it holds something of which nothing is allocatable to it.
	Unshared bool
	// Dominant is the largest part that it holds of what is allocatable to it, and Then the same with what is next.
	Dominant, Then float64
}

// Stand begins a standing.
func Stand() Standing { return Standing{OverAll: true, Within: true} }

// Count counts a resource that a node holds. To serve, with and then are what the node holds with what is next there. To yield, with is what
// it holds, and then is what it holds without what is gone and what is next.
func (s *Standing) Count(q *Queues, node, resource int, held, with, then int64) {
	of := q.Of(node, resource)
	allocatable := of.Allocatable
	s.OverAll = s.OverAll && held > of.Share
	s.Within = s.Within && with <= of.Quota
	s.Unshared = s.Unshared || with > 0 && allocatable == 0
	if allocatable == quota.Unlimited {
		allocatable = q.Total[resource]
	}
	s.Dominant = max(s.Dominant, partOf(held, allocatable))
	s.Then = max(s.Then, partOf(then, allocatable))
}

// partOf is a part of what is allocatable. Of nothing, a thousand times what is held.
func partOf(held, allocatable int64) float64 {
	if allocatable > 0 {
		return float64(held) / float64(allocatable)
	}
	return float64(held) * 1000
}

// Compare is the order in which siblings are served (KAI, queue order); in the reverse order they yield. The first difference decides; in
// the end the earlier creation, then the smaller number, which is the smaller name.
func (q *Queues) Compare(a, b int, x, y *Standing) int {
	if x.OverAll != y.OverAll {
		return first(y.OverAll)
	}
	if x.Within != y.Within {
		return first(x.Within)
	}
	m, n := q.Nodes.At(a), q.Nodes.At(b)
	if m.Priority != n.Priority {
		return cmp.Compare(n.Priority, m.Priority)
	}
	if x.Unshared != y.Unshared {
		return first(y.Unshared)
	}
	if decided := cmp.Or(cmp.Compare(x.Then, y.Then), cmp.Compare(x.Dominant, y.Dominant)); decided != 0 {
		return decided
	}
	if less, more := m.smaller(n), n.smaller(m); less != more {
		return first(less)
	}
	return cmp.Or(cmp.Compare(m.Created, n.Created), cmp.Compare(a, b))
}

// first is -1 if the first of two comes first, else 1.
func first(is bool) int {
	if is {
		return -1
	}
	return 1
}

// smaller reports whether no more is allocatable to one node than to another of any resource, and less of some.
func (n *Node) smaller(other *Node) (less bool) {
	for i := range n.Amounts {
		x, y := n.Amounts[i].Allocatable, other.Amounts[i].Allocatable
		if x > y {
			return false
		}
		less = less || x < y
	}
	return less
}
