package explain

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// maxTaken is how many candidates of an attempt an explanation names.
const maxTaken = 16

// Explain makes the same decision as [preemption.Preemptor.Decide], and says how it came about: which
// workloads may yield by which right and which rule keeps the others, which ones the search took in
// which order, and, if the answer is no, which changes would make it a yes ([Way]). [Text] turns an
// explanation into a page.
//
// It looks once at each running workload of the cohort tree, and decides up to some hundred
// times: it is for a person who asks, not for each decision. Guards and the Room of the request are
// asked in each of these. The error is that of Decide. A nil preemptor decides as there.
func Explain(p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request) (Explanation, error) {
	config := p.Config()
	x := explainer{r: &r, config: &config, about: snapshotOf(s, &r), kept: map[keptKey]int{}, taken: map[string]bool{}}
	x.recorder = trace.Recorder{Survey: true, To: x.step}
	w := &r.Workload
	x.e.Question = Question{Workload: w.ID, Queue: w.Queue, Priority: w.EffectivePriority(), Now: r.Now.Round(0)}
	var err error
	if x.e.Decision, err = x.decide(s, r); err != nil {
		return Explanation{}, err
	}
	d := &x.e.Decision
	x.improved()
	x.rules()
	inOrder := x.e.Improved == nil || x.e.Improved.Victims > 0
	if n := len(x.e.Attempts); n > 0 && inOrder && d.Possible() && len(d.Counts) == 0 {
		x.e.Attempts[n-1].Succeeded = true
	}
	if !x.asked { // no victims are looked for: it never preempts, or no flavor was found
		x.needs()
	}
	x.keepByShares()
	x.judgeWithin()
	for i := range x.e.Levels {
		sortKept(x.e.Levels[i].Kept)
	}
	if !d.Outcome.Succeeds() {
		x.e.Ways = ways(&config, s, &r, &x.e, &x.recorder.Names)
	}
	return x.e, nil
}

// notebook makes a preemptor record its steps.
type notebook struct {
	preemption.Guard
	*trace.Recorder
}

