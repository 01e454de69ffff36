package gate_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
)

const timeout = gate.DefaultTimeout

// replica is one with MultiKueue's gate: closed, and held back since the given minute.
func replica(name string, blockedAt int) gate.Replica {
	g := gate.Gates{Names: []string{gate.MultiKueue}}.Signalled(minute(blockedAt))
	return gate.Replica{Name: name, Gates: g, Progress: gate.Pending}
}

func opened(r gate.Replica, at time.Time) gate.Replica {
	r.Gates = r.Gates.Opened(gate.MultiKueue, at)
	return r
}

func orchestrate(t interface{ Fatalf(string, ...any) }, c gate.Config, now time.Time, replicas ...gate.Replica) gate.Action {
	act, err := gate.Orchestrate(c, now, replicas)
	if err != nil {
		t.Fatalf("Orchestrate: %v", err)
	}
	return act
}

func TestOrchestrateReportsEveryFault(t *testing.T) {
	bad := gate.Replica{Name: "a", Progress: 9, Offer: gate.Offer{Victims: -1}, Gates: gate.Gates{Names: []string{""}}}
	_, err := gate.Orchestrate(gate.Config{Gate: strings.Repeat("g", gate.MaxName+1), Timeout: -1, PreemptingTimeout: -1, Grace: -1, Order: 7, Rules: 7}, time.Time{},
		[]gate.Replica{bad, {}, replica("a", 0), {Name: "b", Progress: gate.Preempting, Evicted: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)}})
	wantFaults(t, err, `config.Gate: "ggg`, "config.Timeout: -1ns is negative", "config.PreemptingTimeout: -1ns", "config.Grace: -1ns", "config.Order: ReplicaOrder(7) is unknown", "config.Rules: Rules(7) is unknown", "now: is not set",
		"replicas[0].gates.names[0]: is empty", "replicas[0].progress: 9 is unknown", "replicas[0].offer: -1 victims",
		"replicas[1].name: is empty", "replicas[3].since: is not set", "replicas[3].evicted: 1500-", `replicas: two are named "a"`)
}

// What is as long as it may be is no fault.
func TestOrchestrateBounds(t *testing.T) {
	r := replica("a", -1)
	r.Gates.Names[0] = strings.Repeat("g", gate.MaxName)
	for i := range gate.MaxGates - 1 {
		r.Gates.Names = append(r.Gates.Names, fmt.Sprint(i))
	}
	r.Gates = r.Gates.Synced(minute(-1))
	if act := orchestrate(t, gate.Config{Gate: r.Gates.Names[0]}, noon, r); act.Open != "a" {
		t.Errorf("%+v", act)
	}
	r.Gates.States = append(r.Gates.States, gate.State{Name: "more"})
	_, err := gate.Orchestrate(gate.Config{}, noon, []gate.Replica{r})
	wantFaults(t, err, "replicas[0].gates.states: 9 states: more than 8")
}

// Rows that random replicas seldom are.
func TestOrchestrateSeldom(t *testing.T) {
	held := func(name string, at int) gate.Replica {
		r := replica(name, at)
		r.Gates.Names = append(r.Gates.Names, "own")
		return r
	}
	reserved := replica("c", -9)
	reserved.Progress = gate.Reserved
	known := replica("b", -1)
	known.Offer = gate.Offer{Victims: 3}
	for name, c := range map[string]struct {
		config   gate.Config
		replicas []gate.Replica
		want     gate.Action
	}{
		"of two that another gate holds back, the preferred one": {gate.Config{Order: gate.Preference}, []gate.Replica{held("b", -1), held("a", -2)}, gate.Action{Open: "b", WakeAt: minute(5)}},
		"the grace does not count from who has its quota": {gate.Config{Order: gate.Preference, Grace: 5 * time.Minute}, []gate.Replica{replica("b", -1), reserved},
			gate.Action{WakeAt: minute(4)}},
		"an unknown offer before it":   {gate.Config{Order: gate.Cheapest}, []gate.Replica{replica("a", -9), known}, gate.Action{Open: "b", WakeAt: minute(5)}},
		"an unknown offer is the last": {gate.Config{Order: gate.Cheapest}, []gate.Replica{known, replica("a", -9)}, gate.Action{Open: "b", WakeAt: minute(5)}},
	} {
		if got := orchestrate(t, c.config, noon, c.replicas...); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The property, also a fuzz target.

func TestOrchestrateAgreesWithTwin(t *testing.T) { rapid.Check(t, agreesWithTwin) }
func configs(t *rapid.T) gate.Config {
	return gate.Config{
		Order:             rapid.SampledFrom([]gate.ReplicaOrder{gate.FirstSignal, gate.Preference, gate.Cheapest}).Draw(t, "rule"),
		Timeout:           time.Duration(rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "timeout")) * time.Minute,
		PreemptingTimeout: time.Duration(rapid.SampledFrom([]int{0, 1, 9}).Draw(t, "preempting timeout")) * time.Minute,
		Grace:             time.Duration(rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "grace")) * time.Minute,
	}
}

