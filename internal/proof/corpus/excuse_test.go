package corpus

import (
	"slices"
	"testing"
	"time"
)

// "A departure excuses the one answer that it makes right", and no other.
func TestAnExcuseIsForOneAnswer(t *testing.T) {
	for _, c := range []struct {
		e         excuse
		want, got []string
		departs   bool
		differs   bool
	}{
		{excuse{}, []string{"a"}, []string{"a"}, false, false},
		{excuse{}, []string{"a"}, []string{"b"}, false, true},
		{excuse{"d", []string{"b"}}, []string{"a"}, []string{"a"}, false, false},
		{excuse{"d", []string{"b"}}, []string{"a"}, []string{"b"}, true, false},
		{excuse{"d", []string{"b"}}, []string{"a"}, []string{"c"}, false, true},
		{excuse{"d", nil}, []string{"a"}, []string{"b"}, false, true},
	} {
		var r Report
		r.compareUnless(c.e, "it", c.want, c.got)
		if got := len(r.Departures) > 0; got != c.departs || r.Passed() == c.differs {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// ruleCases returns the cases by hand that a test picks.
func ruleCases(t *testing.T, pick func(*RuleCase) bool) (list []*RuleCase) {
	t.Helper()
	for _, c := range casesOf(t, "testdata/rules-by-hand.jsonl.gz") {
		if c := c.(*RuleCase); pick(c) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		t.Fatal("no such case")
	}
	return list
}

// An answer of Kueue's earlier version departs only by those who hold nodes.
func TestHoldersAloneAreExcused(t *testing.T) {
	for _, c := range ruleCases(t, func(c *RuleCase) bool {
		return c.Kind == "select" && len(c.Nodes) > 0 && c.Settings.Trigger == "Always"
	}) {
		all := c.Want.Candidates
		for _, w := range []struct {
			names   []string
			departs bool
		}{{[]string{"/a1"}, true}, {[]string{"/b1"}, false}, {nil, false}, {[]string{"/a1", "/c1"}, false}} {
			c.Want.Candidates = nil
			for _, of := range append(slices.Clone(all), ruleCandidate{Name: "/c1"}) {
				if slices.Contains(w.names, of.Name) {
					c.Want.Candidates = append(c.Want.Candidates, of)
				}
			}
			r, err := c.Check(nil)
			if err != nil || r.Passed() != w.departs || slices.Contains(r.Departures, AlwaysTakesHolders) != w.departs {
				t.Errorf("%s, wanted %q: %+v, %v", c.ID(), w.names, r, err)
			}
		}
	}
}

// With TASHandleOverlappingFlavors off Kueue selects only users of the flavor: an answer without the
// workloads that hold its nodes departs, with any trigger that reaches these, and only with the gate off.
func TestHoldersAreExcusedWithoutTheGate(t *testing.T) {
	for _, c := range ruleCases(t, func(c *RuleCase) bool {
		return c.Kind == "select" && len(c.Nodes) > 0 && c.Settings.Trigger == "QuotaFeasibleAndInsufficientTopology"
	}) {
		c.Want.Candidates = slices.DeleteFunc(slices.Clone(c.Want.Candidates), func(w ruleCandidate) bool { return w.Name != "/a1" })
		for _, gate := range []struct{ set, on, departs bool }{{true, false, true}, {true, true, false}, {false, false, false}} {
			c.Settings.Gates = map[string]bool{"ConfigurablePreemptions": true}
			if gate.set {
				c.Settings.Gates["TASHandleOverlappingFlavors"] = gate.on
			}
			r, err := c.Check(nil)
			if err != nil || r.Passed() != gate.departs || slices.Contains(r.Departures, HoldersWithoutGate) != gate.departs {
				t.Errorf("%s, %+v: %+v, %v", c.ID(), gate, r, err)
			}
		}
	}
}

// A retry departs only if it is at the first end of a protection.
func TestTheFirstEndAloneIsExcused(t *testing.T) {
	for _, c := range ruleCases(t, func(c *RuleCase) bool {
		return c.Kind == "search" && c.Want.RetryAt.asserted && !c.Want.RetryAt.at.IsZero()
	}) {
		first, err := c.Check(nil)
		if err != nil || !first.Passed() {
			t.Fatalf("%s: %+v, %v", c.ID(), first, err)
		}
		for _, by := range []time.Duration{-time.Minute, -1, 1, 30 * time.Second} {
			other := *c
			other.Want.RetryAt.at = c.Want.RetryAt.at.Add(by)
			if r, err := other.Check(nil); err != nil || r.Passed() {
				t.Errorf("%s, %v later: %+v, %v", c.ID(), by, r, err)
			}
		}
	}
}
