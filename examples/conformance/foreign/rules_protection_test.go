package foreign

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// reclaim returns a request that any one of the candidates is enough for, if it may be reclaimed.
func (k *ruleCase) reclaim(candidates ...ruleWorkload) recorded.Question {
	q := recorded.Question{Config: new(preemption.Config), State: lending(queue.Any, int64(len(candidates)))}
	for i, of := range candidates {
		w := k.workload(&of)
		w.ID = fmt.Sprintf("%s %d", w.ID, i) // a case may have a name twice
		w.Queue, w.PodSets = "borrower", cpu("borrower", 1).PodSets
		if w.ReservedAt.IsZero() {
			w.ReservedAt = w.AdmittedAt
		}
		q.State.Admitted = append(q.State.Admitted, w)
	}
	if on, set := k.Settings.Gates["PreemptionProtection"]; on || !set {
		q.Config.Protection.Reclaim = k.Rule.duration()
	}
	q.Request = preemption.Request{Workload: cpu("owner", 1), Now: k.Settings.Now}
	return q
}

// cpu returns a workload of a queue.
func cpu(queue string, amount int64) workload.Workload {
	return workload.Workload{ID: "of " + queue, Queue: queue, PodSets: []workload.PodSet{
		{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "default", Resource: "cpu", Amount: amount}}},
	}}
}

// lending has a queue with all the quota, which reclaims by a policy, and one with none.
func lending(policy queue.VictimPolicy, nominal int64) *preemption.State {
	return &preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}},
		Queues: []queue.Queue{
			{Name: "owner", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: nominal}},
				Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: policy}},
			{Name: "borrower", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu"}}},
		},
	}
}

// protection asks about a workload that is to be reclaimed: whether it is protected, and when it may yield.
func (k *ruleCase) protection() (list []recorded.Question, err error) {
	switch k.kind {
	case "protected":
		q := k.reclaim(k.Candidate)
		q.Want.Possible = ptr(!k.Want.Protected)
		return []recorded.Question{q}, nil
	case "expiry":
		if at := k.Candidate.AdmittedAt; !at.IsZero() && at.Before(k.Settings.Now) {
			k.Settings.Now = at // when it may be over is the same at any time
		}
		q := k.reclaim(k.Candidate)
		q.Want.RetryAt = &k.Want.Expiry
		return []recorded.Question{q}, nil
	}
	var skipped []ruleWorkload
	for _, step := range k.Steps {
		if skips := step.Want.Skipped; skips != nil {
			q := k.reclaim(step.Candidate)
			q.Want.Possible = ptr(!*skips)
			list = append(list, q)
			if *skips && (k.Settings.Keeps == nil || *k.Settings.Keeps) {
				skipped = append(skipped, step.Candidate)
			}
		}
		if len(step.Want.EarliestExpiry) > 0 && len(skipped) > 0 {
			q := k.reclaim(skipped...)
			q.Want.RetryAt = new(time.Time)
			if err := q.Want.RetryAt.UnmarshalJSON(step.Want.EarliestExpiry); err != nil {
				return nil, err
			}
			list = append(list, q)
		}
	}
	return list, nil
}

// alwaysReclaims asks whether a queue gets back at any time what others borrow. If it does not, a cycle reserves, for a head
// without candidates, what its queue could hold.
func (k *ruleCase) alwaysReclaims() ([]recorded.Question, error) {
	k.Settings.Now = someTime
	q, err := k.question(false)
	q.State = lending(k.Reclaims, 2)
	q.State.Queues = append(q.State.Queues, queue.Queue{Name: "other", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: 1}}})
	q.State.Admitted = []workload.Workload{cpu("other", 1)} // so that 3 of the owner never fit
	first, later := cpu("owner", 3), cpu("borrower", 2)
	first.Priority, first.Queued, later.Queued = 1, someTime, someTime
	q.Heads, q.Request = []queue.Head{{Workload: first}, {Workload: later}}, preemption.Request{Now: someTime}
	if q.Want.Admits = []string{}; k.Want.CanAlwaysReclaim {
		q.Want.Admits = append(q.Want.Admits, later.ID)
	}
	return []recorded.Question{q}, err
}
