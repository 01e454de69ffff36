// Package ordered is a persistent ordered set with running sums: a B+ tree whose edits
// copy one path.
package ordered

import "slices"

// Items of a leaf, or children of an inner node: at most, of a new one, and at least except in the root.
const (
	most  = 32
	full  = most * 3 / 4
	least = most / 4
)

// Order is the order of a set, a total order, and the sum kept for runs of items. Two items
// that compare equal are the same item.
type Order[T, S any] struct {
	Compare func(a, b T) int
	// AddItem and AddSum add to a sum in place; the zero S is the empty sum. Both nil: no
	// sums.
	AddItem func(sum *S, item T)
	AddSum  func(sum *S, other S)
	// DropItem takes an item out of a sum in place, so that an edit of a leaf does not look at all its
	// items. ok is false if the sum has to be added up anew. Nil: it always has.
	DropItem func(sum *S, item T) (ok bool)
}

// Set is an immutable set of items. The zero value has no order; start with [New].
type Set[T, S any] struct {
	order *Order[T, S]
	root  *node[T, S]
}

// node is a leaf (kids nil) or an inner node, where items[i] is the smallest item
// under kids[i].
type node[T, S any] struct {
	items []T
	kids  []*node[T, S]
	n     int // items under it
	sum   S   // of the items under it
}

// New returns the empty set with the order.
func New[T, S any](order *Order[T, S]) Set[T, S] { return Set[T, S]{order: order} }

// Of returns a set of the items, which must be strictly rising in the order. It keeps the list:
// the leaves are parts of it, until edits copy them.
func Of[T, S any](order *Order[T, S], sorted []T) Set[T, S] {
	s := Set[T, S]{order: order}
	switch {
	case len(sorted) == 0:
		return s
	case len(sorted) <= full:
		s.root = order.leaf(sorted)
		return s
	}
	level := above(sorted, order.leaf)
	for len(level) > 1 {
		level = above(level, order.inner)
	}
	s.root = level[0]
	return s
}

// above makes the nodes above a list, of even parts of it: three quarters of a node, so that
// the first edits do not split.
func above[E, N any](list []E, made func(part []E) *N) []*N {
	n := len(list)
	count := (n + full - 1) / full
	nodes := make([]*N, count)
	for i := range nodes {
		from, to := i*n/count, (i+1)*n/count
		nodes[i] = made(list[from:to:to])
	}
	return nodes
}

func (o *Order[T, S]) leaf(items []T) *node[T, S] {
	n := &node[T, S]{items: items, n: len(items)}
	if o.AddItem != nil {
		for _, item := range items {
			o.AddItem(&n.sum, item)
		}
	}
	return n
}

// changed returns the leaf of items that came about from one with another sum: out left, if it is not
// nil, and in came, if it is not nil.
func (o *Order[T, S]) changed(before S, items []T, out, in *T) *node[T, S] {
	if o.DropItem == nil {
		return o.leaf(items)
	}
	n := &node[T, S]{items: items, n: len(items)}
	o.AddSum(&n.sum, before)
	if in != nil {
		o.AddItem(&n.sum, *in)
	}
	if out != nil && !o.DropItem(&n.sum, *out) {
		return o.leaf(items)
	}
	return n
}

func (o *Order[T, S]) inner(kids []*node[T, S]) *node[T, S] {
	n := &node[T, S]{kids: kids, items: make([]T, len(kids))}
	for i, k := range kids {
		n.items[i] = k.items[0]
		n.n += k.n
		if o.AddSum != nil {
			o.AddSum(&n.sum, k.sum)
		}
	}
	return n
}

// Order returns the order with which the set was made.
func (s Set[T, S]) Order() *Order[T, S] { return s.order }

// Len returns the number of items.
func (s Set[T, S]) Len() int {
	if s.root == nil {
		return 0
	}
	return s.root.n
}

// First returns the smallest item.
func (s Set[T, S]) First() (item T, ok bool) {
	if s.root == nil {
		return item, false
	}
	return s.root.items[0], true
}

