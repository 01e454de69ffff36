package model

import "fmt"

// System returns the model with what must hold of it.
//
// Liveness is checked by a stronger law that needs one pass: no fair run stays for ever among the states in which
// some workload, maybe now one and then another, is promised room or could be admitted. So each run comes to rest,
// and at rest no workload waits that could be admitted. (A workload arrives once, so none is kept waiting by an endless
// stream of others of higher priority, which is what priorities are for.)
func (m *Loop) System() System[LoopState, LoopAction] {
	return System[LoopState, LoopAction]{
		Starts: []LoopState{{}}, Next: m.Next, Pack: m.pack, Unpack: m.unpack, Show: m.Show,
		Fair: LoopAction.fair, Holds: m.holds, Moves: m.moves,
		Waits: map[string]func(LoopState) bool{
			"a workload waits for ever that was promised room, or could be admitted": m.barred,
		},
	}
}

// holds: what runs and leaves fits; what runs fits together with what is promised, unless a queue is strict, where a
// later workload of higher priority becomes the head.
func (m *Loop) holds(s LoopState) string {
	holds, promised, strict := 0, 0, false
	for i, w := range m.Workloads {
		switch s[i] {
		case Running:
			holds, promised = holds+w.Size, promised+w.Size
		case Leaving:
			holds += w.Size
		case Promised:
			promised += w.Size
			strict = strict || m.Queues[w.Queue].Strict
		}
	}
	switch {
	case holds > m.capacity():
		return "more is admitted than there is"
	case promised > m.capacity() && !strict:
		return "more is promised than there is"
	}
	return ""
}

// moves looks at each cycle by itself: which workload is a victim of which head.
func (m *Loop) moves(from LoopState, by LoopAction, to LoopState) string {
	if by.Kind != Cycle {
		return ""
	}
	usage, taken := [MaxQueues]int{}, uint16(0)
	for i, w := range m.Workloads {
		if from[i] == Running {
			usage[w.Queue] += w.Size
		}
	}
	for _, served := range by.Served[:by.Heads] {
		head := m.Workloads[served.Head]
		if served.Victims != 0 && from[served.Head] == Promised && !m.Queues[head.Queue].Strict {
			return fmt.Sprintf("workload %d preempts again", served.Head)
		}
		largest := [MaxQueues]int{}
		for i, v := range m.Workloads {
			if served.Victims&(1<<i) == 0 {
				continue
			}
			if from[i] != Running || taken&(1<<i) != 0 {
				return fmt.Sprintf("workload %d is a victim twice", i)
			}
			taken |= 1 << i
			usage[v.Queue] -= v.Size
			largest[v.Queue] = max(largest[v.Queue], v.Size)
		}
		for q := range m.Queues {
			if q != head.Queue && largest[q] > 0 && usage[q]+largest[q] <= m.Queues[q].Nominal {
				return fmt.Sprintf("queue %d is reclaimed from within its nominal quota", q)
			}
		}
		if to[served.Head] == Running {
			usage[head.Queue] += head.Size
		}
	}
	return ""
}

// barred reports whether some workload is promised room, or could be admitted, alone: the first of a strict queue,
// any workload of another.
func (m *Loop) barred(s LoopState) bool {
	p := plan{state: s}
	for i, w := range m.Workloads {
		if s[i] == Running {
			p.runs[w.Queue] += w.Size
		}
	}
	p.then = p.runs
	for i, w := range m.Workloads {
		if s[i] != Waiting && s[i] != Aside && s[i] != Promised || m.Queues[w.Queue].Strict && m.head(s, w.Queue) != i {
			continue
		}
		could := s[i] == Promised
		m.decide(&p, i, func(e entry) { could = could || e.helped })
		if could {
			return true
		}
	}
	return false
}

// Reaches reports whether one step of a kind comes from one state to another.
func (m *Loop) Reaches(from LoopState, by LoopKind, to LoopState) (found bool) {
	m.Next(from, func(a LoopAction, t LoopState) { found = found || a.Kind == by && t == to })
	return found
}

// Rests reports whether no cycle changes anything.
func (m *Loop) Rests(s LoopState) bool {
	rests := true
	m.cycle(s, func(_ LoopAction, to LoopState) { rests = rests && to == s })
	return rests
}

func (m *Loop) pack(s LoopState) (key uint64) {
	for i := range m.Workloads {
		key |= uint64(s[i]) << (3 * i)
	}
	return key
}

func (m *Loop) unpack(key uint64) (s LoopState) {
	for i := range m.Workloads {
		s[i] = Status(key >> (3 * i) & 7)
	}
	return s
}
