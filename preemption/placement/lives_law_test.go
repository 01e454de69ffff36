package placement_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// life is a small cluster in which pods and a group ask until they run. Others come in between, victims leave one by one, late or
// in time, budgets are eaten and given back. Its story is told if a promise is broken.
type life struct {
	*rapid.T
	state    placement.State // at its beginning
	config   placement.Config
	by       *placement.Preemptor
	snapshot *placement.Snapshot
	now      time.Time
	waiting  []*waiter     // in the order in which they came
	patience time.Duration // the termination timeout of all: one that waits longer takes room from one that counts a pod as running
	came     int
	ends     map[string]int
	story    []string
}

// waiter is a request that is asked until it fits.
type waiter struct {
	placement.Request
	// promised: it told pods to stop, or waits for some that do, and nobody of higher priority has come since, nor has the wait ended.
	promised bool
	told     bool
}

// TestLives: in each life nobody is told to stop twice, and nobody in vain: those who were told are enough, in whatever order
// they leave, and nobody else is told meanwhile. No budget is overdrawn but where the answer says so. To ask again changes nothing.
// When RetryAt has come the wait is over, and not before. Promises keep the room for those who have them.
func TestLives(t *testing.T) {
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t)
		for range rapid.IntRange(4, 24).Draw(t, "steps") {
			l.step()
		}
		l.rest()
		for end, n := range l.ends {
			ends[end] += n
		}
	})
	t.Log(ends)
	for _, end := range []string{"fits", "preempts", "preempts, and fits", "waits", "retries", "overtaken", "waits no longer", "a budget is overdrawn"} {
		if ends[end] == 0 && !testing.Short() {
			t.Errorf("%q: in no life", end)
		}
	}
}

func drawLife(t *rapid.T) *life {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	r := *record.Request
	r.SkipFit = false
	l := &life{T: t, state: record.State, config: preemptiontest.PlacementConfigs().Draw(t, "config"), now: r.Now, ends: map[string]int{}}
	l.config.MaxRetrySteps = 0
	if isBasic(l.config, l.state, r) {
		r.MinGroups, r.Nested = 0, nil
		r.Pods = r.Pods[:1] // one that has no place withdraws its promise, which may be room for another
	}
	for i := range l.state.Nominated { // a pod asks for what it was promised
		n := &l.state.Nominated[i]
		if k := slices.IndexFunc(r.Pods, func(p workload.Pod) bool { return p.ID == n.ID }); k >= 0 {
			p := r.Pods[k]
			p.Node, p.Priority, p.Queue, p.Group = n.Node, r.Priority, r.Queue, cmp.Or(p.Group, r.Group)
			*n = p
		}
	}
	l.by = must(placement.New(l.config))(t)
	l.snapshot = snapshotOf(t, l.state)
	l.waiting, l.patience = []*waiter{{Request: r}}, r.TerminationTimeout
	return l
}

// step lets one thing happen.
func (l *life) step() {
	switch rapid.SampledFrom([]string{"asks", "asks", "asks", "comes", "leaves", "leaves", "time", "budget"}).Draw(l.T, "step") {
	case "asks":
		if len(l.waiting) > 0 {
			l.asks(rapid.SampledFrom(l.waiting).Draw(l.T, "who"))
		}
	case "comes":
		l.comes()
	case "leaves":
		l.leaves()
	case "time":
		l.pass(rapid.SampledFrom([]time.Duration{0, 1, time.Minute, time.Hour, 90 * time.Minute}).Draw(l.T, "passes"))
	case "budget":
		if list := slices.Collect(l.snapshot.Budgets()); len(list) > 0 {
			b := rapid.SampledFrom(list).Draw(l.T, "budget")
			b.Allowed = rapid.Int64Range(0, b.Allowed+2).Draw(l.T, "allows")
			l.change(placement.SetBudget(b))
		}
	}
}

// comes lets another pod wait.
func (l *life) comes() {
	l.came++
	first := preemptiontest.PlacementRequests(l.state).Draw(l.T, "other")
	p := first.Pods[0]
	p.ID, p.Group, p.Priority, p.Queue, p.Claims = fmt.Sprint("other", l.came), "", 0, "", nil
	r := placement.Request{Priority: first.Priority, Queue: first.Queue, Policy: first.Policy, Prefer: first.Prefer, Pods: []workload.Pod{p}, TerminationTimeout: l.patience}
	l.waiting = append(l.waiting, &waiter{Request: r})
}

// leaves lets a pod leave that was told to stop; if there is none, nobody does.
func (l *life) leaves() (left bool) {
	ids := l.terminating()
	if len(ids) == 0 {
		return false
	}
	id := rapid.SampledFrom(ids).Draw(l.T, "leaves")
	l.change(placement.Remove(id))
	l.tell("%s has left", id)
	return true
}

