package model

import (
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption/safe"
)

// Safe is until when a workload that runs keeps its place, at the time of the slider.
type Safe struct {
	Outcome safe.Outcome `json:"outcome"`
	// Short is the answer in a cell, Words in a sentence.
	Short string `json:"short"`
	Words string `json:"words"`
}

// maxSafe is the most decisions about one workload: what takes more is unknown, and the page stays quick.
const maxSafe = 2000

// Safe answers about a workload that runs. It fails if none does.
func (m *Model) Safe(id string) (s Safe, err error) {
	v := m.ensure()
	if v.asker == nil {
		if v.asker, err = safe.New(m.now.Preemptor, m.now.Snapshot, safe.Options{Now: m.at, MaxDecisions: maxSafe, OnNodes: m.now.OnNodes()}); err != nil {
			return s, answers.Faults(err)
		}
	}
	a, err := v.asker.Until(id)
	if err != nil {
		return s, answers.Faults(err)
	}
	return Safe{a.Outcome, answers.SafeFor(a.Outcome, a.At, m.at), m.now.SafeWords(a, m.at)}, nil
}
