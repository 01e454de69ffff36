package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/rules"
	"github.com/cedesched/cede/workload"
)

// search counts what is free.
type search struct {
	quota, room int // still missing
	frees       map[string][2]int
	taken       []string
}

func (s *search) QuotaFits() bool { return s.quota <= 0 }
func (s *search) Fits() bool      { return s.quota <= 0 && s.room <= 0 }
func (s *search) Take(w *workload.Workload) {
	s.quota, s.room = s.quota-s.frees[w.ID][0], s.room-s.frees[w.ID][1]
	s.taken = append(s.taken, w.ID)
}

func found(list []rules.Candidate) string {
	var ids []string
	for _, c := range list {
		ids = append(ids, c.Workload.ID)
	}
	return strings.Join(ids, " ")
}

// "Within a tier the ordering of today": evicted, other queues, lower priority, later
// reservation, UID.
func TestFindOrder(t *testing.T) {
	e := evaluator(t, rule("all", rules.Always, anybody))
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	running := []rules.Running{
		{Workload: &workload.Workload{ID: "h", Queue: "q", UID: "3", Priority: 1}},
		{Workload: &workload.Workload{ID: "g", Queue: "q", UID: "1", ReservedAt: noon}},
		{Workload: &workload.Workload{ID: "f", Queue: "q", UID: "0", ReservedAt: noon}},
		{Workload: &workload.Workload{ID: "e", Queue: "q", UID: "2", ReservedAt: noon.Add(1)}},
		{Workload: &workload.Workload{ID: "d", Queue: "q", UID: "3"}},
		{Workload: &workload.Workload{ID: "c", Queue: "other", Priority: 9}},
		{Workload: &workload.Workload{ID: "b", Queue: "other", Priority: 9, PriorityBoost: -1}},
		{Workload: &workload.Workload{ID: "a", Queue: "q", Priority: 9, Evicted: true, NeverYields: true}},
		{Workload: &workload.Workload{ID: "never", Queue: "q", NeverYields: true}},
		{Workload: &workload.Workload{ID: "p", Queue: "q"}},
	}
	taken, fits, err := e.Find(waiting, running, &search{quota: 1})
	if got := found(taken); got != "a b c d e f g h" || fits || err != nil {
		t.Error(got, fits, err)
	}
	if taken, fits, err := e.Find(waiting, running, &search{}); len(taken) > 0 || !fits || err != nil {
		t.Error(found(taken), fits, err)
	}
}

