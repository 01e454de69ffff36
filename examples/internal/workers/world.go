package workers

import (
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
)

// fact is one thing that a worker may be: what is not known gives it several.
type fact struct {
	gates   gate.Gates
	outcome string // Fits, Waits or empty
	lost    bool
}

// next is what the manager does in a world in which all is known.
type next struct {
	verdict, cluster string // cluster: empty, none or several
	at               time.Time
	gateOf, open     string // the worker whose gate opens next, and the same if it opens now
	done             bool   // of Running: the manager knows, and opens no gate
	why              string // of Nothing
}

// maxWorlds is how many worlds are looked at; with more the answer is unknown.
const maxWorlds = 729

// next says what the manager does. known is false if that depends on what is not known.
func (q *Question) next() (n next, known bool) {
	if n, is := q.settled(); is {
		return n, true
	}
	worlds := [][]fact{nil}
	for i := range q.Workers {
		w := &q.Workers[i]
		var grown [][]fact
		for _, f := range w.facts(q.Now) {
			for _, world := range worlds {
				grown = append(grown, append(slices.Clip(world), f))
			}
		}
		if worlds = grown; len(worlds) > maxWorlds {
			return next{}, false
		}
	}
	for i, world := range worlds {
		in := q.in(world)
		if i > 0 && in != n {
			return next{}, false
		}
		n = in
	}
	return n, !q.unread()
}

// unread reports whether nothing is known of a worker that may decide the answer.
func (q *Question) unread() bool {
	return q.Unread != "" || slices.ContainsFunc(q.Workers, func(w Worker) bool { return w.Unread != "" && w.Lost == "" && q.sent(&w) })
}

// sent reports whether the workload may have been sent to a worker: a manager writes down to which.
func (q *Question) sent(w *Worker) bool {
	return len(q.Manager.Nominated) == 0 || slices.Contains(q.Manager.Nominated, w.Name)
}

// check is the state of the check of MultiKueue.
func (q *Question) check() string {
	for _, c := range q.Manager.Checks {
		if c.Name == q.Check {
			return c.State
		}
	}
	return ""
}

// settled returns what follows from what is known for certain, before any gate is looked at (reconcileGroup, parts 2 to 6).
func (q *Question) settled() (n next, is bool) {
	m := &q.Manager
	nothing := func(why string) (next, bool) { return next{verdict: Nothing, why: why}, true }
	switch {
	case q.Unread != "":
		return n, false
	case m.Finished.Is():
		return nothing("it is finished")
	case q.Check == "":
		return nothing("it has no AdmissionCheck of MultiKueue, and is sent nowhere")
	case !m.Reserved.Is():
		return nothing("the manager has no quota for it, and sends it nowhere")
	case q.check() == "Rejected":
		return nothing("its AdmissionCheck " + q.Check + " is Rejected")
	}
	var ends, evicted *Worker
	for i := range q.Workers {
		w := &q.Workers[i]
		if w.Copy == nil || w.Unread != "" {
			continue
		}
		if w.Copy.Finished.Is() && w.Lost == "" {
			ends = w
		}
		if w.Copy.Evicted.Is() && w.Lost == "" {
			evicted = w
		}
	}
	ready, runs := q.check() == "Ready", q.runs()
	switch {
	case ends != nil:
		return nothing("it is finished in " + ends.Name)
	case evicted != nil && m.Evicted.Is():
		return nothing("it was evicted in " + evicted.Name + " and in the manager, which resets it: its copies go, and new ones begin with closed gates")
	case evicted != nil && ready:
		return nothing("it was evicted in " + evicted.Name + ", and the manager resets it: its copies go, and new ones begin with closed gates")
	case runs != nil && (ready || runs.Lost == ""):
		return next{verdict: Running, cluster: runs.Name, done: true}, true
	case ready && (m.Cluster == "" || q.worker(m.Cluster) == nil || q.worker(m.Cluster).Lost != "" || q.worker(m.Cluster).Unread != ""):
		return next{verdict: Running, cluster: m.Cluster, done: true}, true // as the manager knows it
	case ready:
		return nothing("its check is Ready, but no copy is admitted in " + m.Cluster + ": the manager resets it")
	}
	return n, false
}

// runs is the worker in which a copy is admitted, the first one, and sooner one that the manager reaches; nil: there is none.
func (q *Question) runs() (runs *Worker) {
	for i := range q.Workers {
		w := &q.Workers[i]
		if w.Copy == nil || w.Unread != "" || !w.Copy.Admitted.Is() || w.Copy.Finished.Is() {
			continue
		}
		if runs == nil || runs.Lost != "" && w.Lost == "" || (runs.Lost == "") == (w.Lost == "") && w.Copy.Admitted.LastTransitionTime.Before(runs.Copy.Admitted.LastTransitionTime) {
			runs = w
		}
	}
	return runs
}

