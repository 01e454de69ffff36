package listed

import "github.com/cedesched/cede/internal/persist/trie"

// Block is the most names that a [Walk] finds at a time.
const Block = 64

// Walk goes through the names of a caller's list and finds the items of a [List].
type Walk[T comparable] struct {
	*List[T]
	next    int      // in the order of the last list
	seen    []uint64 // a bit for each place; nil: those before next, and no others
	ordered bool     // the order is kept
	order   []int32  // the places in the order of this list, if seen is not nil
	met     int
}

// near is how far ahead in the order of the last list the walk looks for a name: so many in a row may
// be gone, and the rest is still found in step.
const near = Block

// Walk starts a walk. ordered: InOrder will be asked for.
func (l *List[T]) Walk(ordered bool) Walk[T] { return Walk[T]{List: l, ordered: ordered} }

// Next returns the item of the next name and its place, if it is the next one in the order of the last
// list too.
func (w *Walk[T]) Next(name string) (item T, place int, inStep bool) {
	var none T
	if w.next == w.items.Len() {
		return none, -1, false
	}
	place = w.at(w.next)
	item = w.Item(place)
	if item == none || w.name(item) != name || w.seen != nil && w.isSeen(place) {
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
		w.seen = make([]uint64, (w.items.Len()+63)/64)
		if w.ordered {
			w.order = make([]int32, 0, w.items.Len())
		}
		for i := range w.next {
			w.see(w.at(i))
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
			items[i] = w.Item(places[i])
		}
	}
	for i, name := range names {
		if items[i] == none || t.names[places[i]] != name { // another name of the same hash, or none
			if places[i], items[i] = w.Place(name), none; places[i] >= 0 {
				items[i] = w.Item(places[i])
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
	for i := w.next; i < min(w.items.Len(), w.next+near); i++ {
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
	first = !w.isSeen(place)
	w.see(place)
	return first
}

// see notes a place, and isSeen reports whether it was noted; seen is not nil.
func (w *Walk[T]) see(place int) {
	w.seen[place/64] |= 1 << (place % 64)
	if w.ordered {
		w.order = append(w.order, int32(place))
	}
}

func (w *Walk[T]) isSeen(place int) bool { return w.seen[place/64]>>(place%64)&1 != 0 }

// Missed returns the items that the walk did not find.
func (w *Walk[T]) Missed() (list []T) {
	if w.met == w.items.Len()-w.gone {
		return nil
	}
	var none T
	for i := range w.items.Len() {
		if place := w.at(i); !w.saw(i, place) && w.Item(place) != none {
			list = append(list, w.Item(place))
		}
	}
	return list
}

// saw reports whether the walk found the item at a place, number i in the order of the last list.
func (w *Walk[T]) saw(i, place int) bool {
	return w.seen == nil && i < w.next || w.seen != nil && w.isSeen(place)
}

// InOrder returns the list in the order of the walk, what it did not find at the end.
func (w *Walk[T]) InOrder() *List[T] {
	if w.seen == nil {
		return w.List
	}
	for i := range w.items.Len() {
		if place := w.at(i); !w.isSeen(place) {
			w.order = append(w.order, int32(place))
		}
	}
	next := *w.List
	next.order = w.order
	return &next
}
