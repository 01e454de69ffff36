package trie

// maxSorted is the most levels to sort by at once. With more, the places to write to are more
// than the caches hold, and a million items take longer.
const maxSorted = 4

// Builder makes a map of many items at once.
type Builder[T any] struct {
	name  func(T) string
	items []hashed[T]
}

// NewBuilder returns a builder for about n items.
func NewBuilder[T any](name func(T) string, n int) Builder[T] {
	return Builder[T]{name, make([]hashed[T], 0, n)}
}

// Add adds an item. It is cheap right after the name of the item was read.
func (b *Builder[T]) Add(item T) {
	b.items = append(b.items, hashed[T]{Hash(b.name(item)), item})
}

// Item returns item number i in the order of adding, from 0.
func (b *Builder[T]) Item(i int) T { return b.items[i].item }

// Items returns the items in the order of adding.
func (b *Builder[T]) Items() []T {
	items := make([]T, len(b.items))
	for i := range items {
		items[i] = b.items[i].item
	}
	return items
}

// Map returns a map of the items; of items with the same name, the first. Its leaves are parts
// of one array: it takes 16 bytes an item for as long as one of them was not edited.
func (b *Builder[T]) Map() Map[T] {
	m := New(b.name)
	if len(b.items) == 0 {
		return m
	}
	depth := 0 // of the leaves, most of which are three quarters full
	for len(b.items)>>(slotBits*depth) > most*3/4 && depth < maxSorted {
		depth++
	}
	// Sort by the path down to a leaf, by counting.
	ends := make([]int, 1<<(slotBits*depth)+1)
	for i := range b.items {
		ends[way(b.items[i].hash, depth)+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	at := ends[:len(ends)-1]
	sorted := make([]hashed[T], len(b.items))
	for _, h := range b.items {
		w := way(h.hash, depth)
		sorted[at[w]] = h
		at[w]++
	}
	s := sortedItems[T]{items: sorted, ends: at}
	m.root = m.join(&s, 0, len(at), 0)
	return m
}

// sortedItems holds items sorted by path: the items of one path end where those of the next
// begin.
type sortedItems[T any] struct {
	items []hashed[T]
	ends  []int
	room  []hashed[T]
}

// join makes the node of the items whose paths are in a range.
func (m *Map[T]) join(s *sortedItems[T], from, to int, shift uint) *node[T] {
	first, end := 0, s.ends[to-1]
	if from > 0 {
		first = s.ends[from-1]
	}
	switch {
	case end == first && shift > 0:
		return nil
	case to-from == 1 || end-first <= most:
		return m.build(s.items[first:end], &s.room, shift)
	}
	var kids [width]*node[T]
	for i, step := 0, (to-from)/width; i < width; i++ {
		kids[i] = m.join(s, from+i*step, from+(i+1)*step, shift+slotBits)
	}
	return inner(kids)
}

// way returns the slots down to a depth, as one number.
func way(hash uint64, depth int) int { return int(hash >> (hashBits - slotBits*depth)) }
