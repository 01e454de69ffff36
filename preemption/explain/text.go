package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
)

// page is a text that is being written.
type page struct {
	strings.Builder
	Printer
	now time.Time
}

// line writes a line; what does not fit continues below, indented by two more.
func (p *page) line(indent int, format string, args ...any) {
	column, width := 0, p.width()
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		n := len([]rune(word))
		switch {
		case column == 0:
			p.WriteString(strings.Repeat(" ", indent))
			column = indent
		case column+1+n > width:
			p.WriteString("\n" + strings.Repeat(" ", indent+2))
			column = indent + 2
		default:
			p.WriteString(" ")
			column++
		}
		p.WriteString(word)
		column += n
	}
	p.WriteString("\n")
}

func (p *page) head(text string) { p.WriteString("\n" + text + "\n") }

// Text returns a page for a terminal of 80 columns: the question and the answer, who may
// yield, what was tried, and what would change the answer.
func Text(e preemption.Explanation) string { return Printer{}.Text(e) }

// Text is [Text] with other amounts and width.
func (pr Printer) Text(e preemption.Explanation) string {
	p := &page{Printer: pr, now: e.Question.Now}
	p.question(&e)
	p.flavors(&e)
	p.levels(&e)
	p.attempts(&e)
	p.ways(&e)
	return p.String()
}

func (p *page) question(e *preemption.Explanation) {
	q := &e.Question
	var asks []string
	for _, n := range q.Needs {
		asks = append(asks, p.amount(n.Amount, n.FlavorResource))
	}
	p.line(0, "%s in queue %q, priority %d, at %s", q.Workload, q.Queue, q.Priority, q.Now.UTC().Format("2006-01-02 15:04:05 UTC"))
	if len(asks) > 0 {
		p.line(2, "asks for %s", strings.Join(asks, ", "))
	}
	if missing := p.short(q.Needs); missing != "" {
		p.line(2, "short of %s", missing)
	}
	p.line(0, "%s", answer(e))
}

// answer is the decision in a sentence.
func answer(e *preemption.Explanation) string {
	d := &e.Decision
	switch d.Outcome {
	case preemption.Fits:
		return "It fits."
	case preemption.Preempt:
		return "It fits once " + victims(d) + "."
	case preemption.Gated:
		return "A closed gate holds it back. With open gates it would fit once " + victims(d) + "."
	case preemption.Wait:
		if d.RetryAt.IsZero() {
			return "It waits: time may help."
		}
		return "It waits: time alone helps at " + clock(d.RetryAt, e.Question.Now) + "."
	}
	return "It does not fit, and time alone does not help."
}

func victims(d *preemption.Decision) string {
	var list preemption.Counted
	for _, v := range d.Victims {
		if list.Count++; list.Count <= 4 {
			list.Samples = append(list.Samples, v.Workload)
		}
	}
	verb := "yield"
	if list.Count == 1 {
		verb = "yields"
	}
	return names(list) + " " + verb
}

func (p *page) flavors(e *preemption.Explanation) {
	if len(e.Decision.Assignment) == 0 {
		return
	}
	p.head("Flavors")
	for _, c := range e.Decision.Assignment {
		flavor := "none"
		if c.Flavor != "" {
			flavor = c.Flavor
		}
		p.line(2, "pod set %s: %s", c.PodSet, flavor)
		for _, t := range c.Tried {
			p.line(4, "%s: %s", t.Flavor, flavorSkipped[t.Skipped])
		}
		if c.Untried > 0 {
			p.line(4, "%s not tried", count(int64(c.Untried), "more flavor"))
		}
	}
}

func (p *page) levels(e *preemption.Explanation) {
	if len(e.Levels) == 0 {
		return
	}
	p.head("Who may yield")
	for i := range e.Levels {
		l := &e.Levels[i]
		if l.MayYield.Count == 0 && len(l.Kept) == 0 {
			p.line(2, "%s: nobody runs there", l.Node)
			continue
		}
		p.line(2, "%s (%s)", l.Node, l.Policy)
		if l.MayYield.Count > 0 {
			p.line(4, "%d may yield: %s", l.MayYield.Count, names(l.MayYield))
		}
		for j := range l.Kept {
			p.line(4, "%d %s: %s", l.Kept[j].Count, rule(&l.Kept[j], p.now), names(l.Kept[j].Counted))
		}
	}
}

var bounds = map[preemption.Bound]string{
	preemption.BoundPotential: "more than the queue could use if nothing ran",
	preemption.BoundInReach:   "not enough without all of permitted priority in queues that borrow",
	preemption.BoundInNeed:    "not enough without all of permitted priority in queues that borrow what is short",
}

func (p *page) attempts(e *preemption.Explanation) {
	if len(e.Attempts) == 0 {
		return
	}
	p.head("What was tried")
	for i := range e.Attempts {
		a := &e.Attempts[i]
		title := "the queue may borrow"
		if a.WithinNominal {
			title = "the queue stays within its nominal quota"
		}
		if a.LargestFirst {
			title += ", the largest first"
		}
		p.line(2, "%d. %s", i+1, title)
		for _, t := range a.Taken {
			p.line(5, "%s", p.taken(&t))
		}
		if more := a.TakenCount - int64(len(a.Taken)); more > 0 {
			p.line(5, "and %d more", more)
		}
		if a.Refused.Count > 0 {
			p.line(5, "refused by shares: %s", names(a.Refused))
		}
		if a.Idle.Count > 0 {
			p.line(5, "their queue borrows no more: %s", names(a.Idle))
		}
		if a.PutBack.Count > 0 {
			p.line(5, "put back, fits without: %s", names(a.PutBack))
		}
		p.line(5, "%s", p.end(a))
	}
	if e.Instants > 0 {
		p.line(2, "Then %s tried, to find when time helps.", count(e.Instants, "later instant"))
	}
}

func (pr Printer) taken(t *preemption.TakenStep) string {
	text := "take " + t.Workload
	if t.PodSet != "" {
		text = fmt.Sprintf("take %s %s of %s", count(t.Replicas, "replica"), t.PodSet, t.Workload)
	}
	text += fmt.Sprintf(" in queue %q: ", t.Queue)
	switch {
	case len(t.Missing) > 0:
		return text + "still short of " + pr.short(t.Missing)
	case t.NoRoom:
		return text + "enough quota, no room on nodes"
	}
	return text + "the quota is enough"
}

func (pr Printer) end(a *preemption.ExplainedAttempt) string {
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

func (p *page) ways(e *preemption.Explanation) {
	if e.Decision.Outcome.Succeeds() {
		return
	}
	p.changes(texts(e.Ways, func(w *preemption.Way) string { return p.way(w, p.now) }))
}

// changes lists what would change the answer.
func (p *page) changes(ways []string) {
	p.head("What would change the answer")
	for _, w := range ways {
		p.line(2, "%s", w)
	}
	if len(ways) == 0 {
		p.line(2, "Nothing that was tried.")
	}
}
