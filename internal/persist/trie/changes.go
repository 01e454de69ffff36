package trie

import "hash/maphash"

// Hash returns the hash of a name. It differs from run to run.
func Hash(name string) uint64 { return maphash.String(seed, name) }

// Changes calls yield with every item of m that is not in the map before, and with the item of the
// same name that it replaces; and with every item of before whose name is gone. The zero T stands for
// no item. The order is not defined. It skips what the two maps share, so it costs what edits from
// one to the other cost.
func Changes[T comparable](before, m Map[T], yield func(was, is T)) {
	m.changes(before.root, m.root, yield, equal[T])
}

func equal[T comparable](a, b T) bool { return a == b }

func (m *Map[T]) changes(was, is *node[T], yield func(was, is T), equal func(a, b T) bool) {
	switch {
	case was == is:
	case was != nil && is != nil && was.kids != nil && is.kids != nil:
		for i := range was.kids {
			m.changes(was.kids[i], is.kids[i], yield, equal)
		}
	default:
		var none T
		old, now := was.list(), is.list()
		for i := range now {
			switch j := m.find(old, now[i].hash, m.name(now[i].item)); {
			case j < 0:
				yield(none, now[i].item)
			case !equal(old[j].item, now[i].item):
				yield(old[j].item, now[i].item)
			}
		}
		for i := range old {
			if m.find(now, old[i].hash, m.name(old[i].item)) < 0 {
				yield(old[i].item, none)
			}
		}
	}
}

// list returns the items of a leaf, or of all leaves under a node.
func (n *node[T]) list() (items []hashed[T]) {
	if n == nil || n.kids == nil && len(n.items) > 0 {
		if n != nil {
			items = n.items
		}
		return items
	}
	for _, kid := range n.kids {
		items = append(items, kid.list()...)
	}
	return items
}
