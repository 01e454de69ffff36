package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/quota"
)

// Summary is what the page shows of the whole.
type Summary struct {
	Name     string     `json:"name"`
	Now      time.Time  `json:"now"` // where the slider begins
	At       time.Time  `json:"at"`
	Seconds  float64    `json:"seconds"` // At after Now
	Cohorts  int        `json:"cohorts"`
	Queues   int        `json:"queues"`
	Running  int        `json:"running"`
	Pending  int        `json:"pending"`
	Columns  []string   `json:"columns"`
	Legend   []Range    `json:"legend"`
	Notes    []string   `json:"notes"`
	Edits    []EditText `json:"edits"`
	Fair     bool       `json:"fair"`
	Selected string     `json:"selected"`
}

// EditText is an edit to be read and taken back.
type EditText struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// Summary returns the whole in short.
func (m *Model) Summary() Summary {
	s := Summary{
		Name: title(m.doc.Name), Now: m.doc.Now.UTC(), At: m.at.UTC(), Seconds: m.at.Sub(m.doc.Now).Seconds(), Running: m.doc.running(),
		Pending: len(m.now.waiting), Notes: append([]string{}, m.doc.Notes...), Columns: []string{}, Edits: []EditText{},
		Fair: m.now.Config.Sharing == preemption.Fair, Selected: m.doc.Selected,
	}
	for _, n := range m.nodes {
		if n.Cohort {
			s.Cohorts++
		} else {
			s.Queues++
		}
	}
	for _, c := range m.Columns() {
		s.Columns = append(s.Columns, c.String())
	}
	s.Legend = m.ranges()
	for _, e := range m.doc.Edits {
		s.Edits = append(s.Edits, EditText{e.Key(), e.Text()})
	}
	return s
}

// Times is the time slider.
type Times struct {
	Seconds float64     `json:"seconds"` // how far it goes
	Marks   []TimesMark `json:"marks"`
}

// TimesMark is a mark with its place.
type TimesMark struct {
	Mark
	Seconds float64 `json:"seconds"` // after the beginning
}

// Times returns the slider.
func (m *Model) Times() Times {
	t := Times{Seconds: m.Span().Seconds(), Marks: []TimesMark{}}
	for _, k := range m.Marks() {
		t.Marks = append(t.Marks, TimesMark{k, k.At.Sub(m.doc.Now).Seconds()})
	}
	return t
}

// arguments are those of all calls; each reads its own.
type arguments struct {
	Choice
	Folded  []string  `json:"folded"` // cohorts
	Column  int       `json:"column"`
	From    int       `json:"from"`
	To      int       `json:"to"`
	After   bool      `json:"after"`
	Own     bool      `json:"own"`  // each cohort has a scale of its own
	Tree    bool      `json:"tree"` // only the tree of the selected workload
	Cohort  bool      `json:"cohort"`
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Key     string    `json:"key"`
	Most    int       `json:"most"`
	Seconds float64   `json:"seconds"`
	At      time.Time `json:"at"`
	Edits   []Edit    `json:"edits"`
	Way     int       `json:"way"` // its number in the explanation
	Queue   string    `json:"queue"`
	Each    string    `json:"each"` // what a replica takes
	// Replicas and Priority are those of a new workload.
	Replicas int64 `json:"replicas"`
	Priority int64 `json:"priority"`
}

