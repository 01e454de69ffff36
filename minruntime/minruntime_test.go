package minruntime_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
)

func node(name, parent string, seconds int) minruntime.Node {
	n := minruntime.Node{Name: name, Parent: parent}
	if seconds >= 0 {
		d := minruntime.For(time.Duration(seconds) * time.Second)
		n.Settings = minruntime.Settings{Preempt: d, Reclaim: d}
	}
	return n
}

const unset = -1

// The examples of the design, "Resolving the applicable min-runtime".
func TestExamplesOfTheDesign(t *testing.T) {
	tree, err := minruntime.NewTree([]minruntime.Node{
		node("A", "", unset), node("B", "A", 600), node("C", "B", unset), node("D", "B", 60),
		node("leaf1", "C", 0), node("leaf2", "C", 180), node("leaf3", "D", unset),
	}, minruntime.Settings{}, minruntime.LCA)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		preemptor, victim string
		want              minruntime.Resolution
	}{
		{"leaf1", "leaf3", minruntime.Resolution{MinRuntime: time.Minute, Node: "D"}},
		{"leaf1", "leaf2", minruntime.Resolution{MinRuntime: 3 * time.Minute, Node: "leaf2"}},
		{"leaf3", "leaf1", minruntime.Resolution{MinRuntime: 10 * time.Minute, Node: "B"}},
	} {
		if got, ok := tree.Reclaim(c.preemptor, c.victim); !ok || got != c.want {
			t.Errorf("%s reclaims from %s: %v, want %v", c.preemptor, c.victim, got, c.want)
		}
	}
	if got, _ := tree.Preempt("leaf1"); got != (minruntime.Resolution{Node: "leaf1"}) {
		t.Errorf("zero is a set value and ends the walk: %v", got)
	}
	if got, _ := tree.Preempt("leaf3"); got != (minruntime.Resolution{MinRuntime: time.Minute, Node: "D"}) {
		t.Errorf("leaf3 inherits: %v", got)
	}
	if _, ok := tree.Preempt("nobody"); ok {
		t.Error("an unknown queue has a minimum")
	}
}

func TestNewTreeReportsEveryFault(t *testing.T) {
	negative := minruntime.Settings{Preempt: minruntime.For(-1), Reclaim: minruntime.For(-1)}
	_, err := minruntime.NewTree([]minruntime.Node{
		{Name: "a", Parent: "x"}, {Name: "a", Settings: negative}, {},
	}, negative, 7)
	for _, want := range []string{
		"defaults.preempt: -1ns is negative", "defaults.reclaim", "method: Method(7) is unknown", `nodes[1].name: "a"`,
		"nodes[1].preempt", "nodes[2].name", `nodes[0].parent: unknown node "x"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := minruntime.NewTree([]minruntime.Node{{Name: "a", Parent: "b"}, {Name: "b", Parent: "a"}}, minruntime.Settings{}, 0); err == nil {
		t.Error("the cycle is not seen")
	}
}

// A workload is protected until its start plus the minimum, inclusive.
func TestProtectedUntil(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if until, ok := minruntime.ProtectedUntil(start, time.Hour); !ok || !until.Equal(start.Add(time.Hour)) {
		t.Error(until, ok)
	}
	for _, c := range []struct {
		start   time.Time
		minimum time.Duration
	}{{time.Time{}, time.Hour}, {start, 0}} {
		if until, ok := minruntime.ProtectedUntil(c.start, c.minimum); ok {
			t.Errorf("%v, %v: protected until %v", c.start, c.minimum, until)
		}
	}
}

func TestJSON(t *testing.T) {
	s := minruntime.Settings{Preempt: minruntime.For(0), Reclaim: minruntime.For(90 * time.Second)}
	data, err := json.Marshal(s)
	var again minruntime.Settings
	if err != nil || string(data) != `{"preempt":"0s","reclaim":"1m30s"}` || json.Unmarshal(data, &again) != nil || again != s {
		t.Errorf("%s, %v, %v", data, again, err)
	}
	for _, text := range []string{"5", `"soon"`} {
		if err := new(minruntime.Setting).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is a setting", text)
		}
	}
	var m minruntime.Method
	if m.UnmarshalText([]byte("queue")) != nil || m != minruntime.Queue || m.UnmarshalText([]byte("LCA")) == nil {
		t.Error(m)
	}
}
