package corpus

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// RetriesTooEarly is the departure for a retry at the first end of a protection, at which the
// request still does not fit. Here RetryAt is when enough protections have ended.
const RetriesTooEarly = "the retry is at the first end of a protection, which is not enough"

// protectedFor is a rule of Kueue's preemption protection.
type protectedFor struct {
	MinAdmitDuration text `json:"minAdmitDuration"`
}

type ruleProtection struct {
	Reclaim *protectedFor `json:"reclaimWithinCohort"`
	Fair    *protectedFor `json:"fairSharing"`
}

// protectionStep is a candidate that a search comes upon.
type protectionStep struct {
	Candidate ruleWorkload `json:"candidate"`
	Want      struct {
		Skipped        *bool           `json:"skipped"`
		EarliestExpiry optionalInstant `json:"earliestExpiry"`
	} `json:"want"`
}

// optionalInstant is a time, or null for none; a field that is absent asserts nothing.
type optionalInstant struct {
	asserted bool
	at       time.Time
}

// UnmarshalJSON reads a time or null.
func (o *optionalInstant) UnmarshalJSON(data []byte) error {
	o.asserted = true
	return o.at.UnmarshalJSON(data)
}

// duration returns the duration of a rule; zero: there is none.
func (p *protectedFor) duration() time.Duration {
	if p == nil {
		return 0
	}
	return time.Duration(p.MinAdmitDuration)
}

// checkProtection asks a case about protection. The small ones are asked through a decision
// about a workload that is to be reclaimed.
func (c *RuleCase) checkProtection() (Report, error) {
	switch c.Kind {
	case "search":
		return c.checkProtected()
	case "oracle":
		return c.checkOracle()
	case "protected":
		d, err := c.reclaim(c.Rule, c.Candidate)
		var r Report
		r.compare("protected", []string{fmt.Sprint(c.Want.Protected)}, []string{fmt.Sprint(d.Outcome == preemption.Wait)})
		return r, err
	case "expiry":
		if at := c.Candidate.AdmittedAt; !at.IsZero() && at.Before(c.Settings.Now) {
			c.Settings.Now = at // when it may be over is the same at any time
		}
		d, err := c.reclaim(c.Rule, c.Candidate)
		var r Report
		r.compare("expiry", instantTexts(c.Want.Expiry), instantTexts(&d.RetryAt))
		return r, err
	case "tracker":
		return c.checkTracker()
	case "canAlwaysReclaim":
		return c.checkAlwaysReclaims()
	}
	return Report{}, fmt.Errorf("case %q: unknown kind %q", c.Name, c.Kind)
}

// protection returns the protection of the case; without the gate, none.
func (c *RuleCase) protection() (p minruntime.Protection) {
	if c.Settings.Gates["PreemptionProtection"] {
		p.Reclaim, p.FairSharing = c.Settings.Protection.Reclaim.duration(), c.Settings.Protection.Fair.duration()
	}
	return p
}

// anyInOwnQueue reports whether the queue has the policy Any, which the API refuses: it means any
// priority, the same included. In these cases nobody in the queue has a higher one, so it is the
// policy on lower and newer equal priorities for a preemptor that all others are newer than.
func (c *RuleCase) anyInOwnQueue() bool {
	for _, q := range c.ClusterQueues {
		if q.Name == c.Incoming.ClusterQueue && q.Preemption.WithinClusterQueue == queue.Any {
			return true
		}
	}
	return false
}

// config returns the configuration of the case.
func (c *RuleCase) config() (preemption.Config, error) {
	base := Case{Mode: c.Settings.Mode, Strategies: c.Settings.Strategies}
	if on, set := c.Settings.Gates["FairSharingPreemptWithinNominal"]; set {
		base.Gates.FairSharingPreemptWithinNominal = &on
	}
	config, err := base.Config()
	config.Protection = c.protection()
	config.Fair.ReevaluateCandidates = c.Settings.Gates["FairSharingReevaluatePreemptionCandidates"]
	return config, err
}

// checkProtected asks for the victims and when to ask again.
func (c *RuleCase) checkProtected() (r Report, err error) {
	p, s, request, _, err := c.question()
	if err != nil {
		return r, err
	}
	d, err := p.Decide(s, request)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	want := make([]Victim, len(c.Want.Victims))
	for i, v := range c.Want.Victims {
		want[i] = v.Victim
	}
	r.compare("victims", wantVictims(want), gotVictims(d.Victims))
	if !c.Want.RetryAt.asserted {
		return r, nil
	}
	e := excuse{}
	if at, enough := c.firstEnough(p, s, request); enough {
		e = excuse{RetriesTooEarly, instantTexts(&at)}
	}
	r.compareUnless(e, "retryAt", instantTexts(&c.Want.RetryAt.at), instantTexts(&d.RetryAt))
	return r, nil
}

