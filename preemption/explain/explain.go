package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// Explain makes the same decision as [preemption.Preemptor.Decide], and says how it came about: which
// workloads may yield by which right and which rule keeps the others, which ones the search took in
// which order, and, if the answer is no, which changes would make it a yes ([Way]). [Text] turns its
// steps into a page.
//
// It looks once at each running workload of the cohort tree, and decides up to some hundred
// times: it is for a person who asks, not for each decision. Guards and the Room of the request are
// asked in each of these. The error is that of Decide. A nil preemptor decides as there.
func Explain(p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request) (Explanation, error) {
	return Printer{}.Explain(p, s, r)
}

// Explain is the function [Explain] with other amounts.
func (pr Printer) Explain(p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request) (Explanation, error) {
	config := p.Config()
	x := explainer{Printer: pr, r: &r, config: &config, whole: s, about: snapshotOf(s, &r), taken: map[string]bool{}}
	x.recorder = trace.Recorder{Survey: true, To: x.step}
	of, _ := x.about.Queue(r.Workload.Queue)
	x.policy = &of.Preemption
	x.ruled, x.isRuled = x.about.Rules(of.Rules)
	var err error
	if x.d, err = x.decide(); err != nil {
		return Explanation{}, err
	}
	better := x.better()
	x.end(better == nil || better.Victims > 0)
	e := Explanation{Decision: x.d, Ends: x.ends()}
	answer := Step{Title: "The answer", Lines: []string{"It " + answer(&x.d, "", clock(x.d.RetryAt, r.Now)) + "."}}
	e.Steps = slices.Concat([]Step{x.request()}, x.flavors(), x.levelSteps(), x.ruleSteps())
	searches, taken := x.attemptSteps()
	if e.Steps = append(e.Steps, searches...); better != nil {
		e.Steps = append(e.Steps, x.betterSteps(better)...)
	}
	if answer.Kept = taken; x.d.Possible() {
		answer.Kept = nil
		for _, v := range x.d.Victims {
			answer.Taken = append(answer.Taken, v.Workload)
		}
	}
	if e.Steps = append(e.Steps, answer); !x.d.Outcome.Succeeds() {
		e.Ways = x.ways()
		e.Steps = append(e.Steps, changes(each(e.Ways, func(w *Way) string { return pr.way(w, r.Now, false) })))
	}
	return e, nil
}

// notebook makes a preemptor record its steps.
type notebook struct {
	preemption.Guard
	*trace.Recorder
}

// decide decides by the configuration with a notebook.
func (x *explainer) decide() (d preemption.Decision, err error) {
	config := *x.config
	config.Guards = append(slices.Clone(config.Guards), notebook{Recorder: &x.recorder})
	p, err := preemption.New(config)
	if err != nil {
		return d, err // the configuration was valid
	}
	return p.Decide(x.whole, *x.r)
}

// snapshotOf returns the snapshot that a decision is about: without what the workload holds, and without the
// workload that it replaces.
func snapshotOf(s *preemption.Snapshot, r *preemption.Request) *preemption.Snapshot {
	id := r.Replaces
	if r.HoldsQuota {
		id = r.Workload.ID
	}
	if id == "" {
		return s
	}
	without, err := s.With(preemption.Remove(id))
	if err != nil {
		return s // the request is refused for it
	}
	return without
}

// explainer counts what the steps of a decision say, and puts it into words.
type explainer struct {
	Printer
	r        *preemption.Request
	config   *preemption.Config
	policy   *queue.PreemptionPolicy
	recorder trace.Recorder
	whole    *preemption.Snapshot
	about    *preemption.Snapshot // without what the workload holds
	d        preemption.Decision
	ruled    rules.Config // of the queue, if it isRuled
	isRuled  bool
	isAsked  bool
	needs    []trace.Need
	instants int

	levels   []level
	attempts []attempt
	tiers    map[rules.Trigger]*tier
	tier     *tier // the one whose rules are looked at; nil: policies are
	quota    map[quotaKey]selectors.QuotaSet

	borrowing []borrowingKept
	byShares  []sharesJudged  // that shares may permit to yield
	taken     map[string]bool // with shares, by some attempt
}

func (x *explainer) fair() bool { return x.config.Sharing != preemption.Classical }

func (x *explainer) alone() bool { return x.isRuled && x.config.Compat.RulesAlone }

