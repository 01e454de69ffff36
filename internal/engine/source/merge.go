package source

import (
	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Mode says how an attempt is made. The zero value: without borrowing, in the usual order.
type Mode struct {
	// Borrowing: the request may take its queue over its nominal quota.
	Borrowing bool
	// All: every candidate that the attempt permits is taken, whether or not the request fits.
	All bool
}

// Merge holds the candidates of a phase: the streams of its donors, merged by a heap. A
// cohort of which the queues come later is in the heap as a branch, which is opened when it reaches
// the top. The zero value is ready for [Merge.Open].
type Merge struct {
	streams  []stream
	branches []branch
	heap     []item
	sorted   []right.Victim // in another order: all candidates, the next one last
}

// Clear drops the candidates.
func (m *Merge) Clear() {
	m.streams, m.branches, m.heap, m.sorted = m.streams[:0], m.branches[:0], m.heap[:0], m.sorted[:0]
}

// branch is a cohort of which only the first candidate of each child is known (see
// cluster.Head).
type branch struct {
	cursor     cluster.HeadCursor
	lane       cluster.Lane
	level      *right.Level
	permission right.Permission
}

// item is a stream or a branch in the heap. The position of a branch is no later than that of
// any candidate under it.
type item struct {
	Position
	at int32 // index of the stream, or of the branch as ofBranch encodes it
}

// ofBranch encodes the index of a branch so that it differs from those of streams: 0 is -1, 1
// is -2.
func ofBranch(n int) int32 { return int32(-1 - n) }

func (it *item) isBranch() bool { return it.at < 0 }

// branch returns the index of the branch.
func (it *item) branch() int { return int(-1 - it.at) }

func before(a, b *item) bool { return a.Position.Before(&b.Position) }

// OpenUsual opens a phase in the usual order, whatever the usage of local queues: the streams and
// the branches by their first candidates.
func (m *Merge) OpenUsual(c *right.Case, n int, mode Mode) {
	m.Clear()
	ph := &phases[n]
	p := c.Permission(ph.class, mode.Borrowing)
	if t := c.Request.Trace; t != nil {
		tracePhase(t, c, ph, p)
	}
	if p == right.None || !hasTier(c, ph.tier) {
		return
	}
	if ph.class == right.Own {
		d, _ := c.OwnDonor() // ok: the policy permits some workloads
		m.pushLanes(c, &d, ph, p)
		return
	}
	for i := range c.Levels {
		l := &c.Levels[i]
		if l.Class != ph.class {
			continue
		}
		for _, lane := range ph.lanes {
			m.pushBranch(c, l.Reach, l, lane, p)
		}
	}
}

// OpenOf opens the streams of one donor in a phase of an attempt with borrowing.
func (m *Merge) OpenOf(c *right.Case, n int, d right.Donor) {
	m.Clear()
	ph := &phases[n]
	if p := c.Permission(d.Class, true); ph.class == d.Class && p != right.None && hasTier(c, ph.tier) {
		m.pushLanes(c, &d, ph, p)
	}
}

// OpenUnder opens the candidates of a queue, or of all queues below a cohort, that give at a level, in a phase of an attempt without borrowing.
func (m *Merge) OpenUnder(c *right.Case, n int, l *right.Level, node int) {
	m.Clear()
	ph := &phases[n]
	p := c.Permission(l.Class, false)
	switch {
	case ph.class != l.Class || p == right.None:
	case c.Cluster.IsQueue(node):
		d := c.DonorAt(l, node)
		m.pushLanes(c, &d, ph, p)
	default:
		for _, lane := range ph.lanes {
			m.pushBranch(c, c.Cluster.Reach(node), l, lane, p)
		}
	}
}

// Any reports whether a class has a candidate before any victim is taken.
func (m *Merge) Any(c *right.Case, class right.Class) bool {
	c.Request.Trace.Silence()
	defer c.Request.Trace.Resume()
	for n := range phases {
		if phases[n].class != class {
			continue
		}
		m.OpenUsual(c, n, Mode{})
		for len(m.streams) == 0 && len(m.heap) > 0 {
			m.expand(c)
		}
		if len(m.streams) > 0 { // any stream has a candidate, though perhaps not the first of all
			return true
		}
	}
	return false
}

// pushLanes adds the lanes of a donor to the heap.
func (m *Merge) pushLanes(c *right.Case, d *right.Donor, ph *phase, p right.Permission) {
	running := c.Cluster.Running(d.Queue)
	for _, lane := range ph.lanes {
		if it, ok := m.openStream(c, running, d, lane, p, ph.tier); ok {
			m.heap = heap.Push(m.heap, it, before)
		}
	}
}

// openStream opens a lane of a donor and appends it to the streams; ok is false if it has no
// candidate.
func (m *Merge) openStream(c *right.Case, of *cluster.Running, d *right.Donor, lane cluster.Lane, p right.Permission, t tier) (it item, ok bool) {
	set := of.Lane(lane)
	if set.Len() == 0 {
		return it, false
	}
	n := len(m.streams)
	m.streams = Grown(m.streams)
	st := &m.streams[n]
	st.lane, st.donor, st.permission, st.tier = set, *d, p, t
	st.surplus = lane.Surplus()
	if !st.open(c) {
		m.streams = m.streams[:n]
		return it, false
	}
	return item{st.position(c), int32(n)}, true
}

// pushBranch adds a lane of a cohort's children to the heap if it has a head.
func (m *Merge) pushBranch(c *right.Case, reach *cluster.Reach, l *right.Level, lane cluster.Lane, p right.Permission) {
	if !reach.Has(lane) {
		return
	}
	n := len(m.branches)
	m.branches = Grown(m.branches)
	b := &m.branches[n]
	b.lane, b.level, b.permission = lane, l, p
	cluster.SeekLane(&b.cursor, reach.Heads, lane)
	head, ok := b.head()
	if !ok {
		if t := c.Request.Trace; t != nil {
			TraceRefused(t, c, b.cursor, l.Class, l.Except, lane)
		}
		m.branches = m.branches[:n]
		return
	}
	m.heap = heap.Push(m.heap, item{PositionOf(c, head.Workload, lane.Surplus()), ofBranch(n)}, before)
}

// head returns the head of the next child that may be a donor.
func (b *branch) head() (head cluster.Head, ok bool) {
	for ; ; b.cursor.Next() {
		head, ok = b.cursor.Item()
		if !ok || head.Lane != b.lane || !b.permission.Permits(head.Workload) {
			return head, false
		}
		if int(head.Node) != b.level.Except {
			return head, true
		}
	}
}

// expand opens the next child of the branch at the top of the heap, unless the child gives
// nothing.
func (m *Merge) expand(c *right.Case) {
	top := &m.heap[0]
	b := &m.branches[top.branch()]
	l, lane, p := b.level, b.lane, b.permission
	head, _ := b.head()
	b.cursor.Next()
	if next, ok := b.head(); ok {
		top.Position = PositionOf(c, next.Workload, lane.Surplus())
		heap.Fix(m.heap, 0, before)
	} else {
		if t := c.Request.Trace; t != nil {
			TraceRefused(t, c, b.cursor, l.Class, l.Except, lane)
		}
		m.heap = heap.Drop(m.heap, before)
	}
	switch child := int(head.Node); {
	case !c.Gives(child):
		if t := c.Request.Trace; t != nil {
			t.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.WithinNominal}, Node: child, Workload: head.Workload.Facts.ID, Count: 1})
		}
	case c.Cluster.IsQueue(child):
		d := c.DonorAt(l, child)
		if it, ok := m.openStream(c, c.Cluster.Running(child), &d, lane, p, everyWorkload); ok {
			m.heap = heap.Push(m.heap, it, before)
		}
	default:
		m.pushBranch(c, c.Cluster.Reach(child), l, lane, p)
	}
}

