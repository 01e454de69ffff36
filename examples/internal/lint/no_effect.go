package lint

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
)

// chooses reports whether a queue has another policy than what the API server stores by default.
func chooses(f queue.FlavorFungibility) bool {
	return !f.MayStopBorrowing() || f.MayStopPreempting() || f.Preference != (queue.FlavorFungibility{}).Preference
}

// noEffect finds settings that change no decision.
func noEffect(c *Cluster) []Finding {
	var found []Finding
	for i := range c.State.Queues {
		q := &c.State.Queues[i]
		add := adder(&found, placeOf("queue", q.Name))
		c.policies(q, add)
		c.runtimes(q, add)
		if chooses(q.FlavorFungibility) && len(q.Quotas) > 0 && !severalFlavors(q) {
			add("with two flavors of a resource it chooses between them", "flavorFungibility chooses between flavors, and no resource has two")
		}
		if weight, ok := q.FairWeight.Get(); ok {
			c.weight(weight, q.Cohort != "", add)
		}
	}
	for i := range c.State.Cohorts {
		co := &c.State.Cohorts[i]
		if weight, ok := co.FairWeight.Get(); ok {
			c.weight(weight, co.Parent != "", adder(&found, placeOf("cohort", co.Name)))
		}
	}
	for _, n := range c.Notes { // what a bridge left out because it means nothing
		if n.Path == "spec.preemption.borrowWithinCohort" || strings.Contains(n.Text, "borrowing and lending limits") {
			found = append(found, ofNote(n))
		}
	}
	return found
}

// add adds a finding: an example of what gives the setting an effect, and the problem.
type add func(example, problem string, args ...any)

func adder(found *[]Finding, place string) add {
	return func(example, problem string, args ...any) {
		*found = append(*found, Finding{Place: place, Problem: fmt.Sprintf(problem, args...), Example: example})
	}
}

// ofNote returns a finding that a bridge has made already.
func ofNote(n bridge.Note) Finding {
	kind, name, _ := strings.Cut(n.Object, " ")
	if word := map[string]string{"ClusterQueue": "queue", "Cohort": "cohort"}[kind]; word != "" {
		kind = word
	}
	_, problem, found := strings.Cut(n.Text, ": ")
	if !found {
		problem = n.Text
	}
	return Finding{Place: placeOf(kind, name), Problem: problem}
}

func (c *Cluster) policies(q *queue.Queue, add add) {
	const other = "a second queue in the tree could be preempted in"
	p := &q.Preemption
	alone := len(c.peers(q)) == 0
	if p.ReclaimWithinCohort != queue.Never && alone {
		add(other, "reclaimWithinCohort is %v, and no other queue is in its cohort tree", p.ReclaimWithinCohort)
	}
	borrow := p.BorrowWithinCohort
	threshold, limited := borrow.MaxPriorityThreshold.Get()
	switch {
	case borrow.Policy != queue.Never && alone:
		add(other, "borrowWithinCohort is %v, and no other queue is in its cohort tree", borrow.Policy)
	case borrow.Policy != queue.Never && c.fair():
		add("a request that borrows preempts by its share, with the policy and without", "borrowWithinCohort is %v, and fair sharing does not read it", borrow.Policy)
	case borrow.Policy == queue.Never && limited:
		add("with LowerPriority it would limit whom the queue preempts while it borrows", "borrowWithinCohort has a maxPriorityThreshold of %d, and its policy is Never", threshold)
	}
}

func (c *Cluster) runtimes(q *queue.Queue, add add) {
	if d, ok := q.MinRuntime.Preempt.Get(); ok && d > 0 && q.Preemption.WithinClusterQueue == queue.Never {
		add("nobody of the queue is ever preempted by another of it", "its minimum runtime of %v protects against its own workloads, and withinClusterQueue is Never", d)
	}
	if d, ok := q.MinRuntime.Reclaim.Get(); ok && d > 0 {
		for _, o := range c.peers(q) {
			if o.Preemption.ReclaimWithinCohort != queue.Never {
				return
			}
		}
		add("nobody of the queue is ever reclaimed", "its minimum runtime of %v protects against reclaims, and no other queue of its cohort tree reclaims", d)
	}
}

func (c *Cluster) weight(weight float64, hasParent bool, add add) {
	switch {
	case !hasParent:
		add("a cohort above it would give it siblings", "its weight of %v is for siblings, and it is in no cohort", weight)
	case !c.fair():
		add("with fair sharing its share would be divided by it", "its weight of %v is for fair sharing, which does not decide here", weight)
	}
}

func severalFlavors(q *queue.Queue) bool {
	for _, g := range q.ResourceGroups() {
		if len(g.Flavors) > 1 {
			return true
		}
	}
	return false
}
