package witness_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// life is a small cluster in which one workload asks until it runs. Its story is told if a promise is broken.
type life struct {
	*rapid.T
	question
	preemptor *preemption.Preemptor
	snapshot  *preemption.Snapshot
	now       time.Time
	leaving   []preemption.Victim // told to leave, and still there
	other     preemption.Request  // of a workload that asks meanwhile
	story     []string
}

// TestLives: in each life nobody is told to leave twice, and nobody in vain: when all who were told have left, in
// whatever order, the workload fits. To ask again changes nothing. When RetryAt has come, the wait is over.
func TestLives(t *testing.T) {
	lives(t, drawQuestion, "fits", "preempts", "preempts after a wait", "impossible")
}

// TestLivesByShares is the same by fair shares as in KAI.
func TestLivesByShares(t *testing.T) {
	lives(t, func(t *rapid.T) question {
		return question{preemption.Config{Sharing: preemption.KAI}, preemptiontest.FairShareRecords().Draw(t, "record")}
	}, "fits", "preempts", "impossible")
}

// TestLivesWithGates is the same of workloads with a gate, which opens late.
func TestLivesWithGates(t *testing.T) {
	lives(t, func(t *rapid.T) question {
		q := drawQuestion(t)
		if rapid.IntRange(0, 3).Draw(t, "by shares") == 0 {
			q = question{preemption.Config{Sharing: preemption.KAI}, preemptiontest.FairShareRecords().Draw(t, "record")}
		}
		q.Record.Request.Workload.Gates = gate.Gates{Names: []string{gate.MultiKueue}}
		return q
	}, "fits", "preempts once its gate is open", "preempts after a wait once its gate is open", "waits for what leaves", "impossible")
}

// lives are those of questions that are drawn, of which some end in each of the ways given.
func lives(t *testing.T, drawn func(*rapid.T) question, wanted ...string) {
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range each {
			ends[draw(t, drawn(t)).live()]++
		}
	})
	t.Log(ends)
	for _, end := range wanted {
		if ends[end] == 0 {
			t.Errorf("no life ended as %q", end)
		}
	}
}

func drawQuestion(t *rapid.T) question {
	q := question{preemptiontest.Configs().Draw(t, "config"), preemptiontest.Records().Draw(t, "record")}
	if rapid.IntRange(0, 2).Draw(t, "without flavors") == 0 {
		q.Record = preemptiontest.RecordsWithoutFlavors().Draw(t, "record")
	}
	widen(t, &q.Config, &q.Record)
	return q
}

func draw(t *rapid.T, q question) *life {
	l := &life{T: t, question: q}
	l.Config.MaxRetrySteps = 0
	l.Record.Request.HoldsQuota, l.Record.Request.NeedsPreemption = false, nil
	if slices.ContainsFunc(l.Record.State.Admitted, func(w workload.Workload) bool { return w.ID == l.Record.Request.Workload.ID }) {
		l.Record.Request.Workload.ID = "ns/pending"
	}
	var err error
	if l.preemptor, err = preemption.New(l.Config); err != nil {
		t.Fatal(err)
	}
	if l.snapshot, err = preemption.NewSnapshot(l.Record.State); err != nil {
		t.Fatal(err)
	}
	l.now = l.Record.Request.Now
	l.other = preemptiontest.Requests(l.Record.State).Draw(t, "other")
	l.other.Workload.ID, l.other.HoldsQuota, l.other.Replaces = "ns/other", false, ""
	return l
}

// live asks once, waits if it has to, carries out what was decided, and lets the victims leave.
func (l *life) live() string {
	d := l.ask()
	waited := ""
	if d.Outcome == preemption.Wait && !d.Leaving {
		waited = " after a wait"
		d = l.waitFor(d.RetryAt)
	}
	if d.Outcome == preemption.Gated {
		waited += " once its gate is open"
		if d = l.opensLate(); d.Outcome == preemption.Wait && !d.Leaving {
			d = l.waitFor(d.RetryAt)
		}
	}
	switch d.Outcome {
	case preemption.Fits:
		return "fits" + waited
	case preemption.Preempt:
		l.carryOut(d)
		l.leaveOneByOne()
		return "preempts" + waited
	case preemption.Wait:
		l.leaving = d.Victims
		l.Record.Request.Workload = d.Assignment.Pin(l.Record.Request.Workload)
		l.leaveOneByOne()
		return "waits for what leaves" + waited
	}
	return "impossible" + waited
}

