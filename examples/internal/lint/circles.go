package lint

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cedesched/cede/preemption/loops"
	"github.com/cedesched/cede/workload"
)

const (
	// maxLooks limits the workloads that all searches for circles go over, once for those that wait and once for
	// those that could be submitted, so that all take some seconds in a cluster of any size.
	maxLooks = 1_000_000
	// leastLooks is what the search for one workload may go over while there is some left, so that it may go on after a
	// decision that looks at all; maxLooksOfOne is the most, also where all have no limit.
	leastLooks, maxLooksOfOne = 50_000, 1_000_000
	// atOnce is how many searches are made at a time. What a search may look at does not depend on those beside it.
	atOnce = 4
)

// circles finds workloads that evict each other: each one that waits is asked about alone, and so
// is each one that could be submitted. Workloads alone never evict each other by the policies
// and strategies as they are; who else runs makes a circle possible. So they are asked about
// with all that runs. Of workloads of one shape one is asked about.
func circles(c *Cluster) []Finding {
	s := circleSearch{Cluster: c, places: map[string]bool{}}
	for _, list := range [][]workload.Workload{c.Pending, c.couldBeSubmitted()} {
		s.all += len(list)
		s.lookAt(list)
	}
	if left := s.all - s.finished; left > 0 {
		c.unfinished(fmt.Sprintf("circles were looked for to the end for %d of %s that could begin one", s.finished, workloads(s.all)), 2*maxLooks)
	}
	return s.found
}

// circleSearch looks for the circles of one workload after the other.
type circleSearch struct {
	*Cluster
	found    []Finding
	places   map[string]bool // one circle of the same queues says it
	all      int             // workloads
	finished int             // those that were looked at to the end
}

// lookAt looks for the circles of each workload of a list alone. Each gets an equal part of what is left to look at.
func (s *circleSearch) lookAt(list []workload.Workload) {
	shapes := s.shapes(list)
	left := maxLooks
	for at := 0; at < len(shapes) && (left > 0 || s.Unlimited) && s.ended() == ""; at += atOnce {
		part := min(max(leastLooks, left/(len(shapes)-at)), maxLooksOfOne)
		if s.Unlimited {
			part = maxLooksOfOne
		}
		some := shapes[at:min(at+atOnce, len(shapes))]
		loop := make([]loops.Loop, len(some))
		errs := make([]error, len(some))
		var searches sync.WaitGroup
		for i := range some {
			searches.Go(func() {
				loop[i], errs[i] = loops.Find(s.Snapshot, list[some[i].first:some[i].first+1], s.Config, loops.Options{Now: s.Now, MaxWorkloads: part})
			})
		}
		searches.Wait()
		for i := range some {
			if errs[i] == nil {
				left -= loop[i].Workloads
				s.take(&list[some[i].first], &loop[i], some[i].count)
			}
		}
	}
}

// shape is some workloads of one shape: the first of a list, and how many there are.
type shape struct{ first, count int }

// shapes returns the shapes of a list, in its order.
func (s *circleSearch) shapes(list []workload.Workload) (shapes []shape) {
	at := map[string]int{}
	for i := range list {
		text := s.shape(&list[i])
		if n, known := at[text]; known && text != "" {
			shapes[n].count++
			continue
		}
		at[text] = len(shapes)
		shapes = append(shapes, shape{i, 1})
	}
	return shapes
}

// take notes what was found for some workloads of one shape.
func (s *circleSearch) take(w *workload.Workload, loop *loops.Loop, count int) {
	for range count {
		s.tell()
	}
	if !loop.Cut {
		s.finished += count
	}
	if f := findingOf(w, loop.Steps); len(loop.Steps) > 0 && !s.places[f.Place] {
		s.places[f.Place] = true
		s.found = append(s.found, f)
		s.report("circle", f)
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
