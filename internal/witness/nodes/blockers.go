package nodes

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
)

// Decision.Blockers: "the units that may not yield".

// blockers lists them if they "have a pod on a node that the request may use, if that pod takes some of what Shortage lists (if
// Shortage is empty, some of what is requested). The least important comes first; there are at most MaxBlockers."
func blockers(w *World, domains []domain, short []placement.Shortage) (list []placement.Blocker) {
	inTheWay := func(p *pod) bool { return usable(w, domains, p.Node) && takesSome(w, p, short) }
	why := map[*unit]placement.Blocker{}
	var units []*unit
	for _, u := range w.units() {
		if b := keptInAll(w, u); b.Rule != 0 && slices.ContainsFunc(u.pods, inTheWay) {
			units, why[u] = append(units, u), b
		}
	}
	for _, u := range toldToStop(w) {
		if slices.ContainsFunc(u.pods, func(p *pod) bool { return stays(w, p) && inTheWay(p) }) {
			b := placement.Blocker{Rule: placement.RuleTerminating, Group: u.group, Pod: u.pods[0].ID, Priority: u.priority()}
			units, why[u] = append(units, u), b
		}
	}
	slices.SortFunc(units, w.compareImportance)
	most := cmp.Or(w.config.MaxBlockers, 4) // "Zero is 4; negative: there are none."
	for _, u := range slices.Backward(units) {
		if len(list) < most {
			list = append(list, why[u])
		}
	}
	return list
}

// keptInAll adds RuleBudget to the rules of keptBy: "evicting the unit violates a disruption budget, and Config.Budgets is Hard".
func keptInAll(w *World, u *unit) placement.Blocker {
	b := keptBy(w, u)
	if b.Rule == 0 && w.config.Budgets == placement.Hard && violates(w, []*unit{u}) {
		b.Rule = placement.RuleBudget
	}
	return b
}

// toldToStop: RuleTerminating, "a pod of the unit was told to stop, and is not waited for". "In ModeDesign the pods of its group
// that were not told to stop are a unit of their own."
func toldToStop(w *World) []*unit {
	if w.config.Mode == placement.ModeInPlace {
		return nil
	}
	return w.unitsOf(w.running)
}

// stays reports whether a pod that was told to stop counts as running.
func stays(w *World, p *pod) bool { return p.Terminating && !slices.Contains(goneAlready(w), p) }

// usable reports whether the request may use a node.
func usable(w *World, domains []domain, name string) bool {
	return slices.ContainsFunc(domains, func(d domain) bool {
		return d.has(name) && slices.ContainsFunc(w.pods, func(p *pod) bool { return mayBeOn(w, p, w.node(name)) })
	})
}

// takesSome reports whether a pod takes some of what is short, by itself or by a claim. Each takes one of PodsResource, which each
// pod requests.
func takesSome(w *World, p *pod, short []placement.Shortage) bool {
	return len(short) == 0 || slices.ContainsFunc(short, func(s placement.Shortage) bool {
		return slices.Contains(needs(w, p), s.Resource)
	})
}
