package preemption

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// What an explanation names: enough to see the pattern on a screen. The rest is counted.
const (
	explainedSamples = 4
	explainedTaken   = 16
)

// Explain makes the same decision as [Preemptor.Decide], and says how it came about: who may
// yield by which right and which rule keeps the others, whom the search took in which order,
// and, if the answer is no, which changes would make it a yes ([Way]). Package
// preemption/explain turns an explanation into text.
//
// It looks once at each running workload of the cohort tree, and decides up to some hundred
// times: it is for a person who asks, not for each decision. Guards and [Request.Room] are
// asked in each of these. The error is that of Decide.
func (p *Preemptor) Explain(s *Snapshot, r Request) (Explanation, error) {
	if p == nil {
		p = &standard
	}
	var sc scratch
	about, err := sc.begin(s, &p.config, &r)
	if err != nil {
		return Explanation{}, err
	}
	x := explainer{r: &r, sc: &sc, c: about.inside(), fair: p.config.Sharing == Fair, kept: map[keptKey]int{}, taken: map[string]bool{}}
	w := &r.Workload
	x.e.Question = Question{Workload: w.ID, Queue: w.Queue, Priority: w.EffectivePriority(), Now: r.Now.Round(0)}
	sc.request.Trace = &trace.Recorder{Survey: true, To: x.step}
	sc.answer(about, &p.config, &r, &x.e.Decision)
	x.improved()
	x.rules(about, &p.config)
	inOrder := x.e.Improved == nil || x.e.Improved.Victims > 0
	if n := len(x.e.Attempts); n > 0 && inOrder && x.e.Decision.Outcome.Possible() && len(x.e.Decision.Counts) == 0 {
		x.e.Attempts[n-1].Succeeded = true
	}
	if !x.asked { // nobody is searched for: it never preempts, or no flavor was found
		x.needs()
	}
	x.keepByShares()
	for i := range x.e.Levels {
		sortKept(x.e.Levels[i].Kept)
	}
	if !x.e.Decision.Outcome.Succeeds() {
		x.e.Ways = p.ways(s, r, &x.e)
	}
	return x.e, nil
}

func sortKept(list []Kept) {
	slices.SortStableFunc(list, func(a, b Kept) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.SetBy, b.SetBy))
	})
}

// explainer makes an explanation of the steps of a decision.
type explainer struct {
	r       *Request
	e       Explanation
	sc      *scratch
	c       *cluster.Cluster
	fair    bool
	asked   bool
	kept    map[keptKey]int // index in Kept of the last level, or of the last tier
	tiers   map[rules.Trigger]*ExplainedTier
	quota   map[quotaKey]rules.QuotaSet
	refused map[string]bool // by limits, in the last attempt
	tier    *ExplainedTier  // the one whose rules are looked at; nil: policies are

	byShares []sharesJudged  // that shares may permit to yield
	taken    map[string]bool // with shares, by some attempt
}

// sharesJudged is a workload that the policies permit, at a level where shares decide.
type sharesJudged struct {
	level    int
	workload string
}

// keepByShares says of a failed search which workloads the shares have kept: it would have taken all
// others. Sums that end an attempt before say nothing of shares.
func (x *explainer) keepByShares() {
	ended := func(a ExplainedAttempt) bool { return a.Hopeless == 0 && !a.ByRules }
	if x.e.Decision.Outcome.Possible() || !slices.ContainsFunc(x.e.Attempts, ended) {
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
		at := slices.IndexFunc(l.Kept, func(k Kept) bool { return k.Rule == RuleFairShare && k.SetBy == "" })
		if at < 0 {
			at, l.Kept = len(l.Kept), append(l.Kept, Kept{Rule: RuleFairShare})
		}
		l.Kept[at].add(j.workload)
	}
}

