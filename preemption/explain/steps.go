package explain

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption"
)

// Step is a part of an explanation, for a page that shows one after the other.
type Step struct {
	// Title says what the step is about in a few words; Lines say the rest, in the words of
	// [Text].
	Title string   `json:"title"`
	Lines []string `json:"lines,omitempty"`
	// Node is the queue or cohort that the step is about, as `cohort "research"`. Empty: none.
	Node string `json:"node,omitempty"`
	// MayYield and Kept are the workloads that the step names: those that no rule keeps from
	// yielding, and the others.
	MayYield []string `json:"mayYield,omitempty"`
	Kept     []string `json:"kept,omitempty"`
	// Taken are the workloads that are taken after the step, in the order in which they were.
	Taken []string `json:"taken,omitempty"`
	// Ways is, for the last step of a request that does not succeed, the changes that its Lines
	// say, in the same order.
	Ways []Way `json:"ways,omitempty"`

	// In [Text], the step is part of a section. A label stands for its title and for the first lines, which
	// it has said; the other lines are indented.
	section, label string
	said, indent   int
}

// Sections of [Text].
const (
	theQuestion  = "the question" // and the answer, at the top
	theAnswer    = "the answer"   // as said above
	whoMayYield  = "Who may yield"
	whatWasTried = "What was tried"
	whatIsBetter = "What is better"
	whatChanges  = "What would change the answer"
)

// Steps returns an explanation as steps: the question, the flavors, who may yield at each level
// of the cohort tree, the search with each candidate that it takes, the answer, and what would
// change it.
func Steps(e Explanation) []Step { return Printer{}.Steps(e) }

// Steps is the function [Steps] with other amounts. The width has no meaning here.
func (pr Printer) Steps(e Explanation) []Step {
	pr.Width = -1
	steps := []Step{{Title: "The request", Lines: pr.questionLines(&e.Question), section: theQuestion}}
	for _, c := range e.Decision.Assignment {
		lines := append([]string{flavorLine(&c)}, triedLines(&c)...)
		steps = append(steps, Step{Title: "The flavor of pod set " + c.PodSet, Lines: lines, section: "Flavors", label: lines[0], said: 1, indent: 4})
	}
	for i := range e.Levels {
		steps = append(steps, levelStep(&e.Levels[i], e.Question.Now))
	}
	steps = append(steps, ruleSteps(&e)...)
	var taken []string // at the end of the last attempt
	for i := range e.Attempts {
		var more []Step
		more, taken = pr.attemptSteps(&e, &e.Attempts[i], i+1)
		steps = append(steps, more...)
	}
	if e.Instants > 0 {
		steps = append(steps, Step{Title: "Later instants", Lines: []string{instantsLine(e.Instants)}, section: whatWasTried, indent: 2})
	}
	steps = append(steps, improvedSteps(&e)...)
	end := Step{Title: "The answer", Lines: []string{answerLine(&e)}, section: theAnswer}
	if d := &e.Decision; d.Possible() {
		for _, v := range d.Victims {
			end.Taken = append(end.Taken, v.Workload)
		}
	} else {
		end.Kept = taken
	}
	steps = append(steps, end)
	if !e.Decision.Outcome.Succeeds() {
		steps = append(steps, Step{Title: whatChanges, Ways: e.Ways, section: whatChanges, indent: 2,
			Lines: orNothing(texts(e.Ways, func(w *Way) string { return pr.way(w, e.Question.Now) }))})
	}
	return steps
}

// levelStep returns the step of a level.
func levelStep(l *ExplainedLevel, now time.Time) Step {
	lines := levelLines(l, now)
	s := Step{
		Title: "Who may yield in " + l.Node, Node: l.Node, Lines: append([]string{l.Policy}, lines...), MayYield: l.MayYield.Samples, Kept: samplesOf(l.Kept),
		section: whoMayYield, label: fmt.Sprintf("%s (%s)", l.Node, l.Policy), said: 1, indent: 4,
	}
	if l.MayYield.Count == 0 && len(l.Kept) == 0 {
		s.label, s.said = fmt.Sprintf("%s: %s", l.Node, lines[0]), len(s.Lines)
	}
	return s
}

func samplesOf(list []Kept[preemption.Rule]) (names []string) {
	for _, k := range list {
		names = append(names, k.Samples...)
	}
	return names
}

// attemptSteps returns the steps of one search, and what is put back when it fails.
func (pr Printer) attemptSteps(e *Explanation, a *ExplainedAttempt, number int) (steps []Step, taken []string) {
	title := attemptTitle(e, a)
	steps = append(steps, Step{Title: fmt.Sprintf("Search %d: %s", number, title), section: whatWasTried, label: fmt.Sprintf("%d. %s", number, title), indent: 5})
	end := append(attemptLines(a), pr.end(a))
	if len(a.Taken) == 0 {
		steps[0].Lines = end
		return steps, nil
	}
	add := func(s Step) {
		s.section, s.indent = whatWasTried, 5
		steps = append(steps, s)
	}
	for i := range a.Taken {
		t := &a.Taken[i]
		taken = append(taken, t.Workload)
		add(Step{Title: "Take " + t.Workload, Node: fmt.Sprintf("queue %q", t.Queue), Lines: []string{pr.taken(t)}, Taken: taken[: i+1 : i+1]})
	}
	if more := a.TakenCount - int64(len(a.Taken)); more > 0 {
		end = append([]string{moreLine(more)}, end...)
	}
	if !a.Succeeded {
		add(Step{Title: "The search ends", Lines: end})
		return steps, taken
	}
	add(Step{Title: "The search ends", Lines: end, Taken: taken})
	return steps, nil
}
