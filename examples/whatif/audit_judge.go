package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/history"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/workload"
)

// moment is the cluster at an instant of a history.
type moment struct {
	in answers.Input
	c  *cluster // the last that was made of it, with which the next shares what stays; nil: none
}

func newMoment() *moment { return &moment{in: answers.Following()} }

// after is the moment after changes.
func (m *moment) after(changes []byte) (*moment, error) {
	if len(changes) == 0 {
		return m, nil
	}
	in, err := m.in.Follow([]objects.Source{{Name: "the history", Reader: bytes.NewReader(changes)}}, func(*objects.Object) {})
	return &moment{in, m.c}, err
}

// cluster makes the moment ready to be asked.
func (m *moment) cluster(o *options, std stdio) (c *cluster, err error) {
	var before *preemption.Snapshot
	if m.c != nil {
		before = m.c.Snapshot
	}
	if c, err = newCluster(m.in, new(rooms.Nodes), o, std, before); err == nil {
		m.c = c
	}
	return c, err
}

// kueuePast is a history of Kueue.
type kueuePast struct {
	*auditor
	history *history.History
	player  *history.Player
	now     *moment
}

func (a *kueuePast) Span() (first, last time.Time) { return a.history.First, a.history.Last }

func (a *kueuePast) Evictions() []history.Eviction { return a.history.Evictions() }

func (a *kueuePast) Notes() []string {
	return append(slices.Clone(a.history.Notes), a.history.Gaps()...)
}

// Judge judges a preemption.
func (a *kueuePast) Judge(j *judged) error {
	at := a.player.At(&j.Eviction)
	next, err := a.now.after(at.Changes)
	if err != nil {
		return err
	}
	a.now = next
	j.Unknown = cmp.Or(j.Unknown, at.Unknown)
	if err := a.judge(j, next, &at); err != nil || j.Unknown != "" {
		return err
	}
	j.found = foundBy(j.Finding)
	return nil
}

// mostDoubtful is how many workloads may have held quota or not: each way is judged.
const mostDoubtful = 6

// judge judges a preemption in each of the clusters that the history leaves possible. What they differ in is unknown.
func (a *kueuePast) judge(j *judged, m *moment, at *history.Moment) error {
	if j.Unknown != "" {
		return nil
	}
	o := *a.o
	o.now = j.At
	c, err := m.cluster(&o, a.std)
	if err != nil {
		j.Unknown = err.Error()
		return nil
	}
	doubtful, err := near(c, j, at)
	if err != nil || j.Unknown != "" {
		return err
	}
	impossible := ""
	for world := range 1 << len(doubtful) {
		var changes []byte
		for i, d := range doubtful {
			if world>>i&1 == 1 {
				changes = append(changes, d.Text...)
			}
		}
		one, err := m.after(changes)
		if err != nil {
			return err
		}
		if one != m {
			if c, err = one.cluster(&o, a.std); err != nil {
				return err
			}
		}
		if why := overfull(c, j.Queue); why != "" {
			impossible = why
			continue
		}
		f, changed, err := a.find(c, &o, j, at)
		switch {
		case err != nil:
			return err
		case j.Unknown != "":
			return nil
		case f.Verdict == audit.NotEnough: // in this one nobody would have preempted
		case j.Finding == nil:
			j.Finding, j.Changed = f, changed
		case f.Verdict != j.Finding.Verdict:
			j.Unknown = fmt.Sprintf("%v or %v: it is not known what %s held then", j.Finding.Verdict, f.Verdict, namesOf(doubtful))
			return nil
		case f.Avoidable < j.Finding.Avoidable:
			j.Finding = f
		case changed != j.Changed:
			j.Changed = ""
		}
	}
	switch {
	case impossible != "" && (j.Finding == nil || (a.history.Skew == 0 || len(at.Reclaimed) > 0) && j.Finding.Verdict != audit.Right):
		j.Unknown = impossible
	case j.Finding == nil:
		j.Unknown = "even without the victims it does not fit: something was there, or decided, that the history does not have"
	}
	return nil
}

func namesOf(doubtful []history.Doubtful) string {
	var names []string
	for _, d := range doubtful {
		names = append(names, d.Workload)
	}
	return some(names)
}

// together makes one of workloads that may have given pods back. What is right whether all of a queue have or none, is right if some have:
// the more the preemptor's own queue holds, the less it may do; the less the others hold, the fewer of them may lose something, and
// the more easily something fits.
func together(list []history.Doubtful, of func(*history.Doubtful) bool) (one []history.Doubtful) {
	for i := range list {
		switch d := &list[i]; {
		case !of(d):
		case one == nil:
			one = []history.Doubtful{{Workload: d.Workload, Queue: d.Queue, Text: slices.Clone(d.Text)}}
		default:
			one[0].Workload += ", " + d.Workload
			one[0].Text = append(one[0].Text, d.Text...)
		}
	}
	return one
}

