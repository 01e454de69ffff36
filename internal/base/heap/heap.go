// Package heap keeps a list so that its first item comes before all others. What comes
// first is the caller's to say: the functions take the order as an argument, and the list
// is a plain slice, so that they allocate nothing but what append does.
package heap

// Init brings a list in any order into that of a heap.
func Init[E any](h []E, before func(a, b *E) bool) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		Fix(h, i, before)
	}
}

// Push adds an item.
func Push[E any](h []E, item E, before func(a, b *E) bool) []E {
	h = append(h, item)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !before(&h[i], &h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	return h
}

// Drop takes the first item out.
func Drop[E any](h []E, before func(a, b *E) bool) []E {
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	Fix(h, 0, before)
	return h
}

// Fix brings the item at i to its place after it has changed so that it comes later, if
// anything. The order may be asked about two items of the list only, at their addresses in
// it.
func Fix[E any](h []E, i int, before func(a, b *E) bool) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if before(&h[child], &h[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}
