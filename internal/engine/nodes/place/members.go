package place

import (
	"strings"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Member is a pod of the request in a search.
type Member struct {
	Facts   *workload.Pod
	Needs   []int64 // by slot
	Promise int32   // number of the node that it is nominated to; -1: none
	allowed nodeSet // the nodes on which it may run; nil: all
	claims  []claimOf
	Same    bool // equal to the member before it, for the built-in rules
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
