// Package listed compares the items of a map with lists of their names that a caller makes again and
// again. It remembers the order of the last list, and finds items in another order by a flat table.
package listed

import (
	"maps"
	"slices"
	"sync"

	"github.com/cedesched/cede/internal/persist/trie"
)

// List holds the items of a map, each at a place that it keeps, and the order in which a caller last
// listed them. It is immutable.
type List[T comparable] struct {
	name  func(T) string
	of    trie.Map[T] // the map that the items are from
	items Pages[T]    // the zero T: gone
	order []int32     // the places in the order of the last list; nil: 0, 1, 2, ...
	gone  int         // places without an item
	table *table
	late  map[string]int32 // the places that are not in the table, which came after it
	home  *byte            // the same in all lists in which an item has the same place
}

// table finds places by name. It is made when it is first needed: most lists come in the order of the
// last one.
type table struct {
	once   sync.Once
	slots  slots
	names  []string // by place; next to each other in memory, other than the items
	places int
}

// Of returns a list of all items of a map, in their order.
func Of[T comparable](name func(T) string, of trie.Map[T], items []T) *List[T] {
	return &List[T]{name: name, of: of, items: PagesOf(items), table: &table{places: len(items)}, home: new(byte)}
}

// FromMap returns a list of all items of a map, in no defined order.
func FromMap[T comparable](name func(T) string, of trie.Map[T]) *List[T] {
	return Of(name, of, slices.AppendSeq(make([]T, 0, of.Len()), of.All))
}

// Current returns the list with the items of a map that edits made of the list's own. New items have
// places at the end.
func (l *List[T]) Current(of trie.Map[T]) *List[T] {
	var none T
	var came []T
	next := *l
	next.of = of
	own := false
	trie.Changes(l.of, of, func(was, is T) {
		if was == none {
			came = append(came, is)
			return
		}
		if !own {
			next.items, own = l.items.Edit(0), true
		}
		next.items.Set(&l.items, l.Place(l.name(was)), is)
		if is == none {
			next.gone++
		}
	})
	if !own && len(came) == 0 {
		return l
	}
	if len(came) > 0 {
		next.add(l, came)
	}
	if next.gone > next.items.Len()/4 {
		return next.compact()
	}
	return &next
}

// Continues reports whether the items of a list have the same places in this one, unless they are gone.
func (l *List[T]) Continues(before *List[T]) bool { return before != nil && l.home == before.home }

// compact returns the list without places that hold no item, in the order of the last list.
func (l *List[T]) compact() *List[T] {
	var none T
	items := make([]T, 0, l.items.Len()-l.gone)
	for i := range l.items.Len() {
		if item := l.Item(l.at(i)); item != none {
			items = append(items, item)
		}
	}
	return Of(l.name, l.of, items)
}

// manyLate is the share of the places, 1 in 16, over which late ones get a new table: an edit copies all late ones, and a
// walk finds each alone.
const manyLate = 16

// add gives items places at the end, in a list that no caller has seen yet. before is the list without them.
func (l *List[T]) add(before *List[T], came []T) {
	first := before.items.Len()
	items := l.items
	l.items = items.Edit(first + len(came))
	for i, item := range came {
		l.items.Set(&items, first+i, item)
	}
	if l.order != nil {
		l.order = slices.Clone(l.order)
		for place := first; place < l.items.Len(); place++ {
			l.order = append(l.order, int32(place))
		}
	}
	l.late = make(map[string]int32, len(before.late)+len(came))
	maps.Copy(l.late, before.late)
	for i, item := range came {
		l.late[l.name(item)] = int32(first + i)
	}
	if len(l.late) > Block+l.table.places/manyLate {
		l.table, l.late = &table{places: l.items.Len()}, nil
	}
}

// at returns the place of number i in the order of the last list.
func (l *List[T]) at(i int) int {
	if l.order == nil {
		return i
	}
	return int(l.order[i])
}

// Item returns the item at a place.
func (l *List[T]) Item(place int) T { return *l.items.At(place) }

// Places returns the number of places.
func (l *List[T]) Places() int { return l.items.Len() }

// Place returns the place of a name; -1 if the list has no item of that name.
func (l *List[T]) Place(name string) int {
	var none T
	if place, came := l.late[name]; came && l.Item(int(place)) != none {
		return int(place)
	}
	t := l.names()
	for place := range t.slots.places(trie.Hash(name)) {
		if l.Item(place) != none && t.names[place] == name {
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
		for size < 2*l.table.places {
			size *= 2
		}
		l.table.slots, l.table.names = make(slots, size), make([]string, 0, l.table.places)
		for place := range l.table.places {
			item := l.Item(place)
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
