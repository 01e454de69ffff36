package model

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
)

// manager is the real code in the world of a [Gates], where a tick is a minute.
type manager struct {
	model            Gates
	config           gate.Config
	real, seen, sent [MaxReplicas]copied
	under, old       [MaxReplicas]bool
	lost, free       [MaxReplicas]bool
	event            bool
	pick             func(n int) int
	wake, now        time.Time
}

// copied is a replica.
type copied struct {
	phase Phase // Signalled is in the gates
	gates gate.Gates
	since time.Time // of Preempting
}

func newManager(m Gates, pick func(int) int) *manager {
	w := &manager{model: m, pick: pick, now: noon, config: gate.Config{
		Timeout: time.Duration(m.Timeout) * time.Minute, PreemptingTimeout: time.Duration(m.Patience) * time.Minute, Grace: time.Duration(m.Grace) * time.Minute,
	}}
	if m.AnyOrder {
		w.config.Order = gate.Cheapest
	}
	for i := range m.Replicas {
		w.real[i] = w.fresh()
		w.seen[i] = w.real[i]
	}
	return w
}

func (w *manager) fresh() copied {
	return copied{phase: Unseen, gates: gate.Gates{Names: []string{gate.MultiKueue}}.Synced(w.now)}
}

func (w *manager) ticks(since time.Time) int { return int(w.now.Sub(since) / time.Minute) }

// replica is the replica of the model that a real one is.
func (w *manager) replica(c copied) (r Replica) {
	r.Phase = c.phase
	switch {
	case c.phase == Preempting:
		r.Age = min(uint16(w.ticks(c.since)), w.model.oldest())
	case c.phase == Quiet && c.gates.Blocked.Signals():
		r.Phase, r.Age = Signalled, min(uint16(w.ticks(c.gates.Blocked.Since)), w.model.oldest())
	}
	if at, open := c.gates.OpenSince(gate.MultiKueue); open {
		r.Open = uint16(1 + min(w.ticks(at), w.model.Timeout+w.model.Patience))
	}
	return r
}

func (w *manager) state() (s GatesState) {
	for i := range w.model.Replicas {
		s.Real[i], s.Seen[i] = w.replica(w.real[i]), w.replica(w.seen[i])
		if w.under[i] {
			s.Sent[i] = w.replica(w.sent[i])
		}
	}
	for i := range w.free {
		w.free[i] = w.free[i] && s.Real[i].Open > 0
	}
	s.Under, s.Old, s.Event, s.Lost, s.Free = w.under, w.old, w.event, w.lost, w.free
	if !w.wake.IsZero() {
		s.Wake = uint16(1 + max(0, -w.ticks(w.wake)))
	}
	return s
}

// do does the step with the real code.
func (w *manager) do(t failer, by GatesAction) {
	i := by.At
	r := &w.real[i]
	switch by.Kind {
	case Look, Clear, Leave:
		r.phase, r.gates = Quiet, r.gates.Cleared(w.now)
	case Signal:
		r.phase, r.gates = Quiet, r.gates.Signalled(w.now)
	case Preempt:
		r.phase, r.gates, r.since = Preempting, r.gates.Cleared(w.now), w.now
	case Reserve:
		r.phase, r.gates = Reserved, r.gates.Cleared(w.now)
	case Evict:
		r.phase, r.gates = Unseen, r.gates.Evicted(w.now)
	case Send:
		w.sent[i], w.under[i] = *r, true
	case Arrive:
		c, old := w.sent[i], w.old[i]
		w.sent[i], w.under[i], w.old[i] = copied{}, false, false
		if !old {
			w.see(i, c)
		}
	case See:
		w.see(i, *r)
	case Withdraw, Dispatch:
		*r = copied{}
		if by.Kind == Dispatch {
			*r = w.fresh()
		}
		w.see(i, *r)
		w.event, w.old[i] = true, w.under[i]
	case Lose, Return:
		w.event, w.sent[i], w.under[i], w.old[i] = true, copied{}, false, false
		if w.lost[i] = by.Kind == Lose; !w.lost[i] {
			w.seen[i] = *r
		}
	case Restart:
		w.restart()
	case Ask, AskAgain:
		w.ask(t)
	case Tick:
		w.now = w.now.Add(time.Minute)
	}
}

