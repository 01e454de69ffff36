package state

import "iter"

// Changes is the difference between two lists of one kind. The cluster's values must not be
// changed.
type Changes[F any] struct {
	Gone      []*F // of the cluster
	Old, Come []*F // of the list: new or changed, with what they change; Old is nil for a new one
	Repeated  bool // two in the list have the same name
}

// changes compares a list with what is there.
func changes[F any, K comparable](list []F, key func(*F) K, find func(K) *F, all iter.Seq[*F], equal func(a, b *F) bool) (d Changes[F]) {
	seen, added := make(map[*F]bool, len(list)), map[K]bool{}
	for i := range list {
		k := key(&list[i])
		old := find(k)
		if old == nil {
			d.Repeated = d.Repeated || added[k]
			added[k] = true
		} else {
			d.Repeated = d.Repeated || seen[old]
			seen[old] = true
		}
		if old == nil || !equal(old, &list[i]) {
			d.Old, d.Come = append(d.Old, old), append(d.Come, &list[i])
		}
	}
	for old := range all {
		if !seen[old] {
			d.Gone = append(d.Gone, old)
		}
	}
	return d
}
