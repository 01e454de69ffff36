// Package vector is a persistent vector: Set returns a new vector and copies one
// path of an 8-way tree.
package vector

const (
	bits  = 3
	width = 1 << bits
)

// Vector is an immutable sequence of fixed length. The zero value is empty.
type Vector[T any] struct {
	root  *node[T]
	n     int
	shift uint // of the root: 0 for a leaf
}

// node is an inner node or a leaf; the last ones are not full.
type node[T any] struct {
	kids  *[width]*node[T]
	items *[width]T
}

// Of returns a vector of the items, which it copies.
func Of[T any](items []T) Vector[T] {
	if len(items) == 0 {
		return Vector[T]{}
	}
	var level []*node[T]
	for i := 0; i < len(items); i += width {
		leaf := new([width]T)
		copy(leaf[:], items[i:])
		level = append(level, &node[T]{items: leaf})
	}
	v := Vector[T]{n: len(items)}
	for len(level) > 1 {
		var above []*node[T]
		for i := 0; i < len(level); i += width {
			kids := new([width]*node[T])
			copy(kids[:], level[i:])
			above = append(above, &node[T]{kids: kids})
		}
		level = above
		v.shift += bits
	}
	v.root = level[0]
	return v
}

// Len returns the number of items.
func (v Vector[T]) Len() int { return v.n }

// At returns item i, which must be within the length.
func (v Vector[T]) At(i int) T {
	n := v.root
	for shift := v.shift; shift > 0; shift -= bits {
		n = n.kids[i>>shift&(width-1)]
	}
	return n.items[i&(width-1)]
}

// Set returns the vector with item i replaced.
func (v Vector[T]) Set(i int, item T) Vector[T] { return v.SetAll([]int{i}, []T{item}) }

// SetAll returns the vector with the items at the strictly rising indexes replaced; what
// their paths share is copied once.
func (v Vector[T]) SetAll(at []int, items []T) Vector[T] {
	if len(at) > 0 {
		v.root = v.root.set(at, items, v.shift)
	}
	return v
}

func (n *node[T]) set(at []int, items []T, shift uint) *node[T] {
	if shift == 0 {
		leaf := *n.items
		for j, i := range at {
			leaf[i&(width-1)] = items[j]
		}
		return &node[T]{items: &leaf}
	}
	kids := *n.kids
	for from := 0; from < len(at); {
		k, to := at[from]>>shift, from+1
		for to < len(at) && at[to]>>shift == k {
			to++
		}
		k &= width - 1
		kids[k] = kids[k].set(at[from:to], items[from:to], shift-bits)
		from = to
	}
	return &node[T]{kids: &kids}
}

// All returns a copy of the items.
func (v Vector[T]) All() []T {
	items := make([]T, 0, v.n)
	for i := range v.n {
		items = append(items, v.At(i))
	}
	return items
}
