package preemptiontest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// broken is a set filter and a placer whose trials break one law.
type broken struct {
	placement.SetFilter
	with func(placement.PlacerTrial) placement.PlacerTrial
}

func (b broken) Begin(s *placement.Snapshot, r placement.Request) placement.Trial {
	return b.with(both{b.SetFilter.Begin(s, r), LastFit{}.Begin(s, r)})
}

type brokenPlacer struct {
	with func(placement.PlacerTrial) placement.PlacerTrial
}

func (b brokenPlacer) Begin(s *placement.Snapshot, r placement.Request) placement.PlacerTrial {
	return b.with(LastFit{}.Begin(s, r))
}

// both is a trial of a set filter with the placing of another.
type both struct {
	placement.Trial
	placer placement.PlacerTrial
}

func (b both) Place(pods []workload.Pod, nodes []string) []string { return b.placer.Place(pods, nodes) }

type (
	forgetsToAdd    struct{ placement.PlacerTrial }
	forgetsToRemove struct{ placement.PlacerTrial }
	addsTwice       struct{ placement.PlacerTrial }
	countsQuestions struct {
		placement.PlacerTrial
		asked *int
	}
	keepsWhatItAllows struct{ placement.PlacerTrial }
	changesThePod     struct{ placement.PlacerTrial }
	changesTheNode    struct{ placement.PlacerTrial }
	changesTheAdded   struct{ placement.PlacerTrial }
	keepsWhatItPlaces struct{ placement.PlacerTrial }
	placesTheRefused  struct{ placement.PlacerTrial }
	reordersNodes     struct{ placement.PlacerTrial }
)

func (forgetsToAdd) Add(workload.Pod)       {}
func (forgetsToRemove) Remove(workload.Pod) {}
func (b addsTwice) Add(p workload.Pod)      { b.PlacerTrial.Add(p); b.PlacerTrial.Add(p) }
func (b countsQuestions) Allows(p workload.Pod, n workload.Node) bool {
	*b.asked++
	return *b.asked%2 == 0 || b.PlacerTrial.Allows(p, n)
}
func (b keepsWhatItAllows) Allows(p workload.Pod, n workload.Node) bool {
	ok := b.PlacerTrial.Allows(p, n)
	if ok {
		b.Add(p)
	}
	return ok
}
func (b changesThePod) Allows(p workload.Pod, n workload.Node) bool {
	ok := b.PlacerTrial.Allows(p, n)
	p.Requests["cpu"]++
	return ok
}
func (b changesTheNode) Allows(p workload.Pod, n workload.Node) bool {
	ok := b.PlacerTrial.Allows(p, n)
	n.Capacity["cpu"]++
	return ok
}
func (b changesTheAdded) Remove(p workload.Pod) {
	b.PlacerTrial.Remove(p)
	if len(p.Labels) > 0 {
		p.Labels["seen"] = "yes"
	}
}
func (b keepsWhatItPlaces) Place(pods []workload.Pod, nodes []string) []string {
	where := b.PlacerTrial.Place(pods, nodes)
	for i, p := range pods {
		if p.Node = where[i]; p.Node != "" {
			b.Add(p)
		}
	}
	return where
}
func (b placesTheRefused) Allows(p workload.Pod, n workload.Node) bool { return n.Name != "n0" }
func (b reordersNodes) Place(pods []workload.Pod, nodes []string) []string {
	where := b.PlacerTrial.Place(pods, nodes)
	if len(nodes) > 1 {
		nodes[0], nodes[1] = nodes[1], nodes[0]
	}
	return where
}

// The checkers of set filters and placers find each broken trial, and nothing in one that
// keeps the laws.
func TestBrokenTrialsAreFound(t *testing.T) {
	// found reports whether a check fails for one of some hundred fixed cases.
	found := func(check func(*rapid.T)) bool {
		once := rapid.Custom(func(t *rapid.T) (failed bool) {
			defer func() { failed = recover() != nil }()
			check(t)
			return false
		})
		for seed := range 300 {
			if once.Example(seed) {
				return true
			}
		}
		return false
	}
	spread, limit := Spread{TopologyKey: "zone", Label: "app", MaxSkew: 1}, Spread{Label: "app", MaxSkew: 1}
	for name, test := range map[string]struct {
		with           func(placement.PlacerTrial) placement.PlacerTrial
		filter, placer bool // it breaks a law of theirs
	}{
		"lawful":                 {func(t placement.PlacerTrial) placement.PlacerTrial { return t }, false, false},
		"forgets to add":         {func(t placement.PlacerTrial) placement.PlacerTrial { return forgetsToAdd{t} }, true, true},
		"forgets to remove":      {func(t placement.PlacerTrial) placement.PlacerTrial { return forgetsToRemove{t} }, true, true},
		"adds twice":             {func(t placement.PlacerTrial) placement.PlacerTrial { return addsTwice{t} }, true, true},
		"counts questions":       {func(t placement.PlacerTrial) placement.PlacerTrial { return countsQuestions{t, new(int)} }, true, false}, // a placer that allows everything answers alike
		"keeps what it allows":   {func(t placement.PlacerTrial) placement.PlacerTrial { return keepsWhatItAllows{t} }, true, true},
		"changes the pod":        {func(t placement.PlacerTrial) placement.PlacerTrial { return changesThePod{t} }, true, true},
		"changes the node":       {func(t placement.PlacerTrial) placement.PlacerTrial { return changesTheNode{t} }, true, true},
		"changes the removed":    {func(t placement.PlacerTrial) placement.PlacerTrial { return changesTheAdded{t} }, true, true},
		"keeps what it places":   {func(t placement.PlacerTrial) placement.PlacerTrial { return keepsWhatItPlaces{t} }, false, true},
		"places what it refuses": {func(t placement.PlacerTrial) placement.PlacerTrial { return placesTheRefused{t} }, false, true},
		"reorders the nodes":     {func(t placement.PlacerTrial) placement.PlacerTrial { return reordersNodes{t} }, false, true},
	} {
		for _, rule := range []Spread{spread, limit} {
			got := found(func(t *rapid.T) { CheckSetFilter(t, broken{rule, test.with}) })
			if got != test.filter && name != "places what it refuses" {
				t.Errorf("%s: found in a set filter %t, want %t", name, got, test.filter)
			}
		}
		if got := found(func(t *rapid.T) { CheckPlacer(t, brokenPlacer{test.with}) }); got != test.placer {
			t.Errorf("%s: found in a placer %t, want %t", name, got, test.placer)
		}
	}
	if !found(func(t *rapid.T) { CheckSetFilter(t, near{spread}) }) {
		t.Error("a reach that is too near is not found")
	}
}

// near is a spread over zones that says it looks at one node only.
type near struct{ Spread }

func (near) Reach() placement.Reach { return placement.ReachNode }
