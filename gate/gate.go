// Package gate holds preemption gates: what keeps a workload that may run in any of
// several clusters from preempting in all of them at once.
//
// A gate is named in a workload and closed unless its state says open. A workload with a
// closed gate is decided about as any other, flavors included, and is admitted where it
// fits; only where it would preempt it does not: it raises the condition
// [BlockedOnPreemptionGates] and waits. [Orchestrate] reads those signals of all replicas
// of the workload and says which gate to open, one at a time.
//
// Source of the rules: KEP-8303, "MultiKueue Synchronized Preemption"; its text swaps open
// and closed twice, in steps 4 and 5 of the controller, and is read as it must be meant.
package gate

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/internal/base/instant"
)

// MultiKueue is the gate of replicas in several clusters, ConcurrentAdmission that of
// variants of a workload in one, by the names that Kueue gives them.
const (
	MultiKueue          = "kueue.x-k8s.io/multikueue"
	ConcurrentAdmission = "kueue.x-k8s.io/concurrent-admission"
)

// The condition of a workload that closed gates alone keep from preempting, and its
// reason, as Kueue names them. (The seed of the KEP calls the first
// QuotaReservationBlocked.)
const (
	BlockedOnPreemptionGates = "BlockedOnPreemptionGates"
	PreemptionGated          = "PreemptionGated"
)

// MaxGates bounds the gates of a workload, and MaxName the bytes of a gate's name.
const (
	MaxGates = 8
	MaxName  = 63
)

// Position is where a gate stands. The zero value is Closed.
type Position uint8

const (
	// Closed keeps the workload from preempting.
	Closed Position = iota
	// Open does not.
	Open
)

// Gates is the gates of a workload and the signal that they hold it back. It is a value:
// the methods return a changed copy. The zero value is no gates: nothing is held back.
type Gates struct {
	// Names is the gates, at most [MaxGates].
	Names []string `json:"names,omitempty"`
	// States is how they stand, at most one entry a gate. A gate without entry is
	// closed, so that a workload is born closed.
	States []State `json:"states,omitempty"`
	// Blocked is the condition BlockedOnPreemptionGates.
	Blocked Condition `json:"blocked,omitzero"`
}

// State is where one gate stands. The zero value is not valid: it names no gate.
type State struct {
	Name     string   `json:"name"`
	Position Position `json:"position"`
	// Since is when the gate came to stand so. It must be set for an open one: the
	// timeout of the next opening counts from it.
	Since time.Time `json:"since,omitzero"`
}

// Condition says whether the workload is held back. The zero value is that it never was.
type Condition struct {
	// True: with its gates open it would preempt now.
	Active bool `json:"true"`
	// Reason is [PreemptionGated] for what this package is about. A condition with any
	// other reason is no signal to it.
	Reason string `json:"reason,omitempty"`
	// Since is when it last became true or false. It must be set for a true one.
	Since time.Time `json:"since,omitzero"`
}

// Signals reports whether the condition says that gates hold the workload back.
func (c Condition) Signals() bool { return c.Active && c.Reason == PreemptionGated }

// AnyClosed reports whether some gate is closed; one is enough to hold a workload back.
// A state of a gate that the workload does not name means nothing.
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

// OpenSince returns when the gate was opened; ok is false when it is closed or not the
// workload's.
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

// Opened returns the gates with one of them open from the given time on. It changes
// nothing when that one is open already or not the workload's: opening again does not
// move the time of the opening.
func (g Gates) Opened(name string, at time.Time) Gates {
	if _, open := g.OpenSince(name); open || !g.Has(name) {
		return g.Clone()
	}
	g = g.Clone()
	g.States = slices.DeleteFunc(g.States, func(s State) bool { return s.Name == name })
	g.States = append(g.States, State{name, Open, at})
	return g
}

// Synced returns the gates with one state for each name, in the order of the names:
// those that are missing closed since the given time, those of no gate gone.
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

// Signalled returns the gates with the signal raised: preemption would have helped and a
// closed gate alone stood in the way. A signal that is raised already keeps its time: the
// earliest of several replicas is opened first.
func (g Gates) Signalled(at time.Time) Gates {
	g = g.Clone()
	if !g.Blocked.Signals() {
		g.Blocked = Condition{true, PreemptionGated, at}
	}
	return g
}

// Cleared returns the gates with the signal taken back, as when quota is reserved. The
// gates stay as they stand.
func (g Gates) Cleared(at time.Time) Gates {
	g = g.Clone()
	if g.Blocked.Active {
		g.Blocked = Condition{false, g.Blocked.Reason, at}
	}
	return g
}

// Evicted returns the gates of a workload that waits again: all closed, and the signal
// taken back, whatever it was evicted for.
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

// Validate returns everything that is wrong with the gates, as an error that lists each
// fault with its path under the given one: more than [MaxGates], a name that is empty,
// longer than [MaxName] or there twice, a state of no gate or a second one, an unknown
// position, an open gate or a true condition without time, a true condition without
// reason, a time outside the years 1678 to 2262.
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
		switch {
		case first < i:
			faults.Add(at+".name", "%q has a state already, states[%d]", s.Name, first)
		case !g.Has(s.Name):
			faults.Add(at+".name", "%q is none of the gates %q", s.Name, g.Names)
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

var positionNames = enum.Names[Position]{Type: "Position", List: []string{"Closed", "Open"}}

// String returns "Closed" or "Open".
func (p Position) String() string { return positionNames.String(p) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (p Position) MarshalText() ([]byte, error) { return positionNames.Marshal(p) }

// UnmarshalText reads a name. It fails on any other text.
func (p *Position) UnmarshalText(text []byte) error { return positionNames.Unmarshal(text, p) }
