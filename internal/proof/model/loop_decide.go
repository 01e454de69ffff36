package model

// decide calls each for every answer about a head: it fits, or a set of victims that is allowed, of which none
// can be spared, or nothing helps. Victims of other queues are allowed if the queue of the head is below its nominal
// quota, and ends within it; as built, victims of its own queue alone may also let it borrow.
func (m *Loop) decide(p *plan, head int, each func(entry)) {
	w := m.Workloads[head]
	of, total := m.Queues[w.Queue], p.then[0]+p.then[1]+p.then[2]
	e := entry{head: head, borrows: p.then[w.Queue]+w.Size > of.Nominal}
	if total+w.Size <= m.capacity() {
		e.fits, e.helped = true, true
		each(e)
		return
	}
	own, others := m.candidates(p, head)
	all := own | others
	for set := all; set > 0; set = (set - 1) & all {
		below := p.then[w.Queue] < of.Nominal || m.WithinNominal && set&others == 0
		mixed := below && m.enough(p, w, set, true) && m.borrowing(p, set&others) && m.spared(p, w, set, true)
		alone := set&others == 0 && !m.WithinNominal && m.enough(p, w, set, false) && m.spared(p, w, set, false)
		if mixed || alone {
			e.victims, e.helped = set, true
			e.borrows = p.then[w.Queue]-m.size(set, w.Queue)+w.Size > of.Nominal
			each(e)
		}
	}
	if !e.helped {
		each(e)
	}
}

// candidates returns who may yield: in the own queue workloads of lower priority, in other queues any, as long
// as their queue borrows.
func (m *Loop) candidates(p *plan, head int) (own, others uint16) {
	w := m.Workloads[head]
	for i, v := range m.Workloads {
		runs := p.state[i] == Running && !p.admittedNow(i) || m.Wrong&TakesLeaving != 0 && p.state[i] == Leaving && !p.takes(i) ||
			m.Wrong&TakesTwice != 0 && p.state[i] == Leaving && p.takes(i)
		switch {
		case !runs:
		case v.Queue != w.Queue:
			if m.Queues[w.Queue].Reclaim && (p.runs[v.Queue] > m.Queues[v.Queue].Nominal || m.Wrong&ReclaimsWithin != 0) {
				others |= 1 << i
			}
		case m.Queues[w.Queue].Within && (v.Priority < w.Priority || m.Wrong&NewerByReservation != 0 && v.Priority == w.Priority):
			own |= 1 << i
		}
	}
	return own, others
}

// enough: the head fits without the set, and, if it has to, its queue ends within its nominal quota.
func (m *Loop) enough(p *plan, w LoopWorkload, set uint16, within bool) bool {
	left := w.Size
	for q := range m.Queues {
		left += p.then[q] - m.size(set, q)
	}
	nominal := m.Queues[w.Queue].Nominal
	return left <= m.capacity() && (!within || p.then[w.Queue]-m.size(set, w.Queue)+w.Size <= nominal)
}

// spared: no victim can be spared.
func (m *Loop) spared(p *plan, w LoopWorkload, set uint16, within bool) bool {
	for i := range m.Workloads {
		if set&(1<<i) != 0 && m.enough(p, w, set&^(1<<i), within) {
			return false
		}
	}
	return true
}

// borrowing: each queue borrows until its last victim is taken, in some order.
func (m *Loop) borrowing(p *plan, set uint16) bool {
	for q := range m.Queues {
		largest := 0
		for i, v := range m.Workloads {
			if set&(1<<i) != 0 && v.Queue == q {
				largest = max(largest, v.Size)
			}
		}
		if largest > 0 && p.runs[q]-m.size(set, q)+largest <= m.Queues[q].Nominal && m.Wrong&ReclaimsWithin == 0 {
			return false
		}
	}
	return true
}

func (p *plan) takes(i int) bool {
	for _, s := range p.action.Served[:p.action.Heads] {
		if s.Victims&(1<<i) != 0 {
			return true
		}
	}
	return false
}

// admittedNow: who was admitted in this cycle is no candidate in it.
func (p *plan) admittedNow(i int) bool {
	for _, s := range p.action.Served[:p.action.Heads] {
		if s.Head == i {
			return true
		}
	}
	return false
}

// size is the sum of the sizes of a set in a queue.
func (m *Loop) size(set uint16, queue int) (sum int) {
	for i, v := range m.Workloads {
		if set&(1<<i) != 0 && v.Queue == queue {
			sum += v.Size
		}
	}
	return sum
}

func (m *Loop) capacity() (sum int) {
	for _, q := range m.Queues {
		sum += q.Nominal
	}
	return sum
}
