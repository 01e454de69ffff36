package model

import (
	"cmp"
	"slices"
)

// plan is a cycle in progress: what runs once all victims are gone, the same with what heads were promised, and
// what holds quota now.
type plan struct {
	state      LoopState
	runs, then [MaxQueues]int
	now        int
	changed    bool // by a head that was served
	admitted   bool
	action     LoopAction
}

// entry is a head with what it was nominated for, alone.
type entry struct {
	head    int
	fits    bool
	victims uint16
	helped  bool // it fits, or victims help
	kept    bool // its own victims are leaving, and it fits once they have left
	borrows bool // it borrows once its victims are gone
}

// cycle serves the heads of all queues: each is nominated as if it were alone, then they are served in order,
// each with what the heads before it left.
func (m *Loop) cycle(s LoopState, step func(by LoopAction, to LoopState)) {
	p := plan{state: s}
	for i, w := range m.Workloads {
		if s[i] == Running {
			p.runs[w.Queue] += w.Size
		}
		if s[i] == Running || s[i] == Leaving {
			p.now += w.Size
		}
	}
	p.then = p.runs
	var heads [MaxQueues]int
	n := 0
	for q := range m.Queues {
		if head := m.head(s, q); head >= 0 {
			heads[n] = head
			n++
		}
	}
	m.nominate(p, heads[:n], nil, step)
}

// head returns the first workload of a queue, or -1: "Under BestEffortFIFO the one whose victims are terminating
// comes before all of them"; else by priority, then timestamp.
func (m *Loop) head(s LoopState, q int) int {
	head := -1
	for i, w := range m.Workloads {
		if w.Queue != q || s[i] != Waiting && s[i] != Promised {
			continue
		}
		if s[i] == Promised && !m.Queues[q].Strict {
			return i
		}
		if head < 0 || w.Priority > m.Workloads[head].Priority {
			head = i
		}
	}
	return head
}

// nominate decides about each head as if it were the only one.
func (m *Loop) nominate(p plan, heads []int, entries []entry, step func(LoopAction, LoopState)) {
	if len(heads) == 0 {
		m.serve(p, slices.SortedFunc(slices.Values(entries), m.compare), step)
		return
	}
	m.decide(&p, heads[0], func(e entry) {
		e.kept = e.fits && p.state[e.head] == Promised && m.Wrong&ForgetsPromises == 0
		m.nominate(p, heads[1:], append(entries[:len(entries):len(entries)], e), step)
	})
}

// compare: "first those whose own victims are terminating; then by how far up the tree they borrow once their
// victims are gone, those that do not borrow first; then by priority, queue-order timestamp".
func (m *Loop) compare(a, b entry) int {
	order := func(x, y bool) int { return int(bit(x)) - int(bit(y)) }
	return cmp.Or(order(b.kept, a.kept), order(a.borrows, b.borrows),
		cmp.Compare(m.Workloads[b.head].Priority, m.Workloads[a.head].Priority), cmp.Compare(a.head, b.head))
}

// serve serves the heads in order.
func (m *Loop) serve(p plan, entries []entry, step func(LoopAction, LoopState)) {
	if len(entries) == 0 {
		step(p.action, m.end(p))
		return
	}
	e, rest := entries[0], entries[1:]
	w, strict := m.Workloads[e.head], m.Queues[m.Workloads[e.head].Queue].Strict
	p.action.Served[p.action.Heads] = Served{Head: e.head}
	p.action.Heads++
	if !e.helped { // it has no candidates
		p.state[e.head] = Waiting
		if !strict {
			p.state[e.head] = Aside
		}
		m.reserve(&p, w, e.borrows)
		m.serve(p, rest, step)
		return
	}
	if !p.changed {
		m.give(p, e, rest, step)
		return
	}
	m.decide(&p, e.head, func(again entry) {
		if !again.helped || e.fits && !again.fits { // earlier heads took the room
			next := p
			next.state[e.head] = Waiting
			m.serve(next, rest, step)
			return
		}
		m.give(p, again, rest, step)
	})
}

// give: "A head is admitted if it fits now and also fits once all victims are gone", else it waits for those that
// leave, or its victims are told to.
func (m *Loop) give(p plan, e entry, rest []entry, step func(LoopAction, LoopState)) {
	w := m.Workloads[e.head]
	for i, v := range m.Workloads {
		if e.victims&(1<<i) != 0 {
			if p.state[i] == Running {
				p.runs[v.Queue] -= v.Size
				p.then[v.Queue] -= v.Size
			}
			p.state[i] = Leaving
		}
	}
	p.action.Served[p.action.Heads-1].Victims = e.victims
	p.state[e.head] = Promised
	if e.fits && (p.now+w.Size <= m.capacity() || m.Wrong&AdmitsEarly != 0) {
		p.state[e.head], p.admitted = Running, true
		p.runs[w.Queue] += w.Size
		p.now += w.Size
	}
	if p.state[e.head] == Running || m.Wrong&DropsPromises == 0 {
		p.then[w.Queue] += w.Size
	}
	p.changed = true
	m.serve(p, rest, step)
}

// reserve: "A head that does not fit and has no candidates reserves, for this cycle, what its queue could hold
// without preemption", unless its queue reclaims, or could never hold the head.
func (m *Loop) reserve(p *plan, w LoopWorkload, borrows bool) {
	of := m.Queues[w.Queue]
	if of.Reclaim || w.Size > m.capacity() {
		return
	}
	most := w.Size
	if !borrows {
		most = min(most, of.Nominal-p.then[w.Queue])
	}
	if most > 0 {
		p.then[w.Queue] += most
		p.changed = true
	}
}

// end: workloads like one that has no candidates, and later, are out of the order with it; an admission brings
// back those of queues that may preempt: the admitted workload may yield, or its queue now borrows.
func (m *Loop) end(p plan) LoopState {
	s := p.state
	for i, w := range m.Workloads {
		for j := range m.Workloads[:i] {
			if s[i] == Waiting && s[j] == Aside && m.Workloads[j] == w {
				s[i] = Aside
			}
		}
	}
	for i, w := range m.Workloads {
		if of := m.Queues[w.Queue]; p.admitted && s[i] == Aside && (of.Within || of.Reclaim) && w.Size <= m.capacity() && m.Wrong&LeavesAside == 0 {
			s[i] = Waiting
		}
	}
	return s
}
