package input

import "slices"

// Kept keeps the last state of each object. The zero value is empty.
type Kept[T any] struct {
	index map[string]int
	list  []*T
}

// Put keeps what was read of an object, and returns [ErrAgain] for one that was there
// already. One that is gone is kept no longer.
func (k *Kept[T]) Put(o *Object, one *T) error {
	if o.Deleted {
		one = nil
	}
	if at, again := k.index[o.Key()]; again {
		k.list[at] = one
		return ErrAgain
	}
	if k.index == nil {
		k.index = map[string]int{}
	}
	k.index[o.Key()] = len(k.list)
	k.list = append(k.list, one)
	return nil
}

// All lists what is kept, in the order in which objects were first seen.
func (k *Kept[T]) All() []*T {
	return slices.DeleteFunc(slices.Clone(k.list), func(one *T) bool { return one == nil })
}
