// Package difference finds what a list of things with names changes in those that are there. Both doors
// sync by it: the edits that lead to a state are those of its differences.
package difference

// Changes is the difference between things that are there and a list of one kind. The zero value is: none.
type Changes[T any] struct {
	Gone []*T // there, but not in the list; in their order
	// Come is what the list has anew or changed, in its order; Old is what each changes, nil for a new one.
	Old, Come []*T
	Repeated  bool // two in the list have the same name
}

// Between compares a list with the n things that are there, by what key returns of each, which no two of
// them share. It is fastest, and needs no memory, where both are in the same order.
func Between[T any, K comparable](n int, there func(i int) *T, list []T, key func(*T) K, equal func(a, b *T) bool) (d Changes[T]) {
	same := 0
	for same < min(n, len(list)) && key(there(same)) == key(&list[same]) {
		d.compare(there(same), &list[same], equal)
		same++
	}
	if same == n && same == len(list) {
		return d
	}
	old, met := make(map[K]*T, n), make(map[K]bool, len(list))
	for i := range n {
		old[key(there(i))] = there(i)
	}
	for i := range list {
		k := key(&list[i])
		d.Repeated = d.Repeated || met[k]
		if met[k] = true; i >= same {
			d.compare(old[k], &list[i], equal)
		}
	}
	for i := same; i < n; i++ {
		if !met[key(there(i))] {
			d.Gone = append(d.Gone, there(i))
		}
	}
	return d
}

func (d *Changes[T]) compare(old, next *T, equal func(a, b *T) bool) {
	if old == nil || !equal(old, next) {
		d.Old, d.Come = append(d.Old, old), append(d.Come, next)
	}
}
