package main

import (
	"math"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/loop"
	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

// cells are results of one world: of each policy what is lost in each seed, in GPU-hours, and the wait of each job in seconds.
func cells(lost map[string][]int64, waits map[string]int64, policies ...string) (lines []sweep.Line) {
	for _, p := range policies {
		for seed, n := range lost[p] {
			l := sweep.Line{Cell: sweep.Cell{World: "w", Seed: uint64(seed + 1), Policy: p}}
			l.Jobs, l.Finished, l.Unit, l.GPU, l.Horizon, l.Redone, l.Held = 10, 10, "GPU", 8000, 86400, n*3600*1000, 100*3600*1000
			l.All = loop.Group{Jobs: 10, Done: loop.Spread{Sum: 100_000}}
			l.Priorities = []loop.Group{{Name: "5", Jobs: 10, Wait: loop.Spread{Sum: 10 * waits[p]}}}
			lines = append(lines, l)
		}
	}
	return lines
}

// The answer names the policy that pays and loses the least. If none pays it says what the best costs; if none loses less, that.
func TestAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		lost     map[string][]int64
		waits    map[string]int64
		policies []string
		text     string
		rests    string
		pays     bool
	}{
		"pays": {map[string][]int64{"a": {100, 102}, "b": {50, 52}, "c": {40, 41}}, map[string]int64{"c": 100}, []string{"a", "b", "c"},
			"Use b: it loses 49.5% less than a (102.0 instead of 202.0 GPU-hours in 24.0 h of each of 2 seeds); jobs are done no later, and no priority waits longer.",
			"It rests on 2 seeds, 20 jobs: with 95 % confidence the change of what is lost is -50% to -50%.", true},
		"chance": {map[string][]int64{"a": {100, 100}, "b": {10, 150}}, nil, []string{"a", "b"},
			"Undecided: b loses 20.0% less than a (160.0 instead of 200.0 GPU-hours in 24.0 h of each of 2 seeds), which may be chance; more seeds would tell.",
			"-100% to +869%", false},
		"waits": {map[string][]int64{"a": {100}, "b": {50}}, map[string]int64{"a": 20, "b": 120}, []string{"a", "b"},
			"Stay with a: no other policy pays. b loses 50.0% less than a (50.0 instead of 100.0 GPU-hours in 24.0 h), but priority 5 waits 2.0 m instead of 20 s.",
			"It rests on one seed, 10 jobs: how much is chance is not known (-seeds 1-5 tells).", false},
		"more":  {map[string][]int64{"a": {100}, "b": {150}}, nil, []string{"a", "b"}, "Stay with a: no other policy loses less.", "It rests on one seed", false},
		"alone": {map[string][]int64{"a": {10}}, nil, []string{"a"}, "a loses 10.0 GPU-hours in 0 evictions, 10.0% of what jobs hold.", "one seed", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := group(cells(c.lost, c.waits, c.policies...))[0]
			if a := g.answer(); !strings.Contains(a.text, c.text) || !strings.Contains(a.rests, c.rests) || a.pays != c.pays {
				t.Errorf("%+v", a)
			}
		})
	}
	lines := cells(map[string][]int64{"a": {100}, "b": {50}}, nil, "a", "b")
	lines[0].Seed, lines[1].Seed = 0, 0
	if a := group(lines)[0].answer(); a.rests != "It rests on one replay of the records, 10 jobs: other weeks may differ." {
		t.Errorf("%+v", a)
	}
	lines[0].Circle = "broken off"
	if a := group(lines)[0].answer(); a.pays || !strings.HasPrefix(a.text, "There is nothing to compare: a was broken off") {
		t.Errorf("%+v", a)
	}
}

// Of several worlds the first line says where a policy pays.
func TestOverall(t *testing.T) {
	better, worse := cells(map[string][]int64{"a": {100}, "b": {50}}, nil, "a", "b"), cells(map[string][]int64{"a": {100}, "b": {150}}, nil, "a", "b")
	for name, c := range map[string]struct {
		second []sweep.Line
		want   string
	}{"all": {better, "b pays in all 2 worlds."}, "some": {worse, "No policy pays in all 2 worlds; b does in 1."}} {
		groups := append(group(better), group(c.second)...)
		if got := overall(groups); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := overall(append(group(worse), group(worse)...)); got != "No policy pays in any of 2 worlds." {
		t.Errorf("%q", got)
	}
	if got := overall(group(better)); got != "" {
		t.Errorf("%q", got)
	}
}

// The interval is Student's of the differences by seed: 4.303 standard errors on both sides with three.
func TestInterval(t *testing.T) {
	g := group(cells(map[string][]int64{"a": {100, 100, 100}, "b": {70, 80, 90}}, nil, "a", "b"))[0]
	i, ok := g.policies[1].interval(g.policies[0])
	half := 4.3027 * 10 / math.Sqrt(3)
	if !ok || math.Abs(i.low+20+half) > .01 || math.Abs(i.high+20-half) > .01 || !g.policies[1].mayBeChance(g.policies[0]) || i.String() != "-45% to +5%" {
		t.Errorf("%+v %t", i, ok)
	}
	g = group(cells(map[string][]int64{"a": {100}, "b": {70}}, nil, "a", "b"))[0]
	if _, ok := g.policies[1].interval(g.policies[0]); ok {
		t.Error("an interval of one seed")
	}
}
