package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

// row is a line of measurements.
type row struct {
	Name      string          `json:"name"` // the name of a benchmark: unique
	World     string          `json:"world"`
	Scenario  string          `json:"scenario"`
	Mode      scenario.Mode   `json:"mode"`
	Workloads int             `json:"workloads"`
	Queues    int             `json:"queues,omitzero"`
	Victims   int             `json:"victims"`
	Steps     int             `json:"steps"`
	Ns        float64         `json:"ns_op"`
	ColdNs    float64         `json:"cold_ns,omitempty"` // with cold caches; zero: not measured
	Bytes     int64           `json:"b_op"`
	Allocs    int64           `json:"allocs_op"`
	Blocks    int64           `json:"blocks,omitempty"` // of code that it runs; zero: not counted
	OK        bool            `json:"ok"`
	CheckedBy scenario.Source `json:"checked_by,omitempty"` // empty: an operation
	KueueNs   float64         `json:"kueue_ns,omitempty"`
	Error     string          `json:"error,omitempty"`
	// Outcome and Numbers are those of a hostile state. Empty: the row is of a world.
	Outcome string `json:"outcome,omitempty"`
	Numbers string `json:"numbers,omitempty"`

	cost   cost
	growth float64 // of the time of a hostile state, as a power of its size
}

// bench is a run of the program.
type bench struct {
	options
	preemptor *preemption.Preemptor
	decide    scenario.Decide
	memory    []byte // to go through between two decisions with cold caches; empty: none are measured
}

// all measures one world after the other and passes on the rows of each.
func (b *bench) all(done func([]row) error) ([]row, error) {
	var all []row
	add := func(world string, rows []row, err error) error {
		if err != nil {
			return fmt.Errorf("world %s: %w", world, err)
		}
		if len(rows) == 0 {
			return nil
		}
		all = append(all, rows...)
		return done(rows)
	}
	for _, w := range b.selected() {
		rows, err := b.world(w)
		if err := add(w.ID, rows, err); err != nil {
			return all, err
		}
	}
	for _, alike := range []bool{true, false} {
		rows, err := b.shares(alike)
		if err := add(sharesWorlds[alike], rows, err); err != nil {
			return all, err
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no scenario matches -scenario %q -world %q -mode %s; the worlds: %s; the scenarios: %s",
			b.scenarios.String(), b.worlds.String(), b.mode, names(worlds())+" "+sharesWorlds[true]+" "+sharesWorlds[false], scenarioNames())
	}
	return all, nil
}

func worlds() []scenario.World { return slices.Concat(scenario.Worlds, scenario.Large, scenario.Hard) }

// selected leaves out, in a quick run that names no world, two worlds of a million workloads.
func (b *bench) selected() []scenario.World {
	slow := []string{"f7-1m-1000-10", "t3-1m-10000-tree"}
	return slices.DeleteFunc(worlds(), func(w scenario.World) bool {
		return !b.worlds.match(w.ID) || b.quick && len(b.worlds) == 0 && slices.Contains(slow, w.ID)
	})
}

// world measures on one world. It builds the world only if needed.
func (b *bench) world(w scenario.World) ([]row, error) {
	scenarios := slices.DeleteFunc(w.Scenarios(), func(s scenario.Scenario) bool {
		return !b.scenarios.match(s.Name) || s.ClassicalOnly && b.mode != scenario.Classical
	})
	wanted := slices.DeleteFunc(slices.Clone(operations), func(o operation) bool { return !b.scenarios.match(o.name) })
	if len(scenarios)+len(wanted) == 0 {
		return nil, nil
	}
	given := w.State()
	if b.by != byPolicies {
		scenarios = b.lawful(given, scenarios)
	}
	st := b.state(given)
	given = preemption.State{}
	snapshot, err := preemption.NewSnapshot(st)
	if err != nil {
		return nil, err
	}
	var rows, afterwards []row
	extra := st.Admitted[len(st.Admitted)/2].Clone()
	extra.ID = "bench/extra"
	measured := func(name string, measure func(r *row) error) row {
		r := row{World: w.ID, Scenario: name, Mode: b.mode, Workloads: w.Workloads(), Queues: w.Queues, OK: true}
		if err := measure(&r); err != nil {
			r.OK, r.Error = false, err.Error()
		}
		r.Name = r.path()
		return r
	}
	for _, o := range wanted {
		if !o.ofState {
			st = preemption.State{} // the others do not need it
		}
		runtime.GC() // so that earlier garbage does not slow this measurement
		afterwards = append(afterwards, measured(o.name, func(r *row) error {
			var failed error
			err := o.run(&subject{b.preemptor, st, extra, snapshot}, func(operation func()) { failed = r.measure(b.minimum, operation) })
			return cmp.Or(err, failed)
		}))
	}
	st = preemption.State{}
	runtime.GC()
	for _, s := range scenarios {
		rows = append(rows, measured(s.Name, func(r *row) error { return b.scenario(r, &s, snapshot) }))
	}
	return append(rows, afterwards...), nil
}

// scenario checks an answer and measures its time, whether the answer is right or wrong.
func (b *bench) scenario(r *row, s *scenario.Scenario, snapshot *preemption.Snapshot) error {
	d, err := b.decide(snapshot, s.Request)
	if err != nil {
		return err
	}
	r.Victims = len(d.Victims)
	if _, r.Steps, err = b.preemptor.DecideCounting(snapshot, s.Request); err != nil {
		return err
	}
	if a := s.Kueue[b.mode]; a != nil {
		r.KueueNs = a.TargetsNs
	}
	if failed := r.measure(b.minimum, func() { d, err = b.decide(snapshot, s.Request) }); failed != nil {
		return failed
	}
	if len(b.memory) > 0 {
		r.measureCold(b.memory, func() { d, err = b.decide(snapshot, s.Request) })
	}
	if err != nil {
		return err
	}
	// The last timed answer is the one that is checked.
	r.CheckedBy, err = s.Check(b.mode, snapshot, b.decide, d)
	return err
}

func names(list []scenario.World) string {
	var text string
	for _, w := range list {
		text += " " + w.ID
	}
	return text[1:]
}

// scenarioNames lists the scenarios, from small worlds of every kind.
func scenarioNames() string {
	seen := map[string]bool{}
	var text string
	guarded := scenario.Worlds[0]
	guarded.Guarantee = scenario.Hard[len(scenario.Hard)-1].Guarantee
	for _, w := range []scenario.World{scenario.Worlds[5], guarded} {
		for _, s := range w.Scenarios() {
			if !seen[s.Name] {
				text += s.Name + " "
			}
			seen[s.Name] = true
		}
	}
	for _, o := range operations {
		text += o.name + " "
	}
	return text[:len(text)-1]
}