// near keeps of the workloads that may have held quota those in the tree of the preemptor's queue.
func near(c *cluster, j *judged, at *history.Moment) (kept []history.Doubtful, err error) {
	p := pendingOf(c, j.Preemptor)
	if p == nil {
		j.Unknown = cmp.Or(j.Unknown, "the preemptor cannot be read"+leftOut(j.Preemptor, &c.Input))
		return nil, nil
	}
	j.Queue = c.Standing(p, p.LocalNotes, answers.Namespace(p.Workload.ID)).Request.Workload.Queue
	in := treeOf(c, j.Queue)
	for _, name := range at.Unsure {
		kind, of, _ := strings.Cut(name, " ")
		switch ofTree := kind == "ClusterQueue" || kind == "Cohort"; {
		case ofTree && !in[of], kind == "LocalQueue" && answers.Namespace(of) != answers.Namespace(j.Preemptor):
		default:
			j.Unknown = cmp.Or(j.Unknown, name+" was changed, and the history does not say how it was or when")
		}
	}
	for _, d := range at.Doubtful {
		if c.findQueue(d.Queue) == nil || in[d.Queue] {
			kept = append(kept, d)
		}
	}
	for _, own := range []bool{true, false} {
		kept = append(kept, together(at.Reclaimed, func(d *history.Doubtful) bool { return in[d.Queue] && (d.Queue == j.Queue) == own })...)
	}
	if len(kept) > mostDoubtful {
		j.Unknown = fmt.Sprintf("it is not known what %s held then", namesOf(kept))
	}
	return kept, nil
}

