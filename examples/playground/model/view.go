package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// view is what follows from the edits, the time and the selection. It is made when it is asked
// for.
type view struct {
	made      bool
	scales    map[scaleKey]map[string]float64
	kinds     map[kindsKey][]string
	filter    []int
	filterKey string
	columns   []quota.FlavorResource

	queue     string // of the selected workload
	decision  *preemption.Decision
	failed    string                       // why there is no decision
	victims   map[string]preemption.Victim // by ID
	short     map[answers.Node]bool        // where something is short
	after     *preemption.Snapshot         // after the decision; nil: nothing changes
	admitted  *workload.Workload           // then
	explained *explain.Explanation
	asker     *safe.Asker // nil: nothing was asked
	marks     []Mark
	marked    bool
}

// forget keeps only what does not depend on the time.
func (v *view) forget() { *v = view{marks: v.marks, marked: v.marked} }

// ensure makes the view.
func (m *Model) ensure() *view {
	v := &m.view
	if v.made {
		return v
	}
	v.made = true
	v.scales, v.kinds = map[scaleKey]map[string]float64{}, map[kindsKey][]string{}
	v.victims, v.short = map[string]preemption.Victim{}, map[answers.Node]bool{}
	w := m.selected()
	if w == nil {
		return v
	}
	v.queue = w.Workload.Queue
	if w.Unasked != "" {
		return v
	}
	var d preemption.Decision
	_, err := m.now.asked(m.now.index[m.doc.Selected])
	if err == nil {
		d, err = m.now.Preemptor.Decide(m.now.Snapshot, w.Request)
	}
	if err != nil {
		v.failed = answers.Faults(err).Error()
		return v
	}
	v.decision = &d
	for _, victim := range d.Victims {
		v.victims[victim.Workload] = victim
	}
	m.carryOut(v, w.Request)
	for _, s := range d.Shortage {
		if s.Cohort != "" {
			v.mark(m.nodes, true, s.Cohort)
		} else {
			v.mark(m.nodes, false, w.Workload.Queue)
		}
	}
	return v
}

func (v *view) mark(nodes []answers.Node, cohort bool, name string) {
	if i := slices.IndexFunc(nodes, func(n answers.Node) bool { return n.Cohort == cohort && n.Name == name }); i >= 0 {
		v.short[nodes[i]] = true
	}
}

// carryOut makes the snapshot in which the victims are gone and the workload runs.
func (m *Model) carryOut(v *view, r preemption.Request) {
	d := *v.decision
	if !d.Outcome.Possible() || r.HoldsQuota {
		return
	}
	var edits []preemption.Edit
	for _, victim := range d.Victims {
		edits = append(edits, preemption.Remove(victim.Workload, victim.Replicas...))
	}
	after, err := m.now.Snapshot.With(edits...)
	if err != nil {
		return
	}
	r.Workload = d.Assignment.Pin(r.Workload)
	r.Workload.NeverPreempts, r.NeedsPreemption, r.Continue, r.Room = true, nil, nil, nil // there is room without the victims
	then, err := m.now.Preemptor.Decide(after, r)
	if err != nil || then.Outcome != preemption.Fits {
		return
	}
	if after, err = after.With(then.Edits()...); err == nil {
		v.after, v.admitted = after, then.Admitted
	}
}

// selected returns the selected workload, nil for none.
func (m *Model) selected() *answers.Waiting {
	if i, ok := m.now.index[m.doc.Selected]; ok && m.doc.Selected != "" {
		return &m.now.waiting[i]
	}
	return nil
}

// printer writes amounts as the other programs do.
var printer = explain.Printer{Amount: units.Amount, Width: -1}

// explanation explains the decision about the selected workload; nil if there is none.
func (m *Model) explanation() *explain.Explanation {
	v := m.ensure()
	if v.explained == nil && v.decision != nil {
		if e, err := printer.Explain(m.now.Preemptor, m.now.Snapshot, m.selected().Request); err == nil {
			v.explained = &e
		}
	}
	return v.explained
}

