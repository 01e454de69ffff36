package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// level says who may yield in one part of the cohort tree while no workload has yielded.
type level struct {
	node     string             // the own queue, or a cohort
	right    string             // the policy that gives the right, by name
	value    queue.VictimPolicy // of that policy
	borrows  string             // what is said of the policy on borrowing, if it decides
	byShares bool               // the shares decide
	mayYield tally
	kept     keptList
}

// sharesJudged is a workload that the policies permit, at a level where shares decide.
type sharesJudged struct {
	level    int
	workload string
}

// borrowingKept is a workload that only borrowWithinCohort may keep, with the verdict where the queue need not borrow.
type borrowingKept struct {
	level    int
	workload string
	within   trace.Verdict
}

// level begins a level.
func (x *explainer) level(s *trace.Step) level {
	l := level{node: x.recorder.Names.Node(s.Node), right: reclaimWithinCohort, value: x.policy.ReclaimWithinCohort}
	switch {
	case s.Class == trace.Own:
		l.right, l.value = withinClusterQueue, x.policy.WithinClusterQueue
	case x.fair():
		l.byShares = true
	case s.Class != trace.Hierarchical:
		b := &x.policy.BorrowWithinCohort
		l.borrows = fmt.Sprintf(", borrowWithinCohort %v", b.Policy)
		if most, ok := threshold(b); ok {
			l.borrows += fmt.Sprintf(" up to priority %d", most)
		}
	}
	return l
}

// surveyed counts a workload at the level that began last.
func (x *explainer) surveyed(s *trace.Step) {
	at := len(x.levels) - 1
	l := &x.levels[at]
	x.judged(s, &l.mayYield, &l.kept)
	switch {
	case s.Rule == trace.BorrowWithinCohort:
		x.borrowing = append(x.borrowing, borrowingKept{at, s.Workload, s.Within})
	case s.Rule == 0 && l.byShares:
		x.byShares = append(x.byShares, sharesJudged{at, s.Workload})
	}
}

// judged counts a workload.
func (x *explainer) judged(s *trace.Step, mayYield *tally, list *keptList) {
	if s.Rule == 0 {
		mayYield.add(s.Workload)
		return
	}
	timed := s.Rule == trace.MinRuntime || s.Rule == trace.Guarded || s.Rule == trace.WithinClusterQueue
	list.add(s, s.Workload, timed, x.setBy)
}

func (x *explainer) setBy(s *trace.Step) string {
	switch {
	case s.Rule == trace.MinRuntime:
		return x.recorder.Names.MinimumSetBy(s.SetBy)
	case s.SetBy >= 0:
		return x.recorder.Names.Node(s.SetBy)
	}
	return ""
}

// judgeWithin judges again where the victims were found by a search in which the queue stays within its nominal quota:
// borrowWithinCohort keeps nobody then.
func (x *explainer) judgeWithin() {
	if len(x.attempts) == 0 || !x.last().succeeded || !x.last().within {
		return
	}
	for _, b := range x.borrowing {
		l := &x.levels[b.level]
		x.judged(&trace.Step{Workload: b.workload, Verdict: b.within}, &l.mayYield, &l.kept)
	}
	for i := range x.levels {
		l := &x.levels[i].kept
		l.list = slices.DeleteFunc(l.list, func(k *kept) bool { return k.rule == trace.BorrowWithinCohort })
	}
}

// keepByShares says of a failed search which workloads the shares have kept: it would have taken all
// others. Sums that end an attempt before say nothing of shares.
func (x *explainer) keepByShares() {
	ended := func(a attempt) bool { return a.hopeless == 0 && !a.byRules }
	if x.d.Possible() || !slices.ContainsFunc(x.attempts, ended) {
		return
	}
	for i := range x.levels {
		if l := &x.levels[i]; l.byShares {
			l.mayYield = tally{}
		}
	}
	none := func(*trace.Step) string { return "" }
	for _, j := range x.byShares {
		l := &x.levels[j.level]
		if x.taken[j.workload] {
			l.mayYield.add(j.workload)
			continue
		}
		l.kept.add(&trace.Step{Verdict: trace.Verdict{Rule: trace.Unstable, SetBy: -1}}, j.workload, false, none)
	}
}

// levelSteps says who may yield at each level, and who is kept by which rule.
func (x *explainer) levelSteps() (steps []Step) {
	for i := range x.levels {
		l := &x.levels[i]
		s := Step{
			Section: whoMayYield, Title: fmt.Sprintf("%s (%s %v%s)", l.node, l.right, l.value, l.borrows), Node: l.node,
			MayYield: l.mayYield.named, Kept: l.kept.named(), Indent: 4,
		}
		if l.mayYield.count > 0 {
			asShares := ""
			if l.byShares {
				asShares = " as far as the shares permit it"
			}
			s.Lines = append(s.Lines, fmt.Sprintf("%d may yield%s: %v", l.mayYield.count, asShares, l.mayYield))
		}
		for _, k := range l.kept.list {
			s.Lines = append(s.Lines, fmt.Sprintf("%d %s: %v", k.count, x.why(k, l), k.tally))
		}
		if len(s.Lines) == 0 {
			s.Title = l.node + ": no workload runs there"
		}
		steps = append(steps, s)
	}
	return steps
}

// ends lists the rules of time that keep workloads now.
func (x *explainer) ends() (list []End) {
	for i := range x.levels {
		for _, k := range x.levels[i].kept.list {
			if !k.from.IsZero() {
				list = append(list, End{preemption.Rule(k.rule), x.levels[i].node, k.from, k.last}) // the constants are the same
			}
		}
	}
	return list
}

// why says which rule keeps a number of workloads: of a level, or of a tier, which has none.
func (x *explainer) why(k *kept, l *level) string {
	text := ""
	switch k.rule {
	case trace.NotUsed:
		text = "use nothing of what is short"
	case trace.WithinClusterQueue, trace.ReclaimWithinCohort:
		switch l.value {
		case queue.LowerPriority:
			text = "are not of lower priority"
		case queue.LowerOrNewerEqualPriority:
			text = "are neither of lower priority nor newer of equal priority"
		default:
			text = "are kept by " + l.right
		}
	case trace.WithinNominal:
		text = "are in the quota of " + k.setBy
	case trace.BorrowWithinCohort:
		text = "are kept by borrowWithinCohort while the queue borrows"
	case trace.MinRuntime:
		text = "have not run for their minimum runtime, set by " + setBy(k.setBy)
	case trace.Guarded:
		text = "are kept by a guard"
	case trace.Unstable:
		text = "are not permitted to yield by fair sharing"
	case trace.NeverYields:
		text = "never yield"
	}
	if text += k.until(x.r.Now); k.count > 1 {
		return text
	}
	for _, verb := range [...][2]string{
		{"use ", "uses "}, {"are ", "is "}, {"have not run for their", "has not run for its"}, {"never yield", "never yields"},
	} {
		if rest, ok := strings.CutPrefix(text, verb[0]); ok {
			return verb[1] + rest
		}
	}
	return text
}
