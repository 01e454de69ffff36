package source

import (
	"github.com/cedesched/cede/internal/engine/right"
)

// Open opens the candidates of a phase of an attempt in their order.
func (m *Merge) Open(c *right.Case, n int, mode Mode) {
	if ByUsage(c) {
		m.openByUsage(c, n, mode)
	} else {
		m.OpenUsual(c, n, mode)
	}
}