func drawReplica(t *rapid.T, name string) gate.Replica {
	times := func(label string) time.Time { return minute(rapid.IntRange(-7, 1).Draw(t, label)) }
	r := gate.Replica{Name: name, Progress: gate.Progress(rapid.SampledFrom([]int{1, 1, 1, 0, 2, 3}).Draw(t, "progress"))}
	if r.Progress == gate.Preempting {
		r.Since = times("told")
	}
	r.Gates.Names = rapid.SampledFrom([][]string{{gate.MultiKueue}, {gate.MultiKueue, "own"}, {"own"}, nil}).Draw(t, "gates")
	if rapid.Bool().Draw(t, "blocked") {
		r.Gates = r.Gates.Signalled(times("signal"))
	}
	if rapid.IntRange(0, 3).Draw(t, "open") == 3 {
		r.Gates = r.Gates.Opened(gate.MultiKueue, times("opening"))
	}
	r.Lost = rapid.IntRange(0, 5).Draw(t, "lost") == 5
	if rapid.IntRange(0, 3).Draw(t, "was evicted") == 3 {
		r.Evicted = times("evicted")
	}
	if r.Gates.Has("own") && rapid.Bool().Draw(t, "own open") {
		r.Gates = r.Gates.Opened("own", times("opening of own"))
	}
	r.Offer.Victims = rapid.IntRange(0, 2).Draw(t, "victims")
	r.Offer.LostWork = time.Duration(rapid.IntRange(0, 2).Draw(t, "lost work")) * time.Hour
	if rapid.Bool().Draw(t, "by a cost") {
		r.Offer.Lost = quota.Some(rapid.Int64Range(0, 2).Draw(t, "cost"))
	}
	return r
}

// twin is the steps of KEP-8303, MultiKueue Controller, one by one, for every rule.
func twin(c gate.Config, now time.Time, replicas []gate.Replica) gate.Action {
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Minute
	}
	var waiting []gate.Replica
	var openings, leaving []time.Time
	quota := false
	for _, r := range replicas {
		mine, open := slices.Contains(r.Gates.Names, gate.MultiKueue), false
		for _, s := range r.Gates.States {
			open = open || mine && s.Name == gate.MultiKueue && s.Position == gate.Open
			if open && s.Name == gate.MultiKueue {
				openings = append(openings, s.Since)
			}
		}
		if r.Lost {
			continue
		}
		quota = quota || r.Progress == gate.Reserved
		if r.Progress == gate.Preempting {
			leaving = append(leaving, r.Since)
		} else if r.Progress != gate.Reserved && mine && !open && r.Gates.Blocked.Active && r.Gates.Blocked.Reason == "PreemptionGated" && !r.Evicted.After(r.Gates.Blocked.Since) {
			waiting = append(waiting, r)
		}
	}
	signals := slices.Clone(waiting)
	bySignal := func(a, b gate.Replica) int {
		return cmp.Or(a.Gates.Blocked.Since.Compare(b.Gates.Blocked.Since), cmp.Compare(a.Name, b.Name))
	}
	slices.SortFunc(signals, bySignal)
	switch c.Order {
	case gate.FirstSignal:
		waiting = slices.Clone(signals)
	case gate.Cheapest:
		price := func(r gate.Replica) string {
			return fmt.Sprintf("%t %t %9d %9d %20d", r.Offer.Victims == 0, r.Offer.Lost.IsZero(), r.Offer.Lost.Or(0), r.Offer.Victims, r.Offer.LostWork)
		}
		slices.SortFunc(waiting, func(a, b gate.Replica) int { return cmp.Or(cmp.Compare(price(a), price(b)), bySignal(a, b)) })
	case gate.Preference:
		waiting, quota = preferred(replicas, waiting)
	}
	if c.Order != gate.Preference { // "has its turn after all others"
		slices.SortStableFunc(waiting, func(a, b gate.Replica) int { return cmp.Compare(others(a), others(b)) })
	}
	if quota {
		return gate.Action{Done: true}
	}
	var act gate.Action
	if len(openings) > 0 {
		if since := now.Sub(slices.MaxFunc(openings, time.Time.Compare)); since < c.Timeout {
			act.WakeAt = now.Add(c.Timeout - since)
		}
	}
	if len(leaving) > 0 {
		// "The wait for a replica that preempts ends at the latest opening + Timeout +
		// PreemptingTimeout, however often it preempts again."
		patience := cmp.Or(c.PreemptingTimeout, c.Timeout)
		ends := []time.Time{slices.MaxFunc(leaving, time.Time.Compare).Add(patience)}
		if len(openings) > 0 {
			ends = append(ends, slices.MaxFunc(openings, time.Time.Compare).Add(c.Timeout+patience))
		} else if len(signals) > 0 {
			ends = append(ends, signals[0].Gates.Blocked.Since.Add(patience))
		}
		if end := slices.MinFunc(ends, time.Time.Compare); end.After(now) && end.After(act.WakeAt) {
			act.WakeAt = end
		}
	}
	if len(waiting) == 0 {
		return act
	}
	if waited := now.Sub(signals[0].Gates.Blocked.Since); waited < c.Grace && now.Add(c.Grace-waited).After(act.WakeAt) {
		act.WakeAt = now.Add(c.Grace - waited)
	}
	if act.WakeAt.IsZero() {
		return gate.Action{Open: waiting[0].Name, WakeAt: now.Add(c.Timeout)}
	}
	return act
}

