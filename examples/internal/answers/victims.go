package answers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
)

// VictimNames returns the IDs of victims.
func VictimNames(victims []preemption.Victim) []string {
	var names []string
	for _, v := range victims {
		names = append(names, v.Workload)
	}
	return names
}

// LeavingNames returns the IDs of the victims that were told to leave before.
func LeavingNames(victims []preemption.Victim) []string {
	var names []string
	for _, v := range victims {
		if v.Leaving {
			names = append(names, v.Workload)
		}
	}
	return names
}

// maxNamed is the most victims that [Who] names.
const maxNamed = 10

// Who names victims, and says how many there are and how many are leaving already.
func Who(victims []preemption.Victim) string {
	names, leaving := VictimNames(victims), len(LeavingNames(victims))
	switch {
	case len(names) == 1 && leaving == 1:
		return names[0] + LeavingAlready
	case len(names) == 1:
		return names[0]
	}
	list := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if leaving > 0 {
		return fmt.Sprintf("%d (%d leaving already): %s", len(names), leaving, list)
	}
	return fmt.Sprintf("%d: %s", len(names), list)
}

// LeavingAlready stands behind the name of a victim that was told to leave before.
const LeavingAlready = " (leaving already)"

// Awaits reports whether nobody is told to stop: what is leaving already is enough.
func Awaits(d *preemption.Decision) bool {
	told := func(v preemption.Victim) bool { return !v.Leaving }
	return d.Leaving || d.Outcome == preemption.Preempt && !slices.ContainsFunc(d.Victims, told)
}

// awaited says what is waited for, and since when it has been leaving where that is known.
func (c *Cluster) awaited(d *preemption.Decision) string {
	if len(d.Victims) == 0 {
		return "what terminates on the nodes"
	}
	var first time.Time
	for _, v := range d.Victims {
		if at, known := c.Found.LeavingSince[v.Workload]; known && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	names := VictimNames(d.Victims)
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case first.IsZero():
		return text + ", told to leave before"
	case len(names) == 1:
		return text + ", told to leave " + units.Age(c.Now, first) + " ago"
	}
	return text + ", the first told to leave " + units.Age(c.Now, first) + " ago"
}

// Sentence is [Verdict.Sentence] about this cluster: it says since when what is awaited has been leaving.
func (c *Cluster) Sentence(v Verdict, d *preemption.Decision, r *preemption.Request) string {
	if d != nil && v.Why == "" && Awaits(d) {
		return r.Workload.ID + " fits" + explain.Partial(d, &r.Workload) + " once what is leaving is gone: " + c.awaited(d) + "."
	}
	if d != nil && v.Why == "" {
		if why := c.OverShare(d, r); why != "" {
			return r.Workload.ID + " " + explain.Answer(d, r) + ": " + why + "."
		}
	}
	return c.Words(v.Sentence(d, r))
}
