package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// tooLarge finds workloads that wait and never fit, whoever yields: their queue can never have so much, or no node that there is
// now takes one of their pods. A finding is about all of a queue that the same is wrong with.
func tooLarge(c *Cluster) []Finding {
	quick := c.Config
	quick.MaxBlockers, quick.MaxRetrySteps = -1, -1
	p, err := preemption.New(quick)
	if err != nil {
		return nil // the configuration was valid
	}
	found := map[misfit]*misfits{}
	add := func(w *workload.Workload, problem problem, example string) {
		key := misfit{w.Queue, problem}
		if found[key] == nil {
			found[key] = &misfits{}
		}
		found[key].add(w.ID, example)
	}
	for i := range c.Waiting {
		if c.ended() != "" {
			c.unfinished(fmt.Sprintf("rule too-large looked at %s", workloads(i)), 0)
			break
		}
		r := c.Waiting[i]
		w := &r.Workload
		if len(r.MinCounts) > 0 {
			continue // with fewer replicas it may fit
		}
		if q, is := c.Snapshot.Queue(w.Queue); is {
			if example := answers.NoNode(c.TooLarge[w.ID], w, &q); example != "" {
				add(w, noNode, example)
			}
		}
		d, err := p.Decide(c.Snapshot, r)
		if err != nil || d.Outcome != preemption.Impossible {
			continue
		}
		if problem := neverFits(&d, w); problem != fits {
			add(w, problem, lacks(&d, &r, problem))
		}
	}
	var list []Finding
	for key, of := range found { // Run sorts them
		list = append(list, Finding{Place: placeOf("queue", key.queue), Problem: of.words(key.problem), Example: of.example})
	}
	return list
}

// problem is why a workload never fits.
type problem int

const (
	fits problem = iota // or it might
	noQuota
	noFlavor
	noNode
)

// misfit is the queue of a workload that never fits, and why it does not.
type misfit struct {
	queue   string
	problem problem
}

// misfits are workloads that never fit for one reason.
type misfits struct {
	ids     []string
	example string // of the first one
}

func (m *misfits) add(id, example string) {
	if m.ids = append(m.ids, id); len(m.ids) == 1 || id < slices.Min(m.ids[:len(m.ids)-1]) {
		m.example = id + ": " + example
	}
}

// named is how many of them are named.
const named = 3

// words say how many there are, why they never fit, and the names of the first ones.
func (m *misfits) words(p problem) string {
	text := workloads(len(m.ids))
	verbs := [2]string{"s", ""} // of one, of several
	s := verbs[min(1, len(m.ids)-1)]
	switch p {
	case noQuota:
		text += " ask" + s + " for more than the queue can ever have, with all that it may borrow"
	case noFlavor:
		text += " get" + s + " no flavor of the queue"
	case noNode:
		text += " ha" + [2]string{"s", "ve"}[min(1, len(m.ids)-1)] + " pods that no node of a flavor of the queue takes now"
	}
	slices.Sort(m.ids)
	text += ": " + strings.Join(m.ids[:min(named, len(m.ids))], ", ")
	if more := len(m.ids) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// neverFits says why a request that is refused would be refused if nothing ran anywhere. Or it might fit then.
func neverFits(d *preemption.Decision, w *workload.Workload) problem {
	if last := len(d.Assignment) - 1; last >= 0 && d.Assignment[last].Flavor == "" {
		large, others := false, false
		for _, t := range d.Assignment[last].Tried {
			switch t.Skipped {
			case preemption.ExceedsMaxQuota:
				large = true
			case preemption.NotEligible, preemption.NoQuota:
			default:
				others = true
			}
		}
		switch {
		case others:
			return fits
		case large:
			return noQuota
		}
		return noFlavor
	}
	pinned := d.Assignment.Pin(*w)
	for _, u := range pinned.Usage() {
		if slices.ContainsFunc(d.Shortage, func(s preemption.Shortage) bool {
			return !s.NeverYields && s.FlavorResource == u.FlavorResource() && u.Amount > s.PotentialAvailable
		}) {
			return noQuota
		}
	}
	return fits
}

// lacks says what a request that never fits for a problem asks for, and what the queue can have of it.
func lacks(d *preemption.Decision, r *preemption.Request, p problem) string {
	asked := map[string]int64{}
	for _, u := range r.Workload.Usage() {
		asked[u.Resource] = quota.Add(asked[u.Resource], u.Amount)
	}
	most := slices.DeleteFunc(slices.Clone(d.Shortage), func(s preemption.Shortage) bool { return asked[s.Resource] <= s.PotentialAvailable })
	if p != noQuota || len(most) == 0 {
		why, _ := answers.WhyNot(d, r)
		return why
	}
	s := answers.Scarcest(most, r)
	in := ""
	if s.Flavor != "" {
		in = " of " + s.Flavor
	}
	return fmt.Sprintf("it asks for %s %s, and the queue can have %s%s", units.Amount(s.Resource, asked[s.Resource]), s.Resource, units.Amount(s.Resource, s.PotentialAvailable), in)
}
