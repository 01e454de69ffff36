package assign

import "github.com/cedesched/cede/internal/engine/trace"

// What the hooks of the recorder write down. Of the search for one resource in a flavor the
// result is recorded, not its steps.

// stepOf is the result of one flavor.
func stepOf(ch *Choice, t *Tried) trace.Step {
	return trace.Step{Kind: trace.FlavorTried, PodSet: ch.PodSet, Trial: trace.Trial{
		Flavor: ch.Group.Flavors[t.Flavor], Resource: ch.Group.Resources[ch.Items[t.Item].Resource], Amount: t.Amount, Height: t.Height,
		Fit: trace.Fit(t.Mode), Passed: trace.Passed(t.Passed), // the constants are the same
	}}
}

// chosen is the choice of a flavor.
func chosen(ch *Choice) trace.Step {
	step := trace.Step{Kind: trace.FlavorChosen, PodSet: ch.PodSet}
	if ch.Taken >= 0 {
		step.Flavor = ch.Group.Flavors[ch.Taken]
	}
	return step
}
