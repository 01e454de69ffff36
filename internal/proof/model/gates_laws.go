package model

import "fmt"

// System returns the model with what must hold of it.
func (m Gates) System() System[GatesState, GatesAction] {
	system := System[GatesState, GatesAction]{
		Starts: m.starts(), Next: m.Next, Pack: m.pack, Unpack: m.unpack, Show: m.Show,
		Fair: GatesAction.fair, Holds: m.holds, Moves: m.moves,
	}
	if m.Prompt || m.Evictions {
		// What a replica does within one tick has no end, so its runs say nothing about waiting. And ages stop here: a replica that is
		// evicted again and again would signal as early as one that goes on signalling.
		return system
	}
	// The replicas differ in nothing but their numbers, so what holds of one holds of all.
	system.Waits = map[string]func(GatesState) bool{
		"a replica signals for ever, none has quota, and its gate stays closed": func(s GatesState) bool {
			return s.Real[0].Phase == Signalled && s.Real[0].Open == 0 && !s.Lost[0] && !m.reserved(s.Real)
		},
		"a replica that was taken back is never sent again, though none has quota": func(s GatesState) bool {
			return s.Real[0].Phase == Absent && !s.Lost[0] && !m.reserved(s.Real)
		},
	}
	return system
}

func (m Gates) reserved(list [MaxReplicas]Replica) bool {
	for _, r := range list {
		if r.Phase == Reserved {
			return true
		}
	}
	return false
}

// reservedIn reports whether the manager sees a replica with its quota.
func (m Gates) reservedIn(s GatesState) bool {
	for i, r := range s.Seen {
		if r.Phase == Reserved && !s.Lost[i] {
			return true
		}
	}
	return false
}

// holds: one replica at a time has its turn, which is Timeout long; and if all is prompt, one preempts at a time.
func (m Gates) holds(s GatesState) string {
	turns, preempting := 0, 0
	for i, r := range s.Real {
		if r.Open > 0 && int(r.Open)-1 < m.Timeout && !s.Free[i] {
			turns++
		}
		if r.Phase == Preempting {
			preempting++
		}
	}
	switch {
	case turns > 1:
		return "two gates were opened within the timeout"
	case m.Prompt && preempting > 1:
		return "two replicas preempt at once"
	}
	return ""
}

// moves looks at each step by itself.
func (m Gates) moves(from GatesState, by GatesAction, to GatesState) string {
	for i := range m.Replicas {
		before, after := from.Real[i], to.Real[i]
		if after.Phase == Preempting && before.Phase != Preempting && before.Open == 0 {
			return fmt.Sprintf("replica %d preempts, and its gate is closed", i)
		}
		if by.Kind == Evict && by.At == i && after.Open > 0 {
			return fmt.Sprintf("replica %d was evicted, and its gate is open", i)
		}
		if by.Kind < Ask || by.Kind > AskAgain || to.Seen[i] == from.Seen[i] {
			continue
		}
		if from.Seen[i].Phase != Signalled {
			return fmt.Sprintf("the gate of replica %d is opened, which does not signal", i)
		}
		if from.Lost[i] {
			return fmt.Sprintf("the gate of replica %d is opened, which is lost", i)
		}
		if m.reservedIn(from) {
			return fmt.Sprintf("the gate of replica %d is opened, though one has its quota", i)
		}
		for j := range m.Replicas {
			if other := from.Seen[j]; j != i && !from.Lost[j] && other.Phase == Preempting && int(other.Age) < m.Patience && !m.tooLong(from) {
				return fmt.Sprintf("the gate of replica %d is opened while the victims of replica %d leave", i, j)
			}
		}
	}
	return ""
}

// tooLong: no gate waits for victims longer than Timeout + Patience after the latest opening.
func (m Gates) tooLong(s GatesState) bool {
	for _, r := range s.Seen {
		if r.Open > 0 && int(r.Open)-1 < m.Timeout+m.Patience {
			return false
		}
	}
	return true
}

// Reaches reports whether a step comes from one state to another.
func (m Gates) Reaches(from GatesState, by GatesAction, to GatesState) (found bool) {
	m.Next(from, func(a GatesAction, t GatesState) { found = found || a == by && t == to })
	return found
}
