package reference

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Answer is a decision as if time stood still: Wait is Impossible; see [RetryAt].
type Answer struct {
	preemption.Decision
	// Borrowing: the attempt that found the victims let the request take its queue over its nominal quota.
	Borrowing bool
}

// Decide answers a valid request, in which every amount has a flavor, about a valid state.
func Decide(c preemption.Config, st preemption.State, r preemption.Request) Answer {
	return New(c, st, r).decide()
}

func (q *Question) decide() Answer {
	if inactive(q.Queue) {
		blocker := preemption.Blocker{Rule: preemption.RuleQueueInactive, Queue: q.Queue.Name}
		return Answer{Decision: preemption.Decision{Outcome: preemption.Impossible, Blockers: []preemption.Blocker{blocker}}}
	}
	answer := Answer{Decision: preemption.Decision{Outcome: preemption.Impossible, BorrowHeight: q.BorrowHeight()}}
	if q.FitsNow() {
		answer.Outcome, answer.Admitted = preemption.Fits, q.admitted()
		return answer
	}
	if q.Request.Workload.NeverPreempts {
		answer.Shortage = q.shortages()
		answer.NoRoom = len(answer.Shortage) == 0
		return answer
	}
	if q.RulesOf() == nil || !q.Config.Compat.RulesAlone {
		f := q.search(q.Candidates())
		if f.victims != nil || f.soon {
			answer := q.found(f.victims, f.borrowing)
			if f.soon {
				answer.Outcome, answer.Leaving = preemption.Wait, true
			}
			return answer
		}
		q.refuse(&answer, f.failed)
	}
	if q.RulesOf() != nil {
		return q.decideByRules(answer)
	}
	return answer
}

// decideByRules answers by the rules of the preemptor's queue where the policies refuse.
func (q *Question) decideByRules(refused Answer) Answer {
	b := q.SearchByRules()
	if b.Victims == nil {
		refused.Triggers = b.Holding
		for _, f := range b.Faults {
			refused.RuleFaults = append(refused.RuleFaults, f.Error())
		}
		if q.Config.Compat.RulesAlone {
			q.refuseByRules(&refused, b)
		} else {
			refused.Blockers = q.blockers(refused.Shortage, b.Holding)
		}
		return refused
	}
	answer := q.found(b.Victims, true)
	answer.Triggers = b.Holding
	for i := range answer.Victims {
		v := &answer.Victims[i]
		at := -1 // the victim as a whole; or the first of what leaves of it
		for n, c := range b.Victims {
			if c.ID == v.Workload && c.OfRules() && (at < 0 || c.Leaving == "") {
				at = n
			}
		}
		if at >= 0 { // whatever replicas the policies took of it
			v.Reason, v.Rules, v.PreemptorQueued = preemption.ConfigurablePreemption, q.RulesThat(&b.Victims[at]), time.Time{}
		}
	}
	return answer
}

// admitted returns the workload as it is admitted now, with its signal cleared.
func (q *Question) admitted() *workload.Workload {
	w := q.Request.Workload.Clone()
	w.ReservedAt, w.AdmittedAt, w.Evicted = q.Now, time.Time{}, false
	if w.Gates.Blocked.Active {
		w.Gates.Blocked.Active, w.Gates.Blocked.Since = false, q.Now
	}
	return &w
}

// found is the answer with victims, in the order in which they were chosen.
func (q *Question) found(taken []Candidate, borrowing bool) Answer {
	q.Take(taken...)
	d := preemption.Decision{Outcome: preemption.Preempt, BorrowHeight: q.BorrowHeight(), Victims: q.Victims(taken)}
	q.Return(taken...)
	switch gated := q.Request.Workload.Gates.AnyClosed(); {
	case gated && allLeave(taken):
		d.Outcome, d.Leaving = preemption.Wait, true // nothing to signal: nobody would have to be told
	case gated:
		d.Outcome = preemption.Gated
	}
	return Answer{d, borrowing}
}

// Victims names what was taken: each workload once, by ID, with a number by the order of taking.
func (q *Question) Victims(taken []Candidate) (list []preemption.Victim) {
	for _, c := range taken {
		i := slices.IndexFunc(list, func(o preemption.Victim) bool { return o.Workload == c.ID })
		if i < 0 {
			v := preemption.Victim{Workload: c.ID, Queue: c.At.Name, Cohort: c.CohortName(), Reason: c.Reason, Leaving: true}
			v.Order = len(list) + 1
			if c.Reason == preemption.InClusterQueueTimeBased {
				v.PreemptorQueued = q.Request.Workload.Queued
			}
			i, list = len(list), append(list, v)
		}
		v := &list[i]
		v.Leaving = v.Leaving && c.Evicted
		if c.Reason == preemption.InCohortReclamation && v.Reason == preemption.InCohortFairSharing {
			v.Reason = c.Reason // of a part that no strategy took
		}
		whole := func(o Candidate) bool { return o.ID == c.ID && !o.Partial() }
		switch {
		case slices.ContainsFunc(taken, whole):
		case c.Leaving != "":
			count := c.PodSets[0].Count
			v.Replicas = addReplicas(v.Replicas, preemption.Replicas{PodSet: c.Leaving, Count: count, Leaving: count})
		default:
			v.Replicas = addReplicas(v.Replicas, preemption.Replicas{PodSet: c.PodSets[c.PodSet].Name, Count: 1})
		}
	}
	for i := range list {
		slices.SortFunc(list[i].Replicas, func(a, b preemption.Replicas) int { return cmp.Compare(a.PodSet, b.PodSet) })
	}
	slices.SortFunc(list, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	return list
}

// addReplicas adds replicas to the replicas of a victim.
func addReplicas(list []preemption.Replicas, more preemption.Replicas) []preemption.Replicas {
	for i := range list {
		if list[i].PodSet == more.PodSet {
			list[i].Count += more.Count
			list[i].Leaving += more.Leaving
			return list
		}
	}
	return append(list, more)
}
