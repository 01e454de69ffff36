// Package heap keeps the first item of a slice before all others, in an order that the caller
// passes to each function. The functions allocate nothing except by append.
package heap

// Init makes a heap of a list in any order.
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

// Drop removes the first item.
func Drop[E any](h []E, before func(a, b *E) bool) []E {
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	Fix(h, 0, before)
	return h
}

// Fix moves the item at i down to its place after it changed so that it may come later. It
// calls before only with addresses of items in the list.
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

// Sort sorts a list. Equal items may change places. It takes more time than slices.SortFunc, but for each
// type of items a tenth of the code, which the page in the browser has to load.
func Sort[E any](list []E, before func(a, b *E) bool) {
	after := func(a, b *E) bool { return before(b, a) }
	Init(list, after)
	for n := len(list) - 1; n > 0; n-- {
		list[0], list[n] = list[n], list[0]
		Fix(list[:n], 0, after)
	}
}
