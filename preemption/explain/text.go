package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// page is a text that is being written.
type page struct {
	strings.Builder
	Printer
}

// line writes a line; what does not fit continues below, indented by two more.
func (p *page) line(indent int, format string, args ...any) {
	column, width := 0, p.width()
	below := func() {
		p.WriteString("\n" + strings.Repeat(" ", indent+2))
		column = indent + 2
	}
	for _, word := range strings.Fields(escape(fmt.Sprintf(format, args...))) {
		n := columnsOf(word)
		switch {
		case column == 0:
			p.WriteString(strings.Repeat(" ", indent))
			column = indent
		case column+1+n > width:
			below()
		default:
			p.WriteString(" ")
			column++
		}
		if column+n <= width {
			p.WriteString(word)
			column += n
			continue
		}
		for _, r := range word { // longer than a line
			n := columns(r)
			if column > indent+2 && column+n > width {
				below()
			}
			p.WriteRune(r)
			column += n
		}
	}
	p.WriteString("\n")
}

func (p *page) head(text string) { p.WriteString("\n" + text + "\n") }

// Text returns a page for a terminal of 80 columns: the question and the answer, which workloads may
// yield, what was tried, and what would change the answer.
func Text(e Explanation) string { return Printer{}.Text(e) }

// Text is [Text] with other amounts and width. It has the lines of [Steps], by section.
func (pr Printer) Text(e Explanation) string { return pr.text(&e, pr.Steps(e)) }

// RulesPart returns the part of [Printer.Text] about rules: which triggers hold, and which workloads the
// selectors accept and refuse. Empty: the queue has no rules.
func (pr Printer) RulesPart(e Explanation) string { return pr.text(&e, ruleSteps(&e)) }

func (pr Printer) text(e *Explanation, steps []Step) string {
	p := &page{Printer: pr}
	section := ""
	for _, s := range steps {
		switch s.section {
		case theQuestion:
			for i, line := range s.Lines {
				p.line(min(2*i, 2), "%s", line)
			}
			p.line(0, "%s", answerLine(e))
			continue
		case theAnswer:
			continue
		case section:
		default:
			p.head(s.section)
		}
		section = s.section
		if s.label != "" {
			p.line(2, "%s", s.label)
		}
		for _, line := range s.Lines[s.said:] {
			p.line(s.indent, "%s", line)
		}
	}
	return p.String()
}

// questionLines says who asks, then what is asked and what is short.
func (pr Printer) questionLines(q *Question) []string {
	var asks []string
	for _, n := range q.Needs {
		asks = append(asks, pr.amount(n.Amount, n.FlavorResource))
	}
	lines := []string{fmt.Sprintf("%s in queue %q, priority %d, at %s", q.Workload, q.Queue, q.Priority, q.Now.UTC().Format("2006-01-02 15:04:05 UTC"))}
	if len(asks) > 0 {
		lines = append(lines, "asks for "+strings.Join(asks, ", "))
	}
	if missing := pr.short(q.Needs); missing != "" {
		lines = append(lines, "short of "+missing)
	}
	return lines
}

// answerLine is the decision in a sentence.
func answerLine(e *Explanation) string {
	return "It " + answer(&e.Decision, "", clock(e.Decision.RetryAt, e.Question.Now)) + "."
}

// Answer says a decision about a request as the end of a sentence that begins with the workload, without
// full stop: "fits now", or "fits once ns/a, ns/b yield".
func Answer(d *preemption.Decision, r *preemption.Request) string {
	at := d.RetryAt.UTC().Format(time.RFC3339Nano) + ", in " + d.RetryAt.Sub(r.Now).Round(time.Second).String()
	return answer(d, Partial(d, &r.Workload), at)
}

