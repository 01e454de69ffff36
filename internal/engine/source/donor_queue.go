package source

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
)

// DonorQueue holds the candidates of one donor in the order of an attempt with borrowing: its
// phases one after the other, in each the lanes merged. Fair sharing takes its candidates
// from one DonorQueue for each queue. All open ones belong to one [Merge].
type DonorQueue struct {
	Donor right.Donor
	phase int // index of phases
	items [4]item
	n     int
}

// OpenQueue starts with the candidates of a donor.
func (m *Merge) OpenQueue(c *right.Case, q *DonorQueue, d right.Donor) {
	*q = DonorQueue{Donor: d, phase: -1}
	m.settleQueue(c, q)
}

// Left reports whether there is a candidate.
func (q *DonorQueue) Left() bool { return q.n > 0 }

// Close drops all candidates.
func (q *DonorQueue) Close() { q.n, q.phase = 0, len(phases)-1 }

// settleQueue moves to the next phase of the donor's class that has candidates, if the
// current one has none.
func (m *Merge) settleQueue(c *right.Case, q *DonorQueue) {
	for q.n == 0 && q.phase < len(phases)-1 {
		q.phase++
		ph := &phases[q.phase]
		if ph.class != q.Donor.Class || !hasTier(c, ph.tier) {
			continue
		}
		p := c.Permission(q.Donor.Class, true)
		if p == right.None {
			continue
		}
		running := c.Cluster.Running(q.Donor.Queue)
		for _, lane := range ph.lanes {
			if it, ok := m.openStream(c, running, &q.Donor, lane, p, ph.tier); ok {
				q.items[q.n] = it
				q.n++
			}
		}
	}
}

// first returns the index of the first item.
func (q *DonorQueue) first() int {
	best := 0
	for i := 1; i < q.n; i++ {
		if before(&q.items[i], &q.items[best]) {
			best = i
		}
	}
	return best
}

// Head returns the position of the next candidate; there must be one.
func (q *DonorQueue) Head() Position { return q.items[q.first()].Position }

// Pop removes and returns the next candidate; ok is false if there is none.
func (m *Merge) Pop(c *right.Case, q *DonorQueue) (v right.Victim, ok bool) {
	if q.n == 0 {
		return v, false
	}
	v = m.streams[q.items[q.first()].at].candidate(c)
	m.advanceQueue(c, q, 0)
	return v, true
}

// PassRefused moves a queue past the whole workloads that come next and are refused.
func (m *Merge) PassRefused(c *right.Case, q *DonorQueue, refused func(*cluster.Workload) bool) {
	for q.n > 0 {
		i := q.first()
		st := &m.streams[q.items[i].at]
		if st.surplus || !refused(st.head) {
			return
		}
		st.cursor.Next()
		ok := st.settle(c, refused)
		m.keep(c, q, i, ok)
	}
}

// advanceQueue moves a queue past its next candidate, and past more replicas that are alike.
func (m *Merge) advanceQueue(c *right.Case, q *DonorQueue, more int64) {
	i := q.first()
	m.keep(c, q, i, m.streams[q.items[i].at].advance(c, more))
}

// keep keeps the item of a stream that was moved to another candidate, or drops it if there is none.
func (m *Merge) keep(c *right.Case, q *DonorQueue, i int, more bool) {
	if more {
		q.items[i].Position = m.streams[q.items[i].at].position(c)
		return
	}
	q.n--
	q.items[i] = q.items[q.n]
	m.settleQueue(c, q)
}
