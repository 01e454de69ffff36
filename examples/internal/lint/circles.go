package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

const (
	// maxWork limits the decisions for circles, once for those who wait and once for those who
	// could be submitted, so that all take some seconds.
	maxWork = 200_000
	// maxWorkOfOne limits them for one workload, so that the first ones leave some for the rest.
	maxWorkOfOne = 4000
)

// circles finds workloads that evict each other: each one that waits is asked about alone, and so
// is each one that could be submitted. Workloads alone never evict each other by the policies
// and strategies as they are; who else runs makes a circle possible. So they are asked about
// with all that runs.
func circles(c *Cluster) []Finding {
	var found []Finding
	places := map[string]bool{} // one circle of the same queues says it
	left, unfinished := maxWork, 0
	look := func(w workload.Workload) {
		c.tell()
		if left <= 0 {
			unfinished++
			return
		}
		loop, err := preemption.Loops(c.Snapshot, []workload.Workload{w}, c.Config, preemption.LoopOptions{Now: c.Now, MaxDecisions: min(left, maxWorkOfOne)})
		if err != nil {
			return
		}
		if left -= loop.Decisions; loop.Cut {
			unfinished++
		}
		if f := findingOf(&w, loop.Steps); len(loop.Steps) > 0 && !places[f.Place] {
			places[f.Place] = true
			found = append(found, f)
		}
	}
	for i := range c.Pending {
		look(c.Pending[i])
	}
	left = maxWork
	for _, q := range distinct(c.State.Queues) {
		for _, w := range c.possible(q) {
			look(w)
		}
	}
	if unfinished > 0 {
		of := "1 workload"
		if unfinished > 1 {
			of = fmt.Sprintf("%d workloads", unfinished)
		}
		c.Unfinished = append(c.Unfinished, "circles of "+of+" were not looked for to the end: that would take too long")
	}
	return found
}

// tell tells about a step.
func (c *Cluster) tell() {
	if c.Progress != nil {
		c.Progress()
	}
}

// findingOf describes a circle, from the step of the workload that was asked about.
func findingOf(w *workload.Workload, steps []preemption.LoopStep) Finding {
	var queues, texts []string
	first := max(0, slices.IndexFunc(steps, func(s preemption.LoopStep) bool { return s.Workload == w.ID }))
	for i := range steps {
		s := &steps[(first+i)%len(steps)]
		if name := fmt.Sprintf("%q", s.Queue); len(s.Victims) > 0 && !slices.Contains(queues, name) {
			queues = append(queues, name)
		}
		texts = append(texts, says(s))
	}
	slices.Sort(queues)
	kind := "queues "
	if len(queues) == 1 {
		kind = "queue "
	}
	example := strings.Join(texts, "; ")
	if rest, ok := strings.CutPrefix(example, w.ID+" "); ok {
		example = said(w) + " " + rest
	}
	return Finding{
		Place:   kind + strings.Join(queues, " and "),
		Problem: "workloads evict each other, for ever while nothing else changes",
		Example: strings.ReplaceAll(example, hypothetical, "the new one"),
	}
}

// says describes a step.
func says(s *preemption.LoopStep) string {
	if len(s.Victims) == 0 {
		return s.Workload + " fits"
	}
	var names []string
	for _, v := range s.Victims {
		names = append(names, fmt.Sprintf("%s (%v)", v.Workload, v.Reason))
	}
	return s.Workload + " preempts " + strings.Join(names, " and ")
}
