package listed

import "github.com/cedesched/cede/internal/persist/trie"

// Block is the most names that a [Walk] finds at a time.
const Block = 64

// Walk goes through the names of a caller's list and finds the items of a [List].
type Walk[T comparable] struct {
	*List[T]
	next  int     // in the order of the last list
	seen  []bool  // by place; nil: those before next, and no others
	order []int32 // the places in the order of this list, if seen is not nil
	met   int
}

// near is how far ahead in the order of the last list the walk looks for a name: so many in a row may
// be gone, and the rest is still found in step.
const near = Block

// Walk starts a walk.
func (l *List[T]) Walk() Walk[T] { return Walk[T]{List: l} }

// Next returns the item of the next name and its place, if it is the next one in the order of the last
// list too.
func (w *Walk[T]) Next(name string) (item T, place int, inStep bool) {
	var none T
	if w.next == len(w.items) {
		return none, -1, false
	}
	place = w.at(w.next)
	item = w.items[place]
	if item == none || w.name(item) != name || w.seen != nil && w.seen[place] {
		return none, -1, false
	}
	w.meet(place)
	w.next++
	return item, place, true
}

// Find finds the items of the next names, at most [Block], and their places; -1: there is none. ok is
// false if the walk met a name before.
//
// Items in another order lie far apart in memory, and waiting for each would cost more than all else.
// So each loop reads one thing for all names, and the reads overlap.
func (w *Walk[T]) Find(names []string, items *[Block]T, places *[Block]int) (ok bool) {
	if w.seen == nil {
		w.seen, w.order = make([]bool, len(w.items)), make([]int32, 0, len(w.items))
		for i := range w.next {
			w.seen[w.at(i)] = true
			w.order = append(w.order, int32(w.at(i)))
		}
	}
	var hashes [Block]uint64
	for i, name := range names {
		hashes[i] = trie.Hash(name)
	}
	t := w.names()
	for i := range names {
		places[i] = t.slots.place(hashes[i])
	}
	var none T
	for i := range names {
		if items[i] = none; places[i] >= 0 {
			items[i] = w.items[places[i]]
		}
	}
	for i, name := range names {
		if items[i] == none || t.names[places[i]] != name { // another name of the same hash, or none
			if places[i], items[i] = w.Place(name), none; places[i] >= 0 {
				items[i] = w.items[places[i]]
			}
		}
	}
	for _, place := range places[:len(names)] {
		if place >= 0 && !w.meet(place) {
			return false
		}
	}
	w.catchUp(places[len(names)-1])
	return true
}

// catchUp goes on behind a place that was found, if it is near.
func (w *Walk[T]) catchUp(place int) {
	for i := w.next; i < min(len(w.items), w.next+near); i++ {
		if w.at(i) == place {
			w.next = i + 1
			return
		}
	}
}

// meet notes that an item was found, and reports whether it is for the first time.
func (w *Walk[T]) meet(place int) (first bool) {
	w.met++
	if w.seen == nil {
		return true
	}
	first = !w.seen[place]
	w.seen[place] = true
	w.order = append(w.order, int32(place))
	return first
}

// Missed returns the items that the walk did not find.
func (w *Walk[T]) Missed() (list []T) {
	if w.met == len(w.items)-w.gone {
		return nil
	}
	var none T
	for i := range w.items {
		if place := w.at(i); !w.saw(i, place) && w.items[place] != none {
			list = append(list, w.items[place])
		}
	}
	return list
}

// saw reports whether the walk found the item at a place, number i in the order of the last list.
func (w *Walk[T]) saw(i, place int) bool {
	return w.seen == nil && i < w.next || w.seen != nil && w.seen[place]
}

// InOrder returns the list in the order of the walk, what it did not find at the end.
func (w *Walk[T]) InOrder() *List[T] {
	if w.seen == nil {
		return w.List
	}
	for i := range w.items {
		if place := w.at(i); !w.seen[place] {
			w.order = append(w.order, int32(place))
		}
	}
	next := *w.List
	next.order = w.order
	return &next
}