func (q *Question) worker(name string) *Worker {
	if i := slices.IndexFunc(q.Workers, func(w Worker) bool { return w.Name == name }); i >= 0 {
		return &q.Workers[i]
	}
	return nil
}

// in is what the manager does in one world (reconcileGroup, part 7).
func (q *Question) in(world []fact) next {
	var waits, fits []string
	for i := range q.Workers {
		switch world[i].outcome {
		case Waits:
			waits = append(waits, q.Workers[i].Name)
		case Fits:
			fits = append(fits, q.Workers[i].Name)
		}
	}
	var n next
	if turns := q.turnsIn(world); len(turns) > 0 {
		if n.gateOf = turns[0].Name; turns[0].At.After(q.Now) {
			n.at = turns[0].At
		} else {
			n.open = n.gateOf
		}
	}
	switch runs := q.runs(); {
	case runs != nil: // in a worker that the manager does not reach: it goes on without that
		n.verdict, n.cluster = Running, runs.Name
	case len(waits) > 0:
		n.verdict, n.cluster = Waits, only(waits)
	case len(fits) > 0:
		n.verdict, n.cluster = Fits, only(fits)
	case n.open != "":
		n.verdict, n.cluster = OpensNow, n.gateOf
	case n.gateOf != "":
		n.verdict, n.cluster = OpensAt, n.gateOf
	default:
		n.verdict = Nothing
	}
	return n
}

// only is the one name of a list; empty: there are several.
func only(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

// facts are all that a worker may be.
func (w *Worker) facts(now time.Time) (list []fact) {
	if w.Copy == nil || w.Unread != "" {
		return []fact{{lost: w.Lost != ""}}
	}
	for _, g := range w.gates(now) {
		for _, outcome := range w.outcomes(&g) {
			list = append(list, fact{g, outcome, w.Lost != ""})
			if w.LostUnknown {
				list = append(list, fact{g, outcome, true})
			}
		}
	}
	return list
}

// gates are all gates that a copy may have: those that it has, but for one that was read in a version without gates. That one can
// have an open gate only if it signalled before, and it has one if it preempts.
func (w *Worker) gates(now time.Time) []gate.Gates {
	g := w.Copy.Gates
	since := g.Blocked.Since
	if !w.Copy.GatesUnknown || since.IsZero() {
		return []gate.Gates{g}
	}
	g.Names = []string{gate.MultiKueue}
	open := []gate.Gates{g.Opened(gate.MultiKueue, since), g.Opened(gate.MultiKueue, now)}
	if w.Copy.Reserved.Reason == kueue.WaitingForPreemptedWorkloads {
		return open
	}
	return append(open, g)
}

// held reports whether closed gates keep a copy with these gates from preempting. They do not in a cluster that does not know or
// obey gates: there no gate has a state, nothing ever signalled, and victims leave although the copy names a gate.
func (w *Worker) held(g *gate.Gates) bool { return g.AnyClosed() && !w.inert() }

// inert reports whether the gates of the copy are not obeyed.
func (w *Worker) inert() bool {
	c := w.Copy
	return len(c.Gates.Names) > 0 && !c.HasState && c.Gates.Blocked.Since.IsZero() && c.Reserved.Status == "False" && len(w.Short.Leaving) > 0 && w.yields()
}

// refused are reasons by which Kueue itself says of a workload that it is not even tried.
var refused = []string{"Inadmissible", "Misconfigured"}

// untried reports whether nothing can be decided about the copy, and Kueue itself says that it does not try it.
func (w *Worker) untried() bool {
	return w.Short.Outcome == answers.Unknown && slices.Contains(refused, w.Copy.Reserved.Reason)
}

// outcomes are all that may become of a copy with these gates before another one opens.
func (w *Worker) outcomes(g *gate.Gates) []string {
	held := w.held(g)
	switch {
	case w.Copy.Reserved.Is(), w.untried():
		return []string{""}
	case w.Short.Outcome == answers.Unknown && held && g.Blocked.Active:
		return []string{""} // Kueue itself says that it would preempt
	case w.Short.Outcome == answers.Unknown && held:
		return []string{"", Fits}
	case w.Short.Outcome == answers.Unknown:
		return []string{"", Fits, Waits}
	case w.Short.Outcome == preemption.Fits.String():
		return []string{Fits}
	case !held && len(w.Short.Leaving) > 0 && w.yields():
		return []string{Waits}
	}
	return []string{""}
}
