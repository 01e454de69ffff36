package model

import (
	"fmt"
	"strings"
)

// Show writes a state down.
func (m Gates) Show(s GatesState) string {
	var b strings.Builder
	for i := range m.Replicas {
		fmt.Fprintf(&b, "%v", s.Real[i])
		if s.Seen[i] != s.Real[i] {
			fmt.Fprintf(&b, " (seen as %v)", s.Seen[i])
		}
		if s.Lost[i] {
			b.WriteString(" (lost)")
		}
		if s.Under[i] {
			fmt.Fprintf(&b, " (reported as %v)", s.Sent[i])
		}
		b.WriteString("; ")
	}
	if s.Event {
		b.WriteString("event; ")
	}
	if s.Wake > 0 {
		fmt.Fprintf(&b, "asks in %d; ", s.Wake-1)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func (r Replica) String() string {
	text := [...]string{"absent", "unseen", "quiet", "signals", "preempts", "reserved"}[r.Phase]
	if r.Phase == Signalled || r.Phase == Preempting {
		text += fmt.Sprintf(" for %d", r.Age)
	}
	if r.Open > 0 {
		text += fmt.Sprintf(", open for %d", r.Open-1)
	}
	return text
}

// pack writes the state in mixed radix: each part takes as many values as it has.
func (m Gates) pack(s GatesState) (key uint64) {
	put := func(value, of uint64) { key = key*of + value }
	ages, opens := uint64(m.oldest())+1, uint64(m.Timeout+m.Patience)+2
	replica := func(r Replica) {
		kind := uint64(r.Phase)
		switch r.Phase {
		case Signalled:
			kind = 6 + uint64(r.Age)
		case Preempting:
			kind = 6 + ages + uint64(r.Age)
		}
		put(kind, 6+2*ages)
		put(uint64(r.Open), opens)
	}
	for i := range m.Replicas {
		replica(s.Real[i])
		replica(s.Seen[i])
		if m.InTransit {
			put(bit(s.Under[i]), 2)
			put(bit(s.Old[i]), 2)
			replica(s.Sent[i])
		}
	}
	for i := range m.Replicas {
		if m.Losses {
			put(bit(s.Lost[i]), 2)
			put(bit(s.Free[i]), 2)
		}
	}
	put(bit(s.Event), 2)
	put(uint64(s.Wake), opens+ages)
	return key
}

func (m Gates) unpack(key uint64) (s GatesState) {
	take := func(of uint64) (value uint64) {
		value, key = key%of, key/of
		return value
	}
	ages, opens := uint64(m.oldest())+1, uint64(m.Timeout+m.Patience)+2
	replica := func() (r Replica) {
		r.Open = uint16(take(opens))
		switch kind := take(6 + 2*ages); {
		case kind < 6:
			r.Phase = Phase(kind)
		case kind < 6+ages:
			r.Phase, r.Age = Signalled, uint16(kind-6)
		default:
			r.Phase, r.Age = Preempting, uint16(kind-6-ages)
		}
		return r
	}
	s.Wake, s.Event = uint16(take(opens+ages)), take(2) == 1
	for i := m.Replicas - 1; i >= 0; i-- {
		if m.Losses {
			s.Free[i], s.Lost[i] = take(2) == 1, take(2) == 1
		}
	}
	for i := m.Replicas - 1; i >= 0; i-- {
		if m.InTransit {
			s.Sent[i] = replica()
			s.Old[i], s.Under[i] = take(2) == 1, take(2) == 1
		}
		s.Seen[i] = replica()
		s.Real[i] = replica()
	}
	return s
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
