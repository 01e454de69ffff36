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
	return New(c, st, r).decide(false)
}

func (q *Question) decide(inOrder bool) Answer {
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
	if q.RulesOf() == nil || !q.Config.RulesAlone {
		list := q.Candidates()
		f := q.search(list, inOrder)
		if f.victims != nil {
			return q.found(f.victims, f.borrowing)
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
		if q.Config.RulesAlone {
			q.refuseByRules(&refused, b)
		}
		return refused
	}
	answer := q.found(b.Victims, true)
	answer.Triggers = b.Holding
	for i := range answer.Victims {
		v := &answer.Victims[i]
		at := -1 // the victim as a whole; or the first of what leaves of it
		for n, c := range b.Victims {
			if c.ID == v.Workload && c.Reason == preemption.ConfigurablePreemption && (at < 0 || c.Leaving == "") {
				at = n
			}
		}
		if at >= 0 { // whatever replicas the policies took of it
			v.Reason, v.Rules, v.PreemptorQueued = preemption.ConfigurablePreemption, q.rulesThat(&b.Victims[at]), time.Time{}
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
	if q.Request.Workload.Gates.AnyClosed() {
		d.Outcome = preemption.Gated
	}
	return Answer{d, borrowing}
}

// Victims names what was taken: each workload once, by ID, with a number by the order of taking.
func (q *Question) Victims(taken []Candidate) (list []preemption.Victim) {
	for _, c := range taken {
		i := slices.IndexFunc(list, func(o preemption.Victim) bool { return o.Workload == c.ID })
		if i < 0 {
			v := preemption.Victim{Workload: c.ID, Queue: c.At.Name, Reason: c.Reason, Leaving: true, Order: len(list) + 1}
			if c.Cohort != nil {
				v.Cohort = c.Cohort.Name
			}
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
			v.Replicas = addReplicas(v.Replicas, preemption.Replicas{PodSet: c.Leaving, Count: c.PodSets[0].Count, Leaving: c.PodSets[0].Count})
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

// addReplicas adds replicas that yield to those of a victim.
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

// take takes the victims of a decision.
func (q *Question) take(victims []preemption.Victim) {
	for _, v := range victims {
		for _, r := range q.Running {
			if r.ID != v.Workload {
				continue
			}
			if len(v.Replicas) == 0 && r.Leaving == "" {
				q.Take(Candidate{Running: r, PodSet: -1})
			}
			for _, few := range v.Replicas {
				set := slices.IndexFunc(r.PodSets, func(p workload.PodSet) bool { return p.Name == few.PodSet })
				if r.Leaving == few.PodSet && few.Leaving > 0 {
					q.Take(Candidate{Running: r, PodSet: -1})
				}
				for n := few.Leaving; n < few.Count && r.Leaving == "" && set >= 0; n++ {
					q.Take(Candidate{Running: r, PodSet: set})
				}
			}
		}
	}
}

// FitsWithout reports whether the request fits without the victims; without borrowing, whether it also fits within
// the nominal quota of its queue.
func FitsWithout(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim, borrowing bool) bool {
	q := New(c, st, r)
	q.take(victims)
	fits := q.Fits(borrowing)
	if r.Room != nil {
		for _, of := range q.Running {
			of.whole, of.fewer = false, make([]int64, len(of.PodSets))
		}
		for _, of := range q.Running {
			of.tell(r.Room)
		}
	}
	return fits
}

// Justified reports whether there is an order of whole victims in which each that was taken by fair sharing passes one
// of the strategies, with only those before it taken. It tries every order.
func Justified(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim) bool {
	q := New(c, st, r)
	var all []Candidate
	for _, v := range victims {
		for _, of := range q.Running {
			if of.ID == v.Workload && of.Leaving == "" {
				all = append(all, Candidate{Running: of, PodSet: -1, Cohort: common(q.Queue, of.At), Reason: v.Reason})
			}
		}
	}
	return q.inSomeOrder(all, func(c Candidate) bool { return c.Reason != preemption.InCohortFairSharing || q.Passes(c) })
}

// inSomeOrder reports whether candidates can be taken one after the other so that each passes. It tries every order.
func (q *Question) inSomeOrder(list []Candidate, passes func(Candidate) bool) bool {
	for i, c := range list {
		if !passes(c) {
			continue
		}
		q.Take(c)
		ok := q.inSomeOrder(slices.Delete(slices.Clone(list), i, i+1), passes)
		q.Return(c)
		if ok {
			return true
		}
	}
	return len(list) == 0
}
