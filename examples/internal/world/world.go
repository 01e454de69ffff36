// Package world has the worlds that are replayed: jobs over time, and the queues they wait in.
// The jobs are drawn from measured quantiles, or read from a trace.
package world

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Flavor is the flavor where records name none. GPU and CPU are counted in thousandths.
const (
	Flavor = "gpu-nodes"
	GPU    = "gpu"
	CPU    = "cpu"
)

// Share is the part of the capacity that a queue has as its nominal quota.
type Share struct {
	Queue  string
	Weight int64
}

// Trace is jobs and the shares of their queues.
type Trace struct {
	Name   string
	Jobs   []Job   // by submission, then ID
	Shares []Share // by queue; of a cluster: none
	// Cluster is not nil if queues, quotas and policies are those of a cluster.
	Cluster *Cluster
	// CountsCPU says that CPUs count beside GPUs, also where no setting asks for it.
	CountsCPU bool
	// Ordered says that the priorities order the queue, and give no right to preempt.
	Ordered bool
	// Rights are who may preempt whom, by the QOS of jobs; nil: the policies of the queues say it.
	Rights *rules.Config
	// Invented is what neither records nor settings say. Notes say what else there is to know, in sentences.
	Invented, Notes []string
}

// World is what a loop replays.
type World struct {
	Trace
	Settings
	GPU, CPU int64  // the capacity, in thousandths; CPU is zero if no job asks for it
	Unit     string // what GPU counts, here and in the jobs: GPU, or CPU if no job has a GPU
	Cohorts  []queue.Cohort
	Queues   []queue.Queue
	Rules    []rules.Config
	Flavors  []string // of the jobs; the first one is that of jobs that name none
	// Whole is what the jobs ask for, in their order. Nil: GPUs and CPUs alone.
	Whole  []workload.Workload
	queues map[string]*queue.Queue
}

// Horizon is the time of the last submission, in seconds.
func (t *Trace) Horizon() int64 {
	if len(t.Jobs) == 0 {
		return 0
	}
	return t.Jobs[len(t.Jobs)-1].Submit
}

// Priorities returns the priorities of the jobs, highest first.
func (t *Trace) Priorities() []int64 {
	seen := map[int64]bool{}
	var list []int64
	for i := range t.Jobs {
		if p := t.Jobs[i].Priority; !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
	return list
}

// sorted sets the orders of the trace.
func (t *Trace) sorted() {
	slices.SortStableFunc(t.Jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), strings.Compare(a.ID, b.ID))
	})
	t.sortShares()
}

func (t *Trace) sortShares() {
	slices.SortFunc(t.Shares, func(a, b Share) int { return strings.Compare(a.Queue, b.Queue) })
}

func cohort(n int) string { return "cohort-" + string(rune('a'+n)) }

func (s *Settings) quota(flavor, resource string, nominal int64) quota.Quota {
	q := quota.Quota{Flavor: flavor, Resource: resource, Nominal: nominal}
	if s.Limit >= 0 {
		q.BorrowingLimit = quota.AtMost(nominal * s.Limit / 100)
	}
	return q
}

// split divides an amount by weight, rounded down; the first queue by name gets the rest.
func split(amount int64, shares []Share) []int64 {
	var sum, given int64
	for _, s := range shares {
		sum += s.Weight
	}
	parts := make([]int64, len(shares))
	for i, s := range shares {
		if sum > 0 {
			parts[i] = amount / sum * s.Weight
			parts[i] += amount % sum * s.Weight / sum
		}
		given += parts[i]
	}
	if len(parts) > 0 {
		parts[0] += amount - given
	}
	return parts
}