func (l *life) terminating() (ids []string) {
	for _, p := range l.snapshot.State().Pods {
		if p.Terminating {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// pass lets time pass. Who waits for pods that take too long has no promise any more.
func (l *life) pass(d time.Duration) {
	l.now = l.now.Add(d)
	for _, w := range l.waiting {
		for _, p := range l.snapshot.State().Pods {
			if p.Terminating && w.promised && l.patience > 0 && !p.TerminatingSince.IsZero() && !l.now.Before(p.TerminatingSince.Add(l.patience)) {
				w.promised = false
				l.ends["waits no longer"]++
			}
		}
	}
}

// decide asks twice, for "the same snapshot and the same request give the same decision".
func (l *life) decide(w *waiter, at time.Time) placement.Decision {
	r := w.Request
	r.Now = at
	d := must(l.by.Decide(l.snapshot, r))(l.T)
	if diff := differ(d, must(l.by.Decide(l.snapshot, r))(l.T)); diff != "" {
		l.broken("the same question has another answer: %s", diff)
	}
	return d
}

// asks asks for a request, holds the answer to what must be, and carries it out.
func (l *life) asks(w *waiter) {
	d := l.decide(w, l.now)
	l.tell("%s of priority %d asks: %v %v, victims %v, nominated %v, retry at %v", w.Pods[0].ID, w.Priority, d.Outcome, d.Reason, d.Victims, d.Nominations, d.RetryAt)
	if w.promised && (d.Outcome == preemption.Impossible || d.Outcome == preemption.Preempt || d.Reason != 0) && l.waitsFor(w) {
		l.broken("it has a promise")
	}
	if !d.RetryAt.IsZero() {
		l.retries(w, d)
	}
	switch d.Outcome {
	case preemption.Fits:
		l.waiting = slices.DeleteFunc(l.waiting, func(o *waiter) bool { return o == w })
		l.ends["fits"]++
		if w.told {
			l.ends["preempts, and fits"]++
		}
	case preemption.Preempt:
		w.told = true
		l.ends["preempts"]++
		l.tells(d)
	case preemption.Wait:
		l.ends["waits"]++
	}
	l.change(d.Edits()...)
	if d.Outcome == preemption.Fits {
		l.hasRoom(d)
	}
	// As built it waits for what terminates where it is nominated, enough or not.
	w.promised = d.Outcome == preemption.Preempt || d.Outcome == preemption.Wait && d.Reason == 0 && (w.promised || l.config.Mode == placement.ModeDesign)
	for _, o := range l.waiting {
		if d.Outcome != preemption.Impossible && d.Reason == 0 && o != w && o.promised && (o.Priority < w.Priority || !l.nominated(o)) {
			o.promised = false
			l.ends["overtaken"]++
		}
	}
	if d.Outcome != preemption.Preempt || !l.waitsFor(w) {
		return
	}
	if again := l.decide(w, l.now); again.Outcome != preemption.Wait && again.Outcome != preemption.Fits || again.Reason != 0 {
		l.broken("those who were told are not enough: %v %v %v", again.Outcome, again.Reason, again.Victims)
	}
}

// nominated reports whether some pod of a request has a promise.
func (l *life) nominated(w *waiter) bool {
	return slices.ContainsFunc(l.snapshot.State().Nominated, func(p workload.Pod) bool {
		return slices.ContainsFunc(w.Pods, func(o workload.Pod) bool { return o.ID == p.ID })
	})
}

// waitsFor reports whether a request with a promise waits. As built it does while victims of lower priority terminate where it
// is nominated, wherever others do.
func (l *life) waitsFor(w *waiter) bool {
	if l.config.Mode == placement.ModeDesign {
		return true
	}
	st := l.snapshot.State()
	return slices.ContainsFunc(st.Pods, func(p workload.Pod) bool {
		on := func(n workload.Pod) bool {
			return n.Node == p.Node && slices.ContainsFunc(w.Pods, func(o workload.Pod) bool { return o.ID == n.ID })
		}
		priority := p.Priority
		if root, known := rootOf(st, p.Group); known {
			priority = root.Priority
		}
		return p.Terminating && priority < w.Priority && slices.ContainsFunc(st.Nominated, on)
	})
}

// rest lets all leave who were told. Then those who have a promise start, the highest priority first.
func (l *life) rest() {
	for l.leaves() {
		if w := l.promised(); w != nil && rapid.Bool().Draw(l.T, "asks meanwhile") {
			l.asks(w)
		}
	}
	for w := l.promised(); w != nil; w = l.promised() {
		if l.asks(w); slices.Contains(l.waiting, w) {
			l.broken("all have left, and it does not fit")
		}
	}
}

// promised is the request of the highest priority that has a promise.
func (l *life) promised() (first *waiter) {
	for _, w := range l.waiting {
		if w.promised && (first == nil || w.Priority > first.Priority) {
			first = w
		}
	}
	return first
}

func (l *life) change(edits ...placement.Edit) {
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
	l.Helper()
	state := must(json.Marshal(l.state))(l.T)
	var asked []string
	for _, w := range l.waiting {
		asked = append(asked, string(must(json.Marshal(w.Request))(l.T)))
	}
	l.Fatalf("%s\n%+v\n%s\n%s\n%s", fmt.Sprintf(format, args...), l.config, state, strings.Join(asked, "\n"), strings.Join(l.story, "\n"))
}
