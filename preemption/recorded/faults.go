package recorded

import (
	"errors"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
)

// ruleParts are the parts of a preemption rule that a fault may be in. A later one is part of none before it.
var ruleParts = []string{
	"preemptorSelector", "clusterQueueSelector", "labelSelector", "scope", "priority.mode", "priority.comparison", "numericLabels", "priority",
}

// ruleFaults returns the parts that faults are in, one for each part of a selector, sorted. A bad preemptorSelector hides the
// other parts of its rule.
func ruleFaults(err error) []string {
	var faults fault.List
	errors.As(err, &faults)
	list, seen := []string{}, map[string]bool{}
	for _, f := range faults {
		rule, _, _ := strings.Cut(f.Path, ".candidateSelectors")
		part, where := f.Path, f.Path
		for _, p := range ruleParts {
			if before, _, is := strings.Cut(f.Path, "."+p); is {
				part, where = p, before+"."+p
				break
			}
		}
		if !seen[where] && !seen[rule+".preemptorSelector"] {
			seen[where], list = true, append(list, part)
		}
	}
	slices.Sort(list)
	return list
}
