// Package model is what the page knows and answers, without a browser: a document, its edits,
// the time on the slider, and what of it is in view. Every answer is that of the library.
package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Model is a document that is being looked at. Make it with [New].
type Model struct {
	doc    Document
	at     time.Time
	origin *side          // without edits
	now    *side          // with them
	nodes  []answers.Node // in the order of the tree
	view   view

	running map[string][]*workload.Workload // by queue, without edits
	without []int64                         // the priorities of what runs, without edits; nil: not looked at yet
	legend  []band                          // of priorities, lowest first; nil: not made yet
}

// side is the cluster with or without the edits, at the time of the slider.
type side struct {
	answers.Cluster
	source  []Waiting // of the document, with the edits
	waiting []answers.Waiting
	placed  []bool                       // by waiting: it has its room on nodes
	rooms   *rooms.OnNodes               // those of the document
	index   map[string]int               // of waiting, by ID
	said    []answers.Short              // by waiting; no outcome: not asked yet
	settled *settled                     // nil: not asked yet
	next    int                          // the first that may not be asked yet
	changed map[string]workload.Workload // who runs and was edited
	rules   []rules.Config               // before some are switched off
}

// New makes a model. It fails if the state or an edit is not valid.
func New(d Document) (*Model, error) {
	d.Version = version
	if d.Now.IsZero() {
		return nil, errors.New("the document has no time")
	}
	snapshot, err := preemption.NewSnapshot(d.State)
	if err != nil {
		return nil, answers.Faults(err)
	}
	m := &Model{doc: d, at: d.Now}
	if d.At.After(d.Now) {
		m.at = d.At
	}
	m.origin = &side{Cluster: answers.Cluster{Snapshot: snapshot, Config: configOf(d)}, source: d.Waiting, rooms: rooms.All(d.Nodes)}
	m.origin.State.FairShares = d.State.FairShares
	if m.origin.Preemptor, err = preemption.New(m.origin.Config); err != nil {
		return nil, err
	}
	m.origin.ask(m.at)
	m.nodes = answers.Tree(snapshot)
	if err := m.rebuild(d.Edits); err != nil {
		return nil, err
	}
	if _, ok := m.now.index[d.Selected]; !ok {
		m.doc.Selected = ""
	}
	return m, nil
}

func configOf(d Document) preemption.Config {
	c := preemption.Config{MaxBlockers: answers.MaxBlockers, Limits: d.Limits}
	switch {
	case !d.State.FairShares.IsZero():
		c.Sharing = preemption.KAI
	case d.Fair:
		c.Sharing, c.Strategies = preemption.Fair, d.Strategies
	}
	return c
}

// ask begins to ask at a time: nothing is answered yet.
func (s *side) ask(at time.Time) {
	queues := map[string]bool{}
	for q := range s.Snapshot.Queues() {
		queues[q.Name] = true
	}
	s.Now, s.settled = at, nil
	s.waiting = waitingAt(s.source, queues, at)
	s.Line(s.waiting)
	s.said, s.placed, s.next = make([]answers.Short, len(s.waiting)), make([]bool, len(s.waiting)), 0
	s.index = make(map[string]int, len(s.waiting))
	for i := range s.waiting {
		s.index[s.waiting[i].Workload.ID] = i
	}
}

// asked returns a workload that waits with its room on nodes.
func (s *side) asked(i int) (*answers.Waiting, error) {
	w := &s.waiting[i]
	if !s.placed[i] {
		if err := s.rooms.Place(w); err != nil {
			return w, answers.Faults(err)
		}
		s.placed[i] = true
	}
	return w, nil
}

// short answers about a waiting workload in a few words, once.
func (s *side) short(i int) *answers.Short {
	if s.said[i].Outcome == "" {
		w, err := s.asked(i)
		if err == nil {
			s.said[i], err = s.Shorten(w)
		}
		if err != nil {
			s.said[i] = answers.Short{Outcome: "Unknown", Words: "unknown: " + err.Error()}
		}
	}
	return &s.said[i]
}

// work asks about up to so many workloads that were not asked about yet, and reports how many
// are left.
func (s *side) work(most int) (left int) {
	for ; s.next < len(s.waiting) && most > 0; s.next++ {
		if s.said[s.next].Outcome == "" {
			s.short(s.next)
			most--
		}
	}
	return len(s.waiting) - s.next
}