// restart puts another manager in the place of this one: it has the clusters that it reads, and nothing else.
func (w *manager) restart() {
	*w = manager{model: w.model, config: w.config, real: w.real, lost: w.lost, free: w.free, event: true, pick: w.pick, now: w.now}
	for i := range w.model.Replicas {
		if w.lost[i] {
			_, w.free[i] = w.real[i].gates.OpenSince(gate.MultiKueue)
			continue
		}
		w.seen[i] = w.real[i]
	}
}

func (w *manager) see(i int, c copied) {
	w.event = w.event || w.replica(w.seen[i]) != w.replica(c)
	w.seen[i], w.old[i] = c, w.under[i]
}

func (w *manager) ask(t failer) {
	var replicas []gate.Replica
	for i := range w.model.Replicas {
		c := w.seen[i]
		r := gate.Replica{Name: fmt.Sprint(i), Gates: c.gates, Lost: w.lost[i]}
		switch c.phase {
		case Absent:
			continue
		case Quiet:
			r.Progress = gate.Pending
		case Preempting:
			r.Progress, r.Since = gate.Preempting, c.since
		case Reserved:
			r.Progress = gate.Reserved
		}
		if w.config.Order == gate.Cheapest {
			r.Offer.Victims = w.pick(3)
		}
		replicas = append(replicas, r)
	}
	act, err := gate.Orchestrate(w.config, w.now, replicas)
	if err != nil {
		t.Fatal(err)
	}
	w.event, w.wake = false, act.WakeAt
	for i := range w.model.Replicas {
		if fmt.Sprint(i) != act.Open {
			continue
		}
		w.seen[i].gates = w.seen[i].gates.Opened(gate.MultiKueue, w.now)
		if w.real[i].phase != Absent {
			w.real[i].gates = w.real[i].gates.Opened(gate.MultiKueue, w.now)
		}
		w.old[i] = w.under[i]
	}
}

// drive takes steps with the real code, as pick chooses, and says which one is none of a model.
func driveGates(t failer, m Gates, of Gates, steps int, pick func(n int) int) (by GatesAction, problem string) {
	w := newManager(m, pick)
	if m.Batches {
		for i := 1 + pick(m.Replicas); i < m.Replicas; i++ {
			w.real[i], w.seen[i] = copied{}, copied{}
		}
	}
	for range steps {
		before := w.state()
		var may []GatesAction
		m.Next(before, func(a GatesAction, _ GatesState) {
			if len(may) == 0 || may[len(may)-1] != a {
				may = append(may, a)
			}
		})
		by = may[pick(len(may))]
		w.do(t, by)
		if after := w.state(); !of.Reaches(before, by, after) {
			return by, fmt.Sprintf("no step of %+v: from %s by %v to %s", of, m.Show(before), by, m.Show(after))
		}
	}
	return by, ""
}

func drawGates(pick func(n int) int) Gates {
	return Gates{Replicas: 1 + pick(MaxReplicas), Timeout: 1 + pick(4), Patience: 1 + pick(4), Grace: pick(4), InTransit: pick(2) == 1, AnyOrder: pick(2) == 1,
		Evictions: pick(2) == 1, Losses: pick(2) == 1, Restarts: pick(2) == 1, Batches: pick(2) == 1}
}

// Every step of the real gates and their orchestrator is a step of the model, whatever happens when.
func TestGatesAreTheModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := picks(t)
		m := drawGates(pick)
		if _, problem := driveGates(t, m, m, 1+pick(60), pick); problem != "" {
			t.Fatal(problem)
		}
	})
}

// Each mutant of the model is told from the real code.
func TestGatesAreNotTheMutants(t *testing.T) {
	for wrong, c := range gatesMutants {
		if !told(func(pick func(int) int) bool {
			m := drawGates(pick)
			m.InTransit, m.Losses, m.Restarts = m.InTransit || c.model.InTransit, m.Losses || c.model.Losses, m.Restarts || c.model.Restarts
			of := m
			of.Wrong = wrong
			_, problem := driveGates(t, m, of, 60, pick)
			return problem != ""
		}) {
			t.Errorf("%s: each step of the real code is one of the mutant", c.name)
		}
	}
}
