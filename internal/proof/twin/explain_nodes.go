package twin

import (
	"math"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// explain says why there is no place now.
func (q *nodes) explain(d *placement.Decision, everywhere [][]workload.Node) {
	usable := func(n workload.Node) bool {
		return slices.ContainsFunc(q.members, func(m workload.Pod) bool {
			feasible := mayRunOn(m, n)
			for _, f := range q.config.Filters {
				feasible = feasible && f.Feasible(m, n)
			}
			return feasible
		})
	}
	var all []workload.Node
	domains := [][]workload.Node(nil)
	for _, domain := range everywhere {
		domain = slices.DeleteFunc(slices.Clone(domain), func(n workload.Node) bool { return !usable(n) })
		domains = append(domains, domain)
		all = append(all, domain...)
	}
	if q.r.Group == "" {
		domains = nil
		for _, n := range all {
			domains = append(domains, []workload.Node{n})
		}
	}
	present, mayYield := there{}, there{}
	for _, p := range q.st.Pods {
		present[p.ID] = q.config.Mode != placement.ModeDesign || !p.Terminating || q.stuck(p)
	}
	for _, u := range q.units(present) {
		for _, p := range u.Pods {
			mayYield[p.ID] = true
		}
	}
	lower, now := there{}, there{}
	for _, p := range q.st.Pods {
		stays := q.priorityOf(p) >= q.r.Priority || q.config.Mode == placement.ModeDesign && p.Terminating
		lower[p.ID] = present[p.ID] && stays
		now[p.ID] = present[p.ID] && !mayYield[p.ID]
	}
	if q.r.Policy == placement.PreemptNever {
		d.Shortage = q.shortage(domains, present)
	} else if d.Shortage = q.shortage(domains, lower); d.Shortage == nil {
		d.Shortage = q.shortage(domains, now)
	}
	d.Blockers = q.blockers(all, present, d.Shortage)
}

// shortage lists the resources of which every domain lacks some, each resource by itself.
func (q *nodes) shortage(domains [][]workload.Node, present there) []placement.Shortage {
	short := map[string]*placement.Shortage{}
	var resources []string
	for _, m := range q.members {
		resources = append(resources, needs(m)...)
	}
	slices.Sort(resources)
	for _, domain := range domains {
		enough := true
		for _, resource := range slices.Compact(slices.Clone(resources)) {
			need := int64(math.MaxInt64)
			for _, m := range q.members {
				need = min(need, takes(m, resource))
			}
			if need == 0 {
				continue
			}
			// One more pod lacks what the best node lacks when it is filled up.
			places, missing := 0, int64(math.MaxInt64)
			for _, n := range domain {
				left := q.free(n, resource, present, nil)
				for ; left >= need && places < max(1, q.r.MinCount); left -= need {
					places++
				}
				missing = min(missing, need-left)
			}
			if len(domain) == 0 {
				missing = need
			}
			if places >= max(1, q.r.MinCount) {
				continue
			}
			enough = false
			if short[resource] == nil {
				short[resource] = &placement.Shortage{Resource: resource, Missing: missing}
			}
			short[resource].Domains++
			short[resource].Missing = min(short[resource].Missing, missing)
		}
		if enough {
			return nil
		}
	}
	var list []placement.Shortage
	for _, resource := range slices.Compact(resources) {
		if short[resource] != nil {
			list = append(list, *short[resource])
		}
	}
	return list
}

// blockers lists who may not yield, the least important first.
func (q *nodes) blockers(on []workload.Node, present there, short []placement.Shortage) []placement.Blocker {
	type kept struct {
		unit
		placement.Blocker
	}
	inTheWay := func(p workload.Pod) bool {
		onOne := slices.ContainsFunc(on, func(n workload.Node) bool { return n.Name == p.Node })
		return onOne && (len(short) == 0 || slices.ContainsFunc(short, func(s placement.Shortage) bool { return takes(p, s.Resource) > 0 }))
	}
	var list []kept
	add := func(u unit, b placement.Blocker) {
		b.Group, b.Pod, b.Priority = u.Group, u.Pods[0].ID, u.Priority
		list = append(list, kept{u, b})
	}
	for _, u := range q.all(present) {
		if !slices.ContainsFunc(u.Pods, inTheWay) {
			continue
		}
		rule, until, setBy := q.kept(u)
		switch {
		case u.Priority >= q.r.Priority:
			add(u, placement.Blocker{Rule: placement.RulePriority})
		case rule != 0:
			add(u, placement.Blocker{Rule: rule, Until: until, SetBy: setBy})
		case q.config.Budgets == placement.Hard && !WithinBudgets(q.st, u.Pods):
			add(u, placement.Blocker{Rule: placement.RuleBudget})
		}
	}
	if q.config.Mode == placement.ModeDesign { // pods that were told to stop are in no unit there
		everyone := there{}
		for _, p := range q.st.Pods {
			everyone[p.ID] = true
		}
		design := q.config.Mode
		q.config.Mode = placement.ModeInPlace
		units := q.all(everyone)
		q.config.Mode = design
		for _, u := range units {
			if slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return q.stuck(p) && inTheWay(p) }) {
				add(u, placement.Blocker{Rule: placement.RuleTerminating})
			}
		}
	}
	slices.SortFunc(list, func(a, b kept) int { return q.moreImportant(b.unit, a.unit) })
	most := q.config.MaxBlockers
	if most == 0 {
		most = 4
	}
	if q.config.SkipBlockers {
		most = 0
	}
	var out []placement.Blocker
	for _, k := range list[:min(most, len(list))] {
		out = append(out, k.Blocker)
	}
	return out
}
