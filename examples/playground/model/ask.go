package model

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Answer is the decision about the selected workload, with facts for the reader.
type Answer struct {
	Workload string `json:"workload"`
	Queue    string `json:"queue"`
	// Priority is the one that the slider sets, without the boost; Least and Most are its ends.
	Priority int64  `json:"priority"`
	Least    int64  `json:"least"`
	Most     int64  `json:"most"`
	PodSets  []Pods `json:"podSets"`
	Outcome  string `json:"outcome"` // of the decision; Held or Unknown without one
	Words    string `json:"words"`
	// Before is the answer without the edits; nil: there are none, or the workload is new.
	Before *Said `json:"before,omitempty"`
	// Notes are those about the workload, and those about the input that name it, its queue or a cohort above.
	Notes   []string  `json:"notes,omitempty"`
	Victims []Yields  `json:"victims,omitempty"`
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Column is the one that is short, or that in which the workload fits the fewest times.
	Column   int  `json:"column"`
	HasAfter bool `json:"hasAfter"`
	// Decision is that of the library; absent if there is none.
	Decision *preemption.Decision `json:"decision,omitempty"`
}

// Said is an answer in words.
type Said struct {
	Outcome string `json:"outcome"`
	Words   string `json:"words"`
}

// Pods is a pod set of the selected workload.
type Pods struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Was   int64  `json:"was"` // without the edits
	Asks  string `json:"asks"`
}

// Yields is a victim with facts for the reader.
type Yields struct {
	Workload string `json:"workload"`
	Queue    string `json:"queue"`
	Reason   string `json:"reason"`
	Priority int64  `json:"priority"`
	Runs     string `json:"runs"`               // how long
	Frees    string `json:"frees"`              // of the column
	Replicas string `json:"replicas,omitempty"` // that yield alone
	Leaving  bool   `json:"leaving,omitempty"`  // it was told to leave before
	Rules    string `json:"rules,omitempty"`    // that accept it
	Order    int    `json:"order"`
}

// Ask decides about the selected workload. It returns nil if none is.
func (m *Model) Ask() *Answer {
	w := m.selected()
	if w == nil {
		return nil
	}
	v := m.ensure()
	a := &Answer{Workload: w.Workload.ID, Queue: w.Workload.Queue, Priority: w.Workload.Priority, Notes: m.notesOn(w), Before: m.saidBefore(w.Workload.ID), Decision: v.decision, HasAfter: v.after != nil, PodSets: []Pods{}}
	a.Least, a.Most = m.priorityRange(w.Workload.Priority)
	was := m.doc.waiting(w.Workload.ID)
	for i := range w.Workload.PodSets {
		p := &w.Workload.PodSets[i]
		pods := Pods{Name: p.Name, Count: p.Count, Was: p.Count, Asks: asks(p.Requests)}
		if was != nil && i < len(was.PodSets) {
			pods.Was = was.PodSets[i].Count
		}
		a.PodSets = append(a.PodSets, pods)
	}
	if v.failed != "" {
		a.Outcome, a.Words = answers.Unknown, "Nothing can be said: "+v.failed+"."
		return a
	}
	verdict := w.Verdict(v.decision)
	a.Outcome, a.Words = verdict.Outcome, sentences(verdict, v.decision, w.Request)
	if v.decision == nil {
		return a
	}
	a.RetryAt = v.decision.RetryAt
	a.Column = m.column(v.decision, &w.Workload)
	for _, x := range v.decision.Victims {
		a.Victims = append(a.Victims, m.yields(x, a.Column))
	}
	slices.SortStableFunc(a.Victims, func(x, y Yields) int { return x.Order - y.Order })
	return a
}

// sentences says a verdict, and what is decided all the same.
func sentences(v answers.Verdict, d *preemption.Decision, r preemption.Request) string {
	words := v.Sentence(d, &r)
	if d != nil {
		words = strings.TrimSpace(words + " " + v.Otherwise(d, &r))
	}
	return words
}

// saidBefore is the answer about a workload without the edits.
func (m *Model) saidBefore(id string) *Said {
	i, waits := m.origin.index[id]
	if !waits || len(m.doc.Edits) == 0 {
		return nil
	}
	w, err := m.origin.asked(i)
	if err != nil {
		return nil
	}
	var d *preemption.Decision
	if w.Unasked == "" {
		decided, err := m.origin.Preemptor.Decide(m.origin.Snapshot, w.Request)
		if err != nil {
			return nil
		}
		d = &decided
	}
	verdict := w.Verdict(d)
	return &Said{verdict.Outcome, sentences(verdict, d, w.Request)}
}

