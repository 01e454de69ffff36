package derive

import (
	"fmt"
	"math"
	"strings"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
)

// derivation is a decision and its steps, one line for each. Nothing is bounded: the cases are
// small.
func derivation(fair bool, p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request) (preemption.Decision, string, error) {
	recorder := trace.Recorder{MaxSamples: math.MaxInt, MaxSteps: math.MaxInt}
	tiers, err := tiersOf(s, &r)
	if err != nil {
		return preemption.Decision{}, "", err
	}
	recorder.Survey = tiers.rules != nil
	d, err := p.Record(s, r, &recorder)
	if err != nil {
		return preemption.Decision{}, "", err
	}
	pr := printer{names: recorder.Names, fair: fair, tiers: tiers}
	for i := range recorder.Steps {
		pr.step(&recorder.Steps[i])
	}
	if !d.Outcome.Possible() {
		pr.rulesFail()
	}
	return d, pr.out.String(), nil
}

type printer struct {
	names     trace.Names
	fair      bool
	phase     string // to be printed before the first step in it
	attempted bool
	depth     int // of candidates
	tiers     tiers
	byRules   bool // the attempt is
	out       strings.Builder
}

func (p *printer) line(indent int, format string, args ...any) {
	if indent > 1 && p.phase != "" {
		fmt.Fprintf(&p.out, "  %s\n", p.phase)
		p.phase = ""
	}
	fmt.Fprintf(&p.out, "%s%s\n", strings.Repeat("  ", indent), fmt.Sprintf(format, args...))
}

// step prints one step; see the package comment.
func (p *printer) step(s *trace.Step) {
	if p.tierStep(s) {
		return
	}
	switch s.Kind {
	case trace.Asked:
		if !s.Fits {
			p.line(0, "does not fit: %s", p.asked(s))
		}
	case trace.Level:
		p.level(s)
	case trace.Hopeless:
		p.line(1, "hopeless: %s", p.bound(s))
	case trace.AttemptBegins:
		p.phase, p.attempted, p.byRules = "", true, s.ByRules
		p.line(0, "%s", attempt(s))
	case trace.AttemptEnds:
		p.phase = ""
		p.line(1, "not enough: all are put back")
	case trace.PhaseBegins:
		p.phase, p.depth = phase(s), 2
	case trace.RoundBegins:
		p.phase, p.depth = [2]string{"first round", "second round"}[toInt(s.Second)], 2
	case trace.Turn:
		p.depth = 3
		p.line(2, "turn of %s, share %s", p.names.Node(s.Node), share(s.Ours))
	case trace.Skipped:
		p.skipped(s)
	case trace.Compared:
		p.line(3, "%s: %s", p.victim(s), compared(s))
	case trace.Taken:
		p.line(p.depth, "take %s: %s", p.victim(s), p.left(s))
	case trace.Limited:
		p.line(p.depth, "pass over %s: limit %s", p.victim(s), s.Limit)
	case trace.RoomAsked:
		p.line(2, "on nodes: %s", [2]string{"no room", "room"}[toInt(s.Fits)])
	case trace.PutBack:
		p.phase = ""
		p.line(1, "put back %s: fits without", p.victim(s))
	case trace.Kept:
		p.phase = ""
		p.line(1, "keep %s: %s", p.victim(s), p.kept(s))
	case trace.Instant:
		p.line(0, "at %s: %s", clock(instant.Time(s.At)), [2]string{"no", "succeeds"}[toInt(s.Fits)])
	case trace.FlavorTried:
		p.line(0, "flavor %s for set %d: %s", s.Flavor, s.PodSet, tried(s))
	case trace.FlavorChosen:
		p.line(0, "%s", chosen(s))
	default:
		p.line(0, "%v", s.Kind)
	}
}

// tried returns how a flavor was judged, and why the next one is tried, too.
func tried(s *trace.Step) string {
	text := [...]string{
		trace.NoFit: "does not fit", trace.NoCandidates: "does not fit, as nobody may yield", trace.Preempts: "fits if workloads of the own queue yield",
		trace.Reclaims: "fits if workloads of other queues yield", trace.Fits: "fits",
	}[s.Fit]
	if s.Height > 0 {
		text += ", borrows"
	}
	why := [...]string{
		trace.Stopped: "; the search stops", trace.NoQuota: ", as there is no quota", trace.ExceedsMax: ", as there is not as much",
		trace.NotReclaimable: ", as it may not preempt while borrowing", trace.NeverPreempts: ", as it never preempts",
		trace.NobodyMayYield: "", trace.WouldPreempt: ", but the queue tries the next first (whenCanPreempt)",
		trace.WouldBorrow: ", but the queue tries the next first (whenCanBorrow)", trace.NotEligible: ", as its nodes are not for these pods",
	}[s.Passed]
	return fmt.Sprintf("%d %s %s%s", s.Amount, s.Resource, text, why)
}

