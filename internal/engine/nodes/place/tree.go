package place

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
)

// tree is a group of the request with what it needs, and the groups below it.
type tree struct {
	*ask.Tree
	below   []*tree
	domains [][]int32 // nodes of the search, rising; nil: it may use all nodes
}

// IsTree reports whether groups of the request have needs of their own.
func (b *Board) IsTree() bool { return b.tree != nil }

// addTree finds the groups of the request with needs of their own, and how many members must have a place.
func (b *Board) addTree() {
	for n := len(b.all); n < max(len(b.Nodes), len(b.Members)); n++ {
		b.all = append(b.all, int32(n))
	}
	b.AtLeast = max(1, b.Request.MinCount)
	if b.tree = nil; b.Request.IsTree() {
		b.tree = b.treeOf(b.Request.Tree(b.Cluster))
		b.AtLeast = b.tree.AtLeast()
	}
}

func (b *Board) treeOf(from *ask.Tree) *tree {
	t := &tree{Tree: from}
	for _, below := range from.Below {
		t.below = append(t.below, b.treeOf(below))
	}
	var union []int32
	for _, d := range from.Need.Domains {
		nodes := make([]int32, 0, len(d.Nodes))
		for _, name := range d.Nodes {
			if i := b.Local(b.Cluster.NodeNumber(name)); i >= 0 {
				nodes = append(nodes, int32(i))
			}
		}
		slices.Sort(nodes)
		t.domains, union = append(t.domains, nodes), append(union, nodes...)
	}
	if from.Need.DomainsPreferred && t.domains != nil {
		slices.Sort(union)
		t.domains = append(t.domains, union)
	}
	return t
}

// place places a group on nodes of a list, within one of its domains. It reports whether the group has what it needs; if
// not, no member of it got a place.
func (b *Board) place(d room.Domain, t *tree, nodes []int32) bool {
	if t.domains == nil {
		return b.placeIn(d, t, nodes)
	}
	for _, domain := range t.domains {
		if list := common(nodes, domain); len(list) > 0 && b.placeIn(d, t, list) {
			return true
		}
	}
	return false
}

// placeIn is place without regard to the group's own domains: first its own members, then the groups below. A nominated
// member that has its place already must be on one of the nodes, and its group must get what it needs.
func (b *Board) placeIn(d room.Domain, t *tree, nodes []int32) bool {
	if b.hasPlace(t, func(node int32) bool {
		_, among := slices.BinarySearch(nodes, node)
		return !among
	}) {
		return false
	}
	before, groups := len(b.order), 0
	b.placeMembers(d, t.Pods, nodes)
	for _, below := range t.below {
		if b.place(d, below, nodes) {
			groups++
		} else if b.hasPlace(below, func(int32) bool { return true }) {
			b.retract(before)
			return false
		}
	}
	if groups >= t.Need.MinGroups && b.placedOf(t) >= max(1, t.Need.MinCount) {
		return true
	}
	b.retract(before)
	return false
}

// common returns the nodes that are in both lists. Mostly the first one has all nodes of a range.
func common(nodes, domain []int32) []int32 {
	if len(nodes) == 0 {
		return nil
	}
	first, last := nodes[0], nodes[len(nodes)-1]
	from, _ := slices.BinarySearch(domain, first)
	to, _ := slices.BinarySearch(domain, last+1)
	if domain = domain[from:to]; int(last-first) == len(nodes)-1 || len(domain) == 0 {
		return domain
	}
	list := make([]int32, 0, len(domain))
	for _, i := range domain {
		at, found := slices.BinarySearch(nodes, i)
		if nodes = nodes[at:]; found {
			list = append(list, i)
		}
	}
	return list
}

// hasPlace reports whether a member of a group, or of a group below it, has a place of which a condition holds.
func (b *Board) hasPlace(t *tree, holds func(node int32) bool) bool {
	is := func(m int32) bool { return b.Where[m] >= 0 && holds(b.Where[m]) }
	return slices.ContainsFunc(t.Pods, is) || slices.ContainsFunc(t.below, func(t *tree) bool { return b.hasPlace(t, holds) })
}

// placedOf counts the members of a group, and of the groups below it, that have a place.
func (b *Board) placedOf(t *tree) (count int) {
	for _, m := range t.Pods {
		if b.Where[m] >= 0 {
			count++
		}
	}
	for _, below := range t.below {
		count += b.placedOf(below)
	}
	return count
}

// retract takes the members placed last from their places, until so many are left.
func (b *Board) retract(left int) {
	width := b.Width()
	for len(b.order) > left {
		last := len(b.order) - 1
		m := b.order[last]
		node := b.Where[m]
		b.order, b.Where[m] = b.order[:last], -1
		b.trials.hide(m)
		for _, of := range b.Members[m].claims {
			b.TakeClaim(int(node), of.number, -1, b.FreeOn(int(node)))
		}
		for slot, need := range b.Members[m].Needs {
			b.FreeOn(int(node))[slot] += need
		}
		asked := b.asked[int(node)*width:][:width]
		clear(asked)
		if b.count[node]--; b.count[node] == 0 {
			b.Used = b.Used[:len(b.Used)-1] // its first member came last to a new node
			continue
		}
		for _, other := range b.order {
			if b.Where[other] == node {
				for slot, need := range b.Members[other].Needs {
					asked[slot] = asked[slot] || need > 0
				}
				b.askClaims(&b.Members[other], asked)
			}
		}
	}
}
