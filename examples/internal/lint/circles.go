package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/loops"
	"github.com/cedesched/cede/workload"
)

const (
	// maxWork limits the decisions for circles, once for those who wait and once for those who
	// could be submitted, and maxSteps the workloads that these decisions may go over, so that all
	// take some seconds in a cluster of any size.
	maxWork  = 200_000
	maxSteps = 4_000_000
	// maxWorkOfOne limits the decisions for one workload, and leastWorkOfOne is what each gets while
	// there is some left, so that the first ones leave some for the rest.
	maxWorkOfOne   = 4000
	leastWorkOfOne = 100
)

// circles finds workloads that evict each other: each one that waits is asked about alone, and so
// is each one that could be submitted. Workloads alone never evict each other by the policies
// and strategies as they are; who else runs makes a circle possible. So they are asked about
// with all that runs.
func circles(c *Cluster) []Finding {
	s := circleSearch{Cluster: c, most: min(maxWork, maxSteps/(1+len(c.State.Admitted))), places: map[string]bool{}}
	s.lookAt(c.Pending)
	s.lookAt(c.couldBeSubmitted())
	if s.unfinished > 0 {
		c.Unfinished = append(c.Unfinished, fmt.Sprintf("circles were looked for to the end for %d of %s that could begin one: for all it would take too long", s.all-s.unfinished, workloads(s.all)))
	}
	return s.found
}

// circleSearch looks for the circles of one workload after the other.
type circleSearch struct {
	*Cluster
	most       int // decisions for a list of workloads
	found      []Finding
	places     map[string]bool // one circle of the same queues says it
	all        int             // workloads
	unfinished int             // those that were not looked at to the end
}

// lookAt looks for the circles of each workload of a list alone. Each gets an equal part of the decisions
// that are left.
func (s *circleSearch) lookAt(list []workload.Workload) {
	left := s.most
	s.all += len(list)
	for i := range list {
		s.tell()
		if left <= 0 {
			s.unfinished++
			continue
		}
		part := min(left, maxWorkOfOne, max(leastWorkOfOne, left/(len(list)-i)))
		loop, err := loops.Find(s.Snapshot, list[i:i+1], s.Config, loops.Options{Now: s.Now, MaxDecisions: part})
		if err != nil {
			continue
		}
		if left -= loop.Decisions; loop.Cut {
			s.unfinished++
		}
		if f := findingOf(&list[i], loop.Steps); len(loop.Steps) > 0 && !s.places[f.Place] {
			s.places[f.Place] = true
			s.found = append(s.found, f)
		}
	}
}

// couldBeSubmitted returns workloads that could be submitted, those of all queues in turn.
func (c *Cluster) couldBeSubmitted() (list []workload.Workload) {
	var of [][]workload.Workload
	for _, q := range distinct(c.State.Queues) {
		of = append(of, c.possible(q))
	}
	for i, more := 0, true; more; i++ {
		more = false
		for _, some := range of {
			if i < len(some) {
				list, more = append(list, some[i]), true
			}
		}
	}
	return list
}

// tell tells about a step.
func (c *Cluster) tell() {
	if c.Progress != nil {
		c.Progress()
	}
}

// findingOf describes a circle, from the step of the workload that was asked about.
func findingOf(w *workload.Workload, steps []loops.Step) Finding {
	var queues, texts []string
	first := max(0, slices.IndexFunc(steps, func(s loops.Step) bool { return s.Workload == w.ID }))
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
func says(s *loops.Step) string {
	if len(s.Victims) == 0 {
		return s.Workload + " fits"
	}
	var names []string
	for _, v := range s.Victims {
		names = append(names, fmt.Sprintf("%s (%v)", v.Workload, v.Reason))
	}
	return s.Workload + " preempts " + strings.Join(names, " and ")
}
