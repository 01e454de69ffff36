package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// hypothetical is the ID of a workload that nobody has submitted.
const hypothetical = "\x00a new workload"

// said describes a workload.
func said(w *workload.Workload) string {
	if w.ID != hypothetical {
		return w.ID
	}
	var parts []string
	for _, u := range w.Usage() {
		parts = append(parts, units.Amount(u.Resource, u.Amount)+" "+u.Resource)
	}
	return fmt.Sprintf("a new workload of %s with priority %d in %s", strings.Join(parts, " and "), w.Priority, w.Queue)
}

const (
	// maxKinds limits the queues for which workloads are made up. Those with the same quotas
	// and policies under one cohort count twice.
	maxKinds = 100
	// maxColumns limits the columns of a queue that are combined with each other.
	maxColumns = 3
)

// distinct returns one or two queues of each kind, at most maxKinds.
func distinct(queues []queue.Queue) []*queue.Queue {
	var list []*queue.Queue
	seen := map[string]int{}
	for i := range queues {
		q := queues[i]
		q.Name = ""
		kind := fmt.Sprintf("%+v", q)
		if seen[kind]++; seen[kind] <= 2 && len(list) < maxKinds {
			list = append(list, &queues[i])
		}
	}
	return list
}

// possible returns workloads that could be submitted to a queue: of less than, as much as and
// more than its nominal quota, in one column and in two, of the lowest and of the highest
// priority that runs and of a higher one.
func (c *Cluster) possible(q *queue.Queue) []workload.Workload {
	lowest, highest := int64(0), int64(0)
	for i := range c.State.Admitted {
		n := c.State.Admitted[i].EffectivePriority()
		if i == 0 {
			lowest, highest = n, n
		}
		lowest, highest = min(lowest, n), max(highest, n)
	}
	priorities := []int64{lowest, highest, quota.Add(highest, 1)}
	slices.Sort(priorities)
	rows, _ := c.Snapshot.QueueStatus(q.Name)
	var list []workload.Workload
	for i, x := range q.Quotas[:min(len(q.Quotas), maxColumns)] {
		sets := amounts(nil, row(rows, x.FlavorResource()))
		for _, y := range q.Quotas[i+1 : min(len(q.Quotas), maxColumns)] {
			for _, one := range amounts(nil, row(rows, x.FlavorResource())) {
				sets = append(sets, amounts(one, row(rows, y.FlavorResource()))...)
			}
		}
		for _, requests := range sets {
			for _, priority := range slices.Compact(priorities) {
				list = append(list, workload.Workload{ID: hypothetical, Queue: q.Name, Priority: priority, Created: c.Now, Queued: c.Now,
					PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: requests}}})
			}
		}
	}
	return list
}

// amounts returns the requests with an amount of a column added: half of the nominal quota, all
// of it, half of what is over it, and all that the queue could ever have.
func amounts(before []quota.Amount, r preemption.QuotaStatus) [][]quota.Amount {
	most := min(r.PotentialAvailable, quota.MaxUsage/4) // unlimited quota is no amount
	nominal := min(r.Nominal, most)
	sizes := []int64{nominal / 2, nominal, nominal + (most-nominal)/2, most}
	var list [][]quota.Amount
	for _, n := range slices.Compact(sizes) {
		if n > 0 && r.Resource != "" {
			list = append(list, append(slices.Clone(before), quota.Amount{Flavor: r.Flavor, Resource: r.Resource, Amount: n}))
		}
	}
	return list
}
