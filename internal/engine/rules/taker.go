// Package rules takes victims by the rules of package rules, in the state of a search.
package rules

import (
	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// Taker takes victims for one request. The zero value has no rules. It may be reused, by one
// goroutine at a time.
type Taker struct {
	rules     *selectors.Evaluator
	preemptor *workload.Workload
	tiers     [tierCount]tier
	walk      walk
	by        []rules.Ordering // of the walk
	takings   []taking         // by [right.Victim.Taking]
	// matches are the selectors of the takings' own tiers that accepted.
	matches []rules.Match
	// gone holds the workloads that were taken whole before a look at the candidates: the first victims of
	// the search, up to a number.
	gone     map[*cluster.Workload]struct{}
	goneUpTo int
	one      workload.Workload // the candidate, with what selectors read
	// At the time of the request: the bad selectors met, and which triggers hold.
	faults  fault.List
	holding [tierCount]bool
	// given says by tier since when its trigger has been observed if it holds at the time of the
	// request; since, at the instant of the search. instant.Unset: it does not hold.
	given, since [tierCount]int64
	now          int64         // the time of the request
	others       []rules.Match // of Matches
	instants     []int64       // at which verdicts change, if collected
	collected    bool
	sums         sums // of the request
	// constrained: some selector has a constraint on quota.
	constrained bool
	shares      shares
	left, back  []int        // of justifiedOn
	judged      search.Marks // the sides
}

const tierCount = 3

// tier holds the rules of one trigger, once they were asked for.
type tier struct {
	known  bool
	made   selectors.Tier
	rules  *selectors.Tier // made; nil: some selector is bad
	faults fault.List      // then these
	asked  bool
	donors []donor // the queues in which some selector may accept a workload, if asked
}

// Begin prepares for a request at now. The preemptor must stay as it is. since says by tier since when
// its trigger has been observed; for one never seen it is now.
func (t *Taker) Begin(e *selectors.Evaluator, preemptor *workload.Workload, now int64, since [tierCount]int64) {
	t.rules, t.preemptor, t.now, t.given = e, preemptor, now, since
	t.by = usable(t.by[:0], e.Ordering(preemptor.Queue))
	t.walk.begin(t.by)
	t.constrained = e.Constrained(preemptor.Queue)
	t.Reset()
	t.forget()
}

// forget forgets the rules of the tiers that were asked for.
func (t *Taker) forget() {
	for i := range t.tiers {
		if at := &t.tiers[i]; at.known {
			*at = tier{donors: at.donors[:0]}
		}
	}
}

// End drops the references to the snapshot and the request.
func (t *Taker) End() {
	t.rules, t.preemptor, t.one = nil, nil, workload.Workload{}
	t.forget()
	t.walk.drop()
	clear(t.gone)
}

// Reset begins a search: triggers have been observed as the request says. Which queues give depends on what needs preemption,
// which is another thing for each flavor that is tried.
func (t *Taker) Reset() {
	for i := range t.tiers {
		t.tiers[i].asked = false
	}
	t.since, t.faults, t.holding, t.collected, t.sums = t.given, nil, [tierCount]bool{}, false, sums{}
	t.shares.change()
}

// Faults returns the bad selectors that the search met at the time of the request. They end the walk
// through the tiers.
func (t *Taker) Faults() fault.List { return t.faults }

// Holds reports whether the trigger of a tier held at the time of the request.
func (t *Taker) Holds(tier int) bool { return t.holding[tier] }

// Take takes candidates of the rules after those taken already, tier by tier, until the request
// fits. InsufficientQuota is passed over if the quota suffices without those taken so far, and
// QuotaFeasibleAndInsufficientTopology if it does not. If some selector of a tier is bad, neither
// that tier nor later ones have candidates.
func (t *Taker) Take(s *search.Search) (fits bool) {
	clear(t.gone)
	t.takings, t.matches, t.goneUpTo = t.takings[:0], t.matches[:0], 0
	t.shares.change()
	fits = len(s.Taken) > 0 && s.Fits(source.Mode{Borrowing: true}) // without victims it does not: that was asked
	over := fits                                                    // the walk: then no trigger holds
	for i, trigger := range rules.Triggers() {
		if over || trigger != rules.Always && s.QuotaFits() == (trigger == rules.InsufficientQuota) {
			t.observe(s, i, false)
			continue
		}
		t.observe(s, i, true)
		fits = t.ask(s, i) && t.takeFrom(s, i)
		if over = fits || t.tiers[i].rules == nil; s.Now == s.Request.Now {
			t.faults = t.tiers[i].faults
		}
	}
	return fits
}

// observe notes whether the trigger of a tier holds at the instant of the search.
func (t *Taker) observe(s *search.Search, i int, holds bool) {
	switch {
	case !holds:
		t.since[i] = instant.Unset
	case t.since[i] == instant.Unset:
		t.since[i] = s.Now
	}
	if s.Now == s.Request.Now {
		t.holding[i] = holds
	}
}

// ask collects the donors of a tier; ok is false if some selector is bad.
func (t *Taker) ask(s *search.Search, i int) (ok bool) {
	at := &t.tiers[i]
	if t.rulesOf(i) == nil {
		return false
	}
	if at.asked || t.sums.refuses != usage.Victims { // then no victims are sought
		return true
	}
	at.asked = true
	if at.rules.Serves() {
		at.donors = at.collect(s, at.donors[:0])
	}
	return true
}

// rulesOf returns the rules of a tier; nil if some selector is bad.
func (t *Taker) rulesOf(i int) *selectors.Tier {
	at := &t.tiers[i]
	if !at.known {
		made, err := t.rules.Tier(rules.Triggers()[i], t.preemptor)
		at.known = true
		if at.faults, _ = err.(fault.List); err == nil {
			at.made = *made
			at.rules = &at.made
		}
	}
	return at.rules
}

// takeFrom takes candidates of a tier until the request fits. While others are taken, candidates that a constraint on quota refused are looked at again: without the victims the
// preemptor's share may be smaller.
func (t *Taker) takeFrom(s *search.Search, i int) (fits bool) {
	if trace := s.Request.Trace; trace != nil {
		t.survey(trace, s, i)
	}
	for again := t.sums.refuses == usage.Victims; again; {
		t.noteGone(s)
		before, refusedNow := len(s.Taken), false
		for phase := range phases {
			t.walk.open(t, s, t.tiers[i].donors, phase, !quotaOnly(s, i))
			for c, ok := t.walk.next(); ok; c, ok = t.walk.next() {
				v, verdict := t.judge(s, i, c.Workload, &c.donor)
				refusedNow = refusedNow || verdict == refusedByQuota
				if verdict != accepted {
					continue
				}
				s.Take(v)
				fits := s.Fits(source.Mode{Borrowing: true})
				if trace := s.Request.Trace; trace != nil {
					s.TraceTaken(trace, true, fits)
				}
				if fits {
					return true
				}
				if t.hopelessNow(s) {
					return false
				}
				t.shares.change()
				t.walk.change()
			}
		}
		again = refusedNow && len(s.Taken) > before
	}
	return false
}

// noteGone notes which workloads were taken whole so far.
func (t *Taker) noteGone(s *search.Search) {
	if t.gone == nil && len(s.Taken) > 0 {
		t.gone = map[*cluster.Workload]struct{}{}
	}
	for ; t.goneUpTo < len(s.Taken); t.goneUpTo++ {
		if v := &s.Taken[t.goneUpTo]; v.Set < 0 {
			t.gone[v.Workload] = struct{}{}
		}
	}
}

// quotaOnly reports whether the i-th tier takes only workloads that use what needs preemption.
func quotaOnly(s *search.Search, i int) bool {
	return s.Request.Room == nil || rules.Triggers()[i] == rules.InsufficientQuota
}

// moment returns the moment at which a tier is asked.
func (t *Taker) moment(s *search.Search, i int) selectors.Moment {
	return selectors.Moment{Now: instant.Time(s.Now), Since: instant.Time(t.since[i])}
}
