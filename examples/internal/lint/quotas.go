package lint

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/queue"
)

// lending finds lending limits over what there is to lend. A limit on a queue is never over its
// nominal quota in a valid state: a bridge lowers it, with a note.
func lending(c *Cluster) []Finding {
	var found []Finding
	for i := range c.State.Cohorts {
		co := &c.State.Cohorts[i]
		rows, _ := c.Snapshot.CohortStatus(co.Name)
		for _, e := range co.Quotas {
			limit, ok := e.LendingLimit.Get()
			has := row(rows, e.FlavorResource()).SubtreeQuota
			if ok && limit > has {
				found = append(found, Finding{Place: placeOf("cohort", co.Name),
					Problem: fmt.Sprintf("its lending limit of %s for %v is more than its quota and what its members lend, %s", units.Amount(e.Resource, limit), e.FlavorResource(), units.Amount(e.Resource, has)),
					Example: fmt.Sprintf("a queue beside it never gets more than %s from it", units.Amount(e.Resource, has))})
			}
		}
	}
	for _, n := range c.Notes {
		if strings.Contains(n.Text, "lendingLimit of") {
			found = append(found, ofNote(n))
		}
	}
	return found
}

// unreachable finds quota that no workload can be admitted to.
func unreachable(c *Cluster) []Finding {
	borrows := map[string]map[string]bool{} // by root and column: some queue can borrow there
	for i := range c.State.Queues {
		q := &c.State.Queues[i]
		if q.Cohort == "" {
			continue
		}
		root := c.trees[q.Cohort]
		if borrows[root] == nil {
			borrows[root] = map[string]bool{}
		}
		rows, _ := c.Snapshot.QueueStatus(q.Name)
		for _, e := range q.Quotas {
			if r := row(rows, e.FlavorResource()); r.PotentialAvailable > r.Nominal {
				borrows[root][e.FlavorResource().String()] = true
			}
		}
	}
	var found []Finding
	for i := range c.State.Cohorts {
		co := &c.State.Cohorts[i]
		for _, e := range co.Quotas {
			if e.Nominal > 0 && !borrows[c.trees[co.Name]][e.FlavorResource().String()] {
				found = append(found, Finding{Place: placeOf("cohort", co.Name),
					Problem: fmt.Sprintf("its quota of %s for %v is for nobody: no queue of its tree has an entry for that and may borrow", units.Amount(e.Resource, e.Nominal), e.FlavorResource()),
					Example: "add the entry to a queue, with nominal 0, or raise its borrowing limit"})
			}
		}
	}
	if c.LocalQueues != nil {
		found = append(found, c.withoutWay()...)
	}
	return found
}

// withoutWay finds queues that nobody can submit to and that lend nothing.
func (c *Cluster) withoutWay() []Finding {
	leads := map[string]bool{}
	for _, l := range c.LocalQueues {
		leads[l.ClusterQueue] = true
	}
	var found []Finding
	for i := range c.State.Queues {
		q := &c.State.Queues[i]
		if leads[q.Name] || c.runs(q.Name) != "" {
			continue
		}
		for _, e := range q.Quotas {
			if e.Nominal > 0 && !c.lends(q, e.LendingLimit.Or(e.Nominal)) {
				found = append(found, Finding{Place: placeOf("queue", q.Name),
					Problem: fmt.Sprintf("its quota of %s for %v is for nobody: no LocalQueue leads to it, and it lends nothing", units.Amount(e.Resource, e.Nominal), e.FlavorResource())})
			}
		}
	}
	return found
}

// lends reports whether another queue can use what a queue may lend.
func (c *Cluster) lends(q *queue.Queue, limit int64) bool { return limit > 0 && len(c.peers(q)) > 0 }
