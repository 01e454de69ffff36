package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/workload"
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

// Choice says which waiting workloads are listed, and in which order.
type Choice struct {
	Filter  string `json:"filter"`  // a text in their name or queue
	Outcome string `json:"outcome"` // their answer, as far as it is known; empty: any
	Changed bool   `json:"changed"` // only those whose answer the edits change
	Order   string `json:"order"`   // name, queue, priority or answer; else: as they wait
}

// Pending returns rows of the list of waiting workloads.
func (m *Model) Pending(of Choice, from, to int) Pending {
	list := m.pendingList(of)
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

func (m *Model) pendingList(of Choice) (list []int) {
	filter := strings.ToLower(of.Filter)
	for i := range m.now.waiting {
		w := &m.now.waiting[i].Workload
		switch {
		case !strings.Contains(strings.ToLower(w.ID), filter) && !strings.Contains(strings.ToLower(w.Queue), filter):
		case of.Outcome != "" && m.now.said[i].Outcome != of.Outcome:
		case of.Changed && m.change(i) == "":
		default:
			list = append(list, i)
		}
	}
	if compare := m.orders()[of.Order]; compare != nil {
		slices.SortStableFunc(list, compare)
	}
	return list
}

// orders are the orders of the list; workloads that are equal in one stay as they wait.
func (m *Model) orders() map[string]func(i, j int) int {
	of := func(i int) *workload.Workload { return &m.now.waiting[i].Workload }
	rank := func(i int) int { // what was not asked yet comes last
		if at := slices.Index(telling, m.now.said[i].Outcome); at >= 0 {
			return at
		}
		return len(telling)
	}
	return map[string]func(i, j int) int{
		"name":     func(i, j int) int { return strings.Compare(of(i).ID, of(j).ID) },
		"queue":    func(i, j int) int { return strings.Compare(of(i).Queue, of(j).Queue) },
		"priority": func(i, j int) int { return cmp.Compare(of(j).EffectivePriority(), of(i).EffectivePriority()) },
		"answer":   func(i, j int) int { return rank(i) - rank(j) },
	}
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
