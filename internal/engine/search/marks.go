package search

// Marks is a set of nodes that is emptied in one step. Begin with [Marks.Next].
type Marks struct {
	epochs []uint32
	epoch  uint32
}

// Next empties the set.
func (m *Marks) Next(nodes int) {
	if nodes > len(m.epochs) {
		m.epochs, m.epoch = make([]uint32, nodes), 0
	}
	if m.epoch++; m.epoch == 0 { // wrapped: old marks must not look like new ones
		clear(m.epochs)
		m.epoch = 1
	}
}

// Add adds a node. It returns false if the node is in the set already.
func (m *Marks) Add(node int) bool {
	if m.Has(node) {
		return false
	}
	m.epochs[node] = m.epoch
	return true
}

// Has reports whether a node is in the set.
func (m *Marks) Has(node int) bool { return m.epochs[node] == m.epoch }
