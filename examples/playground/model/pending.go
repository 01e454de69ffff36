package model

import (
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
)

// PendingRow is a waiting workload in the list.
type PendingRow struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Queue    string `json:"queue"`
	Position int    `json:"position,omitempty"`
	Priority int64  `json:"priority"`
	Colour   int    `json:"colour"`
	Waits    string `json:"waits"`
	Outcome  string `json:"outcome"`
	Words    string `json:"words"`
	// Change is better, worse or other if the edits change the answer, and Before what it was.
	Change string `json:"change,omitempty"`
	Before string `json:"before,omitempty"`
}

// Pending is a part of the list of waiting workloads.
type Pending struct {
	Total int          `json:"total"`
	Rows  []PendingRow `json:"rows"`
}

// Pending returns rows of the list of waiting workloads: those with a text in their name or
// queue, or only those whose answer the edits change.
func (m *Model) Pending(filter string, changed bool, from, to int) Pending {
	list := m.pendingList(filter, changed)
	out := Pending{Total: len(list), Rows: []PendingRow{}}
	for i := max(0, from); i < min(to, len(list)); i++ {
		w := &m.now.waiting[list[i]]
		s := m.now.short(list[i])
		r := PendingRow{
			Index: i, ID: w.Workload.ID, Queue: w.Workload.Queue, Position: w.Position, Priority: w.Workload.EffectivePriority(),
			Colour: m.colourOf(w.Workload.EffectivePriority()), Waits: units.Age(m.at, w.Workload.Queued), Outcome: s.Outcome, Words: s.Words,
		}
		if was := m.before(w.Workload.ID, true); was != nil && len(m.doc.Edits) > 0 {
			if r.Change = answers.ChangeOf(was, s); r.Change != "" {
				r.Before = was.Words
			}
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// before returns the answer without the edits. If it may not ask, it returns nil where that is
// not known yet.
func (m *Model) before(id string, ask bool) *answers.Short {
	i, ok := m.origin.index[id]
	switch {
	case !ok, !ask && m.origin.said[i].Outcome == "":
		return nil
	}
	return m.origin.short(i)
}

func (m *Model) pendingList(filter string, changed bool) (list []int) {
	filter = strings.ToLower(filter)
	for i := range m.now.waiting {
		w := &m.now.waiting[i].Workload
		if !strings.Contains(strings.ToLower(w.ID), filter) && !strings.Contains(strings.ToLower(w.Queue), filter) {
			continue
		}
		if changed && m.change(i) == "" {
			continue
		}
		list = append(list, i)
	}
	return list
}

// change says how the edits change an answer, as far as both are known.
func (m *Model) change(i int) string {
	if len(m.doc.Edits) == 0 || m.now.said[i].Outcome == "" {
		return ""
	}
	was := m.before(m.now.waiting[i].Workload.ID, false)
	if was == nil {
		return ""
	}
	return answers.ChangeOf(was, &m.now.said[i])
}

// Tally counts the answers so far.
type Tally struct {
	Left     int            `json:"left"` // workloads that were not asked about yet
	Outcomes map[string]int `json:"outcomes"`
	Better   int            `json:"better"`
	Worse    int            `json:"worse"`
	Other    int            `json:"other"`
}

// Work asks about up to so many workloads that were not asked about yet, and counts.
func (m *Model) Work(most int) Tally {
	t := Tally{Outcomes: map[string]int{}}
	if t.Left = m.now.work(most); len(m.doc.Edits) > 0 {
		t.Left = max(t.Left, m.origin.work(most))
	}
	for i := range m.now.said {
		if o := m.now.said[i].Outcome; o != "" {
			t.Outcomes[o]++
		}
		switch m.change(i) {
		case "better":
			t.Better++
		case "worse":
			t.Worse++
		case "other":
			t.Other++
		}
	}
	return t
}
