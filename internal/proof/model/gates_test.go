package model

import (
	"testing"
)

// gatesMutants are models with one rule broken, and what the checker says of them.
var gatesMutants = map[Wrong]struct {
	name  string
	model Gates
	want  string
}{
	OpensAll:        {"opens all", Gates{Replicas: 2, Timeout: 1, Patience: 1}, "two gates were opened within the timeout"},
	NoTimeout:       {"no timeout", Gates{Replicas: 2, Timeout: 1, Patience: 1}, "two gates were opened within the timeout"},
	NoPatience:      {"no patience", Gates{Replicas: 2, Timeout: 2, Patience: 2, Prompt: true}, "is opened while the victims of replica"},
	EndlessPatience: {"endless patience", Gates{Replicas: 2, Timeout: 1, Patience: 1}, "signals for ever"},
	NoWakeUp:        {"no wake-up", Gates{Replicas: 2, Timeout: 1, Patience: 1}, "signals for ever"},
	OldReports:      {"old reports", Gates{Replicas: 2, Timeout: 1, Patience: 1, InTransit: true}, "two gates were opened within the timeout"},
	OpensQuiet:      {"opens quiet ones", Gates{Replicas: 2, Timeout: 1, Patience: 1}, "which does not signal"},
	OpensAgain:      {"opens again", Gates{Replicas: 2, Timeout: 1, Patience: 1}, "signals for ever"},
	KeepsOpen:       {"an eviction keeps the gate open", Gates{Replicas: 2, Timeout: 1, Patience: 1}, "was evicted, and its gate is open"},
	ForgetsLost:     {"the opening of a lost one is forgotten", Gates{Replicas: 2, Timeout: 1, Patience: 1, Losses: true}, "two gates were opened within the timeout"},
	OpensLost:       {"opens a lost one", Gates{Replicas: 2, Timeout: 1, Patience: 1, Losses: true}, "which is lost"},
	ActsUnread:      {"acts before it has read", Gates{Replicas: 2, Timeout: 1, Patience: 1, Restarts: true}, "two gates were opened within the timeout"},
}

func TestMutantsOfGatesAreFound(t *testing.T) {
	for wrong, c := range gatesMutants {
		c.model.Wrong = wrong
		_, err := c.model.System().Check(most)
		found(t, c.name, c.want, err)
	}
	if len(gatesMutants) != 12 {
		t.Error("a mutant is not in the table")
	}
}

// Two gates are never opened within the timeout, none while it is seen that victims leave, and each replica that
// goes on signalling has its turn, however late everything is.
func TestGatesHold(t *testing.T) {
	models := []Gates{
		{Replicas: 1, Timeout: 1, Patience: 1},
		{Replicas: 2, Timeout: 1, Patience: 1},
		{Replicas: 2, Timeout: 1, Patience: 1, Grace: 1, AnyOrder: true},
		{Replicas: 2, Timeout: 2, Patience: 1, Prompt: true},
		{Replicas: 2, Timeout: 1, Patience: 1, Losses: true},
		{Replicas: 2, Timeout: 1, Patience: 1, Evictions: true, Restarts: true, Batches: true},
	}
	if *full {
		models = append(models,
			Gates{Replicas: 3, Timeout: 1, Patience: 1, Prompt: true},
			Gates{Replicas: 2, Timeout: 1, Patience: 1, InTransit: true},
			Gates{Replicas: 2, Timeout: 1, Patience: 1, Losses: true, Restarts: true, Batches: true},
			Gates{Replicas: 2, Timeout: 1, Patience: 1, InTransit: true, Evictions: true, Restarts: true, Batches: true},
			Gates{Replicas: 2, Timeout: 2, Patience: 1, Evictions: true, Losses: true, Restarts: true, Batches: true})
	}
	for _, m := range models {
		r, err := m.System().Check(most)
		if err != nil {
			t.Errorf("%+v: %v", m, err)
		}
		t.Logf("%+v: %+v", m, r)
	}
}

// If not all is prompt, two replicas may preempt at once: the second has its turn because that of the first is
// over, and then the first one, whose gate is still open, preempts after all.
func TestTwoMayPreemptAfterATurn(t *testing.T) {
	m := Gates{Replicas: 2, Timeout: 1, Patience: 1}
	system := m.System()
	system.Holds = Gates{Replicas: 2, Timeout: 1, Patience: 1, Prompt: true}.holds
	_, err := system.Check(most)
	found(t, "late", "two replicas preempt at once", err)
}

// A state is its number: nothing is lost in it.
func TestStatesOfGatesAreNumbers(t *testing.T) {
	for _, m := range []Gates{
		{Replicas: 3, Timeout: 2, Patience: 1, Grace: 1, InTransit: true},
		{Replicas: 3, Timeout: 2, Patience: 1, Losses: true, Restarts: true, Evictions: true},
	} {
		s := m.Start()
		for i := range 20_000 {
			var next []GatesState
			m.Next(s, func(_ GatesAction, to GatesState) { next = append(next, to) })
			s = next[(i*7919)%len(next)]
			if got := m.unpack(m.pack(s)); got != s {
				t.Fatalf("%s became %s", m.Show(s), m.Show(got))
			}
		}
	}
}