// firstEnough returns the first end of a protection at which the request need not wait, zero if there
// is none; ok is false unless Kueue retries at the first end of all, and the request has to wait then.
func (c *RuleCase) firstEnough(p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request) (at time.Time, ok bool) {
	var ends []time.Time
	for i := range c.Admitted {
		for _, d := range []time.Duration{c.Settings.Protection.Reclaim.duration(), c.Settings.Protection.Fair.duration()} {
			if end := c.Admitted[i].AdmittedAt.Add(d); d > 0 && end.After(c.Settings.Now) {
				ends = append(ends, end)
			}
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	for i, end := range slices.CompactFunc(ends, time.Time.Equal) {
		r.Now = end
		d, err := p.Decide(s, r)
		switch {
		case err != nil || i == 0 && (!end.Equal(c.Want.RetryAt.at) || d.Outcome.Possible()):
			return at, false
		case d.Outcome.Possible():
			return end, true
		}
	}
	return at, len(ends) > 0
}

// reclaim decides about a request that any one of the candidates is enough for, if it may be
// reclaimed.
func (c *RuleCase) reclaim(rule *protectedFor, candidates ...ruleWorkload) (preemption.Decision, error) {
	one := []quota.Amount{{Flavor: "default", Resource: "cpu", Amount: 1}}
	st := lendingState(queue.Any, int64(len(candidates)))
	for i, of := range candidates {
		w := c.workload(&of)
		w.ID = fmt.Sprintf("%s %d", w.ID, i) // a case may have a name twice
		w.Queue, w.PodSets = "borrower", []workload.PodSet{{Name: "main", Count: 1, Requests: one}}
		if w.ReservedAt.IsZero() {
			w.ReservedAt = w.AdmittedAt
		}
		st.Admitted = append(st.Admitted, w)
	}
	var config preemption.Config
	if on, set := c.Settings.Gates["PreemptionProtection"]; on || !set {
		config.Protection.Reclaim = rule.duration()
	}
	p, err := preemption.New(config)
	if err != nil {
		return preemption.Decision{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		return preemption.Decision{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	incoming := workload.Workload{ID: "incoming", Queue: "owner", PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: one}}}
	d, err := p.Decide(s, preemption.Request{Workload: incoming, Now: c.Settings.Now})
	if err != nil {
		return d, fmt.Errorf("case %q: %w", c.Name, err)
	}
	return d, nil
}

// lendingState has a queue with all the quota, which reclaims by a policy, and one with none.
func lendingState(policy queue.VictimPolicy, nominal int64) preemption.State {
	return preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}},
		Queues: []queue.Queue{
			{Name: "owner", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: nominal}},
				Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: policy}},
			{Name: "borrower", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu"}}},
		},
	}
}

// checkTracker asks about one candidate after the other, and when the first of those that were
// skipped may yield.
func (c *RuleCase) checkTracker() (r Report, err error) {
	var skipped []ruleWorkload
	for i, step := range c.Steps {
		if step.Want.Skipped != nil {
			d, err := c.reclaim(c.Rule, step.Candidate)
			if err != nil {
				return r, err
			}
			r.compare(fmt.Sprintf("steps[%d] skipped", i), []string{fmt.Sprint(*step.Want.Skipped)}, []string{fmt.Sprint(d.Outcome == preemption.Wait)})
			if d.Outcome == preemption.Wait && (c.Settings.Keeps == nil || *c.Settings.Keeps) {
				skipped = append(skipped, step.Candidate)
			}
		}
		if !step.Want.EarliestExpiry.asserted {
			continue
		}
		var d preemption.Decision
		if len(skipped) > 0 {
			if d, err = c.reclaim(c.Rule, skipped...); err != nil {
				return r, err
			}
		}
		r.compare(fmt.Sprintf("steps[%d] earliest expiry", i), instantTexts(&step.Want.EarliestExpiry.at), instantTexts(&d.RetryAt))
	}
	return r, nil
}

// checkAlwaysReclaims asks whether a queue gets back at any time what others borrow. If it does
// not, a cycle reserves, for a head without candidates, what its queue could hold.
func (c *RuleCase) checkAlwaysReclaims() (r Report, err error) {
	st := lendingState(c.Reclaims, 2)
	st.Queues = append(st.Queues, queue.Queue{Name: "other", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: 1}}})
	of := func(id, queue string, cpu int64) workload.Workload {
		return workload.Workload{ID: id, Queue: queue, Queued: someTime, PodSets: []workload.PodSet{
			{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "default", Resource: "cpu", Amount: cpu}}},
		}}
	}
	st.Admitted = []workload.Workload{of("runs", "other", 1)} // so that 3 of the owner never fit
	config, err := c.config()
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	cycles, err := cycle.New(cycle.Config{Preemption: config})
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	first, later := of("first", "owner", 3), of("later", "borrower", 2)
	first.Priority = 1
	result, err := cycles.Run(s, []queue.Head{{Workload: first}, {Workload: later}}, someTime)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	borrows := false
	for _, h := range result.Heads {
		borrows = borrows || h.Head.Workload.ID == later.ID && h.Outcome == cycle.Admit
	}
	r.compare("can always reclaim", []string{fmt.Sprint(c.Want.CanAlwaysReclaim)}, []string{fmt.Sprint(borrows)})
	return r, nil
}

// someTime is the time of cases to which it does not matter.
var someTime = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

func instantTexts(at *time.Time) []string {
	if at == nil || at.IsZero() {
		return []string{"none"}
	}
	return []string{at.UTC().Format(time.RFC3339Nano)}
}
