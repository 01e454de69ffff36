package safe

import (
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// requestOf returns a request for a little more than there is of each resource.
func (a *Asker) requestOf(of *pass) preemption.Request {
	now := instant.Time(of.at)
	if of.at == instant.Of(a.options.Now) {
		now = a.options.Now
	}
	var asks []quota.Amount
	for _, row := range of.rows {
		row := &of.queue.rows[row]
		asks = append(asks, quota.Amount{Flavor: row.Flavor, Resource: row.Resource, Amount: row.Available + 1})
	}
	return preemption.Request{Now: now, History: a.options.History, Workload: workload.Workload{
		ID: a.id, Queue: of.queue.Name, Priority: of.priority, Queued: of.queued,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: asks}},
	}}
}

// ages returns when requests are queued that matter: as new as can be; where equals may yield also just before the
// workload, and as old as can be; with all also just before every other of the queue.
func (a *Asker) ages(w *workload.Workload, q *asking, all bool) []time.Time {
	list := []time.Time{{}}
	if q.Preemption.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
		return list
	}
	oldest := a.options.Since
	if oldest.IsZero() {
		oldest = instant.Time(instant.Unset + 1)
	}
	before := func(w *workload.Workload) time.Time {
		if w.Queued.IsZero() {
			return instant.Time(math.MaxInt64)
		}
		return w.Queued.Add(-time.Nanosecond)
	}
	ages := []time.Time{before(w), oldest}
	if all {
		running := a.runs.in(q.Name)
		for i := range running {
			ages = append(ages, before(&running[i]))
		}
	}
	for _, t := range ages {
		if instant.Valid(t) && !t.Before(oldest) && !slices.ContainsFunc(list, t.Equal) {
			list = append(list, t)
		}
	}
	return list
}

// priorities returns the priorities of requests of a queue at which the answer about a workload may change, rising: the lowest with
// a right, the highest, those around the workload's and the threshold; with all also those around every other that runs.
func (a *Asker) priorities(w *workload.Workload, q *asking, all bool) (list []int64) {
	own, from := w.EffectivePriority(), int64(0)
	policy := &q.Preemption
	switch {
	case q.Name != w.Queue && policy.ReclaimWithinCohort == queue.Any:
		from = math.MinInt32
	case q.Name == w.Queue && policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority:
		from = own
	case own < math.MaxInt32:
		from = own + 1
	default:
		return nil
	}
	list = append(list, from, own, quota.Add(own, 1), math.MaxInt32)
	if threshold, ok := policy.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok {
		list = append(list, threshold, quota.Add(threshold, 1), quota.Add(threshold, 2))
	}
	if all {
		for _, p := range a.runs.distinct(a.where.trees[q.Name]) {
			list = append(list, p, quota.Add(p, 1))
		}
	}
	list = slices.DeleteFunc(list, func(p int64) bool { return p < max(from, math.MinInt32) || p > math.MaxInt32 })
	slices.Sort(list)
	return slices.Compact(list)
}
