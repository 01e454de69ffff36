package answers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// maxNamed is the most victims that [Who] names; of more it says how many each queue has.
const maxNamed = 4

// Who names victims, and says how many there are and how many are leaving already.
func Who(victims []preemption.Victim) string {
	names, leaving := VictimNames(victims), len(LeavingNames(victims))
	switch {
	case len(names) == 1 && leaving == 1:
		return names[0] + LeavingAlready
	case len(names) == 1:
		return names[0]
	}
	list := ": " + strings.Join(names, ", ")
	if len(names) > maxNamed {
		list = byQueue(victims)
	}
	if leaving > 0 {
		return fmt.Sprintf("%d (%d leaving already)%s", len(names), leaving, list)
	}
	return fmt.Sprint(len(names), list)
}

// byQueue says after the number of victims how many of them each queue has, most first.
func byQueue(victims []preemption.Victim) string {
	count := map[string]int{}
	for i := range victims {
		count[victims[i].Queue]++
	}
	queues := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	if len(queues) == 1 {
		return " of queue " + queues[0]
	}
	var parts []string
	left := 0
	for i, q := range queues {
		if i < maxNamed {
			parts = append(parts, fmt.Sprintf("%d of queue %s", count[q], q))
		} else {
			left += count[q]
		}
	}
	text := ": " + strings.Join(parts, ", ")
	if left > 0 {
		text += fmt.Sprintf(" and %d of others", left)
	}
	return text
}

// LeavingAlready stands behind the name of a victim that was told to leave before.
const LeavingAlready = " (leaving already)"

// Awaits reports whether nobody is told to stop: what is leaving already is enough.
func Awaits(d *preemption.Decision) bool {
	stays := func(v preemption.Victim) bool { return !v.Leaving }
	return d.Leaving || d.Outcome == preemption.Preempt && !slices.ContainsFunc(d.Victims, stays)
}

// Before how long ago what is awaited was told to leave.
const (
	told      = ", told to leave "
	firstTold = ", the first told to leave "
)

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
	text := strings.Join(names, ", ")
	if len(names) > maxNamed {
		text = strconv.Itoa(len(names)) + byQueue(d.Victims)
	}
	switch {
	case first.IsZero():
		return text + ", told to leave before"
	case len(names) == 1:
		return text + told + units.Age(c.Now, first) + " ago"
	}
	return text + firstTold + units.Age(c.Now, first) + " ago"
}

// maxTold is the most victims of which the sentence of an answer names the first ones.
const maxTold = 6

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
	if many := d != nil && len(d.Victims) > maxTold; many && v.Outcome == preemption.Preempt.String() {
		whose := byQueue(d.Victims)
		if strings.HasPrefix(whose, ":") {
			whose = " yield" + whose
		} else {
			whose += " yield"
		}
		return fmt.Sprintf("%s fits%s once %d workloads%s.", r.Workload.ID, explain.Partial(d, &r.Workload), len(d.Victims), c.Words(whose))
	}
	return c.Words(v.Sentence(d, r))
}