// settle opens children until a stream is at the top. It returns false at the end.
func (m *Merge) settle(c *right.Case) bool {
	for len(m.heap) > 0 && m.heap[0].isBranch() {
		m.expand(c)
	}
	return len(m.heap) > 0
}

// Next returns the next candidate of the phase; ok is false if none is left. A donor with
// nothing left to reclaim is dropped.
func (m *Merge) Next(c *right.Case) (v right.Victim, ok bool) {
	if len(m.sorted) > 0 {
		return m.nextSorted(c)
	}
	for m.settle(c) {
		st := &m.streams[m.heap[0].at]
		gone := c.NothingToReclaim(&st.donor)
		if t := c.Request.Trace; t != nil && gone {
			traceWithinNominal(t, c, st.donor.Queue, st.donor.LCA, st.head)
		}
		if gone {
			m.heap = heap.Drop(m.heap, before)
			continue
		}
		return m.pop(c), true
	}
	return v, false
}

// NextAnyway is Next of a donor that need not give.
func (m *Merge) NextAnyway(c *right.Case) (v right.Victim, ok bool) {
	if !m.settle(c) {
		return v, false
	}
	return m.pop(c), true
}

// pop removes and returns the candidate at the top of the heap, which is of a stream.
func (m *Merge) pop(c *right.Case) right.Victim {
	v := m.streams[m.heap[0].at].candidate(c)
	m.advance(c, 0)
	return v
}

// advance moves the stream at the top of the heap past its candidate, and past more replicas that are alike.
func (m *Merge) advance(c *right.Case, more int64) {
	if it, ok := m.advanced(c, m.heap[0], more); ok {
		m.heap[0] = it
		heap.Fix(m.heap, 0, before)
	} else {
		m.heap = heap.Drop(m.heap, before)
	}
}

// advanced is the item of a stream past its candidate; ok is false if it has no more.
func (m *Merge) advanced(c *right.Case, of item, more int64) (it item, ok bool) {
	st := &m.streams[of.at]
	if !st.advance(c, more) {
		return it, false
	}
	return item{st.position(c), of.at}, true
}

// nextSorted returns the next of the candidates in another order of which the queue gives.
func (m *Merge) nextSorted(c *right.Case) (v right.Victim, ok bool) {
	for len(m.sorted) > 0 {
		last := len(m.sorted) - 1
		if v = m.sorted[last]; v.Count > 1 {
			v.Count = 1
			m.sorted[last].Count--
		} else {
			m.sorted = m.sorted[:last]
		}
		if v.Cohort < 0 || c.NotGiving(v.Queue, v.Cohort) < 0 {
			return v, true
		}
		if t := c.Request.Trace; t != nil {
			traceWithinNominal(t, c, v.Queue, v.Cohort, v.Workload)
		}
	}
	return v, false
}

// rest appends the candidates that are left, replicas that are alike as one.
func (m *Merge) rest(c *right.Case, list []right.Victim) []right.Victim {
	for v, ok := m.Next(c); ok; v, ok = m.Next(c) {
		more := m.Alike(&v)
		m.Skip(c, more)
		v.Count += more
		list = append(list, v)
	}
	return list
}
