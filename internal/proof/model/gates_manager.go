package model

// ask is what gate.Orchestrate says, and the manager does at once: open a gate, and ask again later.
func (m Gates) ask(s GatesState, step func(GatesState)) {
	s.Event, s.Wake = false, 0
	for i := range m.Replicas {
		if s.Seen[i].Phase == Reserved && !s.Lost[i] {
			step(s)
			return
		}
	}
	rest := m.rest(s)
	first := m.firstSignal(s)
	if first >= 0 {
		rest = max(rest, m.Grace-first)
	}
	if rest > 0 || first < 0 {
		if rest > 0 && m.Wrong&NoWakeUp == 0 {
			s.Wake = uint16(1 + rest)
		}
		step(s)
		return
	}
	if m.Wrong&NoWakeUp == 0 {
		s.Wake = uint16(1 + m.Timeout)
	}
	if m.Wrong&OpensAll != 0 {
		for i := range m.Replicas {
			if m.waits(s, i) {
				s = m.open(s, i)
			}
		}
		step(s)
		return
	}
	for i := range m.Replicas { // "by first signal", equal ones in any order
		if m.waits(s, i) && (m.AnyOrder || int(s.Seen[i].Age) == first) {
			step(m.open(s, i))
		}
	}
}

// rest is how long no gate may be opened yet.
func (m Gates) rest(s GatesState) (rest int) {
	latest, leaves := -1, 0
	for i := range m.Replicas {
		if r := s.Seen[i]; r.Open > 0 && (latest < 0 || int(r.Open)-1 < latest) && (m.Wrong&ForgetsLost == 0 || !s.Lost[i]) {
			latest = int(r.Open) - 1
		}
		if r := s.Seen[i]; r.Phase == Preempting && !s.Lost[i] {
			leaves = max(leaves, m.Patience-int(r.Age))
		}
	}
	// "one at a time, with a timeout between two openings"
	if latest >= 0 && m.Wrong&NoTimeout == 0 {
		rest = m.Timeout - latest
	}
	// "The wait for victims ends PreemptingTimeout after they were told to stop, and at the latest Timeout +
	// PreemptingTimeout after the latest opening"; without an open gate, after the first signal.
	end := m.Patience - max(0, m.firstSignal(s))
	if latest >= 0 {
		end = m.Timeout + m.Patience - latest
	}
	if m.Wrong&EndlessPatience == 0 {
		leaves = min(leaves, end)
	}
	if m.Wrong&NoPatience == 0 {
		rest = max(rest, leaves)
	}
	return rest
}

// waits: "Only the signal counts"; "A replica whose gate is open is not opened again, so each replica that
// signals has its turn".
func (m Gates) waits(s GatesState, i int) bool {
	r := s.Seen[i]
	signals := r.Phase == Signalled || m.Wrong&OpensQuiet != 0 && r.Phase == Quiet
	return signals && (r.Open == 0 || m.Wrong&OpensAgain != 0) && (!s.Lost[i] || m.Wrong&OpensLost != 0)
}

// firstSignal returns the age of the first signal of the replicas that wait; negative if none waits.
func (m Gates) firstSignal(s GatesState) int {
	first := -1
	for i := range m.Replicas {
		if m.waits(s, i) {
			first = max(first, int(s.Seen[i].Age))
		}
	}
	return first
}

func (m Gates) open(s GatesState, i int) GatesState {
	s.Seen[i].Open = 1
	if s.Real[i].Phase != Absent {
		s.Real[i].Open = 1
	}
	s.Old[i] = s.Under[i]
	return s
}
