package ordered

// Rank returns the number of items for which before holds; before must hold for a prefix of the
// set. It looks at one node for each level.
func (s Set[T, S]) Rank(before func(T) bool) (rank int) {
	for n := s.root; n != nil; {
		i := countWhile(n.items, before)
		if n.kids == nil {
			return rank + i
		}
		if i == 0 {
			return rank
		}
		for _, k := range n.kids[:i-1] { // the last one may be cut
			rank += k.n
		}
		n = n.kids[i-1]
	}
	return rank
}

// At returns the item before which there are so many others; there must be one.
func (s Set[T, S]) At(rank int) T {
	n := s.root
	for n.kids != nil {
		i := 0
		for rank >= n.kids[i].n {
			rank -= n.kids[i].n
			i++
		}
		n = n.kids[i]
	}
	return n.items[rank]
}