var calls = map[string]func(*Model, *arguments) (any, error){
	"summary": func(m *Model, _ *arguments) (any, error) { return m.Summary(), nil },
	"rows": func(m *Model, a *arguments) (any, error) {
		var column quota.FlavorResource
		if all := m.Columns(); a.Column >= 0 && a.Column < len(all) {
			column = all[a.Column]
		}
		return m.Rows(column, a.After, a.Own, m.part(a), a.From, a.To), nil
	},
	"index": func(m *Model, a *arguments) (any, error) {
		return slices.IndexFunc(m.listed(m.part(a)), func(i int) bool {
			return m.nodes[i].String() == a.Name
		}), nil
	},
	"place": func(m *Model, a *arguments) (any, error) {
		return slices.IndexFunc(m.pendingList(a.Choice), func(i int) bool { return m.now.waiting[i].Workload.ID == m.doc.Selected }), nil
	},
	"pending":    func(m *Model, a *arguments) (any, error) { return m.Pending(a.Choice, a.From, a.To), nil },
	"ask":        func(m *Model, _ *arguments) (any, error) { return m.Ask(), nil },
	"settlement": func(m *Model, _ *arguments) (any, error) { return m.Settlement(), nil },
	"steps":      func(m *Model, _ *arguments) (any, error) { return m.Steps(), nil },
	"times":      func(m *Model, _ *arguments) (any, error) { return m.Times(), nil },
	"work":       func(m *Model, a *arguments) (any, error) { return m.Work(a.Most), nil },
	"safe":       func(m *Model, a *arguments) (any, error) { return m.Safe(a.ID) },
	"node":       func(m *Model, a *arguments) (any, error) { return m.Node(a.Cohort, a.Name) },
	"rules":      func(m *Model, _ *arguments) (any, error) { return m.Rules(), nil },
	"select":     func(m *Model, a *arguments) (any, error) { return nil, m.Select(a.ID) },
	"set":        func(m *Model, a *arguments) (any, error) { return nil, m.changeTo(a.Edits) },
	"add":        func(m *Model, a *arguments) (any, error) { return m.Add(a.Queue, a.Each, a.Replicas, a.Priority) },
	"queues":     func(m *Model, _ *arguments) (any, error) { return m.Queues(), nil },
	"unset":      func(m *Model, a *arguments) (any, error) { return nil, m.Unset(a.Key) },
	"way":        func(m *Model, a *arguments) (any, error) { return nil, m.take(a.Way) },
	"document":   func(m *Model, _ *arguments) (any, error) { return m.Document(), nil },
	"move": func(m *Model, a *arguments) (any, error) {
		if at := a.At; !at.IsZero() {
			m.MoveTo(at)
		} else {
			m.MoveTo(m.doc.Now.Add(time.Duration(min(max(a.Seconds, 0), mostSpan.Seconds()) * float64(time.Second))))
		}
		return nil, nil
	},
}

// Call makes a call of the page: a name and its arguments as JSON. So is what it returns.
func (m *Model) Call(name string, data []byte) ([]byte, error) {
	call := calls[name]
	if call == nil {
		return nil, fmt.Errorf("there is no call %q", name)
	}
	var a arguments
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	result, err := call(m, &a)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// changeTo makes edits; one that says what holds without it takes back the edit before.
func (m *Model) changeTo(edits []Edit) error {
	list := slices.Clone(m.doc.Edits)
	for _, e := range edits {
		list = slices.DeleteFunc(list, func(o Edit) bool { return o.Key() == e.Key() && m.isSet(e) })
	}
	edits = slices.DeleteFunc(slices.Clone(edits), m.isSet)
	before := m.doc.Edits
	m.doc.Edits = list
	if err := m.Set(edits...); err != nil {
		m.doc.Edits = before
		return err
	}
	return nil
}

// take makes a change that the explanation proposes.
func (m *Model) take(number int) error {
	e := m.explanation()
	if e == nil || number < 0 || number >= len(e.Ways) {
		return fmt.Errorf("there is no change %d", number)
	}
	way := e.Ways[number]
	if way.Kind == explain.WayTime {
		m.MoveTo(way.At)
		return nil
	}
	return m.Set(editsOf(way, &m.selected().Workload, m.now.Snapshot)...)
}

// part is the part of the tree that a call is about.
func (m *Model) part(a *arguments) Part { return Part{a.Filter, m.rootOfSelected(a.Tree), a.Folded} }

// rootOfSelected is the root of the tree of the selected workload; empty if that does not
// matter.
func (m *Model) rootOfSelected(matters bool) string {
	if w := m.selected(); w != nil && matters {
		for _, n := range m.nodes {
			if !n.Cohort && n.Name == w.Workload.Queue {
				return n.Root
			}
		}
	}
	return ""
}
