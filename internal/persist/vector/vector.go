// Package vector is a persistent vector: Set returns a new vector and copies one
// path of a tree of four levels.
package vector

import "slices"

const (
	bits  = 3
	width = 1 << bits
)

// Vector is an immutable sequence. The zero value is empty.
//
// Below the root every level is an array of its own type, so that reading an item takes one
// load for each level. Only the root grows with the length, and every edit copies it: up to
// ten thousand items that is less than another level, and 2 kB for a hundred thousand.
type Vector[T any] struct {
	root []*branch[T]
	n    int
}

type (
	branch[T any] [width]*twig[T]
	twig[T any]   [width]*leaf[T]
	leaf[T any]   [width]T // the last one is not full
)

// Of returns a vector of the items, which it copies.
func Of[T any](items []T) Vector[T] {
	root := make([]*branch[T], (len(items)+width*width*width-1)>>(3*bits))
	for i := 0; i < len(items); i += width {
		l := new(leaf[T])
		copy(l[:], items[i:])
		b := made(&root[i>>(3*bits)])
		made(&b[i>>(2*bits)%width])[i>>bits%width] = l
	}
	return Vector[T]{root, len(items)}
}

// made returns what the slot points to; it makes it if the slot is nil.
func made[E any](slot **E) *E {
	if *slot == nil {
		*slot = new(E)
	}
	return *slot
}

// Len returns the number of items.
func (v Vector[T]) Len() int { return v.n }

// At returns item i, which must be within the length.
func (v Vector[T]) At(i int) T {
	return v.root[i>>(3*bits)][i>>(2*bits)%width][i>>bits%width][i%width]
}

// Set returns the vector with item i replaced.
func (v Vector[T]) Set(i int, item T) Vector[T] { return v.SetAll([]int{i}, []T{item}) }

// SetAll returns the vector with the items at the strictly rising indexes replaced. It copies
// shared parts of their paths once.
func (v Vector[T]) SetAll(at []int, items []T) Vector[T] {
	root := slices.Clone(v.root)
	last := -1
	for j, i := range at {
		b := own(&root[i>>(3*bits)], i>>(3*bits) == last>>(3*bits))
		t := own(&b[i>>(2*bits)%width], i>>(2*bits) == last>>(2*bits))
		own(&t[i>>bits%width], i>>bits == last>>bits)[i%width] = items[j]
		last = i
	}
	return Vector[T]{root, v.n}
}

// Append returns the vector with an item added at the end.
func (v Vector[T]) Append(item T) Vector[T] {
	i, root := v.n, slices.Clone(v.root)
	if i>>(3*bits) == len(root) {
		root = append(root, nil)
	}
	b := grown(&root[i>>(3*bits)])
	t := grown(&b[i>>(2*bits)%width])
	grown(&t[i>>bits%width])[i%width] = item
	return Vector[T]{root, i + 1}
}

// grown returns what the slot points to, as a copy; it makes it if the slot is nil.
func grown[E any](slot **E) *E {
	if *slot == nil {
		return made(slot)
	}
	return own(slot, false)
}

// own returns what the slot points to; it copies it first if it belongs to another vector.
func own[E any](slot **E, ours bool) *E {
	if !ours {
		c := **slot
		*slot = &c
	}
	return *slot
}

// All returns a copy of the items.
func (v Vector[T]) All() []T {
	items := make([]T, 0, v.n)
	for i := range v.n {
		items = append(items, v.At(i))
	}
	return items
}
