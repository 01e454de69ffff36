package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/engine/trace"
)

// better says what a search made of the victims that the search in order took; nil: nothing.
func (x *explainer) better() *trace.Better {
	b := x.recorder.Names.Better()
	if b == nil || len(x.r.MinCounts) > 0 && (len(x.d.Counts) > 0 || !x.d.Possible()) {
		return nil // what is known is about another number of replicas
	}
	return b
}

// betterSteps returns a step for each exchange, and one for the proof.
func (x *explainer) betterSteps(b *trace.Better) (steps []Step) {
	add := func(line string, taken, kept []string) {
		steps = append(steps, Step{Section: whatIsBetter, Lines: []string{line}, Taken: taken, Kept: kept})
	}
	if b.TooMany {
		add("the victims are too many to look for others", nil, nil)
		return steps
	}
	text, taken := candidates(b.Before)
	taken = slices.Compact(taken)
	if b.Victims == 0 {
		add("the search in order finds no victims", taken, nil)
	} else {
		add("the search in order takes "+worth(b.Victims, b.Lost)+": "+text, taken, nil)
	}
	for _, c := range b.Changes[:min(maxTaken, len(b.Changes))] {
		var parts []string
		text, back := candidates(c.PutBack)
		if text != "" {
			parts = append(parts, "put back "+text)
		}
		text, more := candidates(c.Taken)
		if text != "" {
			parts = append(parts, "take "+text)
		}
		taken = append(slices.DeleteFunc(slices.Clone(taken), func(id string) bool { return slices.Contains(back, id) }), more...)
		back = slices.DeleteFunc(back, func(id string) bool { return slices.Contains(more, id) }) // it yields less
		add(strings.Join(parts, ", and ")+": "+worth(c.Victims, c.Lost), taken, back)
	}
	if more := len(b.Changes) - maxTaken; more > 0 {
		add(fmt.Sprintf("and %d more", more), taken, nil)
	}
	add(x.proof(len(b.Changes) > 0), taken, nil)
	return steps
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

// candidates lists the first units, the replicas of one pod set together, and their workloads. If there are more than these, it says so.
func candidates(units []trace.Unit) (text string, workloads []string) {
	var list []trace.Unit
	more := int64(len(units)) // replicas count one by one
	for _, u := range units {
		at := slices.IndexFunc(list, func(o trace.Unit) bool { return o.Workload == u.Workload && o.PodSet == u.PodSet })
		switch {
		case at >= 0:
			list[at].Replicas += u.Replicas
		case len(list) < maxTaken:
			list = append(list, u)
		}
	}
	parts := each(list, func(u *trace.Unit) string {
		workloads = append(workloads, u.Workload)
		part := u.Workload + leaving(u.Leaving)
		if u.PodSet == "" {
			more--
			return part
		}
		more -= u.Replicas
		return fmt.Sprintf("%s %s of %s", count(u.Replicas, "replica"), u.PodSet, part)
	})
	if text = strings.Join(parts, ", "); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text, workloads
}

// proof says why nothing is better, as far as it is proven.
func (x *explainer) proof(exchanged bool) string {
	c, p := x.config, x.d.Proof
	byCost := c.Cost != nil && !c.Best.FewestFirst // what they lose counts first, not their number
	switch {
	case p == nil && exchanged:
		return "no other exchange of one candidate for one or two victims is better"
	case p == nil:
		return "no exchange of one candidate for one or two victims is better"
	case len(x.d.Victims) == 0 && p.Optimal:
		return "proven: no set of candidates is enough and permitted"
	case len(x.d.Victims) == 0:
		return "not proven: the steps of the search are used up"
	case p.Optimal && byCost:
		return "proven: no permitted set loses less"
	case p.Optimal:
		return "proven: no permitted set has fewer victims"
	case byCost:
		return fmt.Sprintf("not proven: it may take only victims who lose at least %d", p.LowerBound)
	}
	return "not proven: it may take only at least " + count(p.LowerBound, "victim")
}
