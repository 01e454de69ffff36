package preemption

import (
	engine "github.com/cedesched/cede/internal/engine/rules"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/rules"
)

// VictimRule is a rule that took a victim: the names of its configuration and of the rule, and
// the indexes, rising from 0, of its selectors that accept the victim (KEP-13396, the cause of a
// preemption). The zero value is no rule.
type VictimRule struct {
	Config    string `json:"config"`
	Rule      string `json:"rule"`
	Selectors []int  `json:"selectors"`
}

// DecideByRules answers a request by the policies and, if they permit nobody that helps now, by
// the rules of the queue ([queue.Queue.Rules]). Make the evaluator from the configuration of
// the snapshot.
//
// The policies come first, as in [Preemptor.Decide], with all their attempts and strategies.
// Only if the outcome is Wait or Impossible, rules are looked at, in the same state: all whom
// the policies permit (of the attempts the one that may borrow, and without
// [Config.ReconsiderLarger]) are taken, then candidates of the rules, tier by tier, until the
// request fits; see [rules.Evaluator.Find]. In the end those not needed are put back, latest
// first, so that a victim of the policies may stay because of one of the rules. A workload that
// both accept is a victim of the policies (Kueue as built).
//
// Candidates of rules use something that needs preemption; with a [Request.Room] all are
// candidates that may hold nodes, which InsufficientQuota does not take. They yield as a whole.
// As everywhere, nobody yields during its minimum runtime (in other queues the one against
// reclaim), against a guard, from an inactive queue, or if it never yields; those that are being
// evicted leave anyway. The request may borrow.
//
// If the rules find nobody the decision is that of Decide: Blockers, Shortage and RetryAt
// are about the policies, and rules may find victims sooner than RetryAt. With victims of rules
// there is no Proof, and [Config.Exact] and [FairSharing.RecheckShares] play no part. Rules
// are not looked at for a request without flavors, or with fewer replicas than all
// ([Request.MinCounts]). It looks at every running workload.
//
// With rules of the scope WithinLocalQueue, waiting workloads of different local queues are not
// alike: tell the pending queue so by [queue.Pending.AlikeBy].
//
// It fails as Decide does. If a rule that is looked at has a bad selector, it returns the
// decision of the policies with a [fault.List] of the bad selectors: see
// [rules.Evaluator.Tier].
func (p *Preemptor) DecideByRules(s *Snapshot, r Request, e *rules.Evaluator) (Decision, error) {
	if p == nil {
		p = &standard
	}
	sc := p.acquire()
	defer p.release(sc)
	s, err := sc.begin(s, &p.config, &r)
	if err != nil {
		return Decision{}, err
	}
	var d Decision
	sc.answer(s, &p.config, &r, &d)
	c := s.inside()
	if d.Outcome.Possible() || r.Workload.NeverPreempts || isOpen(&r.Workload) || c.Queue(sc.request.Queue).Inactive {
		return d, nil
	}
	if err := sc.enter(s, &p.config, &r); err != nil { // fewer replicas may be entered
		return d, err
	}
	var taken []rules.Candidate
	found := sc.searcher.ByRules(c, &sc.request, func(core *search.Search) (fits bool) {
		taken, fits, err = engine.Take(core, e, &r.Workload)
		return fits
	})
	if len(found.Victims) == 0 {
		return d, err
	}
	sc.leave(c, &r, &found, &d)
	d.HeldQuota, d.Proof = r.HoldsQuota, nil
	byID := make(map[string]*rules.Candidate, len(taken))
	for i := range taken {
		byID[taken[i].Workload.ID] = &taken[i]
	}
	for i := range d.Victims {
		if v := &d.Victims[i]; v.Reason == ConfigurablePreemption {
			v.Rules = rulesOf(byID[v.Workload])
		}
	}
	return d, nil
}

// rulesOf lists the rules that took a candidate.
func rulesOf(c *rules.Candidate) (list []VictimRule) {
	before := -1
	for _, m := range c.Matches {
		if m.Rule != before {
			list = append(list, VictimRule{Config: c.Tier.Config(), Rule: c.Tier.RuleName(m)})
		}
		last := &list[len(list)-1]
		last.Selectors = append(last.Selectors, m.Selector)
		before = m.Rule
	}
	return list
}
