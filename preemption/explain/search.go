package explain

import (
	"fmt"
	"slices"
	"strings"
)

// improvedSteps returns a step for each exchange, and one for the proof.
func improvedSteps(e *Explanation) (steps []Step) {
	x := e.Improved
	if x == nil {
		return nil
	}
	var taken []string
	for _, t := range x.Before {
		taken = append(taken, t.Workload)
	}
	taken = slices.Compact(taken)
	add := func(s Step) {
		s.section, s.indent = whatIsBetter, 2
		steps = append(steps, s)
	}
	add(Step{Title: "The search in order", Lines: []string{before(x)}, Taken: taken})
	for i, line := range exchanges(x) {
		s := Step{Title: fmt.Sprintf("Exchange %d", i+1), Lines: []string{line}}
		if i < len(x.Exchanges) {
			for _, t := range x.Exchanges[i].PutBack {
				s.Kept = append(s.Kept, t.Workload)
			}
			taken = slices.DeleteFunc(slices.Clone(taken), func(id string) bool { return slices.Contains(s.Kept, id) })
			for _, t := range x.Exchanges[i].Taken {
				if taken = append(taken, t.Workload); slices.Contains(s.Kept, t.Workload) { // it yields less
					s.Kept = slices.DeleteFunc(s.Kept, func(id string) bool { return id == t.Workload })
				}
			}
		}
		s.Taken = slices.Clone(taken)
		add(s)
	}
	add(Step{Title: "Why nothing is better", Lines: []string{proof(e)}, Taken: taken})
	return steps
}

func before(x *ExplainedImprovement) string {
	if x.Victims == 0 {
		return "the search in order finds no victims"
	}
	return "the search in order takes " + worth(x.Victims, x.Lost) + ": " + candidates(x.Before, x.BeforeCount)
}

// worth says what victims come to.
func worth(victims, lost int64) string {
	if lost == 0 {
		return count(victims, "victim")
	}
	if victims == 1 {
		return fmt.Sprintf("1 victim who loses %d", lost)
	}
	return fmt.Sprintf("%d victims who lose %d", victims, lost)
}

// candidates lists workloads, and replicas; if there are more than these, it says so.
func candidates(list []TakenStep, all int64) string {
	var parts []string
	for _, t := range list {
		part := t.Workload + leaving(t.Leaving)
		if all--; t.PodSet != "" {
			part, all = fmt.Sprintf("%s %s of %s", count(t.Replicas, "replica"), t.PodSet, part), all-t.Replicas+1
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, ", ")
	if all > 0 {
		text += " and " + moreLine(all)[len("and "):]
	}
	return text
}

func exchanges(x *ExplainedImprovement) (lines []string) {
	for i := range x.Exchanges {
		e := &x.Exchanges[i]
		var parts []string
		if e.PutBackCount > 0 {
			parts = append(parts, "put back "+candidates(e.PutBack, e.PutBackCount))
		}
		if e.TakenCount > 0 {
			parts = append(parts, "take "+candidates(e.Taken, e.TakenCount))
		}
		lines = append(lines, strings.Join(parts, ", and ")+": "+worth(e.Victims, e.Lost))
	}
	if more := x.ExchangeCount - int64(len(x.Exchanges)); more > 0 {
		lines = append(lines, moreLine(more))
	}
	return lines
}

// proof says why nothing is better, as far as it is proven.
func proof(e *Explanation) string {
	x, p := e.Improved, e.Decision.Proof
	switch {
	case p == nil && x.ExchangeCount > 0:
		return "no other exchange of one candidate for one or two victims is better"
	case p == nil:
		return "no exchange of one candidate for one or two victims is better"
	case len(e.Decision.Victims) == 0 && p.Optimal:
		return "proven: no set of candidates is enough and permitted"
	case len(e.Decision.Victims) == 0:
		return "not proven: the steps of the search are used up"
	case p.Optimal && x.ByCost:
		return "proven: no permitted set loses less"
	case p.Optimal:
		return "proven: no permitted set has fewer victims"
	case x.ByCost:
		return fmt.Sprintf("not proven: it may take only victims who lose at least %d", p.LowerBound)
	}
	return "not proven: it may take only at least " + count(p.LowerBound, "victim")
}
