package ordered

// maxDepth limits the height of a tree: inner nodes except the root have at least 8 children,
// so 12 levels hold more items than memory does.
const maxDepth = 12

// Cursor walks a set in order. It allocates nothing and may be copied. The zero
// value is at the end.
type Cursor[T, S any] struct {
	leaf  *node[T, S] // nil at the end
	i     int
	depth int
	path  [maxDepth]step[T, S]
}

type step[T, S any] struct {
	n *node[T, S]
	i int
}

// First moves to the smallest item of the set.
func (c *Cursor[T, S]) First(s Set[T, S]) {
	c.leaf, c.i, c.depth = nil, 0, 0
	if s.root != nil {
		c.descend(s.root)
	}
}

// Seek moves to the first item of the set for which before is false; before must
// hold for a prefix of the set.
func (c *Cursor[T, S]) Seek(s Set[T, S], before func(T) bool) {
	c.leaf, c.i, c.depth = nil, 0, 0
	n := s.root
	if n == nil {
		return
	}
	for n.kids != nil {
		i := max(0, countWhile(n.items, before)-1)
		c.path[c.depth] = step[T, S]{n, i}
		c.depth++
		n = n.kids[i]
	}
	c.leaf, c.i = n, countWhile(n.items, before)
	if c.i == len(n.items) {
		c.climb()
	}
}

// Item returns the item at the cursor; ok is false at the end.
func (c *Cursor[T, S]) Item() (item T, ok bool) {
	if c.leaf == nil {
		return item, false
	}
	return c.leaf.items[c.i], true
}

// Next moves to the next item.
func (c *Cursor[T, S]) Next() {
	if c.leaf == nil {
		return
	}
	if c.i++; c.i >= len(c.leaf.items) {
		c.climb()
	}
}

// NextIn is Next, but skips runs of items whose sum is not wanted.
func (c *Cursor[T, S]) NextIn(wanted func(S) bool) {
	if c.leaf == nil || wanted(c.leaf.sum) {
		c.Next()
		return
	}
	for c.depth > 0 {
		top := &c.path[c.depth-1]
		if top.i++; top.i == len(top.n.kids) {
			c.depth--
			continue
		}
		switch kid := top.n.kids[top.i]; {
		case !wanted(kid.sum):
		case kid.kids == nil:
			c.leaf, c.i = kid, 0
			return
		default:
			c.path[c.depth] = step[T, S]{kid, -1}
			c.depth++
		}
	}
	c.leaf, c.i = nil, 0
}

func (c *Cursor[T, S]) descend(n *node[T, S]) {
	for n.kids != nil {
		c.path[c.depth] = step[T, S]{n, 0}
		c.depth++
		n = n.kids[0]
	}
	c.leaf, c.i = n, 0
}

func (c *Cursor[T, S]) climb() {
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
