package place

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Member is a pod of the request in a search.
type Member struct {
	Facts   *workload.Pod
	Needs   []int64 // by slot
	Promise int32   // number of the node that it is nominated to; -1: none
	allowed nodeSet // the nodes on which it may run; nil: all
	Same    bool    // equal to the member before it, for the built-in rules
}

// Names reports whether the member's list of nodes permits a node.
func (m *Member) Names(n *state.Node) bool { return m.allowed == nil || m.allowed.has(n.Number) }

// NamesAll reports whether the member's list permits all nodes.
func (m *Member) NamesAll() bool { return m.allowed == nil }

// nodeSet is a set of nodes, a bit for each number.
type nodeSet []uint64

func (s nodeSet) add(number int32)      { s[number/64] |= 1 << (number % 64) }
func (s nodeSet) has(number int32) bool { return s[number/64]&(1<<(number%64)) != 0 }

// allowed returns the nodes on which a pod may run; nil: all. A list in the order of names is walked beside the
// nodes; other names are looked up.
func allowed(c *state.Cluster, p *workload.Pod) nodeSet {
	if len(p.Nodes) == 0 && !p.Nowhere {
		return nil
	}
	set := make(nodeSet, (c.Numbers()+63)/64)
	if p.Nowhere {
		return set
	}
	var next, order int // the node that comes next by name, and how it compares
	for _, name := range p.Nodes {
		for ; next < len(c.Order); next++ {
			if order = strings.Compare(c.NodeName(c.Order[next]), name); order >= 0 {
				break
			}
		}
		if next < len(c.Order) && order == 0 {
			set.add(c.Order[next])
		} else if n := c.NodeNumber(name); n >= 0 {
			set.add(n)
		}
	}
	return set
}

// addMembers lists the members.
func (b *Board) addMembers() {
	r := b.Request
	b.Members = b.Members[:0]
	for i := range r.Pods {
		p := &r.Pods[i]
		m := Member{Facts: r.Shown(i), Needs: b.Needs(p.Requests), Promise: -1, allowed: allowed(b.Cluster, p)}
		if i > 0 && !r.Rules.DecidePlaces() {
			last := &b.Members[i-1]
			m.Same = slices.Equal(m.Needs, last.Needs) && m.NamesAll() == last.NamesAll() && slices.Equal(m.allowed, last.allowed)
		}
		if promised := b.Cluster.PromisedPod(p.ID); promised != nil {
			m.Promise = promised.Node
		}
		b.Members = append(b.Members, m)
	}
}

// SmallestNeed returns what the member needs that needs least of a slot.
func (b *Board) SmallestNeed(slot int) int64 {
	least := b.Members[0].Needs[slot]
	for m := range b.Members {
		least = min(least, b.Members[m].Needs[slot])
	}
	return least
}

// LeastNeeds returns what the least number of members needs at least, by slot: the smallest members in each slot.
func (b *Board) LeastNeeds() []int64 {
	least := make([]int64, len(b.Slots))
	list := make([]int64, len(b.Members))
	for slot := range least {
		for m := range b.Members {
			list[m] = b.Members[m].Needs[slot]
		}
		slices.Sort(list)
		for _, need := range list[:b.AtLeast] {
			least[slot] = quota.Add(least[slot], need)
		}
	}
	return least
}