// decide decides by the configuration with a notebook.
func (x *explainer) decide(s *preemption.Snapshot, r preemption.Request) (d preemption.Decision, err error) {
	config := *x.config
	config.Guards = append(slices.Clone(config.Guards), notebook{Recorder: &x.recorder})
	p, err := preemption.New(config)
	if err != nil {
		return d, err // the configuration was valid
	}
	return p.Decide(s, r)
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

// explainer makes an explanation of the steps of a decision.
type explainer struct {
	r        *preemption.Request
	config   *preemption.Config
	recorder trace.Recorder
	about    *preemption.Snapshot
	e        Explanation
	asked    bool
	kept     map[keptKey]int // index in Kept of the last level, or of the last tier
	tiers    map[rules.Trigger]*ExplainedTier
	quota    map[quotaKey]selectors.QuotaSet
	refused  map[string]bool // by limits, in the last attempt
	tier     *ExplainedTier  // the one whose rules are looked at; nil: policies are

	borrowing []borrowingKept
	byShares  []sharesJudged  // that shares may permit to yield
	taken     map[string]bool // with shares, by some attempt
}

func (x *explainer) fair() bool { return x.config.Sharing != preemption.Classical }

// sharesJudged is a workload that the policies permit, at a level where shares decide.
type sharesJudged struct {
	level    int
	workload string
}

// borrowingKept is a workload that only borrowWithinCohort may keep, with the verdict where the queue need not borrow.
type borrowingKept struct {
	level    int
	at       map[keptKey]int
	workload string
	within   trace.Verdict
}

// judgeWithin judges again where the victims were found by a search in which the queue stays within its nominal quota:
// borrowWithinCohort keeps nobody then.
func (x *explainer) judgeWithin() {
	if n := len(x.e.Attempts); n == 0 || !x.e.Attempts[n-1].Succeeded || !x.e.Attempts[n-1].WithinNominal {
		return
	}
	isBorrow := func(k Kept[preemption.Rule]) bool { return k.Rule == preemption.RuleBorrowWithinCohort }
	for _, b := range x.borrowing {
		l := &x.e.Levels[b.level]
		x.kept = b.at
		x.judged(&trace.Step{Workload: b.workload, Verdict: b.within}, &l.MayYield, &l.Kept)
	}
	for i := range x.e.Levels {
		l := &x.e.Levels[i]
		l.Kept = slices.DeleteFunc(l.Kept, isBorrow)
	}
}

// keepByShares says of a failed search which workloads the shares have kept: it would have taken all
// others. Sums that end an attempt before say nothing of shares.
func (x *explainer) keepByShares() {
	ended := func(a ExplainedAttempt) bool { return a.Hopeless == 0 && !a.ByRules }
	if x.e.Decision.Possible() || !slices.ContainsFunc(x.e.Attempts, ended) {
		return
	}
	for i := range x.e.Levels {
		if l := &x.e.Levels[i]; l.Right == RightShares {
			l.MayYield = Counted{}
		}
	}
	for _, j := range x.byShares {
		l := &x.e.Levels[j.level]
		if x.taken[j.workload] {
			l.MayYield.add(j.workload)
			continue
		}
		keptBy := func(k Kept[preemption.Rule]) bool { return k.Rule == preemption.RuleFairShare && k.SetBy == "" }
		at := slices.IndexFunc(l.Kept, keptBy)
		if at < 0 {
			at, l.Kept = len(l.Kept), append(l.Kept, Kept[preemption.Rule]{Rule: preemption.RuleFairShare})
		}
		l.Kept[at].add(j.workload)
	}
}

func (x *explainer) step(s *trace.Step) {
	switch s.Kind {
	case trace.Asked:
		x.asked = true
		x.needs()
	case trace.SurveyBegins:
		x.level(s)
	case trace.Judged:
		l := &x.e.Levels[len(x.e.Levels)-1]
		x.judged(s, &l.MayYield, &l.Kept)
		if s.Rule == trace.BorrowWithinCohort {
			x.borrowing = append(x.borrowing, borrowingKept{len(x.e.Levels) - 1, x.kept, s.Workload, s.Within})
		}
		if s.Rule == 0 && l.Right == RightShares {
			x.byShares = append(x.byShares, sharesJudged{len(x.e.Levels) - 1, s.Workload})
		}
	case trace.TierBegins:
		x.tierBegins(s)
	case trace.TierQuota:
		x.tierQuota(s)
	case trace.TierJudged:
		x.judged(s, &x.tier.MayYield, &x.tier.Kept)
	case trace.AttemptBegins:
		x.tier, x.refused = nil, map[string]bool{}
		x.e.Attempts = append(x.e.Attempts, ExplainedAttempt{WithinNominal: !s.Borrowing, ByRules: s.ByRules})
	case trace.Instant:
		x.e.Instants++
	case trace.Hopeless:
		if len(x.e.Attempts) == 0 {
			x.e.Attempts = append(x.e.Attempts, ExplainedAttempt{})
		}
		a := x.attempt()
		a.Hopeless, a.Missing = Bound(s.Bound), x.missing(s.Missing) // the constants are the same
	case trace.Taken, trace.PutBack, trace.Compared, trace.RoomAsked, trace.Skipped, trace.Limited:
		if len(x.e.Attempts) > 0 {
			x.candidate(s, x.attempt())
		}
	}
}

func (x *explainer) attempt() *ExplainedAttempt { return &x.e.Attempts[len(x.e.Attempts)-1] }

// candidate adds a step about a candidate to an attempt.
func (x *explainer) candidate(s *trace.Step, a *ExplainedAttempt) {
	switch s.Kind {
	case trace.Taken:
		if x.fair() {
			x.taken[s.Workload] = true
		}
		if a.TakenCount++; len(a.Taken) < maxTaken {
			a.Taken = append(a.Taken, x.takenStep(s))
		}
	case trace.RoomAsked:
		if int(a.TakenCount) == len(a.Taken) {
			a.Taken[len(a.Taken)-1].NoRoom = !s.Fits
		}
	case trace.PutBack:
		a.PutBack.add(s.Workload)
	case trace.Compared:
		first := preemption.LessThanOrEqualToFinalShare
		if len(x.config.Strategies) > 0 {
			first = x.config.Strategies[0]
		}
		if !s.Fits && s.Strategy == trace.Strategy(first) { // the constants are the same
			a.Refused.add(s.Workload)
		}
	case trace.Limited:
		x.limited(s, a)
	case trace.Skipped:
		if s.Rule == trace.WithinNominal && s.Workload != "" {
			a.Idle.add(s.Workload)
		}
	}
}

func (x *explainer) takenStep(s *trace.Step) TakenStep {
	names := &x.recorder.Names
	t := TakenStep{Workload: s.Workload, Queue: names.QueueName(s.Node), Missing: x.missing(s.Missing), Leaving: s.Evicted, Reason: preemption.VictimReason(s.Right)}
	if s.PodSet >= 0 {
		t.PodSet, t.Replicas = names.PodSet(s.Workload, s.PodSet), s.Replicas
	}
	if x.tier != nil {
		for _, by := range names.Taken(s.Workload) {
			t.Rules = append(t.Rules, preemption.VictimRule(by))
		}
	}
	return t
}

// limited adds a candidate that a limit refuses, once to each attempt.
func (x *explainer) limited(s *trace.Step, a *ExplainedAttempt) {
	if x.refused[s.Workload] {
		return
	}
	x.refused[s.Workload] = true
	i := slices.IndexFunc(a.Limited, func(l ExplainedLimit) bool { return l.Limit == s.Limit })
	if i < 0 {
		i, a.Limited = len(a.Limited), append(a.Limited, ExplainedLimit{Limit: s.Limit})
	}
	a.Limited[i].add(s.Workload)
}

// needs lists what is requested, and what is short while no workload has yielded.
func (x *explainer) needs() {
	x.e.Question.Needs = nil
	for _, n := range x.recorder.Names.Needs() {
		x.e.Question.Needs = append(x.e.Question.Needs, Need(n))
	}
	slices.SortFunc(x.e.Question.Needs, func(a, b Need) int { return a.FlavorResource.Compare(b.FlavorResource) })
}

func (x *explainer) missing(list []trace.Missing) (out []Need) {
	names := &x.recorder.Names
	for _, m := range list {
		out = append(out, Need{FlavorResource: names.Slot(m.Slot), Missing: m.Amount, Node: names.Node(m.Node)})
	}
	slices.SortFunc(out, func(a, b Need) int { return a.FlavorResource.Compare(b.FlavorResource) })
	return out
}

// level begins a level.
func (x *explainer) level(s *trace.Step) {
	q, _ := x.about.Queue(x.r.Workload.Queue)
	policy := &q.Preemption
	l := ExplainedLevel{Node: x.recorder.Names.Node(s.Node), Policy: fmt.Sprintf("reclaimWithinCohort %v", policy.ReclaimWithinCohort)}
	switch {
	case s.Class == trace.Own:
		l.Right, l.Policy = RightOwnQueue, fmt.Sprintf("withinClusterQueue %v", policy.WithinClusterQueue)
	case x.fair():
		l.Right = RightShares
	case s.Class == trace.Hierarchical:
		l.Right = RightReclaim
	default:
		l.Right = RightBorrow
		l.Policy += fmt.Sprintf(", borrowWithinCohort %v", policy.BorrowWithinCohort.Policy)
		if most, limited := threshold(&policy.BorrowWithinCohort); limited {
			l.Policy += fmt.Sprintf(" up to priority %d", most)
		}
	}
	x.e.Levels = append(x.e.Levels, l)
	x.kept = map[keptKey]int{}
}

var ruleOfStep = [...]preemption.Rule{
	trace.WithinClusterQueue:  preemption.RuleWithinClusterQueue,
	trace.ReclaimWithinCohort: preemption.RuleReclaimWithinCohort,
	trace.BorrowWithinCohort:  preemption.RuleBorrowWithinCohort,
	trace.WithinNominal:       preemption.RuleWithinNominal,
	trace.NotUsed:             0,
	trace.MinRuntime:          preemption.RuleMinRuntime,
	trace.Guarded:             preemption.RuleGuarded,
	trace.NeverYields:         preemption.RuleNeverYields,
	trace.Unstable:            preemption.RuleFairShare,
}

// judged counts a workload.
func (x *explainer) judged(s *trace.Step, mayYield *Counted, kept *[]Kept[preemption.Rule]) {
	if s.Rule == 0 {
		mayYield.add(s.Workload)
		return
	}
	timed := s.Rule == trace.MinRuntime || s.Rule == trace.Guarded || s.Rule == trace.WithinClusterQueue
	countKept(x.kept, kept, s, s.Workload, timed, func() Kept[preemption.Rule] {
		k := Kept[preemption.Rule]{Rule: ruleOfStep[s.Rule]}
		switch {
		case s.Rule == trace.MinRuntime:
			k.SetBy = x.recorder.Names.MinimumSetBy(s.SetBy)
		case s.SetBy >= 0:
			k.SetBy = x.recorder.Names.Node(s.SetBy)
		}
		return k
	})
}