// Partial says with how many replicas a workload starts, as in " with 2 of 8 replicas of main". Empty: with all.
func Partial(d *preemption.Decision, w *workload.Workload) string {
	var parts []string
	for _, c := range d.Counts {
		for _, p := range w.PodSets {
			if p.Name == c.PodSet && p.Count > c.Count {
				parts = append(parts, fmt.Sprintf("%d of %d replicas of %s", c.Count, p.Count, c.PodSet))
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

// answer is the end of the sentence; with says what Partial does, at when time alone helps.
func answer(d *preemption.Decision, with, at string) string {
	switch d.Outcome {
	case preemption.Fits:
		return "fits now" + with
	case preemption.Preempt:
		return "fits" + with + " once " + victims(d)
	case preemption.Gated:
		return "would fit" + with + " once " + victims(d) + ", but a closed gate holds it back"
	case preemption.Wait:
		if d.Leaving {
			return "waits: it fits" + with + " once " + awaited(d)
		}
		if d.RetryAt.IsZero() {
			return "waits: time may help"
		}
		return "waits: time alone helps at " + at
	}
	if d.NoRoom {
		return "does not fit: there is quota, but no room on nodes, and time alone does not help"
	}
	return "does not fit, and time alone does not help"
}

// awaited says what leaves already and will be enough.
func awaited(d *preemption.Decision) string {
	if len(d.Victims) == 0 {
		return "what terminates on the nodes is gone"
	}
	return victims(d)
}

func victims(d *preemption.Decision) string {
	var list Counted
	for _, v := range d.Victims {
		if list.Count++; list.Count <= 4 {
			list.Samples = append(list.Samples, v.Workload+leaving(v.Leaving))
		}
	}
	verb := "yield"
	if list.Count == 1 {
		verb = "yields"
	}
	return names(list) + " " + verb
}

func flavorLine(c *preemption.FlavorChoice) string {
	flavor := "none"
	if c.Flavor != "" {
		flavor = c.Flavor
	}
	return fmt.Sprintf("pod set %s: %s", c.PodSet, flavor)
}

// Tried says what became of a flavor that was tried: a sentence without full stop.
func Tried(t *preemption.TriedFlavor) string {
	if t.Mismatch != nil {
		return mismatch(t.Mismatch)
	}
	return flavorSkipped[t.Skipped]
}

// triedLines says what became of each flavor.
func triedLines(c *preemption.FlavorChoice) (lines []string) {
	for _, t := range c.Tried {
		lines = append(lines, fmt.Sprintf("%s: %s", t.Flavor, Tried(&t)))
	}
	if c.Untried > 0 {
		lines = append(lines, count(int64(c.Untried), "more flavor")+" not tried")
	}
	return lines
}

// levelLines says who may yield at a level and who is kept by which rule.
func levelLines(l *ExplainedLevel, now time.Time) (lines []string) {
	if l.MayYield.Count > 0 {
		lines = append(lines, fmt.Sprintf("%d may yield%s: %s", l.MayYield.Count, ifShares(l), names(l.MayYield)))
	}
	for i := range l.Kept {
		lines = append(lines, fmt.Sprintf("%d %s: %s", l.Kept[i].Count, rule(&l.Kept[i], l.Policy, now), names(l.Kept[i].Counted)))
	}
	if len(lines) == 0 {
		lines = []string{"no workload runs there"}
	}
	return lines
}

// ifShares says that shares decide at a level.
func ifShares(l *ExplainedLevel) string {
	if l.Right == RightShares {
		return " as far as the shares permit it"
	}
	return ""
}

var bounds = map[Bound]string{
	BoundPotential: "more than the queue could use if nothing ran",
	BoundInReach:   "not enough without all of permitted priority in queues that borrow",
	BoundInNeed:    "not enough without all of permitted priority in queues that borrow what is short",
	BoundInTree:    "not enough without all of permitted priority in the tree",
}

func attemptTitle(e *Explanation, a *ExplainedAttempt) string {
	title := "the queue may borrow"
	if a.ByRules && e.Rules != nil && e.Rules.Alone {
		return title + ", by rules alone"
	} else if a.ByRules {
		return title + ", by rules after all that the policies permit"
	}
	if a.WithinNominal {
		title = "the queue stays within its nominal quota"
	}
	return title
}

// attemptLines says what became of candidates that are no victims.
func attemptLines(a *ExplainedAttempt) (lines []string) {
	if a.Refused.Count > 0 {
		lines = append(lines, "refused by shares: "+names(a.Refused))
	}
	if a.Idle.Count > 0 {
		lines = append(lines, "their queue borrows no more: "+names(a.Idle))
	}
	for i := range a.Limited {
		lines = append(lines, fmt.Sprintf("refused by the limit %s: %s", a.Limited[i].Limit, names(a.Limited[i].Counted)))
	}
	if a.PutBack.Count > 0 {
		lines = append(lines, "put back, fits without: "+names(a.PutBack))
	}
	return lines
}

func moreLine(more int64) string { return fmt.Sprintf("and %d more", more) }

func instantsLine(instants int64) string {
	return fmt.Sprintf("Then %s tried, to find when time helps.", count(instants, "later instant"))
}

func (pr Printer) taken(t *TakenStep) string {
	text := "take " + t.Workload
	if t.PodSet != "" {
		text = fmt.Sprintf("take %s %s of %s", count(t.Replicas, "replica"), t.PodSet, t.Workload)
	}
	text += leaving(t.Leaving) + fmt.Sprintf(" in queue %q", t.Queue)
	if len(t.Rules) > 0 {
		text += " by " + RulesText(t.Rules)
	}
	text += ": "
	switch {
	case len(t.Missing) > 0:
		return text + "still short of " + pr.short(t.Missing)
	case t.NoRoom:
		return text + "enough quota, no room on nodes"
	}
	return text + "the quota is enough"
}

func (pr Printer) end(a *ExplainedAttempt) string {
	switch {
	case a.Succeeded:
		return "the request fits without them"
	case a.Hopeless != 0 && len(a.Missing) > 0:
		return bounds[a.Hopeless] + ": short of " + pr.short(a.Missing)
	case a.Hopeless != 0:
		return bounds[a.Hopeless]
	}
	return "not enough: all are put back"
}

// changes lists what would change the answer.
func (p *page) changes(ways []string) {
	p.head("What would change the answer")
	for _, w := range orNothing(ways) {
		p.line(2, "%s", w)
	}
}

func orNothing(ways []string) []string {
	if len(ways) == 0 {
		return []string{"Nothing that was tried."}
	}
	return ways
}
