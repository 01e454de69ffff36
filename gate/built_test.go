package gate_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
)

// What Kueue does where the design does otherwise, a row for each difference of docs/designs/gates.md.
func TestAsBuilt(t *testing.T) {
	open := func(name string, minutes int) gate.Replica { return opened(replica(name, -20), minute(minutes)) }
	reserved := open("a", -6)
	reserved.Progress = gate.Reserved
	leaving := open("a", -6)
	leaving.Progress, leaving.Since = gate.Preempting, minute(-2)
	lost := open("a", -1)
	lost.Lost = true
	stale := replica("a", -9)
	stale.Evicted = minute(-5)
	unnamed := replica("a", -9)
	unnamed.Gates.Names = []string{"other"}
	held := replica("a", -9)
	held.Gates.Names = append(held.Gates.Names, "other")
	reason := replica("a", -9)
	reason.Gates.Blocked.Reason = "Other"
	quiet := replica("b", -3)
	quiet.Gates = quiet.Gates.Cleared(minute(-2))
	ghost := quiet // a state of a gate that it does not name
	ghost.Gates.Names, ghost.Gates.States = nil, []gate.State{{Name: gate.MultiKueue, Position: gate.Open, Since: minute(-1)}}
	b := replica("b", -3)
	now := func(name string) gate.Action { return gate.Action{Open: name, WakeAt: minute(5)} }
	at := func(m int) gate.Action { return gate.Action{WakeAt: minute(m)} }
	for name, c := range map[string]struct {
		replicas      []gate.Replica
		built, design gate.Action
	}{
		"first signal":              {[]gate.Replica{replica("a", -2), b}, now("b"), now("b")},
		"closed by its state":       {[]gate.Replica{synced(replica("a", -9)), b}, now("a"), now("a")},
		"within the timeout":        {[]gate.Replica{open("a", -1), b}, at(4), at(4)},
		"exactly the timeout":       {[]gate.Replica{open("a", -5), b}, now("b"), now("b")},
		"nobody signals":            {[]gate.Replica{open("a", -1), quiet}, gate.Action{}, at(4)},
		"the opening is in future":  {[]gate.Replica{open("a", 60), b}, at(65), at(65)},
		"equal signals":             {[]gate.Replica{b, replica("a", -3)}, now("a"), now("a")},
		"another has its quota":     {[]gate.Replica{reserved, b}, now("b"), gate.Action{Done: true}},
		"victims leave":             {[]gate.Replica{leaving, b}, now("b"), at(3)},
		"lost":                      {[]gate.Replica{lost, b}, now("b"), at(4)},
		"stale":                     {[]gate.Replica{stale, b}, now("a"), now("b")},
		"the gate is not named":     {[]gate.Replica{unnamed, b}, now("a"), now("b")},
		"another gate is closed":    {[]gate.Replica{held, b}, now("a"), now("b")},
		"another reason":            {[]gate.Replica{reason, b}, now("a"), now("b")},
		"a state without its gate":  {[]gate.Replica{ghost, replica("c", -2)}, at(4), now("c")},
		"only one with another one": {[]gate.Replica{held}, now("a"), now("a")},
	} {
		for rules, want := range map[gate.Rules]gate.Action{gate.Kueue019: c.built, gate.Design: c.design} {
			if got := orchestrate(t, gate.Config{Rules: rules}, noon, c.replicas...); got != want {
				t.Errorf("%s by %v: %+v, want %+v", name, rules, got, want)
			}
		}
	}
	if got := orchestrate(t, gate.Config{Rules: gate.Kueue019, Timeout: time.Minute}, noon, open("a", -1), b); got.Open != "b" {
		t.Errorf("with a timeout: %+v", got)
	}
}

// synced is a replica whose gates all have a state.
func synced(r gate.Replica) gate.Replica {
	r.Gates = r.Gates.Synced(minute(-10))
	return r
}

// Rules of Kueue have no further choice.
func TestAsBuiltHasNoChoice(t *testing.T) {
	for _, c := range []gate.Config{{Order: gate.Cheapest}, {Grace: time.Second}, {PreemptingTimeout: time.Second}} {
		c.Rules = gate.Kueue019
		_, err := gate.Orchestrate(c, noon, nil)
		wantFaults(t, err, "config.Rules: Kueue019 has no other order")
	}
}
