// Package trie is a persistent map by name: a hash trie whose edits copy one path.
package trie

import (
	"hash/maphash"
	"slices"
)

const (
	slotBits = 3
	width    = 1 << slotBits
	hashBits = 64
	most     = 16 // items of a leaf that is not at the last level
)

// seed differs from run to run, so that no input can prepare names that collide. The order of a
// trie depends on it; only [Map.All] shows that order.
var seed = maphash.MakeSeed()

// Map is an immutable map of items by their names. The zero value has no name
// function; start with [New].
type Map[T any] struct {
	name func(T) string
	root *node[T] // nil without items
	n    int
}

// node is an inner node, with the nodes for the next bits of the hash (nil without items), or
// a leaf. At the last level a leaf holds all items with the same hash.
type node[T any] struct {
	kids  *[width]*node[T] // nil: a leaf
	items []hashed[T]      // in no order
}

// hashed is an item with the hash of its name, so that a lookup of another name skips it
// without reading the item.
type hashed[T any] struct {
	hash uint64
	item T
}

// inner returns a node and its slots in one allocation.
func inner[T any](kids [width]*node[T]) *node[T] {
	n := &struct {
		node[T]
		slots [width]*node[T]
	}{slots: kids}
	n.kids = &n.slots
	return &n.node
}

// leaf returns a node of a copy of the items, which has room for more, in one allocation.
func leaf[T any](items []hashed[T]) *node[T] {
	if len(items) > most {
		return &node[T]{items: slices.Clone(items)}
	}
	n := new(struct {
		node[T]
		slots [most]hashed[T]
	})
	n.items = append(n.slots[:0], items...)
	return &n.node
}

// New returns the empty map. name returns the name of an item.
func New[T any](name func(T) string) Map[T] { return Map[T]{name: name} }

// Of returns a map of the items; of items with the same name, the first.
func Of[T any](name func(T) string, items []T) Map[T] {
	b := NewBuilder(name, len(items))
	for _, item := range items {
		b.Add(item)
	}
	return b.Map()
}

// build makes the node of the items, whose hashes agree before the shift, and counts them. It
// keeps items: the leaves are parts of it. room is memory that it may overwrite.
func (m *Map[T]) build(items []hashed[T], room *[]hashed[T], shift uint) *node[T] {
	if len(items) <= most || shift >= hashBits {
		n := 0
		for i := range items {
			if h := items[i]; !m.holds(items[:n], &h) {
				items[n] = h
				n++
			}
		}
		m.n += n
		return &node[T]{items: items[:n:n]}
	}
	// Sort by slot, by counting.
	var ends [width + 1]int
	for i := range items {
		ends[slot(items[i].hash, shift)+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	*room = append((*room)[:0], items...)
	at := ends
	for _, h := range *room {
		s := slot(h.hash, shift)
		items[at[s]] = h
		at[s]++
	}
	var kids [width]*node[T]
	for s := range kids {
		if from, to := ends[s], ends[s+1]; from < to {
			kids[s] = m.build(items[from:to], room, shift+slotBits)
		}
	}
	return inner(kids)
}

// holds reports whether one of the items has the same name as h.
func (m *Map[T]) holds(items []hashed[T], h *hashed[T]) bool {
	for i := range items {
		if o := &items[i]; o.hash == h.hash && m.name(o.item) == m.name(h.item) {
			return true
		}
	}
	return false
}

// slot returns the next bits of a hash, from the top: items sorted by hash are sorted by path.
func slot(hash uint64, shift uint) int { return int(hash << shift >> (hashBits - slotBits)) }

// Len returns the number of items.
func (m Map[T]) Len() int { return m.n }

// Get returns the item with the name.
func (m Map[T]) Get(name string) (item T, ok bool) {
	hash := Hash(name)
	n := m.root
	for shift := uint(0); n != nil && n.kids != nil; shift += slotBits {
		n = n.kids[slot(hash, shift)]
	}
	if n != nil {
		if i := m.find(n.items, hash, name); i >= 0 {
			return n.items[i].item, true
		}
	}
	return item, false
}

// find returns the index of the name in a list of items, or -1.
func (m *Map[T]) find(items []hashed[T], hash uint64, name string) int {
	for i := range items {
		if h := &items[i]; h.hash == hash && m.name(h.item) == name {
			return i
		}
	}
	return -1
}

// Set returns the map with the item in place of one with the same name.
func (m Map[T]) Set(item T) Map[T] {
	m.root = m.set(m.root, hashed[T]{Hash(m.name(item)), item}, 0)
	return m
}

// set returns the node with the item, and counts it if it is new.
func (m *Map[T]) set(n *node[T], h hashed[T], shift uint) *node[T] {
	if n == nil {
		m.n++
		return leaf([]hashed[T]{h})
	}
	if n.kids != nil {
		kids := *n.kids
		kid := &kids[slot(h.hash, shift)]
		*kid = m.set(*kid, h, shift+slotBits)
		return inner(kids)
	}
	next := leaf(n.items)
	if i := m.find(next.items, h.hash, m.name(h.item)); i >= 0 {
		next.items[i] = h
		return next
	}
	next.items = append(next.items, h)
	m.n++
	if len(next.items) <= most || shift >= hashBits {
		return next
	}
	m.n -= len(next.items) // build counts them
	return m.build(next.items, new([]hashed[T]), shift)
}

// Delete returns the map without the item with the name, and reports whether there was one.
func (m Map[T]) Delete(name string) (Map[T], bool) {
	root, found := m.delete(m.root, name, Hash(name), 0)
	if !found {
		return m, false
	}
	return Map[T]{m.name, root, m.n - 1}, true
}

// delete returns nil if no items are left.
func (m *Map[T]) delete(n *node[T], name string, hash uint64, shift uint) (*node[T], bool) {
	switch {
	case n == nil:
		return nil, false
	case n.kids == nil:
		i := m.find(n.items, hash, name)
		switch {
		case i < 0:
			return n, false
		case len(n.items) == 1:
			return nil, true
		}
		next := leaf(n.items)
		next.items = slices.Delete(next.items, i, i+1)
		return next, true
	}
	s := slot(hash, shift)
	kid, found := m.delete(n.kids[s], name, hash, shift+slotBits)
	if !found {
		return n, false
	}
	kids := *n.kids
	kids[s] = kid
	if kid == nil || len(kid.items) == 1 { // with every item there comes a look at eight nodes
		if items, few := joined(&kids); few {
			return leaf(items), true
		}
	}
	return inner(kids), true
}

// joined returns the items of the leaves, if they are few and there are no other items.
func joined[T any](kids *[width]*node[T]) (items []hashed[T], few bool) {
	for _, kid := range kids {
		if kid == nil {
			continue
		}
		if kid.kids != nil || len(items)+len(kid.items) > most/2 {
			return nil, false
		}
		items = append(items, kid.items...)
	}
	return items, true
}

// All calls yield for each item, in no defined order, until it returns false.
func (m Map[T]) All(yield func(T) bool) { m.root.all(yield) }

func (n *node[T]) all(yield func(T) bool) bool {
	if n == nil {
		return true
	}
	for _, h := range n.items {
		if !yield(h.item) {
			return false
		}
	}
	if n.kids != nil {
		for _, kid := range n.kids {
			if !kid.all(yield) {
				return false
			}
		}
	}
	return true
}
