package workers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/preemption"
)

// sentence says the answer.
func (q *Question) sentence(n *next) string {
	id := q.Manager.ID
	switch n.verdict {
	case Running:
		if n.cluster == "" {
			return id + " runs, as its manager says, in a worker that it does not name."
		}
		return id + " runs in " + n.cluster + "." + q.then(n)
	case Waits:
		return id + " waits for victims: " + strings.Join(q.leaving(), "; ") + "." + q.then(n)
	case Fits:
		var names []string
		for i := range q.Workers {
			if w := &q.Workers[i]; w.Short.Outcome == preemption.Fits.String() && w.Copy != nil && !w.Copy.Reserved.Is() && w.Unread == "" {
				names = append(names, w.Name)
			}
		}
		return id + " fits in " + strings.Join(names, ", ") + " now, and nobody yields there." + q.then(n)
	case OpensNow:
		return "The gate of " + id + " in " + n.cluster + " opens now: " + q.yield(n.cluster) + "."
	case OpensAt:
		return "The gate of " + id + " in " + n.cluster + " opens at " + q.clock(n.at) + ", " + q.whose(n.at) + ": " + q.yield(n.cluster) + "."
	}
	if n.why != "" {
		return "No gate of " + id + " can open: " + n.why + "."
	}
	return "No gate of " + id + " can open: " + q.whyNothing() + "."
}

// then says which gate opens next, besides what a sentence says already.
func (q *Question) then(n *next) string {
	switch {
	case n.gateOf == "":
		return ""
	case n.open != "":
		return " The gate in " + n.open + " opens now, too: " + q.yield(n.open) + "."
	}
	return " Else the gate in " + n.gateOf + " opens at " + q.clock(n.at) + ": " + q.yield(n.gateOf) + "."
}

// leaving says in which workers who is leaving.
func (q *Question) leaving() (parts []string) {
	for i := range q.Workers {
		w := &q.Workers[i]
		if w.Copy == nil || w.Unread != "" || w.held(&w.Copy.Gates) || len(w.Short.Leaving) == 0 || !w.yields() || w.Copy.Reserved.Is() {
			continue
		}
		how := "no gate holds it back"
		if state, since := w.state(); state == "open" {
			how = "its gate is open since " + q.clock(since)
		}
		parts = append(parts, fmt.Sprintf("in %s, where %s, %s", w.Name, how, count(len(w.Short.Leaving), "workload is", "workloads are")+" leaving"))
	}
	return parts
}

// yield says who yields in a worker once its gate is open.
func (q *Question) yield(cluster string) string {
	w := q.worker(cluster)
	if w == nil {
		return "who yields there is not known"
	}
	victims := w.victims()
	switch {
	case victims == nil:
		return "who yields there is not known"
	case len(victims) == 0:
		return "nobody would yield there, and it opens in vain"
	case len(victims) <= maxNamed:
		return strings.Join(victims, ", ") + verbOf(len(victims)) + " there"
	}
	return fmt.Sprintf("%s and %d more yield there", strings.Join(victims[:maxNamed], ", "), len(victims)-maxNamed)
}

// maxNamed is how many victims a sentence names.
const maxNamed = 3

func verbOf(n int) string {
	if n == 1 {
		return " yields"
	}
	return " yield"
}

// whose says whose turn ends at a time.
func (q *Question) whose(at time.Time) string {
	for i := range q.Workers {
		w := &q.Workers[i]
		if state, since := w.state(); state == "open" && w.Lost == "" && since.Add(q.timeout()).Equal(at) {
			return fmt.Sprintf("%s after that in %s", duration.HumanDuration(q.timeout()), w.Name)
		}
	}
	if q.Design != nil && q.Design.Grace > 0 {
		for i := range q.Workers {
			if signal := q.Workers[i].signal(); !signal.IsZero() && signal.Add(q.Design.Grace).Equal(at) {
				return duration.HumanDuration(q.Design.Grace) + " after " + q.Workers[i].Name + " signalled"
			}
		}
	}
	return "when the turn of another is over"
}

// whyNothing says why nothing can open.
func (q *Question) whyNothing() string {
	var parts []string
	for i := range q.Workers {
		w := &q.Workers[i]
		state, since := w.state()
		switch {
		case w.Lost != "":
			parts = append(parts, "the manager does not reach "+w.Name)
		case w.Copy == nil:
			parts = append(parts, "no copy is in "+w.Name)
		case w.Copy.Reserved.Is():
			parts = append(parts, "in "+w.Name+" it has its quota and waits for its admission checks")
		case state == "open" && w.yields():
			parts = append(parts, "that in "+w.Name+" is open since "+q.clock(since)+", and "+q.yield(w.Name))
		case state == "open":
			parts = append(parts, "that in "+w.Name+" is open since "+q.clock(since))
		case state == "none":
			parts = append(parts, "the copy in "+w.Name+" has no gate")
		default:
			parts = append(parts, w.Name+" does not signal")
		}
	}
	return strings.Join(parts, ", ")
}

// clock is a time of day, with its date if that is another one than now's.
func (q *Question) clock(t time.Time) string {
	t, now := t.UTC(), q.Now.UTC()
	if t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		return t.Format(time.RFC3339)
	}
	text := t.Format(time.TimeOnly)
	if t.After(now) {
		text += " (in " + duration.HumanDuration(t.Sub(now)) + ")"
	}
	return text
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// whyUnknown says what the answer depends on and is not known.
func (q *Question) whyUnknown() string {
	if q.Unread != "" {
		return q.Unread
	}
	for i := range q.Workers {
		w := &q.Workers[i]
		switch {
		case w.Unread != "" && w.Lost == "" && q.sent(w):
			return w.Unread
		case w.Copy != nil && len(w.gates(q.Now)) > 1:
			return w.Name + " was read in v1beta1, which has no gates: whether its gate is open is not known"
		}
	}
	for i := range q.Workers {
		if w := &q.Workers[i]; w.Copy != nil && w.Unread == "" && len(w.outcomes(&w.Copy.Gates)) > 1 {
			return "in " + w.Name + " the answer is " + w.Short.Words
		}
	}
	return "whether the manager reaches " + q.Workers[slices.IndexFunc(q.Workers, func(w Worker) bool { return w.LostUnknown })].Name + " is not known"
}
