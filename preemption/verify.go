package preemption

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/verify/queues"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Verify judges a decision, of this package or of another scheduler, from the state, the
// request and the configuration alone. It shares no code with what decides: it has its own
// arithmetic and its own reading of the rules. It returns nil, or a [fault.List] of
// everything that is wrong.
//
//   - Fits: the request fits with nobody gone, and Admitted is its workload.
//
//   - Preempt, Gated: the request does not fit now and does without the victims. The rules
//     permit each of them at Now, by the reason given: policies, minimum runtimes, guards,
//     elastic minimums. There is an order in which each may be taken when only those before
//     it are gone; in fair sharing with [FairSharing.RecheckShares] one in which each passes
//     a strategy, without it each passes one whoever else yields. None of them can stay (see
//     [Decision.Victims]). Any such set will do: it need not be the one that Decide chooses.
//
//   - Wait, Impossible: the documented search, by policies and rules and within the limits, finds
//     nobody now; for Wait nobody at an instant before RetryAt and somebody at RetryAt, for
//     Impossible nobody at any later instant. If flavors are assigned, only the answer for now is
//     judged.
//
//   - BorrowHeight is right; so is each [Victim.Order], if it is given and the victims are
//     those that the documented search finds.
//
//   - Lost is what [Config.Cost] says, 0 without one.
//
//   - With the [Exact] and the [Exchange] search [FairSharing.RecheckShares] is on. With
//     [Exact], Proof is set where it has to be and agrees with the victims; if nobody is to yield
//     and Proof says Optimal, no set is allowed (judged for at most 10 candidates). That no
//     allowed set is better is judged as far as a [Certificate] shows it, which is checked
//     along its tree, whatever the number of candidates.
//
//   - With rules (ConfigurablePreemption): the victims make room, none of them can stay, and the
//     rules named, and no others, accept each (what only a constraint on quota accepts may be missing);
//     victims of the policies among them are judged one by one. Triggers are those that hold in the
//     documented search.
//
//   - With [Config.Limits] all victims together are within each limit.
//
// With [Request.MinCounts] a refusal is not judged, and of Counts only whether they are in
// range. Of the flavors assigned each must be eligible; that no other comes first is not judged. Nor are Blockers,
// Shortage, NoRoom and RuleFaults. With
// [Config.MaxRetrySteps] set a RetryAt that is too early is not a fault. A state, request or
// configuration that is not valid is a fault. Verify is made for tests and audits: it sorts
// all candidates, at each instant at which one is protected no longer. It calls Request.Room
// and the guards as Decide does.
func Verify(st State, r Request, c Config, d Decision) error {
	var faults fault.List
	add := func(err error) {
		list, _ := err.(fault.List)
		faults = append(faults, list...)
	}
	add(queue.Validate(st.Cohorts, st.Queues))
	_, err := New(c)
	add(err)
	known := func(w *workload.Workload) bool {
		return slices.ContainsFunc(st.Queues, func(q queue.Queue) bool { return q.Name == w.Queue })
	}
	w := r.Workload
	add(r.judgeCounts(&w, &d))
	w = d.Assignment.Pin(w)
	if !r.HoldsQuota {
		w.ReservedAt = time.Time{} // it means nothing
	} else {
		st.Admitted = slices.DeleteFunc(slices.Clone(st.Admitted), func(o workload.Workload) bool { return o.ID == w.ID })
	}
	if r.Replaces != "" {
		st.Admitted = slices.DeleteFunc(slices.Clone(st.Admitted), func(o workload.Workload) bool { return o.ID == r.Replaces })
	}
	r.validateMinCounts(&faults)
	add(workload.ValidatePending("request.workload", &w))
	if !known(&w) {
		faults.Add("request.workload.queue", "%q is unknown", w.Queue)
	}
	if r.Now.IsZero() || !instant.Valid(r.Now) {
		faults.Add("request.now", "%v is not within %s", r.Now, instant.Range)
	}
	for i := range st.Admitted {
		add(workload.Validate("admitted", &st.Admitted[i]))
		if !known(&st.Admitted[i]) {
			faults.Add("admitted", "queue %q of %q is unknown", st.Admitted[i].Queue, st.Admitted[i].ID)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	if len(r.MinCounts) > 0 && !d.Outcome.Possible() {
		return nil // not judged
	}
	if d.Assignment.fails(&w) {
		if d.Outcome.Possible() {
			faults.Add("decision.assignment", "some request has no flavor")
		}
		return faults.Err()
	}
	q := question(&st, &r, &c, w, len(d.Assignment) > 0)
	q.AllSets = d.Proof != nil && d.Proof.Optimal
	// Few nodes may not suffice to show that nobody may yield at an instant, which is then RetryAt
	// although it is too early. The default number suffices for all sets of the at most ten
	// candidates that are judged.
	q.RetryAtIsBound = q.RetryAtIsBound || c.Search == Exact && c.Exact.MaxNodes > 0
	faults = append(faults, judgeFlavors(&st, &w, &d)...)
	faults = append(faults, judgeProof(&c, &d)...)
	faults = append(faults, judgeLost(&st, &r, &c, &d)...)
	add(queues.Judge(q, answer(&d)))
	if d.Proof != nil && d.Proof.Certificate != nil && len(faults) == 0 {
		add(queues.JudgeCertificate(q, answer(&d), d.Proof.Certificate.judged()))
	}
	return faults.Err()
}

// judgeProof judges what a proof says of itself.
func judgeProof(c *Config, d *Decision) (faults fault.List) {
	p := d.Proof
	switch {
	case p != nil && (c.Search != Exact || d.Outcome == Fits):
		faults.Add("decision.proof", "is set for %v by the %v search", d.Outcome, c.Search)
	case p == nil && c.Search == Exact && slices.ContainsFunc(d.Victims, func(v Victim) bool { return v.Reason == ConfigurablePreemption }):
	case p != nil && allLeaving(d.Victims):
		faults.Add("decision.proof", "is set for victims that are leaving already")
	case p == nil && c.Search == Exact && len(d.Victims) > 0 && !allLeaving(d.Victims):
		faults.Add("decision.proof", "is not set")
	case p == nil:
	case p.Certificate != nil && (p.Certificate.Bound < 0 || p.Certificate.Bound > p.LowerBound || len(d.Victims) == 0 && !p.Optimal):
		faults.Add("decision.proof.certificate", "its bound is %d, but what is to be shown is %d", p.Certificate.Bound, p.LowerBound)
	case p.Nodes < 0, p.LowerBound < 0, p.LowerBound > p.Value, p.Optimal && p.LowerBound < p.Value:
		faults.Add("decision.proof", "%+v contradicts itself", *p)
	case c.Cost != nil && !c.Exact.FewestFirst && p.Value != d.Lost, (c.Cost == nil || c.Exact.FewestFirst) && p.Value != int64(len(d.Victims)):
		faults.Add("decision.proof", "its value is %d for %d victims who lose %d", p.Value, len(d.Victims), d.Lost)
	}
	return faults
}

// judgeFlavors judges whether each pod set may have the flavor that it was assigned.
func judgeFlavors(st *State, w *workload.Workload, d *Decision) (faults fault.List) {
	at := slices.IndexFunc(st.Queues, func(q queue.Queue) bool { return q.Name == w.Queue })
	for i, c := range d.Assignment {
		for j := range w.PodSets {
			if p := &w.PodSets[j]; p.Name == c.PodSet {
				if why := queues.Ineligible(st.Flavors, &st.Queues[at], c.Flavor, p.NodeConstraints); why != "" {
					faults.Add(fmt.Sprintf("decision.assignment[%d].flavor", i), "%q is not for pod set %q: %s", c.Flavor, p.Name, why)
				}
			}
		}
	}
	return faults
}

// judgeLost judges what the victims lose.
func judgeLost(st *State, r *Request, c *Config, d *Decision) (faults fault.List) {
	sum := int64(0)
	for i := range d.Victims {
		v, lost := &d.Victims[i], int64(0)
		at := slices.IndexFunc(st.Admitted, func(w workload.Workload) bool { return w.ID == v.Workload })
		if c.Cost != nil && at >= 0 {
			if len(v.Replicas) == 0 {
				lost = max(0, c.Cost.Lost(st.Admitted[at].Clone(), "", r.Now))
			}
			for _, few := range v.Replicas {
				lost = quota.Add(lost, quota.Mul(few.Count-few.Leaving, max(0, c.Cost.Lost(st.Admitted[at].Clone(), few.PodSet, r.Now))))
			}
		}
		if v.Lost != lost {
			faults.Add(fmt.Sprintf("decision.victims[%d].lost", i), "%d, want %d", v.Lost, lost)
		}
		sum = quota.Add(sum, lost)
	}
	if d.Lost != sum {
		faults.Add("decision.lost", "%d, want %d", d.Lost, sum)
	}
	return faults
}

// judgeCounts judges the counts of partial admission, and gives them to the workload.
func (r *Request) judgeCounts(w *workload.Workload, d *Decision) error {
	var faults fault.List
	if len(d.Counts) == 0 {
		return nil
	}
	*w = w.Clone()
	for i := range w.PodSets {
		p := &w.PodSets[i]
		least := p.Count
		for _, m := range r.MinCounts {
			if m.PodSet == p.Name {
				least = m.Count
			}
		}
		at := slices.IndexFunc(d.Counts, func(c Replicas) bool { return c.PodSet == p.Name })
		if at < 0 || d.Counts[at].Count < least || d.Counts[at].Count > p.Count {
			faults.Add("decision.counts", "pod set %q has none within %d and %d", p.Name, least, p.Count)
			continue
		}
		p.Count = d.Counts[at].Count
	}
	return faults.Err()
}

// fails reports whether some request has no flavor.
func (a Assignment) fails(pinned *workload.Workload) bool {
	return slices.ContainsFunc(a, func(c FlavorChoice) bool { return c.Flavor == "" }) ||
		slices.ContainsFunc(pinned.Usage(), func(a quota.Amount) bool { return a.Flavor == "" })
}

func question(st *State, r *Request, c *Config, w workload.Workload, assigned bool) *queues.Question {
	q := &queues.Question{
		Cohorts: st.Cohorts, Queues: st.Queues, Admitted: st.Admitted, Workload: w, Now: r.Now, Room: r.Room,
		Fair: c.Sharing == Fair, Strategies: []queues.Strategy{queues.FinalShare, queues.InitialShare},
		IgnoreNominalEntitlement: c.Fair.IgnoreNominalEntitlement, RecheckShares: c.Fair.RecheckShares || c.Fair.Stable || c.Search != Greedy, Stable: c.Fair.Stable, Reevaluate: c.Fair.ReevaluateCandidates,
		ReconsiderLarger: c.ReconsiderLarger, PreemptWithinNominal: c.PreemptWithinNominal, NewerByReservation: c.NewerByReservation,
		IgnoreMinAdmitDuration: c.IgnoreMinAdmitDuration, MinRuntime: c.MinRuntime, ReclaimMethod: c.ReclaimMethod, Protection: c.Protection,
		Rules: st.Rules, RulesAlone: c.RulesAlone, TriggersSince: r.TriggersSince, MaxRuleLooks: c.MaxRuleLooks, SkipRuleRecheck: c.SkipRuleRecheck,
		LocalQueueUsage: map[string]float64{}, SkipRetryAt: c.SkipRetryAt, RetryAtIsBound: c.MaxRetrySteps > 0, FlavorsOpen: assigned,
		FewestFirst: c.Exact.FewestFirst, IgnoreCaps: c.Exact.IgnoreCaps,
	}
	if q.Limits = c.Limits; len(c.Limits) > 0 {
		q.Events = slices.Collect(r.History.All)
	}
	for _, u := range r.LocalQueueUsage {
		q.LocalQueueUsage[u.LocalQueue] = u.Usage
	}
	for _, fr := range r.NeedsPreemption {
		if !slices.Contains(q.Needs, fr) {
			q.Needs = append(q.Needs, fr)
		}
	}
	if c.Cost != nil {
		q.Cost = func(w *workload.Workload, podSet string) int64 { return c.Cost.Lost(w.Clone(), podSet, r.Now) }
	}
	if len(c.Fair.Strategies) > 0 {
		q.Strategies = nil
		for _, s := range c.Fair.Strategies {
			q.Strategies = append(q.Strategies, queues.Strategy(s))
		}
	}
	if len(c.Guards) > 0 {
		q.Guard = func(w *workload.Workload) (until time.Time, never bool) {
			for _, g := range c.Guards {
				v := g.Verdict(w.Clone(), *r)
				at, timed := v.Until()
				if never = never || v.Never(); timed && at.After(until) {
					until = at
				}
			}
			return until, never
		}
	}
	return q
}

func answer(d *Decision) *queues.Answer {
	a := &queues.Answer{Outcome: queues.Outcome(d.Outcome), Admitted: d.Admitted, BorrowHeight: d.BorrowHeight, RetryAt: d.RetryAt, Triggers: d.Triggers}
	for _, v := range d.Victims {
		of := queues.Victim{
			Workload: v.Workload, Queue: v.Queue, Cohort: v.Cohort, Reason: queues.Reason(v.Reason),
			PreemptorQueued: v.PreemptorQueued, Leaving: v.Leaving, Order: v.Order,
		}
		for _, r := range v.Replicas {
			of.Replicas = append(of.Replicas, queues.Replicas(r))
		}
		for _, r := range v.Rules {
			of.Rules = append(of.Rules, queues.VictimRule(r))
		}
		a.Victims = append(a.Victims, of)
	}
	return a
}
