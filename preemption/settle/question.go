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

// Question is the request that stands for the excess of one node: whatever [preemption.Preemptor.Decide] answers
// to it are the victims. Explain and verify it as any other request.
//
// The node is the root of its tree in Snapshot, with what it may use as its quota. For a cohort, a queue without
// workloads gets quota of its own there, as much as the excess, and asks for it. For a queue, its nominal quota is
// greater by the excess, and the workload asks in it, before all others. So there is room for the request when as much
// as it asks for has left.
type Question struct {
	Snapshot *preemption.Snapshot
	Request  preemption.Request
}

// ask returns the question about the excess of a node.
func ask(s *preemption.Snapshot, n Node, excess []quota.Amount, r *Request, history *limits.History, now time.Time) (Question, error) {
	q := queue.Queue{Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}}
	rows := statusOf(s, n, columnsOf(excess)...)
	var edits []preemption.Edit
	if n.Queue != "" {
		q, _ = s.Queue(n.Queue)
		q.MinRuntime = resolved(s, q.MinRuntime, q.Cohort)
		q.Cohort, q.Rules, q.Quotas = "", "", asRoot(q.Quotas, rows, excess, excess)
		q.Preemption = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}
	} else {
		c, _ := s.Cohort(n.Cohort)
		c.MinRuntime = resolved(s, c.MinRuntime, c.Parent)
		c.Parent, c.Quotas = "", asRoot(c.Quotas, rows, excess, nil)
		q.Name, q.Cohort = unused("excess of "+n.Cohort, func(name string) bool { _, taken := s.Queue(name); return taken }), n.Cohort
		for _, a := range excess {
			q.Quotas = append(q.Quotas, quota.Quota{Flavor: a.Flavor, Resource: a.Resource, Nominal: a.Amount})
		}
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
			PodSets:  podSets(excess),
		},
		Now: now, LocalQueueUsage: r.LocalQueueUsage, History: history,
	}}, nil
}

// oldest is before every workload's time, so that each of equal priority is newer.
var oldest = time.Date(1678, 1, 1, 0, 0, 0, 0, time.UTC)

// asking returns the same question about other amounts.
func (q Question) asking(amounts []quota.Amount) Question {
	q.Request.Workload.PodSets = podSets(amounts)
	return q
}

// podSets asks for amounts: a pod set has one flavor of a resource.
func podSets(amounts []quota.Amount) (sets []workload.PodSet) {
	for _, a := range amounts {
		if n := len(sets); n == 0 || sets[n-1].Name != a.Flavor {
			sets = append(sets, workload.PodSet{Name: a.Flavor, Count: 1})
		}
		last := &sets[len(sets)-1]
		last.Requests = append(last.Requests, a)
	}
	return sets
}

// asRoot returns the quotas of a node that becomes a root: it may use what it may use in its tree, and more.
func asRoot(quotas []quota.Quota, rows []preemption.QuotaStatus, excess, more []quota.Amount) []quota.Quota {
	old := make(map[quota.FlavorResource]quota.Quota, len(quotas))
	for _, e := range quotas {
		old[e.FlavorResource()] = e
	}
	list := make([]quota.Quota, 0, len(rows))
	for _, row := range rows {
		most := max(row.PotentialAvailable, row.SubtreeQuota)
		if amountIn(excess, row.FlavorResource) > 0 {
			most = row.SubtreeQuota
			if limit, ok := old[row.FlavorResource].BorrowingLimit.Get(); ok {
				most = quota.Add(most, limit)
			}
		}
		nominal := quota.Add(row.Nominal, quota.Sub(most, row.SubtreeQuota))
		list = append(list, quota.Quota{
			Flavor: row.Flavor, Resource: row.Resource, Nominal: quota.Add(nominal, amountIn(more, row.FlavorResource)),
		})
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

func columnsOf(amounts []quota.Amount) (list []quota.FlavorResource) {
	for _, a := range amounts {
		list = append(list, a.FlavorResource())
	}
	return list
}

func amountIn(amounts []quota.Amount, fr quota.FlavorResource) int64 {
	if i := slices.IndexFunc(amounts, func(a quota.Amount) bool { return a.FlavorResource() == fr }); i >= 0 {
		return amounts[i].Amount
	}
	return 0
}

// unused returns a name that is not taken.
func unused(name string, taken func(string) bool) string {
	for taken(name) {
		name += "'"
	}
	return name
}