// others is how many other gates of a replica are closed: one at most is drawn.
func others(r gate.Replica) (closed int) {
	for _, name := range r.Gates.Names {
		if _, open := r.Gates.OpenSince(name); name != gate.MultiKueue && !open {
			closed++
		}
	}
	return closed
}

// preferred is the one that waits for its turn under Preference; quota says that a replica before it has its quota.
func preferred(replicas, waiting []gate.Replica) (turn []gate.Replica, quota bool) {
	for _, r := range replicas {
		_, open := r.Gates.OpenSince(gate.MultiKueue)
		waits := slices.ContainsFunc(waiting, func(w gate.Replica) bool { return w.Name == r.Name })
		switch {
		case r.Lost:
		case r.Progress == gate.Reserved:
			return turn, len(turn) == 0
		case waits && others(r) == 0:
			return []gate.Replica{r}, false
		case waits && len(turn) == 0:
			turn = []gate.Replica{r}
		case r.Progress == gate.NotEvaluated && !open && !waits:
			return nil, false
		}
	}
	return turn, false
}

func agreesWithTwin(t *rapid.T) {
	c := configs(t)
	var replicas []gate.Replica
	for i := range rapid.IntRange(0, 5).Draw(t, "replicas") {
		replicas = append(replicas, drawReplica(t, fmt.Sprintf("w%d", i)))
	}
	got, want := orchestrate(t, c, noon, replicas...), twin(c, noon, replicas)
	if got != want {
		t.Fatalf("%+v, the twin's %+v", got, want)
	}
	if c.Order != gate.Preference {
		if shuffled := orchestrate(t, c, noon, rapid.Permutation(replicas).Draw(t, "shuffled")...); shuffled != got {
			t.Fatalf("%+v, in another order %+v", got, shuffled)
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

// A replica that preempts every four minutes does not starve the others: the next one has its
// turn ten minutes after the opening, the timeout and that for victims.
func TestPreemptingAgainAndAgain(t *testing.T) {
	a, b := opened(replica("a", -1), minute(0)), replica("b", 0)
	a.Progress = gate.Preempting
	for m := range 10 {
		a.Since = minute(m - m%4)
		if act := orchestrate(t, gate.Config{}, minute(m), a, b); act.Open != "" || !act.WakeAt.After(minute(m)) {
			t.Fatalf("at minute %d: %+v", m, act)
		}
	}
	if act := orchestrate(t, gate.Config{}, minute(10), a, b); act.Open != "b" {
		t.Errorf("at minute 10: %+v", act)
	}
}