// Step is a step of an explanation, with the changes that its lines propose, in the same order.
type Step struct {
	explain.Step
	Ways []explain.Way `json:"ways,omitempty"`
}

// Steps explains the decision about the selected workload. A step has the title under which it is shown.
func (m *Model) Steps() []Step {
	list := []Step{}
	e := m.explanation()
	if e == nil {
		return list
	}
	for i, s := range m.now.Steps(e) {
		shown := Step{Step: s}
		switch {
		case i == len(e.Steps)-1 && !e.Decision.Outcome.Succeeds():
			shown.Title, shown.Ways = s.Section, e.Ways
		case s.Title == "":
			shown.Title, shown.Lines = s.Lines[0], s.Lines[1:]
		case s.Section != "":
			shown.Title = s.Section + ": " + s.Title
		}
		list = append(list, shown)
	}
	return list
}

// Mark is an instant on the time slider.
type Mark struct {
	At time.Time `json:"at"`
	// Kind is retry (the selected workload can run), rule (a rule ends for some workload), or begins
	// (a waiting workload is considered, or may preempt).
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// maxMarks is the most marks on the slider.
const maxMarks = 200

// Marks returns the instants at which something changes for the selected workload, by time, as
// seen from the beginning.
func (m *Model) Marks() []Mark {
	v := m.ensure()
	if v.marked {
		return v.marks
	}
	v.marked, v.marks = true, []Mark{}
	add := func(at time.Time, kind, text string) {
		if at.After(m.doc.Now) {
			v.marks = append(v.marks, Mark{at.UTC(), kind, text})
		}
	}
	over := func(last time.Time, text string) { // a rule holds up to its last instant, and ends right after it
		if !last.IsZero() {
			add(last.Add(1), "rule", text)
		}
	}
	for i := range m.doc.Waiting {
		w := &m.doc.Waiting[i]
		add(w.PreemptsFrom, "begins", w.Request.Workload.ID+" may preempt")
		add(w.BackoffUntil, "begins", w.Request.Workload.ID+" is considered")
	}
	if w := m.selected(); w != nil && w.Unasked == "" {
		r := w.Request
		r.Now = m.doc.Now
		e, err := explain.Explain(m.now.Preemptor, m.now.Snapshot, r)
		if err == nil {
			if !e.Decision.RetryAt.IsZero() {
				add(e.Decision.RetryAt, "retry", w.Workload.ID+" can run (RetryAt)")
			}
			for _, b := range e.Decision.Blockers {
				over(b.Until, "until then "+b.Rule.String()+" keeps "+cmp.Or(b.Workload, "the candidates"))
			}
			for _, end := range e.Ends {
				over(end.From, "until then "+end.Rule.String()+" keeps all in "+end.Node)
				over(end.Last, "until then "+end.Rule.String()+" keeps some in "+end.Node)
			}
		}
	}
	first := m.now.settle()
	if !m.at.Equal(m.doc.Now) {
		first = m.now.settleAt(m.doc.Now)
	}
	add(first.RetryAt, "rule", "more workloads may leave (RetryAt)")
	slices.SortStableFunc(v.marks, func(a, b Mark) int { return a.At.Compare(b.At) })
	v.marks = slices.CompactFunc(v.marks, func(a, b Mark) bool { return a.At.Equal(b.At) && a.Kind == b.Kind })
	v.marks = v.marks[:min(len(v.marks), maxMarks)]
	return v.marks
}

// The least and the most that the slider goes over.
const (
	leastSpan = time.Hour
	mostSpan  = 90 * 24 * time.Hour
)

// Span is how far the time slider goes: past the last mark.
func (m *Model) Span() time.Duration {
	span := leastSpan
	for _, k := range m.Marks() {
		d := k.At.Sub(m.doc.Now)
		span = max(span, d+d/10)
	}
	span = max(span, m.at.Sub(m.doc.Now))
	return min(span, mostSpan)
}
