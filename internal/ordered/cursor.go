package ordered

// maxDepth bounds the height of a tree: inner nodes but the root have at least 8
// children, so 12 levels hold more items than memory does.
const maxDepth = 12

// Cursor walks a set in order. It allocates nothing and may be copied. The zero
// value is at the end.
type Cursor[T any] struct {
	leaf  []T
	i     int
	depth int
	path  [maxDepth]step[T]
}

type step[T any] struct {
	n *node[T]
	i int
}

// First moves to the smallest item of the set.
func (c *Cursor[T]) First(s Set[T]) {
	c.leaf, c.i, c.depth = nil, 0, 0
	if s.root != nil {
		c.descend(s.root)
	}
}

// Seek moves to the first item of the set for which before is false; before must
// hold for a prefix of the set.
func (c *Cursor[T]) Seek(s Set[T], before func(T) bool) {
	c.leaf, c.i, c.depth = nil, 0, 0
	n := s.root
	if n == nil {
		return
	}
	for n.kids != nil {
		i := max(0, countWhile(n.items, before)-1)
		c.path[c.depth] = step[T]{n, i}
		c.depth++
		n = n.kids[i]
	}
	c.leaf, c.i = n.items, countWhile(n.items, before)
	if c.i == len(c.leaf) {
		c.climb()
	}
}

// Item returns the item at the cursor; ok is false at the end.
func (c *Cursor[T]) Item() (item T, ok bool) {
	if c.i >= len(c.leaf) {
		return item, false
	}
	return c.leaf[c.i], true
}

// Next moves to the next item.
func (c *Cursor[T]) Next() {
	c.i++
	if c.i >= len(c.leaf) {
		c.climb()
	}
}

func (c *Cursor[T]) descend(n *node[T]) {
	for n.kids != nil {
		c.path[c.depth] = step[T]{n, 0}
		c.depth++
		n = n.kids[0]
	}
	c.leaf, c.i = n.items, 0
}

func (c *Cursor[T]) climb() {
	for c.depth > 0 {
		top := &c.path[c.depth-1]
		if top.i++; top.i < len(top.n.kids) {
			c.descend(top.n.kids[top.i])
			return
		}
		c.depth--
	}
	c.leaf, c.i = nil, 0
}
