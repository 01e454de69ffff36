// Package ordered is a persistent ordered set: a B+ tree whose edits copy one path.
package ordered

import "slices"

const (
	most  = 32 // items or children of a node
	least = 8  // of every node but the root
)

// Set is an immutable set of items under a total order. Two items that compare
// equal are the same item. The zero value has no order; start with [New].
type Set[T any] struct {
	compare func(a, b T) int
	root    *node[T]
	n       int
}

// node is a leaf (kids nil) or an inner node, where items[i] is the smallest item
// under kids[i].
type node[T any] struct {
	items []T
	kids  []*node[T]
}

// New returns the empty set under the order.
func New[T any](compare func(a, b T) int) Set[T] { return Set[T]{compare: compare} }

// Of returns a set of the items, which must be strictly rising under the order.
func Of[T any](compare func(a, b T) int, sorted []T) Set[T] {
	s := Set[T]{compare: compare, n: len(sorted)}
	if len(sorted) == 0 {
		return s
	}
	items := slices.Clone(sorted)
	var level []*node[T]
	for _, part := range parts(len(items)) {
		level = append(level, &node[T]{items: items[part[0]:part[1]:part[1]]})
	}
	for len(level) > 1 {
		var above []*node[T]
		for _, part := range parts(len(level)) {
			above = append(above, inner(level[part[0]:part[1]:part[1]]))
		}
		level = above
	}
	s.root = level[0]
	return s
}

// parts cuts n things into even runs of three quarters of a node, so that the
// first edits do not split.
func parts(n int) [][2]int {
	count := (n + most*3/4 - 1) / (most * 3 / 4)
	cuts := make([][2]int, count)
	for i := range cuts {
		cuts[i] = [2]int{i * n / count, (i + 1) * n / count}
	}
	return cuts
}

func inner[T any](kids []*node[T]) *node[T] {
	n := &node[T]{kids: kids, items: make([]T, len(kids))}
	for i, k := range kids {
		n.items[i] = k.items[0]
	}
	return n
}

// Len returns the number of items.
func (s Set[T]) Len() int { return s.n }

// Get returns the item that compares equal to the probe: compare tells how an item
// stands to what is sought (negative: before it).
func (s Set[T]) Get(compare func(item T) int) (T, bool) {
	n := s.root
	for n != nil {
		if n.kids == nil {
			for _, item := range n.items {
				if compare(item) == 0 {
					return item, true
				}
			}
			break
		}
		n = n.kids[max(0, countWhile(n.items, func(item T) bool { return compare(item) <= 0 })-1)]
	}
	var none T
	return none, false
}

// Last returns the last item for which before holds; before must hold for a prefix of
// the set.
func (s Set[T]) Last(before func(T) bool) (item T, ok bool) {
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
func (s Set[T]) Insert(item T) Set[T] {
	if s.root == nil {
		return Set[T]{s.compare, &node[T]{items: []T{item}}, 1}
	}
	left, right, added := s.insert(s.root, item)
	if right != nil {
		left = inner([]*node[T]{left, right})
	}
	s.root = left
	if added {
		s.n++
	}
	return s
}

func (s Set[T]) insert(n *node[T], item T) (left, right *node[T], added bool) {
	if n.kids == nil {
		i, found := slices.BinarySearchFunc(n.items, item, s.compare)
		if found {
			items := slices.Clone(n.items)
			items[i] = item
			return &node[T]{items: items}, nil, false
		}
		left, right = split(&node[T]{items: with(n.items, i, 1, item)})
		return left, right, true
	}
	i := s.child(n, item)
	kid, sibling, added := s.insert(n.kids[i], item)
	if sibling == nil {
		return inner(with(n.kids, i, 0, kid)), nil, added
	}
	left, right = split(inner(with(n.kids, i, 0, kid, sibling)))
	return left, right, added
}

// Delete returns the set without the item that compares equal, and whether there
// was one.
func (s Set[T]) Delete(item T) (Set[T], bool) {
	if s.root == nil {
		return s, false
	}
	root, found := s.delete(s.root, item)
	if !found {
		return s, false
	}
	for len(root.kids) == 1 {
		root = root.kids[0]
	}
	if len(root.items) == 0 {
		root = nil
	}
	return Set[T]{s.compare, root, s.n - 1}, true
}

func (s Set[T]) delete(n *node[T], item T) (*node[T], bool) {
	if n.kids == nil {
		i, found := slices.BinarySearchFunc(n.items, item, s.compare)
		if !found {
			return n, false
		}
		return &node[T]{items: append(append(make([]T, 0, len(n.items)-1), n.items[:i]...), n.items[i+1:]...)}, true
	}
	i := s.child(n, item)
	kid, found := s.delete(n.kids[i], item)
	if !found {
		return n, false
	}
	kids := with(n.kids, i, 0, kid)
	if len(kid.items) < least && len(kids) > 1 {
		i = max(0, i-1) // join with the left neighbour, the first with the right one
		left, right := split(join(kids[i], kids[i+1]))
		kids = append(kids[:i], kids[i+1:]...)
		kids[i] = left
		if right != nil {
			kids = slices.Insert(kids, i+1, right)
		}
	}
	return inner(kids), true
}

// child returns the index of the child in whose range the item falls.
func (s Set[T]) child(n *node[T], item T) int {
	i, found := slices.BinarySearchFunc(n.items, item, s.compare)
	if found {
		return i
	}
	return max(0, i-1)
}

// with returns a copy of list with the things put at i: instead of the one there
// (keep 0), or before it (keep 1).
func with[E any](list []E, i, keep int, things ...E) []E {
	out := make([]E, 0, len(list)+len(things))
	out = append(append(out, list[:i]...), things...)
	return append(out, list[min(len(list), i+1-keep):]...)
}

func join[T any](a, b *node[T]) *node[T] {
	n := &node[T]{items: slices.Concat(a.items, b.items)}
	if a.kids != nil {
		n.kids = slices.Concat(a.kids, b.kids)
	}
	return n
}

// split halves a node that is too large.
func split[T any](n *node[T]) (left, right *node[T]) {
	if len(n.items) <= most {
		return n, nil
	}
	half := len(n.items) / 2
	left = &node[T]{items: n.items[:half:half]}
	right = &node[T]{items: n.items[half:]}
	if n.kids != nil {
		left.kids, right.kids = n.kids[:half:half], n.kids[half:]
	}
	return left, right
}

// countWhile returns how many items at the front satisfy the predicate, which
// holds for a prefix.
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