// "InsufficientQuota only if quota still does not fit then; the topology tier only if quota
// fits. One bad selector: no candidate of this tier and of later tiers; victims so far stay."
func TestFindTiers(t *testing.T) {
	by := func(label string) rules.CandidateSelector {
		return rules.CandidateSelector{Scope: rules.AnyClusterQueue, LabelSelector: &workload.LabelSelector{MatchLabels: map[string]string{label: ""}}}
	}
	w := func(id string, labels ...string) rules.Running {
		of := map[string]string{}
		for _, l := range labels {
			of[l] = ""
		}
		return rules.Running{Workload: &workload.Workload{ID: id, UID: id, Queue: "q", Labels: of}}
	}
	tiers := []rules.Rule{rule("t", rules.QuotaFeasibleAndInsufficientTopology, by("t")), rule("i", rules.InsufficientQuota, by("i")), rule("a", rules.Always, by("a"))}
	holder := w("h", "a", "i", "t")
	holder.NodesOnly = true
	for name, c := range map[string]struct {
		rules       []rules.Rule
		quota, room int
		running     []rules.Running
		want        string
		fits, fails bool
	}{
		"all three":                        {tiers, 2, 9, []rules.Running{w("1", "t"), w("2", "i"), w("3", "a"), w("4", "a", "i", "t")}, "3 4 1", false, false},
		"quota does not fit after Always":  {tiers, 3, 9, []rules.Running{w("1", "t"), w("2", "i"), w("3", "a"), w("4", "a", "i", "t")}, "3 4 2 1", false, false},
		"quota never fits":                 {tiers, 9, 0, []rules.Running{w("1", "t"), w("2", "i"), w("3", "a")}, "3 2", false, false},
		"it stops when it fits":            {tiers, 1, 1, []rules.Running{w("1", "t"), w("2", "a"), w("3", "a")}, "2", true, false},
		"only the topology tier":           {tiers, 0, 1, []rules.Running{w("1", "t"), w("2", "i")}, "1", true, false},
		"a holder of nodes, for quota":     {tiers[1:2], 9, 9, []rules.Running{holder, w("1", "i")}, "1", false, false},
		"a holder of nodes, Always":        {tiers[2:], 9, 9, []rules.Running{holder}, "h", false, false},
		"a holder of nodes, for a place":   {tiers[:1], 0, 1, []rules.Running{holder}, "h", true, false},
		"a bad selector after Always":      {append(tiers[:3:3], rule("b", rules.InsufficientQuota, bad)), 9, 9, []rules.Running{w("1", "t"), w("2", "i"), w("3", "a")}, "3", false, true},
		"a bad selector, though it fits":   {[]rules.Rule{rule("b", rules.Always, bad)}, 0, 0, nil, "", true, false},
		"a bad selector of a tier skipped": {append(tiers[:1:1], rule("b", rules.InsufficientQuota, bad)), 0, 1, []rules.Running{w("1", "t")}, "1", true, false},
	} {
		s := &search{quota: c.quota, room: c.room, frees: map[string][2]int{}}
		for _, r := range c.running {
			s.frees[r.ID] = [2]int{1, 1}
		}
		taken, fits, err := evaluator(t, c.rules...).Find(waiting, c.running, s)
		if got := found(taken); got != c.want || fits != c.fits || (err != nil) != c.fails || got != strings.Join(s.taken, " ") {
			t.Errorf("%s: %q, %t, %v; taken %q", name, got, fits, err, s.taken)
		}
	}
}

// Whatever the order of the list: the same are taken, each once, each by a tier that accepts
// it, and nobody after it fits.
func TestFindLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		e, err := rules.New(w.cohorts, w.queues, []rules.Config{w.config})
		if err != nil {
			t.Fatal(err)
		}
		preemptor, frees := job(t, "p"), map[string][2]int{}
		var running []rules.Running
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			r := job(t, id)
			r.Evicted, r.NeverYields = rapid.Bool().Draw(t, "evicted"), rapid.Bool().Draw(t, "never yields")
			running = append(running, rules.Running{Workload: &r, NodesOnly: rapid.Bool().Draw(t, "nodes only")})
			frees[id] = [2]int{rapid.IntRange(0, 2).Draw(t, "quota"), rapid.IntRange(0, 2).Draw(t, "room")}
		}
		start := search{rapid.IntRange(0, 4).Draw(t, "quota"), rapid.IntRange(0, 4).Draw(t, "room"), frees, nil}
		s := start
		taken, fits, err := e.Find(&preemptor, running, &s)
		if err != nil || fits != s.Fits() {
			t.Fatal(fits, err)
		}
		other := start
		again, _, _ := e.Find(&preemptor, rapid.Permutation(running).Draw(t, "order"), &other)
		if found(again) != found(taken) {
			t.Fatalf("%s, in another order %s", found(taken), found(again))
		}
		s = start
		for i, c := range taken {
			if s.Fits() {
				t.Fatalf("%s is taken, though it fits", c.Workload.ID)
			}
			if slices.ContainsFunc(taken[:i], func(o rules.Candidate) bool { return o.Workload == c.Workload }) {
				t.Fatalf("%s is taken twice", c.Workload.ID)
			}
			if !slices.Equal(c.Matches, w.selects(c.Trigger, preemptor, *c.Workload)) || len(c.Matches) == 0 {
				t.Fatalf("%s by %v", c.Workload.ID, c.Matches)
			}
			if i > 0 && slices.Index(rules.Triggers(), c.Trigger) < slices.Index(rules.Triggers(), taken[i-1].Trigger) {
				t.Fatal("a tier comes twice")
			}
			s.Take(c.Workload)
		}
	})
}
