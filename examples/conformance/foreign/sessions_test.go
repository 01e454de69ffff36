package foreign

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption/recorded"
)

// TestSessions plays KAI's recorded sessions, and asks its rules apart from any search; of its integration tables several sessions. Passed:
// who yields is the same, and in the tables what starts.
func TestSessions(t *testing.T) {
	playSessions(t, false, map[string]map[string]int{
		"reclaim":       {"passed": 2082, onlyVictims: 3, fewerVictims: 39, otherVictims: 26, morePlaced: 28, otherNodes: 3, inexact: 2},
		"preempt":       {"passed": 848, fewerVictims: 16, otherVictims: 15, morePlaced: 2},
		"consolidation": {"passed": 149, fewerMoves: 71, oneSet: 5, otherOrders: 2},
		"integration":   {"passed": 48, oneSet: 3, memoryOfGPUs: 1, oddPods: 2, subgroups: 1},
	})
}

// TestSessionsWithTheirSearch plays them with KAI's own search. Passed: who yields, who moves, and in consolidation what starts, is the same.
func TestSessionsWithTheirSearch(t *testing.T) {
	playSessions(t, true, map[string]map[string]int{
		"reclaim":       {"passed": 2174, countedOnce: 7, inexact: 2},
		"preempt":       {"passed": 878, countedOnce: 3},
		"consolidation": {"passed": 224, countedOnce: 3},
		"integration":   {"passed": 51, memoryOfGPUs: 1, oddPods: 2, subgroups: 1},
	})
}

func playSessions(t *testing.T, kaiSearch bool, files map[string]map[string]int) {
	for name, want := range files {
		t.Run(name, func(t *testing.T) {
			got := map[string]int{}
			err := recorded.Lines(name, beside(t, "kai", name+".jsonl.gz"), func(_ int, line []byte) error {
				s, ok, err := ParseSession(line)
				if !ok || err != nil {
					t.Fatalf("%.80s: %t, %v", line, ok, err)
				}
				if kaiSearch {
					s.KAISearch()
				}
				r, err := s.Check()
				if err != nil {
					t.Errorf("%s: %v", s.ID, err)
				}
				for _, d := range r.Differences {
					t.Errorf("%s: %s\n want %s\n got  %s", s.ID, d.What, d.Want, d.Got)
				}
				switch {
				case r.NotAsked != "":
					got[r.NotAsked]++
				case len(r.Departures) == 0:
					got["passed"]++
				}
				for _, why := range r.Departures {
					got[why]++
				}
				return nil
			})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v; - want, + got:\n%s", err, diff)
			}
		})
	}
}
