// Package gate holds preemption gates. They keep a workload that may run in any of several
// clusters from preempting in all of them at once.
//
// A workload names its gates. A gate is closed unless its state says open. A workload with a
// closed gate is decided about like any other, flavors included, and is admitted where it fits.
// Where it would preempt, it does not: it raises the condition [BlockedOnPreemptionGates] and
// waits. [Orchestrate] reads these signals of all replicas of the workload and says which gate to
// open, one at a time:
//
//	action, err := gate.Orchestrate(gate.Config{}, now, replicas)
//	if action.Open != "" {
//		gates = gates.Opened(gate.MultiKueue, now) // of the replica of that name
//	}
//	wakeAt(action.WakeAt)
//
// [Turns] says when each gate opens if nothing else changes. [Config.Rules] chooses between the
// design and what a manager of Kueue does.
//
// [Gates] is a value: its methods return a changed copy, and its zero value holds nothing back.
// The zero [Config] opens Kueue's gate, by first signal, with a timeout of five minutes. What is
// wrong with gates or replicas is returned whole, as preemption.Faults with paths.
//
// Source of the rules: KEP-8303, "MultiKueue Synchronized Preemption". In steps 4 and 5 of the
// controller its text confuses open and closed; this package follows the intended meaning.
package gate

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
)

// The gates that Kueue names: MultiKueue for replicas in several clusters,
// ConcurrentAdmission for variants of a workload in one cluster.
const (
	MultiKueue          = "kueue.x-k8s.io/multikueue"
	ConcurrentAdmission = "kueue.x-k8s.io/concurrent-admission"
)

// The condition of a workload that only closed gates keep from preempting, and its reason,
// named as in Kueue. (The first draft of the KEP calls the condition
// QuotaReservationBlocked.)
const (
	BlockedOnPreemptionGates = "BlockedOnPreemptionGates"
	PreemptionGated          = "PreemptionGated"
)

// MaxGates limits the number of gates of a workload, MaxName the bytes of a gate's name. Both
// are the limits of spec.preemptionGates in Kueue's API (v1beta2, commit ff69552e); KEP-8303
// sets none.
const (
	MaxGates = 8
	MaxName  = 63
)

// Position says whether a gate is open. The zero value is Closed.
type Position uint8

const (
	// Closed keeps the workload from preempting.
	Closed Position = iota
	// Open does not keep the workload from preempting.
	Open
)

// Gates are the gates of a workload and the signal that they hold it back. It is a value: the
// methods return a changed copy. The zero value has no gates: nothing is held back.
type Gates struct {
	// Names are the names of the gates, at most [MaxGates].
	Names []string `json:"names,omitempty"`
	// States are the states of the gates, at most one for each gate. A gate without a state
	// is closed: a new workload is closed. The state of a gate that is not named counts for
	// nothing.
	States []State `json:"states,omitempty"`
	// Blocked is the condition BlockedOnPreemptionGates.
	Blocked Condition `json:"blocked,omitzero"`
}

// State is the state of one gate. The zero value is not valid: it names no gate.
type State struct {
	Name     string   `json:"name"`
	Position Position `json:"position"`
	// Since is when the gate took this position. It must be set for an open gate: the timeout
	// of the next opening counts from it.
	Since time.Time `json:"since,omitzero"`
}

// Condition says whether the workload is held back. The zero value means never blocked.
type Condition struct {
	// Active says that the workload would preempt now if its gates were open.
	Active bool `json:"active"`
	// Reason is [PreemptionGated] for conditions of this package. A condition with another
	// reason is no signal.
	Reason string `json:"reason,omitempty"`
	// Since is when Active last changed. It must be set if Active is true.
	Since time.Time `json:"since,omitzero"`
}

// Signals reports whether the condition says that gates hold the workload back.
func (c Condition) Signals() bool { return c.Active && c.Reason == PreemptionGated }

// AnyClosed reports whether some gate is closed: one is enough to hold the workload back.
// States of gates that the workload does not name are ignored.
func (g Gates) AnyClosed() bool {
	for _, name := range g.Names {
		if s, ok := g.state(name); !ok || s.Position != Open {
			return true
		}
	}
	return false
}

// Has reports whether the workload names the gate.
func (g Gates) Has(name string) bool { return slices.Contains(g.Names, name) }

// OpenSince returns when the gate was opened; ok is false if it is closed or the workload
// does not name it.
func (g Gates) OpenSince(name string) (at time.Time, ok bool) {
	s, ok := g.state(name)
	if !ok || s.Position != Open || !g.Has(name) {
		return time.Time{}, false
	}
	return s.Since, true
}

func (g Gates) state(name string) (State, bool) {
	for _, s := range g.States {
		if s.Name == name {
			return s, true
		}
	}
	return State{}, false
}

