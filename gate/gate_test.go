package gate_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// "The gates are closed by default": closed unless the state says open, and one is enough.
func TestAnyClosed(t *testing.T) {
	open := func(names ...string) (list []gate.State) {
		for _, name := range names {
			list = append(list, gate.State{Name: name, Position: gate.Open, Since: noon})
		}
		return list
	}
	for name, c := range map[string]struct {
		gates gate.Gates
		want  bool
	}{
		"no gates":                  {gate.Gates{}, false},
		"no state":                  {gate.Gates{Names: []string{"a"}}, true},
		"closed":                    {gate.Gates{Names: []string{"a"}, States: []gate.State{{Name: "a"}}}, true},
		"open":                      {gate.Gates{Names: []string{"a"}, States: open("a")}, false},
		"one of two":                {gate.Gates{Names: []string{"a", "b"}, States: open("b")}, true},
		"a state of no gate":        {gate.Gates{Names: []string{"a"}, States: open("b")}, true},
		"a state and no gate named": {gate.Gates{States: open("b")}, false},
	} {
		if got := c.gates.AnyClosed(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The life of a gate: born closed, blocked, opened, admitted, evicted.
func TestLife(t *testing.T) {
	g := gate.Gates{Names: []string{"mk", "own"}}.Synced(minute(0))
	steps := []struct {
		step string
		g    gate.Gates
		want gate.Gates
	}{
		{"the first signal sets the time, a later one does not move it", g.Signalled(minute(1)).Signalled(minute(2)),
			gate.Gates{Names: g.Names, States: g.States, Blocked: gate.Condition{Active: true, Reason: gate.PreemptionGated, Since: minute(1)}}},
		{"opening again does not move the time of the opening", g.Opened("mk", minute(3)).Opened("mk", minute(4)),
			gate.Gates{Names: g.Names, States: []gate.State{{Name: "own", Since: minute(0)}, {Name: "mk", Position: gate.Open, Since: minute(3)}}}},
		{"what is no gate of the workload is not opened", g.Opened("other", minute(3)), g},
		{"quota takes the signal back and leaves the gate open", g.Signalled(minute(1)).Opened("mk", minute(3)).Cleared(minute(5)),
			gate.Gates{Names: g.Names, States: []gate.State{{Name: "own", Since: minute(0)}, {Name: "mk", Position: gate.Open, Since: minute(3)}},
				Blocked: gate.Condition{Reason: gate.PreemptionGated, Since: minute(5)}}},
		{"no signal, nothing to take back", g.Cleared(minute(5)), g},
		{"eviction closes what was open and takes the signal back", g.Signalled(minute(1)).Opened("mk", minute(3)).Evicted(minute(6)),
			gate.Gates{Names: g.Names, States: []gate.State{{Name: "mk", Since: minute(6)}, {Name: "own", Since: minute(0)}},
				Blocked: gate.Condition{Reason: gate.PreemptionGated, Since: minute(6)}}},
		{"states follow the names", gate.Gates{Names: []string{"mk", "new"}, States: g.States}.Synced(minute(7)),
			gate.Gates{Names: []string{"mk", "new"}, States: []gate.State{{Name: "mk", Since: minute(0)}, {Name: "new", Since: minute(7)}}}},
	}
	before := g.Clone()
	for _, s := range steps {
		if diff := cmp.Diff(s.want, s.g); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.step, diff)
		}
	}
	if diff := cmp.Diff(before, g); diff != "" {
		t.Errorf("a method changed its receiver:\n%s", diff)
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	long := strings.Repeat("x", gate.MaxName+1)
	err := gate.Validate("gates", gate.Gates{
		Names: []string{"", "a", "a", long},
		States: []gate.State{{Name: "a", Position: gate.Open}, {Name: "a"}, {Name: "b", Position: 7},
			{Name: long, Since: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)}},
		Blocked: gate.Condition{Active: true},
	})
	wantFaults(t, err, "gates.names[0]: is empty", `gates.names[2]: "a" is also names[1]`, `gates.names[3]: "xxx`,
		"gates.states[0].since: is not set", `gates.states[1].name: "a" has a state already, states[0]`,
		"gates.states[2].position: Position(7) is neither",
		"gates.states[3].since: 1500-", "gates.blocked.reason: is empty", "gates.blocked.since: is not set")
	wantFaults(t, gate.Validate("g", gate.Gates{Names: make([]string, gate.MaxGates+1)}), "g.names: 9 gates: more than 8")
	wantFaults(t, gate.Validate("g", gate.Gates{States: make([]gate.State, gate.MaxGates+1)}), "g.states: 9 states: more than 8")
	wantFaults(t, gate.Validate("g", gate.Gates{}))
}

func wantFaults(t *testing.T, err error, want ...string) {
	t.Helper()
	var faults fault.List
	errors.As(err, &faults)
	for i := range max(len(want), len(faults)) {
		if i >= len(want) || i >= len(faults) || !strings.HasPrefix(faults[i].Error(), want[i]) {
			t.Errorf("faults %q, want %q", []fault.Fault(faults), want)
			return
		}
	}
}

func TestJSON(t *testing.T) {
	g := gate.Gates{Names: []string{"a"}}.Opened("a", noon).Signalled(noon)
	data, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"names":["a"],"states":[{"name":"a","position":"Open","since":"2026-01-01T12:00:00Z"}],` +
		`"blocked":{"active":true,"reason":"PreemptionGated","since":"2026-01-01T12:00:00Z"}}`
	var back gate.Gates
	if err := json.Unmarshal(data, &back); err != nil || string(data) != want || !cmp.Equal(back, g) {
		t.Errorf("%s, %v", data, err)
	}
	if err := json.Unmarshal([]byte(`{"states":[{"position":"Ajar"}]}`), &back); err == nil || !strings.Contains(err.Error(), "Ajar") {
		t.Errorf("%v", err)
	}
	if _, err := json.Marshal(gate.Position(9)); err == nil {
		t.Error("an unknown position was written")
	}
}

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
		"config.Timeout: 0s was written down":     func() { config.Timeout = gate.Written(0) },
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
