package model

import (
	"slices"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
)

// telling are outcomes, that which shows most first: victims, then why none yields yet.
var telling = []string{
	preemption.Preempt.String(), preemption.Gated.String(), preemption.Wait.String(), preemption.Impossible.String(), preemption.Fits.String(),
	answers.Unknown, answers.Held,
}

// SelectTelling selects, if no workload is, one of the first so many that wait: that with the most telling outcome, of those the
// one of the highest priority, of those the first of the list.
func (m *Model) SelectTelling(most int) {
	best, rank := -1, 0
	if m.selected() != nil {
		return
	}
	for i := range min(most, len(m.now.waiting)) {
		r := slices.Index(telling, m.now.short(i).Outcome)
		higher := best >= 0 && m.now.waiting[i].Workload.EffectivePriority() > m.now.waiting[best].Workload.EffectivePriority()
		if best < 0 || r < rank || r == rank && higher {
			best, rank = i, r
		}
	}
	if best >= 0 {
		m.doc.Selected, m.view = m.now.waiting[best].Workload.ID, view{}
	}
}