type keptKey struct {
	rule  trace.Rule
	setBy int
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
		x.e.Attempts = append(x.e.Attempts, ExplainedAttempt{WithinNominal: !s.Borrowing, LargestFirst: s.LargestFirst, ByRules: s.ByRules})
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
		if x.fair {
			x.taken[s.Workload] = true
		}
		if a.TakenCount++; len(a.Taken) < explainedTaken {
			t := TakenStep{Workload: s.Workload, Queue: x.c.Queue(s.Node).Name, Missing: x.missing(s.Missing), Rules: x.takenByRules(s.Workload)}
			if t.Leaving = s.Evicted; s.PodSet >= 0 {
				w, _ := x.c.Find(s.Workload)
				t.PodSet, t.Replicas = w.PodSets[s.PodSet].Name, s.Replicas
			}
			a.Taken = append(a.Taken, t)
		}
	case trace.RoomAsked:
		if int(a.TakenCount) == len(a.Taken) {
			a.Taken[len(a.Taken)-1].NoRoom = !s.Fits
		}
	case trace.PutBack:
		a.PutBack.add(s.Workload)
	case trace.Compared:
		if first := trace.Strategy(x.sc.request.Fair.First); !s.Fits && s.Strategy == first { // the constants are the same
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

func (n *Counted) add(workload string) {
	if n.Count++; len(n.Samples) < explainedSamples {
		n.Samples = append(n.Samples, workload)
	}
}

// needs lists what is requested, and what is short with nobody gone.
func (x *explainer) needs() {
	d := &x.sc.request
	x.e.Question.Needs = nil
	for slot, fr := range x.sc.names {
		need := Need{FlavorResource: fr, Amount: d.Amounts[slot]}
		if missing, bound := x.c.Usage.Missing(d.Queue, d.Columns[slot], need.Amount); missing > 0 {
			need.Missing, need.Node = missing, x.c.NodeName(bound)
		}
		x.e.Question.Needs = append(x.e.Question.Needs, need)
	}
	slices.SortFunc(x.e.Question.Needs, func(a, b Need) int { return a.FlavorResource.Compare(b.FlavorResource) })
}

func (x *explainer) missing(list []trace.Missing) (out []Need) {
	for _, m := range list {
		out = append(out, Need{FlavorResource: x.sc.names[m.Slot], Missing: m.Amount, Node: x.c.NodeName(m.Node)})
	}
	slices.SortFunc(out, func(a, b Need) int { return a.FlavorResource.Compare(b.FlavorResource) })
	return out
}

// level begins a level.
func (x *explainer) level(s *trace.Step) {
	policy := &x.c.Queue(x.sc.request.Queue).Preemption
	l := ExplainedLevel{Node: x.c.NodeName(s.Node), Policy: fmt.Sprintf("reclaimWithinCohort %v", policy.ReclaimWithinCohort)}
	switch {
	case s.Class == trace.Own:
		l.Right, l.Policy = RightOwnQueue, fmt.Sprintf("withinClusterQueue %v", policy.WithinClusterQueue)
	case x.fair:
		l.Right = RightShares
	case s.Class == trace.Hierarchical:
		l.Right = RightReclaim
	default:
		l.Right = RightBorrow
		l.Policy += fmt.Sprintf(", borrowWithinCohort %v", policy.BorrowWithinCohort.Policy)
		if most, ok := policy.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok && policy.BorrowWithinCohort.Policy != queue.Never {
			l.Policy += fmt.Sprintf(" up to priority %d", most)
		}
	}
	x.e.Levels = append(x.e.Levels, l)
	clear(x.kept)
}

var ruleOfStep = [...]Rule{
	trace.WithinClusterQueue:  RuleWithinClusterQueue,
	trace.ReclaimWithinCohort: RuleReclaimWithinCohort,
	trace.BorrowWithinCohort:  RuleBorrowWithinCohort,
	trace.WithinNominal:       RuleWithinNominal,
	trace.NotUsed:             0,
	trace.MinRuntime:          RuleMinRuntime,
	trace.Guarded:             RuleGuarded,
	trace.NeverYields:         RuleNeverYields,
	trace.Unstable:            RuleFairShare,
}

// judged counts a workload.
func (x *explainer) judged(s *trace.Step, mayYield *Counted, kept *[]Kept) {
	if s.Rule == 0 {
		mayYield.add(s.Workload)
		return
	}
	key := keptKey{s.Rule, s.SetBy}
	at, known := x.kept[key]
	if !known {
		at = len(*kept)
		x.kept[key] = at
		k := Kept{Rule: ruleOfStep[s.Rule]}
		switch {
		case s.Rule == trace.MinRuntime:
			k.SetBy = minimumSetBy(x.c, s.SetBy)
		case s.SetBy >= 0:
			k.SetBy = x.c.NodeName(s.SetBy)
		}
		*kept = append(*kept, k)
	}
	k := &(*kept)[at]
	k.add(s.Workload)
	if timed := s.Rule == trace.MinRuntime || s.Rule == trace.Guarded || s.Rule == trace.WithinClusterQueue; timed && s.Until < math.MaxInt64 {
		k.ends(instant.Time(s.Until))
	}
}

func (k *Kept) ends(at time.Time) {
	if k.From.IsZero() || at.Before(k.From) {
		k.From = at
	}
	if at.After(k.Until) {
		k.Until = at
	}
}
