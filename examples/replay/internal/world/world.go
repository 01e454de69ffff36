// Package world has the worlds that are replayed: jobs over time, and the queues they wait in.
// The jobs are drawn from measured quantiles, or read from a trace.
package world

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Flavor is the only flavor of all worlds. GPU and CPU are counted in thousandths.
const (
	Flavor = "gpu-nodes"
	GPU    = "gpu"
	CPU    = "cpu"
)

// Job is a job as it is submitted.
type Job struct {
	ID, Queue string
	Priority  int64
	GPU, CPU  int64 // in thousandths
	Submit    int64 // seconds since the start of the world
	Work      int64 // seconds that it has to run, without start-up and without what is lost
}

// Share is the part of the capacity that a queue has as its nominal quota.
type Share struct {
	Queue  string
	Weight int64
}

// Trace is jobs and the shares of their queues.
type Trace struct {
	Name   string
	Jobs   []Job   // by submission, then ID
	Shares []Share // by queue
}

// World is what a loop replays.
type World struct {
	Trace
	Settings
	GPU, CPU int64 // the capacity, in thousandths; CPU is zero if no job asks for it
	Cohorts  []queue.Cohort
	Queues   []queue.Queue
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
	slices.SortFunc(t.Shares, func(a, b Share) int { return strings.Compare(a.Queue, b.Queue) })
}

// peak returns the most that would be in use at one time if every job started on arrival.
func (t *Trace) peak() (gpu, cpu int64) {
	type change struct{ at, gpu, cpu int64 }
	changes := make([]change, 0, 2*len(t.Jobs))
	for _, j := range t.Jobs {
		changes = append(changes, change{j.Submit, j.GPU, j.CPU}, change{j.Submit + j.Work, -j.GPU, -j.CPU})
	}
	slices.SortFunc(changes, func(a, b change) int { // who leaves goes before who comes
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.gpu, b.gpu), cmp.Compare(a.cpu, b.cpu))
	})
	var gpus, cpus int64
	for _, c := range changes {
		gpus, cpus = gpus+c.gpu, cpus+c.cpu
		gpu, cpu = max(gpu, gpus), max(cpu, cpus)
	}
	return gpu, cpu
}

// New makes a world: the capacity is a part of the peak, the quotas are parts of the capacity.
func New(t Trace, s Settings) *World {
	w := &World{Trace: t, Settings: s}
	gpu, cpu := t.peak()
	w.GPU, w.CPU = gpu*s.Capacity/100/1000*1000, cpu*s.Capacity/100
	gpus, cpus := split(w.GPU, t.Shares), split(w.CPU, t.Shares)
	w.Cohorts = []queue.Cohort{{Name: "all"}}
	for n := range s.Cohorts {
		w.Cohorts = append(w.Cohorts, queue.Cohort{Name: cohort(n), Parent: "all"})
	}
	policy := queue.PreemptionPolicy{
		WithinClusterQueue: s.Within, ReclaimWithinCohort: s.Reclaim,
		BorrowWithinCohort: queue.BorrowWithinCohort{Policy: s.Borrow},
	}
	for i, share := range t.Shares {
		q := queue.Queue{Name: share.Queue, Cohort: "all", Preemption: policy, Strategy: s.Strategy}
		if s.Cohorts > 0 {
			q.Cohort = cohort(i % s.Cohorts)
		}
		q.Quotas = []quota.Quota{s.quota(GPU, gpus[i])}
		if w.CPU > 0 {
			q.Quotas = append(q.Quotas, s.quota(CPU, cpus[i]))
		}
		w.Queues = append(w.Queues, q)
	}
	return w
}

func cohort(n int) string { return "cohort-" + string(rune('a'+n)) }

func (s *Settings) quota(resource string, nominal int64) quota.Quota {
	q := quota.Quota{Flavor: Flavor, Resource: resource, Nominal: nominal}
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