func (x *explainer) step(s *trace.Step) {
	switch s.Kind {
	case trace.Asked:
		x.isAsked, x.needs = true, x.recorder.Names.Needs()
	case trace.SurveyBegins:
		x.levels = append(x.levels, x.level(s))
	case trace.Judged:
		x.surveyed(s)
	case trace.TierBegins:
		x.tierBegins(s)
	case trace.TierQuota:
		x.quota[quotaKey{x.tier.trigger, s.Workload}] = selectors.QuotaSet(s.Count)
	case trace.TierJudged:
		x.judged(s, &x.tier.mayYield, &x.tier.kept)
	case trace.AttemptBegins:
		x.tier = nil
		x.attempts = append(x.attempts, attempt{within: !s.Borrowing, byRules: s.ByRules})
	case trace.Instant:
		x.instants++
	case trace.Hopeless:
		if len(x.attempts) == 0 {
			x.attempts = append(x.attempts, attempt{})
		}
		a := x.last()
		a.hopeless, a.missing = s.Bound, x.missing(s.Missing)
	case trace.Taken, trace.PutBack, trace.Compared, trace.RoomAsked, trace.Skipped, trace.Limited:
		if len(x.attempts) > 0 {
			x.candidate(s, x.last())
		}
	}
}

func (x *explainer) last() *attempt { return &x.attempts[len(x.attempts)-1] }

// end ends the notes, after the decision. inOrder: the search in order found victims.
func (x *explainer) end(inOrder bool) {
	if len(x.attempts) > 0 && inOrder && x.d.Possible() && len(x.d.Counts) == 0 {
		x.last().succeeded = true
	}
	if !x.isAsked { // no victims are looked for: it never preempts, or no flavor was found
		x.needs = x.recorder.Names.Needs()
	}
	slices.SortFunc(x.needs, func(a, b trace.Need) int { return a.FlavorResource.Compare(b.FlavorResource) })
	x.keepByShares()
	x.judgeWithin()
	for i := range x.levels {
		x.levels[i].kept.sort()
	}
	if x.alone() {
		x.levels = nil // they are about policies
	}
}

// request says who asks, then what is asked and what is short.
func (x *explainer) request() Step {
	w := &x.r.Workload
	now := x.r.Now.UTC().Format("2006-01-02 15:04:05 UTC")
	lines := []string{fmt.Sprintf("%s in queue %q, priority %d, at %s", w.ID, w.Queue, w.EffectivePriority(), now)}
	var asks []string
	for _, n := range x.needs {
		asks = append(asks, x.amount(n.Amount, n.FlavorResource))
	}
	if len(asks) > 0 {
		lines = append(lines, "asks for "+strings.Join(asks, ", "))
	}
	if missing := x.short(x.needs); missing != "" {
		lines = append(lines, "short of "+missing)
	}
	return Step{Title: "The request", Lines: lines}
}

// short says what is missing, and where.
func (pr Printer) short(needs []trace.Need) string {
	var parts []string
	for _, n := range needs {
		if n.Missing > 0 {
			parts = append(parts, pr.amount(n.Missing, n.FlavorResource)+" in "+n.Node)
		}
	}
	return strings.Join(parts, ", ")
}

// missing says what a step found missing; empty: nothing.
func (x *explainer) missing(list []trace.Missing) string {
	var needs []trace.Need
	for _, m := range list {
		needs = append(needs, trace.Need{FlavorResource: x.recorder.Names.Slot(m.Slot), Missing: m.Amount, Node: x.recorder.Names.Node(m.Node)})
	}
	slices.SortFunc(needs, func(a, b trace.Need) int { return a.FlavorResource.Compare(b.FlavorResource) })
	return x.short(needs)
}

// flavors says what became of each flavor that was tried.
func (x *explainer) flavors() (steps []Step) {
	for _, c := range x.d.Assignment {
		flavor := c.Flavor
		if flavor == "" {
			flavor = "none"
		}
		lines := each(c.Tried, func(t *preemption.TriedFlavor) string { return fmt.Sprintf("%s: %s", t.Flavor, Tried(t)) })
		if c.Untried > 0 {
			lines = append(lines, count(c.Untried, "more flavor")+" not tried")
		}
		steps = append(steps, Step{Section: "Flavors", Title: fmt.Sprintf("pod set %s: %s", c.PodSet, flavor), Lines: lines, Indent: 4})
	}
	return steps
}
