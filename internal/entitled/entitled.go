// Package entitled has the rules by which queues take back what others hold over their fair shares, on
// integers in place of names: queues are nodes of a tree, resources have places. It is the one home of these rules:
// package quota/fairshare asks them about values, the engine during a search. docs/designs/fairshare.md
// has them in words.
package entitled

import (
	"math/big"
	"math/bits"
	"strconv"

	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/quota"
)

// Queues is what the queues of a tree are entitled to. It is immutable.
type Queues struct {
	// Resources is the number of resources.
	Resources int
	// Parent is, by node, the node above; -1: none.
	Parent []int
	// Nodes has the queues by node.
	Nodes vector.Vector[*Node]
	// Total is, by resource, what there is to divide.
	Total []int64
	// Saturation is the factor by which a queue counts as fuller than it is; nil: 1.
	Saturation *big.Rat
}

// Node is what a queue is entitled to. It is immutable.
type Node struct {
	// Priority and Created are those of the queue; Created is an instant.
	Priority, Created int64
	// Amounts are by resource.
	Amounts []Amount
}

// Amount is what a queue is entitled to of a resource. Unlimited quota and an Allocatable without a limit are [quota.Unlimited].
type Amount struct{ Quota, Share, Allocatable int64 }

// Of returns what a node is entitled to of a resource.
func (q *Queues) Of(node, resource int) *Amount { return &q.Nodes.At(node).Amounts[resource] }

// Asked is a question about a reclaimer.
type Asked struct {
	*Queues
	// Path leads from the root down to the queue of the reclaimer.
	Path []int
	// Requests is what the reclaimer requests, by resource.
	Requests []int64
	// NonPreemptible says that the reclaimer can never be preempted.
	NonPreemptible bool
	// Held returns what a node holds while nobody has yielded, and Fixed what of that can never be preempted.
	Held, Fixed func(node, resource int) int64
}

// Own is the queue of the reclaimer.
func (a *Asked) Own() int { return a.Path[len(a.Path)-1] }

// OverShare returns a resource of which the reclaimer's queue would hold more than its fair share, requested or not; -1: none.
func (a *Asked) OverShare() int {
	own := a.Own()
	for i, requested := range a.Requests {
		if quota.Add(a.Held(own, i), requested) > a.Of(own, i).Share {
			return i
		}
	}
	return -1
}

// May reports whether the reclaimer's queue is entitled to what is requested, and what can never be preempted stays within the
// quotas of all nodes of the path.
func (a *Asked) May() bool {
	for _, node := range a.Path {
		if a.OverFixed(node, true) >= 0 {
			return false
		}
	}
	return a.OverShare() < 0
}

// OverFixed returns a resource of which a node would hold more than its quota in pods that can never be
// preempted, of all resources or of those that are requested; -1: none.
func (a *Asked) OverFixed(node int, all bool) int {
	if !a.NonPreemptible {
		return -1
	}
	for i, requested := range a.Requests {
		if (all || requested > 0) && quota.Add(a.Fixed(node, i), requested) > a.Of(node, i).Quota {
			return i
		}
	}
	return -1
}

// Guaranteed reports whether a node of the path is within its quotas with the reclaimer.
func (a *Asked) Guaranteed(node int) bool {
	for i, requested := range a.Requests {
		if quota.Add(a.Held(node, i), requested) > a.Of(node, i).Quota {
			return false
		}
	}
	return true
}

// Candidate reports whether pods below a sibling of a node of the path may be victims at all. If not, it returns the
// resource that decides; -1: all together.
func (a *Asked) Candidate(own, other int) (ok bool, resource int) {
	if !a.Guaranteed(own) {
		for i := range a.Requests {
			if a.Held(other, i) > a.Of(other, i).Allocatable {
				return true, -1
			}
		}
		return false, -1
	}
	under := -1
	for i, requested := range a.Requests {
		limit := a.Of(other, i).Quota
		switch holds := a.Held(other, i); {
		case requested == 0 || limit == quota.Unlimited:
		case holds > limit:
			return true, -1
		case holds < limit && under < 0:
			under = i
		}
	}
	return under < 0, under
}

// Yields reports whether a sibling may lose one more unit. holds returns what it holds now; guaranteed is that of
// the node of the path.
func (q *Queues) Yields(other int, guaranteed bool, holds func(resource int) int64) bool {
	for i, of := range q.Nodes.At(other).Amounts {
		if n := holds(i); n > of.Allocatable || guaranteed && n > of.Quota {
			return true
		}
	}
	return false
}

// Saturated returns a resource of which a node of the path would be over its share, and as full as a sibling that lost
// something; -1: none. Only resources that are requested or lost count. ours and theirs return what the
// two hold without what yields.
func (a *Asked) Saturated(own, other int, counts func(resource int) bool, ours, theirs func(resource int) int64) int {
	for i, requested := range a.Requests {
		holds, share, siblings := quota.Add(ours(i), requested), a.Of(own, i).Share, a.Of(other, i).Share
		if counts(i) && holds > share && siblings != 0 && a.fuller(holds, share, theirs(i), siblings) {
			return i
		}
	}
	return -1
}

// Factor returns the decimal number that x stands for; nil for 1. x is finite.
func Factor(x float64) *big.Rat {
	if x == 1 {
		return nil
	}
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return r
}

// fuller reports whether holds/share times the factor is at least sibling/siblingShare, which is not divided by zero. A
// share of zero of which something is held is fuller than any.
func (q *Queues) fuller(holds, share, sibling, siblingShare int64) bool {
	if q.Saturation == nil {
		high, low := bits.Mul64(uint64(holds), uint64(siblingShare))
		otherHigh, otherLow := bits.Mul64(uint64(max(sibling, 0)), uint64(share))
		return high > otherHigh || high == otherHigh && low >= otherLow
	}
	var ours, theirs big.Int
	ours.Mul(ours.Mul(big.NewInt(holds), big.NewInt(siblingShare)), q.Saturation.Num())
	theirs.Mul(theirs.Mul(big.NewInt(sibling), big.NewInt(share)), q.Saturation.Denom())
	return ours.Cmp(&theirs) >= 0
}
