// Package kept keeps the last state of each object.
package kept

import (
	"maps"
	"slices"
)

// List keeps values by key, in the order in which their keys were first seen. The zero value is
// empty.
type List[T any] struct {
	index map[string]int
	list  []*T
}

// Set keeps a copy of a value, or forgets the value of the key; see Put and Remove.
func (k *List[T]) Set(key string, one *T, add bool) (again bool) {
	if add {
		copied := *one
		return k.Put(key, &copied)
	}
	k.Remove(key)
	return false
}

// Put keeps a value in place of the one of the same key, and reports whether there was one.
func (k *List[T]) Put(key string, one *T) (again bool) {
	at, again := k.index[key]
	if again {
		again = k.list[at] != nil
		k.list[at] = one
		return again
	}
	if k.index == nil {
		k.index = map[string]int{}
	}
	k.index[key] = len(k.list)
	k.list = append(k.list, one)
	return false
}

// Remove forgets the value of a key, if there is one. The key keeps its place.
func (k *List[T]) Remove(key string) {
	if at, ok := k.index[key]; ok {
		k.list[at] = nil
	}
}

// Get returns the value of a key; nil if there is none.
func (k *List[T]) Get(key string) *T {
	if at, ok := k.index[key]; ok {
		return k.list[at]
	}
	return nil
}

// Clone returns a list of the same values that can be changed apart from this one.
func (k *List[T]) Clone() List[T] {
	return List[T]{maps.Clone(k.index), slices.Clone(k.list)}
}

// All lists the values.
func (k *List[T]) All() []*T {
	return slices.DeleteFunc(slices.Clone(k.list), func(one *T) bool { return one == nil })
}