func pendingOf(c *cluster, id string) *bridge.Pending {
	i := slices.IndexFunc(c.Found.Pending, func(p bridge.Pending) bool { return p.Workload.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Found.Pending[i]
}

// find judges a preemption in one cluster, and with the changes of the command line.
func (a *kueuePast) find(c *cluster, o *options, j *judged, at *history.Moment) (f *audit.Finding, changed string, err error) {
	p := pendingOf(c, j.Preemptor)
	s := c.Standing(p, p.LocalNotes, answers.Namespace(p.Workload.ID))
	w := s.At(j.At, func(name string) bool { return c.findQueue(name) != nil })
	j.Notes = w.Notes
	switch {
	case len(w.Doubts) > 0:
		j.Unknown = w.Doubts[0]
	case w.Unasked != "":
		j.Unknown = w.Unasked
	case len(c.Config.Limits) > 0:
		j.Unknown = "limits on preemptions count what happened before the history"
	}
	if j.Unknown != "" {
		return nil, "", nil
	}
	e := audit.Eviction{Request: w.Request}
	for _, v := range j.Victims {
		e.Victims = append(e.Victims, v.Workload)
	}
	found, err := a.inFlavors(c, &e, at.Flavors)
	var faults preemption.Faults
	switch {
	case errors.As(err, &faults):
		j.Unknown = "the history contradicts itself: " + faults[0].Error()
		return nil, "", nil
	case err != nil:
		return nil, "", err
	case found.Verdict != audit.Right && c.findQueue(e.Request.Workload.Queue).Rules != "":
		j.Unknown = "rules decide by when their triggers began to hold, which the history does not say"
		return nil, "", nil
	}
	if lacks := a.history.Lacks; lacks != "" && !certain(&found) {
		j.Unknown = fmt.Sprintf("%s, as far as the history goes: %s", wordsOf[found.Verdict], lacks)
		return nil, "", nil
	}
	if found.Verdict != audit.Right && a.byClocks(c, &found, &e.Request, j) {
		j.Unknown = wordsOf[found.Verdict] + ", or not: the clocks may differ by so much"
		return nil, "", nil
	}
	for i := range found.Victims {
		if v := &found.Victims[i]; v.Kept != nil {
			j.Why = append(j.Why, v.Workload+": "+explain.Blocker(c.Snapshot, &e.Request, *v.Kept))
		}
	}
	if a.o.changes() {
		other, err := c.other(o, a.std)
		if err != nil {
			return nil, "", err
		}
		if then, err := audit.Judge(other.Snapshot, a.config(other), e); err == nil {
			changed = then.Verdict.String()
		}
	}
	return &found, changed, nil
}

// wordsOf say a verdict in a few words.
var wordsOf = map[audit.Verdict]string{audit.Fitted: "it fit while all stayed", audit.TooMany: "one could stay", audit.NotPermitted: "not permitted",
	audit.Right: "right"}

// byClocks reports whether a finding depends on the order of two times that are as near as the clocks may differ.
func (a *kueuePast) byClocks(c *cluster, f *audit.Finding, r *preemption.Request, j *judged) bool {
	skew := a.history.Skew
	if skew == 0 {
		return false
	}
	near := slices.ContainsFunc(f.Victims, func(v audit.Victim) bool {
		w, _ := c.Snapshot.Find(v.Workload)
		return w.Priority == r.Workload.Priority && (w.Queued.Sub(r.Workload.Queued).Abs() <= skew || w.Created.Sub(r.Workload.Created).Abs() <= skew) ||
			v.Kept != nil && v.Kept.Rule == preemption.RuleMinRuntime
	})
	return near || j.Apart && !certain(f)
}

// certain reports whether a finding does not depend on who else held quota: it is right, or a policy keeps a victim by its
// priority or its time.
func certain(f *audit.Finding) bool {
	byItself := []preemption.Rule{preemption.RuleWithinClusterQueue, preemption.RuleReclaimWithinCohort, preemption.RuleMinRuntime, preemption.RuleNeverYields}
	return f.Verdict == audit.Right || f.Verdict == audit.NotPermitted && slices.ContainsFunc(f.Victims, func(v audit.Victim) bool {
		return v.Kept != nil && slices.Contains(byItself, v.Kept.Rule)
	})
}

// overfull says that more is held in the tree of a queue than it may hold: a scheduler does not do that. Empty: it is not.
func overfull(c *cluster, queue string) string {
	in := treeOf(c, queue)
	for _, e := range c.Snapshot.Excess() {
		if in[cmp.Or(e.Queue, e.Cohort)] {
			return fmt.Sprintf("%s holds more than it may: the history lacks an end of something, or the quota was lowered", cmp.Or(e.Queue, e.Cohort))
		}
	}
	return ""
}

// treeOf are the queues and cohorts of the tree of a queue.
func treeOf(c *cluster, queue string) map[string]bool {
	in, nodes := map[string]bool{}, answers.Tree(c.Snapshot)
	at := slices.IndexFunc(nodes, func(n answers.Node) bool { return !n.Cohort && n.Name == queue })
	for i, n := range nodes {
		if i == at || at >= 0 && nodes[at].Root != "" && n.Root == nodes[at].Root {
			in[n.Name] = true
		}
	}
	return in
}

// inFlavors judges an eviction in the flavors that the preemptor got later, if the history has them. It may have chosen others
// when it preempted: what is not right in these, or does not fit, is judged with flavors to choose.
func (a *kueuePast) inFlavors(c *cluster, e *audit.Eviction, flavors map[string]map[string]string) (audit.Finding, error) {
	config, asked := a.config(c), e.Request.Workload
	if len(flavors) == 0 {
		return audit.Judge(c.Snapshot, config, *e)
	}
	pin(&e.Request.Workload, flavors)
	pinned, err := audit.Judge(c.Snapshot, config, *e)
	if err != nil || pinned.Verdict == audit.Right {
		return pinned, err
	}
	if free, err := audit.Judge(c.Snapshot, config, audit.Eviction{Request: withWorkload(e.Request, asked), Victims: e.Victims}); err == nil && (free.Verdict == audit.Right || pinned.Verdict == audit.NotEnough) {
		e.Request.Workload = asked
		return free, nil
	}
	return pinned, nil
}

func withWorkload(r preemption.Request, w workload.Workload) preemption.Request {
	r.Workload = w
	return r
}

// foundBy is a finding as it is printed.
func foundBy(f *audit.Finding) *found {
	of, d := &found{verdict: f.Verdict, lost: f.Lost, avoidable: f.Avoidable}, &f.Instead
	for _, v := range f.Victims {
		one := foundVictim{lost: v.Lost, stays: v.CouldStay}
		if v.Reason != 0 {
			one.right = explain.Reason(v.Reason)
		}
		of.victims = append(of.victims, one)
	}
	if !slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return !v.Leaving }) {
		of.leaving = someOf(d.Victims)
	}
	switch {
	case d.Outcome == preemption.Wait && !d.RetryAt.IsZero():
		of.instead = "it had to wait until " + clockText(d.RetryAt)
	case !d.Possible():
		of.instead = "nobody had to leave for it"
	default:
		of.cheaper = cmp.Or(someOf(d.Victims), "nobody")
	}
	return of
}

// config is that of the scheduler, with what a victim loses.
func (a *kueuePast) config(c *cluster) preemption.Config {
	config := c.Config
	var resources []string
	for _, q := range c.State.Queues {
		for _, r := range q.Quotas {
			resources = append(resources, r.Resource)
		}
	}
	config.Cost = a.cost(resources)
	return config
}

// pin gives a workload flavors.
func pin(w *workload.Workload, flavors map[string]map[string]string) {
	w.PodSets = slices.Clone(w.PodSets)
	for i := range w.PodSets {
		set := &w.PodSets[i]
		set.Requests = slices.Clone(set.Requests)
		for k := range set.Requests {
			if got := flavors[set.Name][set.Requests[k].Resource]; got != "" {
				set.Requests[k].Flavor = got
			}
		}
	}
}
