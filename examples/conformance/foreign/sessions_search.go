package foreign

import (
	"slices"

	sessions "github.com/cedesched/cede/examples/internal/session"
	"github.com/cedesched/cede/examples/internal/session/judge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/recorded"
)

// Departure of KAI's own search.
const countedOnce = "a pod that leaves or moves again in a session counts once"

// KAISearch lets the session be played with KAI's own search.
func (s Session) KAISearch() { s.kaiSearch = true }

// searchDeparture says why KAI's own search finds others than are recorded; empty: nothing explains it.
func (s *session) searchDeparture() string {
	again, wait := false, 0
	for i := range s.Input.Jobs {
		j := &s.Input.Jobs[i]
		if again = again || j.running() > j.Groups.PodSets[0].MinAvailable; j.running() < len(j.Tasks) {
			wait++
		}
	}
	if again || wait > 1 {
		return countedOnce
	}
	return ""
}

// judgeSearch notes what is wrong with a step of KAI's own search.
func judgeSearch(step *sessions.Step, config preemption.Config, on *judge.Floor, r *recorded.Report) {
	for _, err := range []error{judge.Victims(step, config), on.Follow(step)} {
		if err != nil {
			r.Differences = append(r.Differences, recorded.Difference{What: "what the judge finds wrong with " + step.Group, Got: []string{err.Error()}})
		}
	}
}

// sameMoves reports whether the pods that have moved are those recorded.
func sameMoves(on *judge.Floor, want []moved) bool {
	got := on.Moved()
	slices.SortFunc(got, compareTasks)
	return slices.Equal(got, names(want))
}
