package explain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/preemption"
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
	add(Step{Title: "Why nothing is better", Lines: proof(e), Taken: taken})
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
func proof(e *Explanation) (lines []string) {
	x, p := e.Improved, e.Decision.Proof
	if p == nil {
		other := ""
		if x.ExchangeCount > 0 {
			other = "other "
		}
		return []string{"no " + other + "exchange of one candidate for one or two victims is better"}
	}
	bound := func(n string) string {
		if x.ByCost {
			return "victims who lose at least " + n
		}
		if n == "1" {
			return "at least 1 victim"
		}
		return "at least " + n + " victims"
	}
	switch {
	case len(e.Decision.Victims) == 0 && p.Optimal:
		lines = append(lines, "proven: no set of candidates is enough and permitted")
	case len(e.Decision.Victims) == 0:
		lines = append(lines, "not proven: the nodes of the search are used up")
	case p.Optimal && x.ByCost:
		lines = append(lines, "proven: no permitted set loses less")
	case p.Optimal:
		lines = append(lines, "proven: no permitted set has fewer victims")
	default:
		lines = append(lines, "not proven: it may take only "+bound(strconv.FormatInt(p.LowerBound, 10)))
	}
	if x.Certificate == nil {
		return lines
	}
	for i := range x.Certificate.Attempts {
		a := &x.Certificate.Attempts[i]
		text := "the queue may borrow: "
		if a.WithinNominal {
			text = "the queue stays within its nominal quota: "
		}
		switch {
		case len(a.Rows) > 0 && len(e.Decision.Victims) == 0:
			text += fmt.Sprintf("to free what is short of %s takes more victims than limits leave", rows(a.Rows))
		case len(a.Rows) > 0:
			text += fmt.Sprintf("to free what is short of %s takes %s", rows(a.Rows), bound(strconv.FormatFloat(math.Round(a.Bound*100)/100, 'f', -1, 64)))
		case len(a.Tree) == 0:
			text += "all candidates together are not enough"
		default:
			text += "what all candidates free does not tell"
		}
		if branches := int64(len(a.Tree)+1) / 2; branches > 0 {
			text += fmt.Sprintf("; the sets are divided into %d branches, and none is better", branches)
		}
		lines = append(lines, text)
	}
	return lines
}

// rows names what has to be freed.
func rows(list []preemption.CertifiedRow) string {
	var parts []string
	for _, r := range list {
		at := "the own queue"
		switch {
		case r.Nominal:
			at = "the nominal quota"
		case r.Cohort != "":
			at = fmt.Sprintf("cohort %q", r.Cohort)
		}
		parts = append(parts, column(r.FlavorResource)+" in "+at)
	}
	return strings.Join(parts, ", ")
}
