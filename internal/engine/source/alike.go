package source

import "github.com/cedesched/cede/internal/engine/right"

// The replicas of a surplus are alike: what a search finds of one holds of the next. So it need not look at each. The
// first comes as a candidate of its own; then the search asks how many more come next, and goes past those that it has
// decided on.

// Alike returns how many of the next candidates of the phase are replicas alike a victim, which was the last candidate.
func (m *Merge) Alike(v *right.Victim) int64 {
	switch last := len(m.sorted) - 1; {
	case v.Set < 0:
		return 0
	case last >= 0:
		return AlikeIn(v, &m.sorted[last])
	case len(m.heap) == 0 || m.heap[0].isBranch():
		return 0
	}
	return m.streams[m.heap[0].at].alike(v)
}

// Skip goes past so many of the next candidates of the phase, of those that are alike.
func (m *Merge) Skip(c *right.Case, n int64) {
	if last := len(m.sorted) - 1; n > 0 && last >= 0 {
		if m.sorted[last].Count -= n; m.sorted[last].Count == 0 {
			m.sorted = m.sorted[:last]
		}
	} else if n > 0 {
		m.advance(c, n-1)
	}
}

// AlikeOf is Alike for the candidates of one queue.
func (m *Merge) AlikeOf(v *right.Victim, q *DonorQueue) int64 {
	if v.Set < 0 || q.n == 0 {
		return 0
	}
	return m.streams[q.items[q.first()].at].alike(v)
}

// SkipOf is Skip for the candidates of one queue.
func (m *Merge) SkipOf(c *right.Case, q *DonorQueue, n int64) {
	if n > 0 {
		m.advanceQueue(c, q, n-1)
	}
}

// AlikeIn returns how many replicas of a list's item are alike a victim.
func AlikeIn(v, item *right.Victim) int64 {
	if v.Set < 0 || v.Workload != item.Workload || v.Set != item.Set {
		return 0
	}
	return item.Count
}
