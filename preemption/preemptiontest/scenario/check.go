package scenario

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
)

// Source says how an answer was checked.
type Source string

const (
	// ByKueue: the victims are those that Kueue chose.
	ByKueue Source = "kueue"
	// ByDefinition: the victims are those that the scenario was made from.
	ByDefinition Source = "definition"
	// ByLaw: without the victims the request fits, and with any one of them in place it does
	// not.
	ByLaw Source = "law"
)

// Decide is the function under test.
type Decide func(*preemption.Snapshot, preemption.Request) (preemption.Decision, error)

// Check compares a decision about the scenario with everything that is known about the
// answer, and returns how it was checked.
func (s *Scenario) Check(mode Mode, snapshot *preemption.Snapshot, decide Decide, d preemption.Decision) (Source, error) {
	var ids []string
	for _, v := range d.Victims {
		if len(v.Replicas) > 0 {
			return "", fmt.Errorf("replicas of %s, which has no surplus", v.Workload)
		}
		ids = append(ids, v.Workload)
	}
	if d.Outcome != s.Outcome {
		return "", fmt.Errorf("%v with %d victims, want %v", d.Outcome, len(ids), s.Outcome)
	}
	source := ByLaw
	if slices.Contains(s.Defined, mode) {
		source = ByDefinition
		if !slices.Equal(ids, s.Victims) {
			return "", fmt.Errorf("victims %s; by definition %s", few(ids), few(s.Victims))
		}
	}
	if a := s.Kueue[mode]; a != nil {
		source = ByKueue
		if !a.is(ids) {
			return "", fmt.Errorf("victims %s; Kueue took %d %s", few(ids), a.Victims, few(a.Names))
		}
	}
	if source == ByLaw {
		return source, s.lawful(snapshot, decide, ids)
	}
	return source, nil
}

// lawful checks that the victims are enough and that each is needed.
func (s *Scenario) lawful(snapshot *preemption.Snapshot, decide Decide, ids []string) error {
	without, err := snapshot.With(removals(ids)...)
	if err != nil {
		return err
	}
	if d, err := decide(without, s.Request); err != nil || d.Outcome != preemption.Fits {
		return fmt.Errorf("with all %d victims gone: %v %v", len(ids), d.Outcome, err)
	}
	for i, id := range ids {
		spared, err := snapshot.With(removals(slices.Delete(slices.Clone(ids), i, i+1))...)
		if err != nil {
			return err
		}
		if d, err := decide(spared, s.Request); err != nil || d.Outcome == preemption.Fits {
			return fmt.Errorf("%s need not yield: %v %v", id, d.Outcome, err)
		}
	}
	return nil
}

func removals(ids []string) []preemption.Edit {
	edits := make([]preemption.Edit, len(ids))
	for i, id := range ids {
		edits[i] = preemption.Remove(id)
	}
	return edits
}

// few is a list that may be long, for a message.
func few(ids []string) string {
	const most = 5
	if len(ids) > most {
		return fmt.Sprintf("%v and %d more", ids[:most], len(ids)-most)
	}
	return fmt.Sprint(ids)
}
