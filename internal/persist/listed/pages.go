package listed

import "slices"

// Pages holds a value for each place. An edit copies the pages of the values that it sets, and shares the others.
type Pages[T any] struct {
	pages []*[Block]T
	n     int
}

// PagesOf returns pages of the values, which it keeps.
func PagesOf[T any](values []T) Pages[T] {
	p := Pages[T]{n: len(values)}
	for ; len(values) >= Block; values = values[Block:] {
		p.pages = append(p.pages, (*[Block]T)(values))
	}
	if len(values) > 0 {
		last := new([Block]T)
		copy(last[:], values)
		p.pages = append(p.pages, last)
	}
	return p
}

// Len returns the number of places.
func (p *Pages[T]) Len() int { return p.n }

// At returns the value at a place, which must not be changed.
func (p *Pages[T]) At(place int) *T { return &p.pages[place/Block][place%Block] }

// Edit returns a copy for an edit, with places for at least n values; new ones have the zero value.
func (p *Pages[T]) Edit(n int) Pages[T] {
	next := Pages[T]{slices.Clone(p.pages), max(p.n, n)}
	for len(next.pages)*Block < next.n {
		next.pages = append(next.pages, new([Block]T))
	}
	return next
}

// Set sets a value, in a copy of earlier pages that no caller has seen yet.
func (p *Pages[T]) Set(before *Pages[T], place int, value T) {
	if i := place / Block; i < len(before.pages) && p.pages[i] == before.pages[i] {
		page := *before.pages[i]
		p.pages[i] = &page
	}
	p.pages[place/Block][place%Block] = value
}
