package gate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/quota"
)

// "The zero value is no gate and no condition": a name, a state or a condition is something.
func TestIsZero(t *testing.T) {
	for name, c := range map[string]struct {
		gates gate.Gates
		want  bool
	}{
		"nothing":     {gate.Gates{}, true},
		"empty":       {gate.Gates{Names: []string{}, States: []gate.State{}}, true},
		"a name":      {gate.Gates{Names: []string{"a"}}, false},
		"a state":     {gate.Gates{States: []gate.State{{Name: "a"}}}, false},
		"a condition": {gate.Gates{Blocked: gate.Condition{Since: noon}}, false},
		"all":         {gate.Gates{Names: []string{"a"}, States: []gate.State{{Name: "a"}}, Blocked: gate.Condition{Active: true}}, false},
	} {
		if got := c.gates.IsZero(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// No edit shares anything with what it was made from.
func TestEditsShareNothing(t *testing.T) {
	for name, edit := range map[string]func(gate.Gates) gate.Gates{
		"clone":   gate.Gates.Clone,
		"opened":  func(g gate.Gates) gate.Gates { return g.Opened("b", noon) },
		"again":   func(g gate.Gates) gate.Gates { return g.Opened("a", noon) },
		"synced":  func(g gate.Gates) gate.Gates { return g.Synced(noon) },
		"signal":  func(g gate.Gates) gate.Gates { return g.Signalled(noon) },
		"cleared": func(g gate.Gates) gate.Gates { return g.Cleared(noon) },
		"evicted": func(g gate.Gates) gate.Gates { return g.Evicted(noon) },
	} {
		made := func() gate.Gates {
			return gate.Gates{Names: []string{"a", "b"}, States: []gate.State{{Name: "a", Position: gate.Open, Since: minute(1)}, {Name: "b"}}}
		}
		from := made()
		to := edit(from)
		for i := range to.Names {
			to.Names[i] = "changed"
		}
		for i := range to.States {
			to.States[i].Name = "changed"
		}
		if diff := cmp.Diff(made(), from); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// As many gates as may be, with names as long as may be, are valid; one more is not.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", gate.MaxName-1)
	var g gate.Gates
	for i := range gate.MaxGates {
		name := long + string(rune('a'+i))
		g.Names, g.States = append(g.Names, name), append(g.States, gate.State{Name: name})
	}
	if err := gate.Validate("gates", g); err != nil {
		t.Error(err)
	}
	config := gate.Config{Gate: g.Names[0], Grace: 1}
	replicas := []gate.Replica{{Name: "a", Gates: g, Offer: gate.Offer{Victims: 0, LostWork: 0}}}
	if _, err := gate.Orchestrate(config, noon, replicas); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(){
		`config.Gate: "` + long + `ab" is longer`: func() { config.Gate += "b" },
		"config.Timeout: -1ns":                    func() { config.Timeout = -1 },
		"config.Grace: -1ns":                      func() { config.Grace = -1 },
		"replicas[0].offer: -1 is lost":           func() { replicas[0].Offer.Lost = quota.Some[int64](-1) },
		"replicas[0].offer: 0 victims, -1ns":      func() { replicas[0].Offer.LostWork = -1 },
	} {
		kept, keptReplica := config, replicas[0]
		spoil()
		if _, err := gate.Orchestrate(config, noon, replicas); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		config, replicas[0] = kept, keptReplica
	}
	for _, now := range []time.Time{time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if _, err := gate.Orchestrate(config, now, replicas); err == nil || !strings.Contains(err.Error(), "now: "+now.String()) {
			t.Errorf("%v: %v", now, err)
		}
	}
}

// "A duplicate name": one fault for each name that occurs more than once.
func TestDoubledReplicas(t *testing.T) {
	for names, want := range map[string]string{
		"a b c":         "",
		"a b a":         `"a"`,
		"a b a a a":     `"a"`,
		"b a b a c c c": `"a" "b" "c"`,
	} {
		var replicas []gate.Replica
		for _, name := range strings.Fields(names) {
			replicas = append(replicas, gate.Replica{Name: name})
		}
		_, err := gate.Orchestrate(gate.Config{}, noon, replicas)
		var faults fault.List
		errors.As(err, &faults)
		var got []string
		for _, f := range faults {
			got = append(got, strings.TrimPrefix(f.Error(), "replicas: two are named "))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", names, err, want)
		}
	}
}

// "Fewest victims, then least lost work. One without offer comes last." "Ties go to the
// earlier signal, then to the name."
func TestOrderOfReplicas(t *testing.T) {
	signalled := func(name string, at int, victims int, lost time.Duration) gate.Replica {
		g := gate.Gates{Names: []string{gate.MultiKueue}}.Synced(noon).Signalled(minute(at))
		return gate.Replica{Name: name, Gates: g, Progress: gate.Pending, Offer: gate.Offer{Victims: victims, LostWork: lost}}
	}
	for rule, order := range map[gate.ReplicaOrder][]gate.Replica{
		gate.FirstSignal: {signalled("z", 1, 9, 9), signalled("a", 2, 1, 1), signalled("b", 2, 0, 0), signalled("c", 3, 1, 0)},
		gate.Cheapest: {signalled("z", 9, 1, 1), signalled("y", 9, 1, 2), signalled("c", 3, 2, 1), signalled("b", 4, 2, 1),
			signalled("d", 4, 2, 1), signalled("x", 1, 3, 0), signalled("u", 1, 0, 0), signalled("v", 2, 0, 0)},
	} {
		for i, first := range order {
			for _, second := range order[i+1:] {
				for _, replicas := range [][]gate.Replica{{first, second}, {second, first}} {
					act, err := gate.Orchestrate(gate.Config{Order: rule}, minute(10), replicas)
					if err != nil || act.Open != first.Name {
						t.Errorf("%v, %s and %s: %+v, %v; want %s", rule, replicas[0].Name, replicas[1].Name, act, err, first.Name)
					}
				}
			}
		}
	}
}