// ask asks twice, for "the same snapshot and the same request give the same decision".
func (l *life) ask() preemption.Decision {
	r := *l.Record.Request
	r.Now = l.now
	d, err := l.preemptor.Decide(l.snapshot, r)
	if err != nil {
		l.Fatal(err)
	}
	l.tell("asks: %v %s", d.Outcome, names(d.Victims))
	again, err := l.preemptor.Decide(l.snapshot, r)
	if err != nil {
		l.Fatal(err)
	}
	if diff := cmp.Diff(d, again); diff != "" {
		l.broken("the same question has another answer: %s", diff)
	}
	if r.Workload.Gates.AnyClosed() {
		l.wouldPreempt(d, r)
	}
	return d
}

// wouldPreempt: "Gated would be Preempt if the gates were open", of the same victims; no other answer depends on them, but that
// of victims who all leave already, for whom no gate has to open.
func (l *life) wouldPreempt(d preemption.Decision, r preemption.Request) {
	r.Workload.Gates = opened(r.Workload.Gates, r.Now)
	open, err := l.preemptor.Decide(l.snapshot, r)
	if err != nil {
		l.Fatal(err)
	}
	if d.Outcome == preemption.Preempt || d.Outcome == preemption.Gated && len(d.Edits()) > 0 {
		l.broken("its gate is closed, and it tells %s", names(d.Victims))
	}
	switch {
	case d.Outcome == preemption.Gated:
		d.Outcome = preemption.Preempt
	case d.Leaving && open.Outcome == preemption.Preempt && len(open.Edits()) == 0:
		d.Outcome, d.Leaving = preemption.Preempt, false
	case d.Admitted != nil && open.Admitted != nil:
		open.Admitted.Gates = d.Admitted.Gates
	}
	if diff := cmp.Diff(open, d); diff != "" {
		l.broken("- with its gate open, + closed: %s", diff)
	}
}

// opensLate lets others ask, their victims leave and time pass, before the gate opens.
func (l *life) opensLate() preemption.Decision {
	for range rapid.IntRange(0, 4).Draw(l.T, "until it opens") {
		switch rapid.SampledFrom([]string{"time", "another", "leaves"}).Draw(l.T, "meanwhile") {
		case "time":
			l.now = l.now.Add(rapid.SampledFrom([]time.Duration{1, time.Minute, time.Hour}).Draw(l.T, "passes"))
		case "another":
			l.otherAsks()
		case "leaves":
			for w := range l.snapshot.Workloads() {
				if w.Evicted && w.ID != l.Record.Request.Replaces {
					l.change(preemption.Remove(w.ID))
					break
				}
			}
		}
		l.ask()
	}
	l.Record.Request.Workload.Gates = opened(l.Record.Request.Workload.Gates, l.now)
	return l.ask()
}

// opened opens all gates.
func opened(g gate.Gates, at time.Time) gate.Gates {
	for _, name := range g.Names {
		g = g.Opened(name, at)
	}
	return g
}

// waitFor: "At any earlier instant the decision is Wait with the same RetryAt", and at RetryAt it is no more.
func (l *life) waitFor(at time.Time) preemption.Decision {
	if !at.After(l.now) {
		l.broken("RetryAt %v has come already", at)
	}
	between := rapid.Int64Range(1, int64(at.Sub(l.now))).Draw(l.T, "later")
	for _, earlier := range []time.Time{l.now.Add(time.Duration(between)), at.Add(-1), at} {
		l.now = earlier
		switch d := l.ask(); {
		case earlier.Equal(at) && d.Possible():
			return d
		case earlier.Equal(at):
			l.broken("RetryAt has come, and the answer is %v", d.Outcome)
		case d.Outcome != preemption.Wait || !d.RetryAt.Equal(at):
			l.broken("before RetryAt %v the answer is %v, RetryAt %v", at, d.Outcome, d.RetryAt)
		}
	}
	return preemption.Decision{}
}

