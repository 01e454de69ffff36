package answers

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/preemption"
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
