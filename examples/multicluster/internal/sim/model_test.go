package sim

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/proof/model"
)

// replicas follows the jobs that go to every cluster through the model of gates: whatever happens to one is a
// way through the model. A tick is the beginning of a second. The manager of a simulation sees everything at once.
type replicas struct {
	gates model.Gates
	last  map[*job]model.GatesState
	at    map[*job]time.Time
}

func newReplicas(c Config) *replicas {
	if !c.Gated || c.Gates.Order == gate.Preference || len(c.Clusters) > model.MaxReplicas {
		return nil
	}
	timeout := cmp.Or(c.Gates.Timeout, gate.DefaultTimeout)
	return &replicas{
		gates: model.Gates{
			Replicas: len(c.Clusters), Timeout: int(timeout / time.Second), Patience: int(cmp.Or(c.Gates.PreemptingTimeout, timeout) / time.Second),
			Grace: int(c.Gates.Grace / time.Second), AnyOrder: c.Gates.Order == gate.Cheapest,
		},
		last: map[*job]model.GatesState{}, at: map[*job]time.Time{},
	}
}

// moved: each job is where the model leads it.
func (w invariants) moved() error {
	m := w.model
	if m == nil {
		return nil
	}
	for id, j := range w.jobs {
		if j.Cluster != "" || w.over(j) {
			continue
		}
		before, known := m.last[j]
		after := w.stateOf(j)
		if !known {
			before = m.gates.Start()
		}
		before = m.gates.Ticks(before, ticks(m.at[j], w.now))
		m.last[j], m.at[j] = after, w.now
		if before != after && !m.leads(before, after) {
			return fmt.Errorf("job %q: no way through the model from %s to %s", id, m.gates.Show(before), m.gates.Show(after))
		}
	}
	return nil
}

func ticks(from, to time.Time) int { return int(to.Unix() - from.Unix()) }

// over reports whether a job has not arrived or is done.
func (w invariants) over(j *job) bool {
	there := false
	for _, c := range j.copies {
		if c.state == done {
			return true
		}
		there = there || c.state != absent
	}
	return !there
}

func (w invariants) stateOf(j *job) (s model.GatesState) {
	g := w.model.gates
	for i, c := range j.copies {
		r := &s.Real[i]
		age := func(since time.Time, most int) uint16 { return uint16(min(ticks(since, w.now), most)) }
		oldest := max(g.Timeout, g.Patience, g.Grace)
		switch {
		case c.state == absent:
			r.Phase = model.Absent
		case c.state != waiting:
			r.Phase = model.Reserved
		case c.leaving > 0:
			r.Phase, r.Age = model.Preempting, age(c.since, oldest)
		case c.last == 0:
			r.Phase = model.Unseen
		case c.facts.Gates.Blocked.Signals():
			r.Phase, r.Age = model.Signalled, age(c.facts.Gates.Blocked.Since, oldest)
		default:
			r.Phase = model.Quiet
		}
		if at, open := c.facts.Gates.OpenSince(w.config.Gates.Gate); open && c.state != absent {
			r.Open = 1 + age(at, g.Timeout+g.Patience)
		}
		s.Seen[i] = *r
	}
	return s
}

// leads reports whether steps of the model, in each of which the manager sees all, lead from one state to another,
// each about a replica that differs.
func (m *replicas) leads(from, to model.GatesState) bool {
	known := map[model.GatesState]bool{from: true}
	for list := []model.GatesState{from}; len(list) > 0 && !known[to]; list = list[1:] {
		m.gates.Next(list[0], func(by model.GatesAction, t model.GatesState) {
			if by.Kind == model.Tick || by.Kind < model.Ask && t.Real[by.At] != to.Real[by.At] && by.Kind != model.See {
				return
			}
			if t.Event, t.Wake = false, 0; !known[t] {
				known[t] = true
				list = append(list, t)
			}
		})
	}
	return known[to]
}

// A simulation that is not that of the model is found.
func TestOtherModelsAreToldApart(t *testing.T) {
	for name, change := range map[string]func(*model.Gates){
		"opens all":          func(m *model.Gates) { m.Wrong = model.OpensAll },
		"waits for a minute": func(m *model.Gates) { m.Grace = 60 },
	} {
		found := false
		for seed := uint64(0); seed < 10 && !found; seed++ {
			w, err := newChecked(busy(seed, 3, 6*time.Hour, true))
			if err != nil {
				t.Fatal(err)
			}
			change(&w.observer.(invariants).model.gates)
			err = w.Run(whole)
			found = err != nil && strings.Contains(err.Error(), "no way through the model")
		}
		if !found {
			t.Errorf("%s: it is not found", name)
		}
	}
}