// notesOn returns the notes of a workload, and those of the document that name it, its queue or a cohort above.
func (m *Model) notesOn(w *answers.Waiting) []string {
	names := []string{w.Workload.ID, w.Workload.Queue}
	if q, ok := m.now.Snapshot.Queue(w.Workload.Queue); ok {
		for at := q.Cohort; at != "" && !slices.Contains(names[2:], at); {
			names = append(names, at)
			c, _ := m.now.Snapshot.Cohort(at)
			at = c.Parent
		}
	}
	list := slices.Clone(w.Notes)
	for _, note := range m.doc.Notes {
		if slices.ContainsFunc(names, func(name string) bool { return hasWord(note, name) }) && !slices.Contains(list, note) {
			list = append(list, note)
		}
	}
	return list
}

// hasWord reports whether a text has a name that is no part of a longer one.
func hasWord(text, name string) bool {
	word, err := regexp.Compile(`(?:^|[^-\w./])` + regexp.QuoteMeta(name) + `(?:[^-\w./]|\.?$|\.\s)`)
	return err == nil && name != "" && word.MatchString(text)
}

func (d *Document) waiting(id string) *workload.Workload {
	for i := range d.Waiting {
		if w := &d.Waiting[i].Request.Workload; w.ID == id {
			return w
		}
	}
	return nil
}

func asks(requests []quota.Amount) string {
	var parts []string
	for _, a := range requests {
		name := a.Resource
		if a.Flavor != "" {
			name = a.Flavor + "/" + name
		}
		parts = append(parts, units.Amount(a.Resource, a.Amount)+" "+name)
	}
	return strings.Join(parts, ", ")
}

// priorityRange is what the slider of priorities goes over: all priorities and a tenth more.
func (m *Model) priorityRange(own int64) (least, most int64) {
	least, most = min(0, own), own
	for w := range m.origin.waiting {
		least, most = min(least, m.origin.waiting[w].Workload.EffectivePriority()), max(most, m.origin.waiting[w].Workload.EffectivePriority())
	}
	if bands := m.bands(); len(bands) > 0 {
		least, most = min(least, bands[0].least), max(most, bands[len(bands)-1].most)
	}
	const exactInBrowser = 1 << 52
	margin := quota.Sub(most, least)/10 + 1
	return max(least, -exactInBrowser), min(quota.Add(most, margin), exactInBrowser)
}

// column is the number of the column to look at.
func (m *Model) column(d *preemption.Decision, w *workload.Workload) int {
	all := m.Columns()
	number := func(fr quota.FlavorResource) int { return slices.Index(all, fr) }
	for _, s := range d.Shortage {
		if i := number(s.FlavorResource); i >= 0 {
			return i
		}
	}
	pinned := d.Assignment.Pin(*w)
	rows, _ := m.now.Snapshot.QueueStatus(w.Queue)
	first, least := 0, math.Inf(1) // the column in which the workload would fit the fewest times
	for _, u := range pinned.Usage() {
		n := number(u.FlavorResource())
		if n < 0 || u.Amount == 0 {
			continue
		}
		for _, r := range rows {
			if r.FlavorResource != u.FlavorResource() {
				continue
			}
			if times := float64(r.Available) / float64(u.Amount); times < least {
				first, least = n, times
			}
		}
	}
	return first
}

// yields describes a victim, with what it frees of a column.
func (m *Model) yields(v preemption.Victim, column int) Yields {
	w, _ := m.now.Snapshot.Find(v.Workload)
	y := Yields{Workload: v.Workload, Queue: v.Queue, Reason: v.Reason.String(), Priority: w.EffectivePriority(), Runs: units.Age(m.at, w.ReservedAt), Rules: explain.RulesText(v.Rules), Leaving: v.Leaving, Order: v.Order}
	freed := w
	if len(v.Replicas) > 0 {
		freed.PodSets = nil
		for _, r := range v.Replicas {
			y.Replicas += fmt.Sprintf("%d of %s, ", r.Count, r.PodSet)
			for _, p := range w.PodSets {
				if p.Name == r.PodSet {
					p.Count = r.Count
					freed.PodSets = append(freed.PodSets, p)
				}
			}
		}
	}
	of := m.Columns()[column]
	y.Frees = units.Amount(of.Resource, usageOf(&freed, of))
	return y
}