// rebuild applies edits to the document.
func (m *Model) rebuild(edits []Edit) error {
	o := &overlay{
		origin: m.origin.Snapshot, queues: map[string]queue.Queue{}, cohorts: map[string]queue.Cohort{},
		running: map[string]workload.Workload{}, waiting: slices.Clone(m.doc.Waiting), cloned: map[string]bool{},
		index: make(map[string]int, len(m.doc.Waiting)), config: configOf(m.doc),
		rules: ruleEdits{list: m.doc.State.Rules, changed: map[string]bool{}}, now: m.doc.Now, shares: m.doc.State.FairShares,
	}
	for i := range o.waiting {
		o.index[o.waiting[i].Request.Workload.ID] = i
	}
	for _, e := range edits {
		if err := o.apply(e); err != nil {
			return fmt.Errorf("%s: %w", e.Text(), err)
		}
	}
	ofRules, all, err := o.rules.edits(m.origin.Snapshot)
	if err != nil {
		return err
	}
	snapshot, err := m.origin.Snapshot.With(append(o.edits(), ofRules...)...)
	if err != nil {
		return answers.Faults(err)
	}
	next := &side{Cluster: answers.Cluster{Snapshot: snapshot, Config: o.config}, source: o.waiting, changed: o.running, rules: all, rooms: m.origin.rooms}
	next.State.FairShares = o.shares
	if next.Preemptor, err = preemption.New(o.config); err != nil {
		return err
	}
	next.ask(m.at)
	if len(edits) == 0 {
		next.said = m.origin.said // the same questions in the same order
	}
	m.now, m.doc.Edits, m.legend = next, edits, nil
	m.view = view{}
	return nil
}

func (o *overlay) edits() (edits []preemption.Edit) {
	for _, c := range sorted(o.cohorts) {
		edits = append(edits, preemption.SetCohort(c))
	}
	for _, q := range sorted(o.queues) {
		edits = append(edits, preemption.SetQueue(q))
	}
	for _, w := range sorted(o.running) {
		edits = append(edits, preemption.Admit(w))
	}
	if !o.shares.IsZero() {
		edits = append(edits, preemption.SetFairShares(o.shares))
	}
	return edits
}

// sorted returns the values of a map by their keys.
func sorted[V any](m map[string]V) (list []V) {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		list = append(list, m[k])
	}
	return list
}

// Set makes edits, each in the place of an earlier one of the same thing. If one of them is not
// valid nothing changes.
func (m *Model) Set(edits ...Edit) error {
	list := slices.Clone(m.doc.Edits)
	for _, e := range edits {
		if i := slices.IndexFunc(list, func(o Edit) bool { return o.Key() == e.Key() }); i >= 0 {
			list[i] = e
		} else {
			list = append(list, e)
		}
	}
	return m.rebuild(list)
}

// Unset takes back the edits with a key; all if it is empty.
func (m *Model) Unset(key string) error {
	if err := m.rebuild(without(m.doc.Edits, key)); err != nil {
		return err
	}
	if _, waits := m.now.index[m.doc.Selected]; !waits {
		m.doc.Selected = ""
	}
	return nil
}

// MoveTo sets the time. A time before that of the document is that of the document.
func (m *Model) MoveTo(at time.Time) {
	if at.Before(m.doc.Now) {
		at = m.doc.Now
	}
	if at.Equal(m.at) {
		return
	}
	m.at = at
	m.origin.ask(at)
	m.now.ask(at)
	if len(m.doc.Edits) == 0 {
		m.now.said = m.origin.said
	}
	m.view.forget()
}

// Select chooses the waiting workload that is shown; empty for none.
func (m *Model) Select(id string) error {
	if _, ok := m.now.index[id]; !ok && id != "" {
		return fmt.Errorf("no workload %q waits", id)
	}
	m.doc.Selected = id
	m.view = view{}
	return nil
}

// Document returns the document with its edits, the selection and the time.
func (m *Model) Document() Document {
	d := m.doc
	d.At = time.Time{}
	if m.at.After(d.Now) {
		d.At = m.at
	}
	return d
}

// JSON returns [Model.Document] as it travels.
func (m *Model) JSON() ([]byte, error) { return json.Marshal(m.Document()) }

// columns lists what the queues and cohorts have quota for, by flavor and resource.
func columns(s *preemption.Snapshot) (list []quota.FlavorResource) {
	add := func(quotas []quota.Quota) {
		for i := range quotas {
			fr := quotas[i].FlavorResource()
			if at, found := slices.BinarySearchFunc(list, fr, quota.FlavorResource.Compare); !found {
				list = slices.Insert(list, at, fr)
			}
		}
	}
	for c := range s.Cohorts() {
		add(c.Quotas)
	}
	for q := range s.Queues() {
		add(q.Quotas)
	}
	return list
}

// compareRunning orders the blocks of a queue: higher priority first, then the longest running.
func compareRunning(a, b *workload.Workload) int {
	return cmp.Or(cmp.Compare(b.EffectivePriority(), a.EffectivePriority()), a.ReservedAt.Compare(b.ReservedAt), cmp.Compare(a.ID, b.ID))
}
