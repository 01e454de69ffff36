package kueue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// reach says which answers an object bears on. The zero value: none.
type reach struct {
	all                   bool
	cohorts               bool   // all queues in a cohort
	queue, cohort         string // their trees
	workload              string // that waits
	local                 string // workloads that wait in the LocalQueue
	namespace             string // workloads that wait in the namespace
	check                 string // the queues that name the AdmissionCheck
	flavor, topology, use string // the queues that have the flavor, the topology, or use the PreemptionConfig
}

func (c *ClusterQueue) reach() reach {
	return reach{queue: c.Metadata.Name, cohort: cmp.Or(c.Spec.CohortName, c.Spec.Cohort)}
}
func (c *Cohort) reach() reach           { return reach{cohort: c.Metadata.Name} }
func (l *LocalQueue) reach() reach       { return reach{local: l.Metadata.ID()} }
func (f *ResourceFlavor) reach() reach   { return reach{flavor: f.Metadata.Name} }
func (t *Topology) reach() reach         { return reach{topology: t.Metadata.Name} }
func (n *Namespace) reach() reach        { return reach{} }
func (c *AdmissionCheck) reach() reach   { return reach{check: c.Metadata.Name} }
func (l *LimitRange) reach() reach       { return reach{namespace: l.Metadata.Namespace} }
func (p *PreemptionConfig) reach() reach { return reach{use: p.Metadata.Name} }
func (p *PreemptionLimit) reach() reach  { return reach{all: true} }
func (c *Configuration) reach() reach    { return reach{all: true} }

// reach of a workload that holds quota is the tree in which it holds it; one of which even that is not
// known may hold it anywhere.
func (w *Workload) reach() reach {
	switch w.Stage() {
	case StageFinished:
		return reach{}
	case StagePending:
		r := reach{workload: w.Metadata.ID()}
		if _, err := w.check(); err != nil && w.Status.Admission != nil { // it may hold quota
			r.queue = w.Status.Admission.ClusterQueue
		}
		return r
	case StageAdmitted:
		return reach{queue: w.Status.Admission.ClusterQueue}
	}
	return reach{all: true}
}

// LeaveOut keeps what is known of an object that cannot be read, in place of an earlier one: what it holds
// still counts as far as it can be known, and what depends on the object is in doubt. everywhere says that
// not even that is known on which answers it bears.
func (o *Objects) LeaveOut(one Object, why error, everywhere bool) {
	e, _ := one.read()
	if e == nil {
		e = new(entry)
	}
	e.standIn(one, why)
	if everywhere {
		if _, runs := one.(*Workload); runs {
			e.reach.all = true
		} else {
			e.reach.cohorts = true
		}
	}
	o.kept.Put(one.key(), e)
}

// standIn makes the entry one of an object that cannot be read.
func (e *entry) standIn(one Object, why error) {
	e.object, e.unread, e.reach = one.key(), why, one.reach()
	switch v := e.value.(type) {
	case bridge.Pending:
		v.Unresolved, e.work.local = fmt.Sprintf("%s cannot be read: %v", e.object, why), ""
		e.value = v
	case rules.Config, limits.Limit: // a part of one may permit more than the whole
		e.value = nil
	}
	if _, is := one.(*Configuration); is {
		e.sharing = sharing{} // it does not say that there is none
	}
}

// doubt says what is not known of the object.
func (b *builder) doubtEntry(e *entry) {
	if e.unread != nil { // Add or the reader said it
		b.doubtReach(e.reach, bridge.Note{Object: e.object, Text: fmt.Sprintf("%s cannot be read: %v", e.object, e.unread)})
	}
	for _, f := range e.faults {
		n := bridge.Note{Object: e.object, Path: f.Path, Text: fmt.Sprintf("%s: %s %s", e.object, f.Path, f.Text)}
		b.c.Notes = append(b.c.Notes, n)
		if !f.Harmless {
			b.doubt(e.reach, bridge.Doubt{Note: n, OnlyYes: f.OnlyYes})
		}
	}
}

// doubtReach adds a doubt for all answers that something bears on.
func (b *builder) doubtReach(r reach, n bridge.Note) { b.doubt(r, bridge.Doubt{Note: n}) }