func chosen(s *trace.Step) string {
	if s.Flavor == "" {
		return fmt.Sprintf("no flavor for set %d", s.PodSet)
	}
	return fmt.Sprintf("set %d gets flavor %s", s.PodSet, s.Flavor)
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// asked returns what keeps a request from fitting.
func (p *printer) asked(s *trace.Step) string {
	if len(s.Missing) == 0 {
		return "the quota is enough, but there is no room on nodes"
	}
	return p.missing(s.Missing)
}

func (p *printer) kept(s *trace.Step) string {
	switch {
	case s.Reason == trace.DoesNotFit:
		return "does not fit without"
	case p.byRules:
		return "without it no selector accepts another one"
	}
	return "without it another one would go against the shares"
}

func (p *printer) missing(list []trace.Missing) string {
	if len(list) == 0 {
		return "fits"
	}
	var parts []string
	for _, m := range list {
		parts = append(parts, fmt.Sprintf("%d %s short in %s", m.Amount, resourceName(p.names.Slot(m.Slot)), p.names.Node(m.Node)))
	}
	return strings.Join(parts, ", ")
}

// left returns what is still missing after a victim was taken.
func (p *printer) left(s *trace.Step) string {
	if len(s.Missing) == 0 && !s.Fits {
		return "the quota is enough"
	}
	return p.missing(s.Missing)
}

func (p *printer) level(s *trace.Step) {
	right := [...]string{trace.Hierarchical: "by advantage, as the request fits in the quota of a subtree below", trace.Priority: "by priority"}[s.Class]
	if p.fair {
		right = "by shares"
	}
	p.line(0, "reclaim in %s: %s", p.names.Node(s.Node), right)
	if s.Count > 0 {
		var nodes []string
		for _, n := range s.Nodes {
			nodes = append(nodes, p.names.Node(n))
		}
		p.line(1, "borrows nothing: %s", strings.Join(nodes, ", "))
	}
}

func (p *printer) bound(s *trace.Step) string {
	switch s.Bound {
	case trace.Potential:
		return "more is asked for than there is, whoever leaves"
	case trace.InReach:
		return "with everybody gone whose priority may be, in queues that borrow anything: " + p.missing(s.Missing)
	case trace.InTree:
		return "with everybody gone whose priority may be: " + p.missing(s.Missing)
	}
	return "with everybody gone whose priority may be, in queues that borrow what is short: " + p.missing(s.Missing)
}

func attempt(s *trace.Step) string {
	text := "attempt within nominal quota"
	switch {
	case s.ByRules:
		text = "attempt by rules"
	case s.Borrowing:
		text = "attempt, may borrow"
	}
	if s.LargestFirst {
		text += ", largest first"
	}
	return text
}

func phase(s *trace.Step) string {
	text := [...]string{trace.Hierarchical: "other queues, by advantage", trace.Priority: "other queues, by priority", trace.Own: "own queue"}[s.Class]
	text += [...]string{trace.AllWorkloads: "", trace.Expired: ", equals whose time is over", trace.Newer: ", newer equals"}[s.Tier]
	if s.Evicted {
		text += ", evicted already"
	}
	return text
}

func (p *printer) skipped(s *trace.Step) {
	switch {
	case s.Workload == "" && p.attempted:
		p.line(2, "pass over %s: %s", p.names.Node(s.Node), p.rule(s))
	case s.Workload == "":
		p.line(0, "%s: %s", p.names.Node(s.Node), p.rule(s))
	default:
		who := strings.Join(append([]string{s.Workload}, s.Others...), ", ")
		if more := s.Count - int64(1+len(s.Others)); more > 0 {
			who += fmt.Sprintf(" and %d more", more)
		}
		p.line(p.depth, "pass over %s in %s: %s", who, p.names.Node(s.Node), p.rule(s))
	}
}

func (p *printer) rule(s *trace.Step) string {
	switch s.Rule {
	case trace.WithinClusterQueue:
		return "withinClusterQueue keeps them"
	case trace.ReclaimWithinCohort:
		return "reclaimWithinCohort keeps them"
	case trace.BorrowWithinCohort:
		return "borrowWithinCohort keeps them"
	case trace.NotNewer:
		if s.Until < math.MaxInt64 {
			return "not newer, and its time is not over until " + clock(instant.Time(s.Until))
		}
		return "not newer"
	case trace.WithinNominal:
		return "borrows nothing any more"
	case trace.NotUsed:
		return "uses nothing of what is short"
	case trace.Unstable:
		return "might take its place back"
	case trace.MinRuntime:
		by := "default"
		switch {
		case s.SetBy >= 0:
			by = p.names.Node(s.SetBy)
		case s.SetBy == right.SetByProtection:
			by = "the protection"
		}
		return fmt.Sprintf("minimum runtime until %s, set by %s", clock(instant.Time(s.Until)), by)
	}
	return s.Rule.String()
}

func (p *printer) victim(s *trace.Step) string {
	if s.PodSet < 0 {
		return s.Workload
	}
	return fmt.Sprintf("%d of %s/%s", s.Replicas, s.Workload, p.names.PodSet(s.Workload, s.PodSet))
}

func share(f float64) string {
	if math.IsInf(f, 1) {
		return "without bound"
	}
	return fmt.Sprintf("%.4g", f)
}

func compared(s *trace.Step) string {
	verdict := [2]string{"no", "yes"}[toInt(s.Fits)]
	switch {
	case s.After < 0:
		return fmt.Sprintf("ours %s is over theirs %s: no strategy permits it", share(s.Ours), share(s.Before))
	case s.Strategy == trace.FinalShare:
		return fmt.Sprintf("ours %s at most theirs without it %s? %s", share(s.Ours), share(s.After), verdict)
	}
	return fmt.Sprintf("ours %s less than theirs with it %s? %s", share(s.Ours), share(s.Before), verdict)
}