// Get returns the item for which compare returns 0. compare returns a negative number for
// items before it, a positive one for items after it.
func (s Set[T, S]) Get(compare func(item T) int) (item T, ok bool) {
	item, ok = s.Last(func(item T) bool { return compare(item) <= 0 })
	if !ok || compare(item) != 0 {
		var none T
		return none, false
	}
	return item, true
}

// Last returns the last item for which before holds; before must hold for a prefix of
// the set.
func (s Set[T, S]) Last(before func(T) bool) (item T, ok bool) {
	for n := s.root; n != nil; {
		i := countWhile(n.items, before) - 1
		switch {
		case i < 0:
			return item, false
		case n.kids == nil:
			return n.items[i], true
		}
		n = n.kids[i]
	}
	return item, false
}

// Insert returns the set with the item, in place of an equal one.
func (s Set[T, S]) Insert(item T) Set[T, S] {
	if s.root == nil {
		return Set[T, S]{s.order, s.order.leaf([]T{item})}
	}
	left, right := s.order.insert(s.root, item)
	if right != nil {
		left = s.order.inner([]*node[T, S]{left, right})
	}
	s.root = left
	return s
}

func (o *Order[T, S]) insert(n *node[T, S], item T) (left, right *node[T, S]) {
	if n.kids == nil {
		i, found := slices.BinarySearchFunc(n.items, item, o.Compare)
		if found {
			return o.changed(n.sum, with(n.items, i, 0, item), &n.items[i], &item), nil
		}
		items := with(n.items, i, 1, item)
		if len(items) <= most {
			return o.changed(n.sum, items, nil, &item), nil
		}
		return o.leaves(items)
	}
	i := o.child(n, item)
	kid, sibling := o.insert(n.kids[i], item)
	if sibling == nil {
		return o.inner(with(n.kids, i, 0, kid)), nil
	}
	return o.inners(with(n.kids, i, 0, kid, sibling))
}

// Delete returns the set without the item that compares equal. The result reports whether
// there was one.
func (s Set[T, S]) Delete(item T) (Set[T, S], bool) {
	if s.root == nil {
		return s, false
	}
	root, found := s.order.delete(s.root, item)
	if !found {
		return s, false
	}
	for len(root.kids) == 1 {
		root = root.kids[0]
	}
	if len(root.items) == 0 {
		root = nil
	}
	return Set[T, S]{s.order, root}, true
}

func (o *Order[T, S]) delete(n *node[T, S], item T) (*node[T, S], bool) {
	if n.kids == nil {
		i, found := slices.BinarySearchFunc(n.items, item, o.Compare)
		if !found {
			return n, false
		}
		return o.changed(n.sum, with(n.items, i, 0), &n.items[i], nil), true
	}
	i := o.child(n, item)
	kid, found := o.delete(n.kids[i], item)
	if !found {
		return n, false
	}
	return o.inner(o.joined(with(n.kids, i, 0, kid), i)), true
}

// joined returns the list with node i joined with a neighbour if it has too few items: with
// the left one, or the first node with the right one.
func (o *Order[T, S]) joined(kids []*node[T, S], i int) []*node[T, S] {
	if len(kids[i].items) >= least || len(kids) == 1 {
		return kids
	}
	i = max(0, i-1)
	left, right := o.join(kids[i], kids[i+1])
	kids = append(kids[:i], kids[i+1:]...)
	kids[i] = left
	if right != nil {
		kids = slices.Insert(kids, i+1, right)
	}
	return kids
}

// Replace is Delete of the item that compares equal to old, which must be in the set, and then
// Insert. It copies once what both would copy.
func (s Set[T, S]) Replace(old, item T) Set[T, S] {
	left, right := s.order.replace(s.root, old, item)
	if right != nil {
		left = s.order.inner([]*node[T, S]{left, right})
	}
	for len(left.kids) == 1 {
		left = left.kids[0]
	}
	return Set[T, S]{s.order, left}
}