func (b *builder) doubt(r reach, of bridge.Doubt) {
	add := func(d bridge.Doubt) {
		d.Note, d.OnlyYes, d.NotInInput = of.Note, of.OnlyYes, of.NotInInput
		b.c.Doubts = append(b.c.Doubts, d)
	}
	if r.all {
		add(bridge.Doubt{})
		return
	}
	for i := range b.c.State.Cohorts {
		if c := &b.c.State.Cohorts[i]; r.cohorts && c.Parent == "" {
			add(bridge.Doubt{Cohort: c.Name})
		}
	}
	if r.queue+r.cohort != "" {
		add(bridge.Doubt{Queue: r.queue, Cohort: r.cohort})
	}
	if r.workload != "" {
		add(bridge.Doubt{Workload: r.workload})
	}
	for i := range b.c.Pending {
		p := &b.c.Pending[i]
		if r.local != "" && p.Workload.LocalQueue == r.local || r.namespace != "" && strings.HasPrefix(p.Workload.ID, r.namespace+"/") {
			add(bridge.Doubt{Workload: p.Workload.ID})
		}
	}
	if r.flavor+r.topology+r.use+r.check == "" {
		return
	}
	for i := range b.c.State.Queues {
		q := &b.c.State.Queues[i]
		has := func(e quota.Quota) bool {
			return e.Flavor == r.flavor && r.flavor != "" || r.topology != "" && b.c.Topologies[e.Flavor] == r.topology
		}
		names := func(c AdmissionCheckRule) bool { return c.Name == r.check }
		if q.Rules == r.use && r.use != "" || slices.ContainsFunc(q.Quotas, has) || slices.ContainsFunc(b.queues[q.Name].checks, names) {
			add(bridge.Doubt{Queue: q.Name})
		}
	}
}

// doubtInvalid adds a note and a doubt about what a snapshot would refuse.
func (b *builder) doubtInvalid(object string, r reach, err error) {
	err = inWords(err, b.quotaPaths[object], "status.admission.podSetAssignments")
	n := bridge.Note{Object: object, Text: fmt.Sprintf("%s: %v: left out", object, err)}
	b.c.Notes = append(b.c.Notes, n)
	b.later = append(b.later, func() { b.doubtReach(r, n) })
}

// leaveOutInvalid replaces, with a note, each object that would make NewSnapshot refuse the whole state: a
// queue without quota stands for a queue, so that what runs there keeps its room. No API server stores
// such an object, but a file may hold it.
func (b *builder) leaveOutInvalid() {
	st := &b.c.State
	for i := range st.Cohorts {
		if c := &st.Cohorts[i]; validCohort(*c) != nil {
			b.doubtInvalid("Cohort "+c.Name, reach{cohort: c.Name}, validCohort(*c))
			*c = queue.Cohort{Name: c.Name, Parent: c.Parent}
		}
	}
	b.cutCycles()
	for i := range st.Queues {
		if q := &st.Queues[i]; validQueue(*q) != nil {
			b.doubtInvalid("ClusterQueue "+q.Name, reach{queue: q.Name, cohort: q.Cohort}, validQueue(*q))
			*q = queue.Queue{Name: q.Name, Cohort: q.Cohort, Inactive: q.Inactive}
		}
	}
	st.Admitted = slices.DeleteFunc(st.Admitted, func(w workload.Workload) bool {
		err := workload.Validate("workload", &w)
		if err != nil {
			b.doubtInvalid("Workload "+w.ID, reach{queue: w.Queue}, err)
		}
		return err != nil
	})
	for i := range b.c.Pending {
		p := &b.c.Pending[i]
		if err := validPending(&p.Workload); err != nil {
			err = inWords(err, nil, "spec.podSets")
			b.doubtInvalid("Workload "+p.Workload.ID, reach{workload: p.Workload.ID}, err)
			p.Unresolved, b.waits[i].local = fmt.Sprintf("Workload %s cannot be read: %v", p.Workload.ID, err), ""
			p.Workload = workload.Workload{ID: p.Workload.ID, LocalQueue: p.Workload.LocalQueue}
		}
	}
}
