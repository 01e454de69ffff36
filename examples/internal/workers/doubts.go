package workers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/gate"
)

// doubts are what a reader should know of the objects: what is not known, and what misleads the manager.
func (q *Question) doubts() []string {
	list := append([]string{}, q.Doubts...)
	if q.Unread != "" {
		list = append(list, q.Unread)
	}
	for i := range q.Workers {
		list = append(list, q.doubtsOf(&q.Workers[i])...)
	}
	if equal := q.equal(); len(equal) > 1 && q.Design == nil {
		list = append(list, fmt.Sprintf("%s signalled in the same second: Kueue takes any of them, the design the first by name", strings.Join(equal, " and ")))
	}
	said := map[string]bool{}
	return slices.DeleteFunc(list, func(text string) bool {
		again := said[text]
		said[text] = true
		return again
	})
}

func (q *Question) doubtsOf(w *Worker) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if w.Unread != "" {
		add("%s", w.Unread)
	}
	if w.LostUnknown {
		add("no MultiKueueCluster %s is in the manager's objects: whether the manager reaches it is not known", w.Name)
	}
	if w.Lost != "" {
		forgets := ": it forgets that copy and its opening"
		if q.Design != nil {
			forgets = ""
		}
		add("the manager does not reach %s (%s)%s", w.Name, w.Lost, forgets)
		if _, since := w.state(); since.Add(q.timeout()).After(q.Now) && !since.IsZero() {
			add("the gate of %s was opened at %s: by the design no other opens before %s", w.Name, q.clock(since), q.clock(since.Add(q.timeout())))
		}
	}
	c := w.Copy
	if c == nil || w.Unread != "" {
		return list
	}
	signal := w.signal()
	switch {
	case c.GatesUnknown && signal.IsZero():
		add("%s was read in v1beta1, which has no gates; its copy never signalled that one holds it back", w.Name)
	case c.GatesUnknown:
		add("%s was read in v1beta1, which has no gates: read workloads.v1beta2.kueue.x-k8s.io there", w.Name)
	case !c.Gates.Has(gate.MultiKueue) && !signal.IsZero() && q.Design != nil:
		add("the copy in %s signals and does not name the gate: nothing is opened there", w.Name)
	case !c.Gates.Has(gate.MultiKueue) && !signal.IsZero():
		add("the copy in %s signals and does not name the gate: Kueue opens it in vain, and again when the time is over", w.Name)
	case !c.Gates.Has(gate.MultiKueue) && !c.Reserved.Is():
		add("the copy in %s has no gate: it cannot be held back", w.Name)
	case w.inert():
		add("the copy in %s names a gate and preempts all the same, with no state of it and no signal: %s does not obey gates", w.Name, w.Name)
	case !c.HasState && signal.IsZero() && w.yields():
		add("the copy in %s has no state of its gate yet: whether %s obeys gates is not known", w.Name, w.Name)
	}
	if !c.Gates.Has(gate.MultiKueue) && slices.ContainsFunc(c.Gates.States, func(s gate.State) bool { return s.Name == gate.MultiKueue }) {
		add("the copy in %s has an open state of the gate, which it does not name: in Kueue its time counts all the same", w.Name)
	}
	if c.Variant {
		add("the copy in %s has variants, and each of them its own gate: the manager reads their parent alone, which never signals", w.Name)
	}
	if w.heldElsewhere() && c.Gates.Has(gate.MultiKueue) {
		add("another gate of the copy in %s is closed: opening this one is not enough", w.Name)
	}
	if q.early(w) && !signal.IsZero() && signal.Before(q.Manager.Reserved.LastTransitionTime) {
		add("the signal of %s is of %s, before the manager got quota at %s: it is of an earlier round", w.Name, q.clock(signal), q.clock(q.Manager.Reserved.LastTransitionTime))
	}
	if q.behind(w) {
		add("the copy in %s was created at %s, before the manager's workload: its clock is behind, and the order of signals may be another", w.Name, q.clock(c.Created))
	}
	if victims := w.victims(); !signal.IsZero() && victims != nil && len(victims) == 0 && c.Gates.AnyClosed() && !c.Reserved.Is() {
		add("%s signals, but nobody would yield there: the signal is old", w.Name)
	}
	if at := latest(c.Created, signal, w.opened(), c.Reserved.LastTransitionTime); at.After(q.Now) {
		add("a time of the copy in %s is %s, after now: its clock is ahead, and the order of signals may be another", w.Name, q.clock(at))
	}
	return list
}

// opened is when the gate was opened; zero: it is not open.
func (w *Worker) opened() time.Time {
	_, since := w.state()
	return since
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// heldElsewhere reports whether a gate besides that of MultiKueue is closed.
func (w *Worker) heldElsewhere() bool {
	return slices.ContainsFunc(w.Copy.Gates.Names, func(name string) bool {
		_, open := w.Copy.Gates.OpenSince(name)
		return name != gate.MultiKueue && !open
	})
}

// equal are the workers that signalled first, if their gates are closed and the manager reaches them.
func (q *Question) equal() (names []string) {
	var first time.Time
	for i := range q.Workers {
		w := &q.Workers[i]
		at := w.signal()
		if state, _ := w.state(); at.IsZero() || state == "open" || w.Lost != "" || w.Unread != "" {
			continue
		}
		switch {
		case first.IsZero() || at.Before(first):
			first, names = at, []string{w.Name}
		case at.Equal(first):
			names = append(names, w.Name)
		}
	}
	return names
}