func (o *Order[T, S]) replace(n *node[T, S], old, item T) (left, right *node[T, S]) {
	if n.kids == nil { // there is room for one more: with has kept that of the old one
		from, _ := slices.BinarySearchFunc(n.items, old, o.Compare)
		items := with(n.items, from, 0)
		to, taken := slices.BinarySearchFunc(items, item, o.Compare)
		if taken {
			items[to] = item
			return o.leaf(items), nil
		}
		return o.changed(n.sum, slices.Insert(items, to, item), &n.items[from], &item), nil
	}
	i, j := o.child(n, old), o.child(n, item)
	if i == j {
		kid, sibling := o.replace(n.kids[i], old, item)
		if sibling == nil {
			return o.inners(o.joined(with(n.kids, i, 0, kid), i))
		}
		return o.inners(with(n.kids, i, 0, kid, sibling))
	}
	kid, _ := o.delete(n.kids[i], old)
	kids := with(n.kids, i, 0, kid)
	first, second := o.insert(n.kids[j], item)
	kids[j] = first
	if second != nil {
		kids = slices.Insert(kids, j+1, second)
		if j < i {
			i++
		}
	}
	return o.inners(o.joined(kids, i))
}

// child returns the index of the child whose range contains the item.
func (o *Order[T, S]) child(n *node[T, S], item T) int {
	i, found := slices.BinarySearchFunc(n.items, item, o.Compare)
	if found {
		return i
	}
	return max(0, i-1)
}

// with returns a copy of list with things at index i: in place of the item there (keep 0), or
// before it (keep 1).
func with[E any](list []E, i, keep int, things ...E) []E {
	out := make([]E, 0, len(list)+len(things))
	out = append(append(out, list[:i]...), things...)
	return append(out, list[min(len(list), i+1-keep):]...)
}

func (o *Order[T, S]) join(a, b *node[T, S]) (left, right *node[T, S]) {
	if a.kids == nil {
		return o.leaves(slices.Concat(a.items, b.items))
	}
	return o.inners(slices.Concat(a.kids, b.kids))
}

// leaves returns the items in one leaf, or in two if they are too many for one.
func (o *Order[T, S]) leaves(items []T) (left, right *node[T, S]) {
	if len(items) <= most {
		return o.leaf(items), nil
	}
	half := len(items) / 2
	return o.leaf(items[:half:half]), o.leaf(items[half:])
}

func (o *Order[T, S]) inners(kids []*node[T, S]) (left, right *node[T, S]) {
	if len(kids) <= most {
		return o.inner(kids), nil
	}
	half := len(kids) / 2
	return o.inner(kids[:half:half]), o.inner(kids[half:])
}

// Total adds up all items.
func (s Set[T, S]) Total(sum *S) {
	if s.root != nil {
		s.order.AddSum(sum, s.root.sum)
	}
}

// Sum adds up the items for which before holds; before must hold for a prefix of the set. It
// looks at two nodes for each level.
func (s Set[T, S]) Sum(sum *S, before func(T) bool) {
	s.Parts(before, func(item T) { s.order.AddItem(sum, item) }, func(of S) { s.order.AddSum(sum, of) })
}

// Parts passes on the parts of [Set.Sum]: the sums of runs of items, and the items that are in no such run.
func (s Set[T, S]) Parts(before func(T) bool, item func(T), sum func(S)) {
	n := s.root
	if n != nil && n.kids != nil && before(n.last()) { // often all are wanted
		sum(n.sum)
		return
	}
	for n != nil {
		i := countWhile(n.items, before)
		if n.kids == nil {
			for _, of := range n.items[:i] {
				item(of)
			}
			return
		}
		if i == 0 {
			return
		}
		for _, k := range n.kids[:i-1] { // the last one may be cut
			sum(k.sum)
		}
		n = n.kids[i-1]
	}
}

// last returns the last item under a node.
func (n *node[T, S]) last() T {
	for n.kids != nil {
		n = n.kids[len(n.kids)-1]
	}
	return n.items[len(n.items)-1]
}

// countWhile returns the number of items at the front that satisfy the predicate, which must
// hold for a prefix.
func countWhile[T any](items []T, holds func(T) bool) int {
	low, high := 0, len(items)
	for low < high {
		middle := (low + high) / 2
		if holds(items[middle]) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
