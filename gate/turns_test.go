package gate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
)

// Three replicas wait: they have their turns one after the other, by the order that is chosen.
func TestTurns(t *testing.T) {
	list := []gate.Replica{opened(replica("a", -9), minute(-1)), replica("b", -3), replica("c", -2), replica("d", 0)}
	for i, victims := range []int{0, 3, 1, 2} {
		list[i].Offer.Victims = victims
	}
	unnamed := replica("e", -9)
	unnamed.Gates.Names = nil
	for name, c := range map[string]struct {
		config gate.Config
		more   []gate.Replica
		want   []gate.Turn
	}{
		"first signal":  {gate.Config{}, nil, []gate.Turn{{Name: "b", At: minute(4)}, {Name: "c", At: minute(9)}, {Name: "d", At: minute(14)}}},
		"cheapest":      {gate.Config{Order: gate.Cheapest}, nil, []gate.Turn{{Name: "c", At: minute(4)}, {Name: "d", At: minute(9)}, {Name: "b", At: minute(14)}}},
		"other timeout": {gate.Config{Timeout: time.Minute}, nil, []gate.Turn{{Name: "b", At: minute(0)}, {Name: "c", At: minute(1)}, {Name: "d", At: minute(2)}}},
		"as built":      {gate.Config{Rules: gate.Kueue019}, nil, []gate.Turn{{Name: "b", At: minute(4)}, {Name: "c", At: minute(9)}, {Name: "d", At: minute(14)}}},
		"in vain":       {gate.Config{Rules: gate.Kueue019}, []gate.Replica{unnamed}, []gate.Turn{{Name: "e", At: minute(4)}}},
	} {
		given := append(append([]gate.Replica(nil), list...), c.more...)
		got, err := gate.Turns(c.config, noon, given)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		for i, r := range given[1:4] {
			if !r.Gates.AnyClosed() {
				t.Errorf("%s: replica %d was opened", name, i)
			}
		}
	}
	_, err := gate.Turns(gate.Config{}, time.Time{}, nil)
	wantFaults(t, err, "now: is not set")
}

// Each replica has at most one turn, no two within the timeout, and the first is what Orchestrate says.
func TestTurnsAreApart(t *testing.T) { rapid.Check(t, turnsAreApart) }

func turnsAreApart(t *rapid.T) {
	c := configs(t)
	if rapid.Bool().Draw(t, "as built") {
		c = gate.Config{Rules: gate.Kueue019, Timeout: c.Timeout}
	}
	var replicas []gate.Replica
	for i := range rapid.IntRange(0, 5).Draw(t, "replicas") {
		replicas = append(replicas, drawReplica(t, string(rune('a'+i))))
	}
	turns, err := gate.Turns(c, noon, replicas)
	if err != nil {
		t.Fatal(err)
	}
	timeout, seen := c.Timeout, map[string]bool{}
	if timeout == 0 {
		timeout = gate.DefaultTimeout
	}
	for i, turn := range turns {
		if seen[turn.Name] || i > 0 && turn.At.Sub(turns[i-1].At) < timeout || turn.At.Before(noon) {
			t.Fatalf("%v", turns)
		}
		seen[turn.Name] = true
	}
	if act := orchestrate(t, c, noon, replicas...); act.Open != "" && (len(turns) == 0 || turns[0] != gate.Turn{Name: act.Open, At: noon}) {
		t.Fatalf("%v, %+v", turns, act)
	}
}
