// Package listed compares the items of a map with lists of their names that a caller makes again and
// again. It remembers the order of the last list, and finds items in another order by a flat table.
package listed

import (
	"slices"
	"sync"

	"github.com/cedesched/cede/internal/persist/trie"
)

// List holds the items of a map, each at a place that it keeps, and the order in which a caller last
// listed them. It is immutable.
type List[T comparable] struct {
	name  func(T) string
	of    trie.Map[T] // the map that the items are from
	items []T         // by place; the zero T: gone
	order []int32     // the places in the order of the last list; nil: 0, 1, 2, ...
	gone  int         // places without an item
	table *table
}

// table finds places by name. It is made when it is first needed: most lists come in the order of the
// last one.
type table struct {
	once  sync.Once
	slots slots
	names []string // by place; next to each other in memory, other than the items
}

// Of returns a list of all items of a map, in their order.
func Of[T comparable](name func(T) string, of trie.Map[T], items []T) *List[T] {
	return &List[T]{name: name, of: of, items: items, table: new(table)}
}

// FromMap returns a list of all items of a map, in no defined order.
func FromMap[T comparable](name func(T) string, of trie.Map[T]) *List[T] {
	return Of(name, of, slices.AppendSeq(make([]T, 0, of.Len()), of.All))
}

// Current returns the list with the items of a map that edits made of the list's own. New items have
// places at the end.
func (l *List[T]) Current(of trie.Map[T]) *List[T] {
	var none T
	next := *l
	next.of = of
	own, added := false, 0
	trie.Changes(l.of, of, func(was, is T) {
		if !own {
			next.items, own = slices.Clone(l.items), true
		}
		switch {
		case was == none:
			next.items = append(next.items, is)
			added++
		case is == none:
			next.items[l.Place(l.name(was))] = is
			next.gone++
		default:
			next.items[l.Place(l.name(was))] = is
		}
	})
	if !own {
		return l
	}
	if added > 0 {
		next.add(l, added)
	}
	if next.gone > len(next.items)/4 {
		return next.compact()
	}
	return &next
}

// compact returns the list without places that hold no item, in the order of the last list.
func (l *List[T]) compact() *List[T] {
	var none T
	items := make([]T, 0, len(l.items)-l.gone)
	for i := range l.items {
		if item := l.items[l.at(i)]; item != none {
			items = append(items, item)
		}
	}
	return Of(l.name, l.of, items)
}

// add gives the last items, so many, places in the order and in the table of a list that no caller
// has seen yet. before is the list without them.
func (l *List[T]) add(before *List[T], added int) {
	first := len(l.items) - added
	if l.order != nil {
		l.order = slices.Clone(l.order)
		for place := first; place < len(l.items); place++ {
			l.order = append(l.order, int32(place))
		}
	}
	l.table = new(table)
	if before.table.slots == nil || 2*len(l.items) > len(before.table.slots) {
		return // it is made when it is needed
	}
	l.table.once.Do(func() {
		l.table.slots, l.table.names = slices.Clone(before.table.slots), slices.Clone(before.table.names)
		for place := first; place < len(l.items); place++ {
			l.table.put(l.name(l.items[place]), place)
		}
	})
}

// at returns the place of number i in the order of the last list.
func (l *List[T]) at(i int) int {
	if l.order == nil {
		return i
	}
	return int(l.order[i])
}

// Item returns the item at a place.
func (l *List[T]) Item(place int) T { return l.items[place] }

// Places returns the number of places.
func (l *List[T]) Places() int { return len(l.items) }

// Place returns the place of a name; -1 if the list has no item of that name.
func (l *List[T]) Place(name string) int {
	var none T
	t := l.names()
	for place := range t.slots.places(trie.Hash(name)) {
		if l.items[place] != none && t.names[place] == name {
			return place
		}
	}
	return -1
}

// names returns the table; it makes it at the first call.
func (l *List[T]) names() *table {
	l.table.once.Do(func() {
		var none T
		size := 16
		for size < 2*len(l.items) {
			size *= 2
		}
		l.table.slots, l.table.names = make(slots, size), make([]string, 0, len(l.items))
		for place, item := range l.items {
			if item == none {
				l.table.names = append(l.table.names, "")
				continue
			}
			l.table.put(l.name(item), place)
		}
	})
	return l.table
}

// put adds the next place.
func (t *table) put(name string, place int) {
	t.slots.put(trie.Hash(name), place)
	t.names = append(t.names, name)
}
