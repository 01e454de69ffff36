package fair

// marks is a set of nodes that is emptied in one step.
type marks struct {
	epochs []uint32
	epoch  uint32
}

// next empties the set.
func (m *marks) next(nodes int) {
	if nodes > len(m.epochs) {
		m.epochs, m.epoch = make([]uint32, nodes), 0
	}
	if m.epoch++; m.epoch == 0 { // wrapped: old marks must not look like new ones
		clear(m.epochs)
		m.epoch = 1
	}
}

// add adds a node. It returns false if the node is in the set already.
func (m *marks) add(node int) bool {
	if m.has(node) {
		return false
	}
	m.epochs[node] = m.epoch
	return true
}

func (m *marks) has(node int) bool { return m.epochs[node] == m.epoch }