// Opened returns the gates with one of them open since the given time. It changes nothing if
// that gate is open already or the workload does not name it: the time of the first opening
// stays.
func (g Gates) Opened(name string, at time.Time) Gates {
	if _, open := g.OpenSince(name); open || !g.Has(name) {
		return g.Clone()
	}
	g = g.Clone()
	g.States = slices.DeleteFunc(g.States, func(s State) bool { return s.Name == name })
	g.States = append(g.States, State{name, Open, at})
	return g
}

// Synced returns the gates with one state for each name, in the order of the names. Gates
// without a state are closed since the given time; states of unnamed gates are dropped.
func (g Gates) Synced(at time.Time) Gates {
	synced := g.Clone()
	synced.States = nil
	for _, name := range g.Names {
		s, ok := g.state(name)
		if !ok {
			s = State{name, Closed, at}
		}
		synced.States = append(synced.States, s)
	}
	return synced
}

// Signalled returns the gates with the signal raised: preemption would help, and only a
// closed gate prevents it. A signal that is raised already keeps its time: the replica with
// the earliest signal is opened first.
func (g Gates) Signalled(at time.Time) Gates {
	g = g.Clone()
	if !g.Blocked.Signals() {
		g.Blocked = Condition{true, PreemptionGated, at}
	}
	return g
}

// Cleared returns the gates with the signal cleared, for instance when quota is reserved. The
// positions of the gates stay.
func (g Gates) Cleared(at time.Time) Gates {
	g = g.Clone()
	if g.Blocked.Active {
		g.Blocked = Condition{false, g.Blocked.Reason, at}
	}
	return g
}

// Evicted returns the gates of a workload that waits again after an eviction for any reason:
// all closed, the signal cleared. It forgets the openings, as Kueue does: the timeout of
// [Orchestrate] no longer counts from them, and the replica, once it signals again, has
// another turn.
func (g Gates) Evicted(at time.Time) Gates {
	g = g.Cleared(at).Synced(at)
	for i := range g.States {
		if g.States[i].Position != Closed {
			g.States[i] = State{g.States[i].Name, Closed, at}
		}
	}
	return g
}

// Clone returns a copy that shares nothing with g.
func (g Gates) Clone() Gates {
	g.Names, g.States = slices.Clone(g.Names), slices.Clone(g.States)
	return g
}

// IsZero reports whether there is no gate and no condition.
func (g Gates) IsZero() bool {
	return len(g.Names) == 0 && len(g.States) == 0 && g.Blocked == Condition{}
}

// Validate returns everything that is wrong with the gates, as an error that lists each fault
// with its path under the given one: more than [MaxGates], a name that is empty, duplicate or
// longer than [MaxName], a second state of a gate, an unknown position, an open gate or an
// active condition without time, an active condition without reason, a time outside the years
// 1678 to 2262.
func Validate(path string, g Gates) error {
	var faults fault.List
	if len(g.Names) > MaxGates {
		faults.Add(path+".names", "%d gates: more than %d", len(g.Names), MaxGates)
		return faults.Err()
	}
	for i, name := range g.Names {
		at := fmt.Sprintf("%s.names[%d]", path, i)
		switch first := slices.Index(g.Names, name); {
		case name == "":
			faults.Add(at, "is empty")
		case len(name) > MaxName:
			faults.Add(at, "%q is longer than %d bytes", name, MaxName)
		case first < i:
			faults.Add(at, "%q is also names[%d]", name, first)
		}
	}
	if len(g.States) > MaxGates {
		faults.Add(path+".states", "%d states: more than %d", len(g.States), MaxGates)
		return faults.Err()
	}
	for i, s := range g.States {
		at := fmt.Sprintf("%s.states[%d]", path, i)
		first := slices.IndexFunc(g.States, func(other State) bool { return other.Name == s.Name })
		if first < i {
			faults.Add(at+".name", "%q has a state already, states[%d]", s.Name, first)
		}
		if s.Position > Open {
			faults.Add(at+".position", "%v is neither Closed nor Open", s.Position)
		}
		validateTime(&faults, at+".since", s.Since, s.Position == Open)
	}
	if g.Blocked.Active && g.Blocked.Reason == "" {
		faults.Add(path+".blocked.reason", "is empty")
	}
	validateTime(&faults, path+".blocked.since", g.Blocked.Since, g.Blocked.Active)
	return faults.Err()
}

func validateTime(faults *fault.List, path string, t time.Time, needed bool) {
	if needed && t.IsZero() {
		faults.Add(path, "is not set")
	}
	if !instant.Valid(t) {
		faults.Add(path, "%v is not within %s", t, instant.Range)
	}
}
