package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
)

// SettlementMessage returns one sentence, without full stop, that is short enough for a condition or an event: who has to leave because
// usage is over what is allowed, what remains over, and when more may leave.
func (pr Printer) SettlementMessage(a settle.Answer) string {
	text := settlementAnswer(&a)
	if rest := pr.overs(a.Remaining); rest != "" {
		text += "; still over: " + rest
	}
	if !a.RetryAt.IsZero() {
		text += "; more may leave at " + a.RetryAt.UTC().Format(time.RFC3339Nano)
	}
	return cut(text)
}

// settlementAnswer is the answer without what remains.
func settlementAnswer(a *settle.Answer) string {
	switch {
	case a.Outcome == preemption.Fits:
		return "All usage is within what is allowed"
	case len(a.Victims) > 0:
		var list tally
		for _, v := range a.Victims {
			list.add(v.Workload + replicas(&v))
		}
		return "To leave: " + list.String()
	case a.Outcome == preemption.Wait:
		return "No workload may leave now"
	}
	return "No workload may leave " + untilChanged
}

// replicas says behind its name of which replicas a victim loses how many.
func replicas(v *preemption.Victim) string {
	var parts []string
	for _, r := range v.Replicas {
		parts = append(parts, count(r.Count, "replica")+" of "+r.PodSet)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// overs says what is over, by node.
func (pr Printer) overs(list []preemption.Excess) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, fmt.Sprintf("%s of %v", pr.amount(e.Amount, e.FlavorResource), settle.Node{Queue: e.Queue, Cohort: e.Cohort}))
	}
	return strings.Join(parts, ", ")
}

// SettlementText returns a page: of each queue and cohort that is over what is over, who has to leave and why, what remains, and what keeps
// it.
func (pr Printer) SettlementText(a settle.Answer) string {
	top := []Step{{Lines: []string{settlementAnswer(&a) + "."}}}
	if rest := pr.overs(a.Remaining); rest != "" {
		top = append(top, Step{Lines: []string{"Still over: " + rest + "."}})
	}
	return pr.Text(append(top, pr.SettlementSteps(a)...))
}

// SettlementSteps returns the steps of an answer, as sections: they say what is over, who has to leave and why, or what keeps those
// that stay.
func (pr Printer) SettlementSteps(a settle.Answer) (steps []Step) {
	for i := range a.Steps {
		steps = append(steps, Step{Section: pr.settlementTitle(&a.Steps[i], &a), Lines: settlementLines(&a.Steps[i], &a)})
	}
	return steps
}

// settlementTitle says what is over when the victims of the steps before have left.
func (pr Printer) settlementTitle(step *settle.Step, a *settle.Answer) string {
	now := step.Excess
	title := fmt.Sprintf("%v: %s over", step.Node, pr.amount(now.Amount, now.FlavorResource()))
	all := preemption.Excess{Queue: step.Queue, Cohort: step.Cohort, FlavorResource: now.FlavorResource(), Amount: now.Amount}
	if !slices.Contains(a.Excess, all) {
		title += " without the victims above"
	}
	return title
}

func settlementLines(step *settle.Step, a *settle.Answer) (lines []string) {
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	q := step.Question()
	now := q.Request.Now
	for _, v := range step.Victims {
		line("%s%s leaves: %s", v.Workload, replicas(&v), leavesBecause(&v))
	}
	switch d := &step.Decision; {
	case !step.Delayed.IsZero():
		line("the delay ends at %s", clock(step.Delayed, now))
	case !d.RetryAt.IsZero():
		line("it may leave at %s", clock(d.RetryAt, now))
	case d.Outcome != preemption.Preempt && a.RetryAt.IsZero():
		line("it may not leave, now or later")
	}
	for _, b := range step.Decision.Blockers {
		who := fmt.Sprintf("queue %q", b.Queue)
		if b.Queue == "" {
			who = fmt.Sprintf("cohort %q", b.Cohort)
		}
		if b.Workload != "" {
			who += ", " + b.Workload
		}
		line("%s stays: %s", who, Blocker(q.Snapshot, &q.Request, b))
	}
	return lines
}

// leavesBecause says why a victim of a settlement has to leave.
func leavesBecause(v *preemption.Victim) string {
	switch v.Reason {
	case preemption.InClusterQueue:
		return "it runs in the queue, which uses more than it may"
	case preemption.InCohortReclamation:
		return "its queue uses more than its own quota"
	}
	return Reason(v.Reason)
}
