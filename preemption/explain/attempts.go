package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
)

// maxTaken is how many candidates of an attempt an explanation names.
const maxTaken = 16

// attempt is one search for victims.
type attempt struct {
	within    bool // the request may not take its queue over its nominal quota
	byRules   bool
	succeeded bool
	steps     []Step   // of the first candidates that were taken
	names     []string // of these
	taken     int      // all
	putBack   tally
	refused   tally // by the first strategy of fair sharing; the second may have taken some of them
	idle      tally // passed over: those before had brought their queue, or a cohort above, back to its quota
	limited   []limited
	isLimited map[string]bool
	hopeless  trace.Bound
	missing   string // by the bound
}

type limited struct {
	limit string
	tally
}

const isEnough = "the quota is enough"

// candidate notes a step about a candidate.
func (x *explainer) candidate(s *trace.Step, a *attempt) {
	switch s.Kind {
	case trace.Taken:
		if x.fair() {
			x.taken[s.Workload] = true
		}
		if a.taken++; a.taken <= maxTaken {
			a.names = append(a.names, s.Workload)
			a.steps = append(a.steps, x.takes(s, slices.Clip(a.names)))
		}
	case trace.RoomAsked:
		if s.Fits || a.taken != len(a.steps) {
			return
		}
		line := &a.steps[a.taken-1].Lines[0]
		if of, enough := strings.CutSuffix(*line, isEnough); enough {
			*line = of + "enough quota, no room on nodes"
		}
	case trace.PutBack:
		a.putBack.add(s.Workload)
	case trace.Compared:
		first := preemption.LessThanOrEqualToFinalShare
		if len(x.config.Strategies) > 0 {
			first = x.config.Strategies[0]
		}
		if !s.Fits && s.Strategy == trace.Strategy(first) { // the constants are the same
			a.refused.add(s.Workload)
		}
	case trace.Limited:
		a.limits(s)
	case trace.Skipped:
		if s.Rule == trace.WithinNominal && s.Workload != "" {
			a.idle.add(s.Workload)
		}
	}
}

// takes says who is taken after others, by which rules, and what is still short then.
func (x *explainer) takes(s *trace.Step, all []string) Step {
	names := &x.recorder.Names
	text := "take " + s.Workload
	if s.PodSet >= 0 {
		text = fmt.Sprintf("take %s %s of %s", count(s.Replicas, "replica"), names.PodSet(s.Workload, s.PodSet), s.Workload)
	}
	in := fmt.Sprintf("queue %q", names.QueueName(s.Node))
	text += leaving(s.Evicted) + " in " + in
	if x.tier != nil {
		var list []preemption.VictimRule
		for _, by := range names.Taken(s.Workload) {
			list = append(list, preemption.VictimRule(by))
		}
		if len(list) > 0 {
			text += " by " + RulesText(list)
		}
	}
	if missing := x.missing(s.Missing); missing != "" {
		text += ": still short of " + missing
	} else {
		text += ": " + isEnough
	}
	return Step{Section: whatWasTried, Node: in, Lines: []string{text}, Taken: all, Indent: 5}
}

// limits counts a candidate that a limit refuses, once.
func (a *attempt) limits(s *trace.Step) {
	if a.isLimited[s.Workload] {
		return
	}
	if a.isLimited == nil {
		a.isLimited = map[string]bool{}
	}
	a.isLimited[s.Workload] = true
	i := slices.IndexFunc(a.limited, func(l limited) bool { return l.limit == s.Limit })
	if i < 0 {
		i, a.limited = len(a.limited), append(a.limited, limited{limit: s.Limit})
	}
	a.limited[i].add(s.Workload)
}

// attemptSteps returns the steps of the searches, and who was taken in the last one if it failed.
func (x *explainer) attemptSteps() (steps []Step, put []string) {
	for i := range x.attempts {
		a := &x.attempts[i]
		first := Step{Section: whatWasTried, Title: fmt.Sprintf("%d. %s", i+1, x.title(a)), Indent: 5}
		end := Step{Section: whatWasTried, Lines: x.endOf(a), Indent: 5}
		if put = a.names; len(put) == 0 {
			first.Lines = end.Lines
			steps = append(steps, first)
			continue
		}
		if a.succeeded {
			end.Taken, put = put, nil
		}
		steps = append(append(append(steps, first), a.steps...), end)
	}
	if x.instants > 0 {
		tried := fmt.Sprintf("Then %s tried, to find when time helps.", count(x.instants, "later instant"))
		steps = append(steps, Step{Section: whatWasTried, Lines: []string{tried}})
	}
	return steps, put
}

func (x *explainer) title(a *attempt) string {
	switch {
	case a.byRules && x.alone():
		return "the queue may borrow, by rules alone"
	case a.byRules:
		return "the queue may borrow, by rules after all that the policies permit"
	case a.within:
		return "the queue stays within its nominal quota"
	}
	return "the queue may borrow"
}

// endOf says what became of candidates that are no victims, and how an attempt ends.
func (x *explainer) endOf(a *attempt) (lines []string) {
	say := func(n tally, text string) {
		if n.count > 0 {
			lines = append(lines, text+": "+n.String())
		}
	}
	if more := a.taken - len(a.steps); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	say(a.refused, "refused by shares")
	say(a.idle, "their queue borrows no more")
	for _, l := range a.limited {
		say(l.tally, "refused by the limit "+l.limit)
	}
	say(a.putBack, "put back, fits without")
	end := "not enough: all are put back"
	if a.succeeded {
		end = "the request fits without them"
	} else if a.hopeless != 0 {
		end = bounds[a.hopeless]
		if a.missing != "" {
			end += ": short of " + a.missing
		}
	}
	return append(lines, end)
}

var bounds = [...]string{
	trace.Potential: "more than the queue could use if nothing ran",
	trace.InReach:   "not enough without all of permitted priority in queues that borrow",
	trace.InNeed:    "not enough without all of permitted priority in queues that borrow what is short",
	trace.InTree:    "not enough without all of permitted priority in the tree",
}
