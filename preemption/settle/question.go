package settle

import (
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Question is the request that stands for the excess of one column of a node, or for a part of it: whatever
// [preemption.Preemptor.Decide] answers to it are the victims. Explain and verify it as any other request.
//
// The node is the root of its tree in Snapshot, with what it may use as its quota. For a cohort, a queue without
// workloads gets quota of its own there, as much as the excess, and asks for it. For a queue, its nominal quota is
// greater by the excess, and the workload asks in it, before all others. So there is room for the request when as much
// as it asks for has left.
type Question struct {
	Snapshot *preemption.Snapshot
	Request  preemption.Request
}

// ask returns the question about the excess of a step.
func ask(s *preemption.Snapshot, step *Step, r *Request, history *limits.History, now time.Time) (Question, error) {
	n, excess := step.Node, step.Excess
	q := queue.Queue{Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}}
	rows := rowsOf(s, n, excess.FlavorResource())
	var edits []preemption.Edit
	if n.Queue != "" {
		q, _ = s.Queue(n.Queue)
		q.MinRuntime = resolved(s, q.MinRuntime, q.Cohort)
		q.Cohort, q.Rules, q.Quotas = "", "", asRoot(q.Quotas, rows, excess)
		for i := range q.Quotas {
			if e := &q.Quotas[i]; e.FlavorResource() == excess.FlavorResource() {
				e.Nominal = quota.Add(e.Nominal, excess.Amount)
			}
		}
		q.Preemption = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}
	} else {
		c, _ := s.Cohort(n.Cohort)
		c.MinRuntime = resolved(s, c.MinRuntime, c.Parent)
		c.Parent, c.Quotas = "", asRoot(c.Quotas, rows, excess)
		q.Name, q.Cohort = unused("excess of "+n.Cohort, func(name string) bool { _, taken := s.Queue(name); return taken }), n.Cohort
		q.Quotas = []quota.Quota{{Flavor: excess.Flavor, Resource: excess.Resource, Nominal: excess.Amount}}
		edits = append(edits, preemption.SetCohort(c))
	}
	asked, err := s.With(append(edits, preemption.SetQueue(q))...)
	if err != nil {
		return Question{}, err
	}
	return Question{asked, preemption.Request{
		Workload: workload.Workload{
			ID:       unused("excess of "+n.String(), func(id string) bool { _, taken := s.Find(id); return taken }),
			Queue:    q.Name,
			Priority: math.MaxInt64,
			Queued:   oldest,
			PodSets:  []workload.PodSet{{Name: excess.Flavor, Count: 1, Requests: []quota.Amount{excess}}},
		},
		Now: now, LocalQueueUsage: r.LocalQueueUsage, History: history,
	}}, nil
}

// oldest is before every workload's time, so that each of equal priority is newer.
var oldest = time.Date(1678, 1, 1, 0, 0, 0, 0, time.UTC)

// asking returns the same question about another amount.
func (q Question) asking(amount int64) Question {
	sets := slices.Clone(q.Request.Workload.PodSets)
	sets[0].Requests = slices.Clone(sets[0].Requests)
	sets[0].Requests[0].Amount = amount
	q.Request.Workload.PodSets = sets
	return q
}

// asRoot returns the quotas of a node that becomes a root: it may use what it may use in its tree.
func asRoot(quotas []quota.Quota, rows []preemption.QuotaStatus, excess quota.Amount) (list []quota.Quota) {
	for _, row := range rows {
		most := max(row.PotentialAvailable, row.SubtreeQuota)
		if row.FlavorResource == excess.FlavorResource() {
			most = row.SubtreeQuota
			for _, e := range quotas {
				if limit, ok := e.BorrowingLimit.Get(); ok && e.FlavorResource() == row.FlavorResource {
					most = quota.Add(most, limit)
				}
			}
		}
		nominal := quota.Add(row.Nominal, quota.Sub(most, row.SubtreeQuota))
		list = append(list, quota.Quota{Flavor: row.Flavor, Resource: row.Resource, Nominal: nominal})
	}
	return list
}

// resolved returns the minimum runtimes of a node, with those of the nearest cohort above where it sets none.
func resolved(s *preemption.Snapshot, own minruntime.Settings, parent string) minruntime.Settings {
	for parent != "" && (own.Preempt.IsZero() || own.Reclaim.IsZero()) {
		c, _ := s.Cohort(parent)
		if own.Preempt.IsZero() {
			own.Preempt = c.MinRuntime.Preempt
		}
		if own.Reclaim.IsZero() {
			own.Reclaim = c.MinRuntime.Reclaim
		}
		parent = c.Parent
	}
	return own
}

// unused returns a name that is not taken.
func unused(name string, taken func(string) bool) string {
	for taken(name) {
		name += "'"
	}
	return name
}
