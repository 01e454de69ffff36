// Package trie is a persistent map by name: a hash trie whose edits copy one path.
package trie

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

const (
	slotBits = 5
	hashBits = 64
)

// seed differs from run to run, so that nobody can prepare names that collide. The
// order of a trie depends on it: nothing but [Map.All] shows that order.
var seed = maphash.MakeSeed()

// Map is an immutable map of items by their names. The zero value has no name
// function; start with [New].
type Map[T any] struct {
	name func(T) string
	root *node[T]
	n    int
}

// node has an item, a node or nothing in each of 32 slots. Below the last bits of the
// hash it is a plain list of items whose hashes are the same.
type node[T any] struct {
	filled uint32 // slots with an item
	forked uint32 // slots with a node
	items  []T    // by slot
	kids   []*node[T]
}

// New returns the empty map. Items are found by what name returns of them.
func New[T any](name func(T) string) Map[T] { return Map[T]{name: name, root: &node[T]{}} }

// Of returns a map of the items, whose names must differ.
func Of[T any](name func(T) string, items []T) Map[T] {
	hashed := make([]hashedItem[T], len(items))
	for i, item := range items {
		hashed[i] = hashedItem[T]{maphash.String(seed, name(item)), item}
	}
	return Map[T]{name, build(hashed, 0), len(items)}
}

type hashedItem[T any] struct {
	hash uint64
	item T
}

// build makes the node of the items, whose hashes agree before the shift.
func build[T any](items []hashedItem[T], shift uint) *node[T] {
	n := &node[T]{}
	if shift >= hashBits {
		for _, h := range items {
			n.items = append(n.items, h.item)
		}
		return n
	}
	// Sort by slot, by counting.
	var ends [1<<slotBits + 1]int
	for _, h := range items {
		ends[slot(h.hash, shift)+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	at := ends
	sorted := make([]hashedItem[T], len(items))
	for _, h := range items {
		s := slot(h.hash, shift)
		sorted[at[s]] = h
		at[s]++
	}
	for s := range 1 << slotBits {
		switch part := sorted[ends[s]:ends[s+1]]; len(part) {
		case 0:
		case 1:
			n.filled |= 1 << s
			n.items = append(n.items, part[0].item)
		default:
			n.forked |= 1 << s
			n.kids = append(n.kids, build(part, shift+slotBits))
		}
	}
	n.items, n.kids = slices.Clip(n.items), slices.Clip(n.kids)
	return n
}

func slot(hash uint64, shift uint) int { return int(hash >> shift & (1<<slotBits - 1)) }

// rank is how many of the set bits stand before the slot's.
func rank(set uint32, slot int) int { return bits.OnesCount32(set & (1<<slot - 1)) }

// Len returns the number of items.
func (m Map[T]) Len() int { return m.n }

// Get returns the item of the name.
func (m Map[T]) Get(name string) (item T, ok bool) {
	hash := maphash.String(seed, name)
	n := m.root
	for shift := uint(0); ; shift += slotBits {
		if shift >= hashBits {
			if i := n.find(m.name, name); i >= 0 {
				return n.items[i], true
			}
			return item, false
		}
		s := slot(hash, shift)
		switch {
		case n.forked>>s&1 == 1:
			n = n.kids[rank(n.forked, s)]
			continue
		case n.filled>>s&1 == 1:
			if found := n.items[rank(n.filled, s)]; m.name(found) == name {
				return found, true
			}
		}
		return item, false
	}
}

// find returns the index of the name among items with the same hash; -1 without.
func (n *node[T]) find(nameOf func(T) string, name string) int {
	return slices.IndexFunc(n.items, func(item T) bool { return nameOf(item) == name })
}

// Set returns the map with the item, in place of one with the same name.
func (m Map[T]) Set(item T) Map[T] {
	name := m.name(item)
	root, added := m.set(m.root, item, name, maphash.String(seed, name), 0)
	m.root = root
	if added {
		m.n++
	}
	return m
}

func (m Map[T]) set(n *node[T], item T, name string, hash uint64, shift uint) (*node[T], bool) {
	c := *n
	if shift >= hashBits {
		i := n.find(m.name, name)
		if i >= 0 {
			c.items = replaced(n.items, i, item)
			return &c, false
		}
		c.items = inserted(n.items, len(n.items), item)
		return &c, true
	}
	s := slot(hash, shift)
	if n.forked>>s&1 == 1 {
		i := rank(n.forked, s)
		kid, added := m.set(n.kids[i], item, name, hash, shift+slotBits)
		c.kids = replaced(n.kids, i, kid)
		return &c, added
	}
	i := rank(n.filled, s)
	if n.filled>>s&1 == 0 {
		c.filled |= 1 << s
		c.items = inserted(n.items, i, item)
		return &c, true
	}
	other := n.items[i]
	if m.name(other) == name {
		c.items = replaced(n.items, i, item)
		return &c, false
	}
	kid := build([]hashedItem[T]{{maphash.String(seed, m.name(other)), other}, {hash, item}}, shift+slotBits)
	c.filled &^= 1 << s
	c.items = without(n.items, i)
	c.forked |= 1 << s
	c.kids = inserted(n.kids, rank(c.forked, s), kid)
	return &c, true
}

// Delete returns the map without the item of the name, and whether there was one.
func (m Map[T]) Delete(name string) (Map[T], bool) {
	root, found := m.delete(m.root, name, maphash.String(seed, name), 0)
	if !found {
		return m, false
	}
	return Map[T]{m.name, root, m.n - 1}, true
}

func (m Map[T]) delete(n *node[T], name string, hash uint64, shift uint) (*node[T], bool) {
	c := *n
	if shift >= hashBits {
		i := n.find(m.name, name)
		if i < 0 {
			return n, false
		}
		c.items = without(n.items, i)
		return &c, true
	}
	s := slot(hash, shift)
	if n.forked>>s&1 == 1 {
		i := rank(n.forked, s)
		kid, found := m.delete(n.kids[i], name, hash, shift+slotBits)
		switch {
		case !found:
			return n, false
		case len(kid.kids) == 0 && len(kid.items) == 1: // one item needs no node
			c.forked &^= 1 << s
			c.kids = without(n.kids, i)
			c.filled |= 1 << s
			c.items = inserted(n.items, rank(c.filled, s), kid.items[0])
		default:
			c.kids = replaced(n.kids, i, kid)
		}
		return &c, true
	}
	i := rank(n.filled, s)
	if n.filled>>s&1 == 0 || m.name(n.items[i]) != name {
		return n, false
	}
	c.filled &^= 1 << s
	c.items = without(n.items, i)
	return &c, true
}

// All calls yield for each item, in no order to rely on, until it returns false.
func (m Map[T]) All(yield func(T) bool) { m.root.all(yield) }

func (n *node[T]) all(yield func(T) bool) bool {
	for _, item := range n.items {
		if !yield(item) {
			return false
		}
	}
	for _, kid := range n.kids {
		if !kid.all(yield) {
			return false
		}
	}
	return true
}

func replaced[E any](list []E, i int, e E) []E {
	out := append(make([]E, 0, len(list)), list...)
	out[i] = e
	return out
}

func inserted[E any](list []E, i int, e E) []E {
	out := append(make([]E, 0, len(list)+1), list[:i]...)
	return append(append(out, e), list[i:]...)
}

func without[E any](list []E, i int) []E {
	out := append(make([]E, 0, len(list)-1), list[:i]...)
	return append(out, list[i+1:]...)
}