// carryOut tells the victims to leave. Nobody is told whom the snapshot has as leaving.
func (l *life) carryOut(d preemption.Decision) {
	for _, v := range d.Victims {
		if w, _ := l.snapshot.Find(v.Workload); w.Evicted != (v.Leaving && len(v.Replicas) == 0) {
			l.broken("%s is leaving: %v, the decision says %v", v.Workload, w.Evicted, v.Leaving)
		}
	}
	l.change(d.Edits()...)
	l.leaving = d.Victims
	l.Record.Request.Workload = d.Assignment.Pin(l.Record.Request.Workload) // "To ask again with the same flavors"
	l.asksForNobodyElse()
}

// asksForNobodyElse: "the same request asked again answers the same or less".
func (l *life) asksForNobodyElse() {
	d := l.ask()
	if !d.Possible() {
		l.broken("what leaves is no longer enough: %v", d.Outcome)
	}
	for _, v := range d.Victims {
		if !v.Leaving {
			l.broken("%s is told, too", names([]preemption.Victim{v}))
		}
	}
}

// otherAsks lets another workload preempt, too. Whom the first one told it waits for, and tells nobody twice.
func (l *life) otherAsks() {
	l.other.Now = l.now
	d, err := l.preemptor.Decide(l.snapshot, l.other)
	if err != nil {
		l.Fatal(err)
	}
	l.tell("another asks: %v %s", d.Outcome, names(d.Victims))
	if d.Outcome != preemption.Preempt {
		return
	}
	for _, v := range d.Victims {
		if w, _ := l.snapshot.Find(v.Workload); w.Evicted && !v.Leaving {
			l.broken("%s is told twice", v.Workload)
		}
	}
	l.change(d.Edits()...)
}

// leaveOneByOne lets the victims leave in any order, while time passes. Then the workload fits.
func (l *life) leaveOneByOne() {
	for _, v := range rapid.Permutation(l.leaving).Draw(l.T, "order") {
		l.now = l.now.Add(rapid.SampledFrom([]time.Duration{0, 1, time.Minute, time.Hour}).Draw(l.T, "passes"))
		if rapid.IntRange(0, 3).Draw(l.T, "another asks") == 0 {
			l.otherAsks()
		}
		l.asksForNobodyElse()
		l.change(preemption.Remove(v.Workload, v.Replicas...))
		l.tell("%s has left", names([]preemption.Victim{v}))
	}
	if d := l.ask(); d.Outcome != preemption.Fits {
		l.broken("all have left, and it does not fit")
	}
}

func (l *life) change(edits ...preemption.Edit) {
	next, err := l.snapshot.With(edits...)
	if err != nil {
		l.broken("an edit fails: %v", err)
	}
	l.snapshot = next
}

func (l *life) tell(format string, args ...any) {
	l.story = append(l.story, l.now.Format("15:04:05.999999999 ")+fmt.Sprintf(format, args...))
}

func (l *life) broken(format string, args ...any) {
	record, err := json.Marshal(l.Record)
	if err != nil {
		l.Fatal(err)
	}
	l.Fatalf("%s\n%+v\n%s\n%s", fmt.Sprintf(format, args...), l.Config, record, strings.Join(l.story, "\n"))
}

func names(victims []preemption.Victim) string {
	var list []string
	for _, v := range victims {
		name := v.Workload
		for _, r := range v.Replicas {
			name += fmt.Sprintf(" %s-%d", r.PodSet, r.Count)
		}
		if v.Leaving {
			name += " (leaving)"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}
