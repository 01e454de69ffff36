package explain

import (
	"fmt"
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
}

// Steps returns an explanation as steps: the question, the flavors, who may yield at each level
// of the cohort tree, the search with each candidate that it takes, the answer, and what would
// change it.
func Steps(e Explanation) []Step { return Printer{}.Steps(e) }

// Steps is the function [Steps] with other amounts. The width has no meaning here.
func (pr Printer) Steps(e Explanation) []Step {
	pr.Width = -1
	steps := []Step{{Title: "The request", Lines: pr.questionLines(&e.Question)}}
	if len(e.Decision.Assignment) > 0 {
		flavors := Step{Title: "The flavors"}
		for _, c := range e.Decision.Assignment {
			flavors.Lines = append(flavors.Lines, flavorLine(&c))
			flavors.Lines = append(flavors.Lines, triedLines(&c)...)
		}
		steps = append(steps, flavors)
	}
	for i := range e.Levels {
		l := &e.Levels[i]
		s := Step{Title: "Who may yield in " + l.Node, Node: l.Node, Lines: append([]string{l.Policy}, levelLines(l, e.Question.Now)...), MayYield: l.MayYield.Samples}
		for _, k := range l.Kept {
			s.Kept = append(s.Kept, k.Samples...)
		}
		steps = append(steps, s)
	}
	steps = append(steps, ruleSteps(&e)...)
	var taken []string // at the end of the last attempt
	for i := range e.Attempts {
		var more []Step
		more, taken = pr.attemptSteps(&e, &e.Attempts[i], i+1)
		steps = append(steps, more...)
	}
	steps = append(steps, improvedSteps(&e)...)
	end := Step{Title: "The answer", Lines: []string{answer(&e)}}
	if e.Instants > 0 {
		end.Lines = append(end.Lines, instantsLine(e.Instants))
	}
	if d := &e.Decision; d.Outcome.Possible() {
		for _, v := range d.Victims {
			end.Taken = append(end.Taken, v.Workload)
		}
	} else {
		end.Kept = taken
	}
	steps = append(steps, end)
	if !e.Decision.Outcome.Succeeds() {
		steps = append(steps, Step{Title: "What would change the answer", Ways: e.Ways,
			Lines: orNothing(texts(e.Ways, func(w *Way) string { return pr.way(w, e.Question.Now) }))})
	}
	return steps
}

// attemptSteps returns the steps of one search, and who is put back when it fails.
func (pr Printer) attemptSteps(e *Explanation, a *ExplainedAttempt, number int) (steps []Step, taken []string) {
	steps = append(steps, Step{Title: fmt.Sprintf("Search %d: %s", number, attemptTitle(e, a))})
	if len(a.Taken) == 0 {
		steps[0].Lines = append(attemptLines(a), pr.end(a))
		return steps, nil
	}
	for i := range a.Taken {
		t := &a.Taken[i]
		taken = append(taken, t.Workload)
		steps = append(steps, Step{Title: "Take " + t.Workload, Node: fmt.Sprintf("queue %q", t.Queue), Lines: []string{pr.taken(t)}, Taken: taken[: i+1 : i+1]})
	}
	end := Step{Title: "The search ends", Lines: append(attemptLines(a), pr.end(a))}
	if more := a.TakenCount - int64(len(a.Taken)); more > 0 {
		end.Lines = append([]string{moreLine(more)}, end.Lines...)
	}
	if !a.Succeeded {
		return append(steps, end), taken
	}
	end.Taken = taken
	return append(steps, end), nil
}
