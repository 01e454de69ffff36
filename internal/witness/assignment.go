package witness

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// [preemption.Assignment]: the flavors assigned, "and how it was found".

// choose keeps the flavor of a resource group, the best of those that were tried. "If no flavor was found, the last entry
// has none."
func choose(w *world, podSet string, names []string, tried []trial, untried int) (best trial) {
	choice := preemption.FlavorChoice{PodSet: podSet, Untried: untried}
	for _, t := range tried {
		choice.Tried = append(choice.Tried, preemption.TriedFlavor{
			Flavor: t.flavor, AssignedResource: t.of(t.resource), Skipped: skips(w, t.verdict), Mismatch: t.mismatch,
		})
		// "The first flavor that is not skipped is assigned; if all are skipped, the best."
		if prefers(w, t.verdict, best.verdict) || skips(w, t.verdict) == 0 {
			best = t
		}
	}
	choice.Flavor, choice.Resources = best.flavor, best.each
	if best.flavor == "" {
		choice.Resources = noneFits(names)
	}
	w.assignment = append(w.assignment, choice)
	return best
}

func noneFits(names []string) (list []preemption.AssignedResource) {
	for _, name := range names {
		list = append(list, verdict{}.of(name))
	}
	return list
}

// noFlavor reports whether some group found none: then the quota does not suffice.
func noFlavor(w *world) bool {
	return slices.ContainsFunc(w.assignment, func(c preemption.FlavorChoice) bool { return c.Flavor == "" })
}

// of says "how one resource gets its quota".
func (v verdict) of(resource string) preemption.AssignedResource {
	a := preemption.AssignedResource{Resource: resource, Mode: preemption.ModePreempt, BorrowHeight: v.height}
	switch v.mode {
	case noFit:
		a.Mode = preemption.ModeNoFit
	case fitting:
		a.Mode = preemption.ModeFit
	case noCandidates:
		a.Possibility = preemption.PossibilityNoCandidates
	case byPreempting:
		a.Possibility = preemption.PossibilityPreempt
	case byReclaiming:
		a.Possibility = preemption.PossibilityReclaim
	}
	return a
}

// goOn: [preemption.Request.Continue]: "the flavors of a group are tried from the one after the last that was tried; if that
// was the last of the group, from the first".
func goOn(w *world, podSet string, g queue.ResourceGroup, names []string) []string {
	for _, before := range slices.Backward(w.request.Continue) {
		same := slices.ContainsFunc(before.Resources, func(a preemption.AssignedResource) bool { return slices.Contains(names, a.Resource) })
		if n := len(before.Tried); before.PodSet == podSet && same && n > 0 {
			if rest := g.Flavors[slices.Index(g.Flavors, before.Tried[n-1].Flavor)+1:]; len(rest) > 0 {
				return rest
			}
		}
	}
	return g.Flavors
}
