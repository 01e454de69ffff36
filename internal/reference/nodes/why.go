package nodes

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// explain adds to a refusal what is short and which units stand in the way, on the nodes that some member may use.
func (w *World) explain(d *placement.Decision) {
	defer w.only(Everyone)
	var all []string
	var domains [][]string
	for _, domain := range w.Domains() {
		nodes := slices.DeleteFunc(domain.Nodes, func(n string) bool {
			return !slices.ContainsFunc(w.Members, func(m workload.Pod) bool { return w.mayBeOn(m, n) })
		})
		domains, all = append(domains, nodes), append(all, nodes...)
	}
	if w.Request.Group == "" {
		domains = slices.Collect(slices.Chunk(all, 1))
	}
	mayYield := map[string]bool{}
	for _, u := range w.Units() {
		for _, p := range u.Pods {
			mayYield[p.ID] = w.KeptBy(u).Rule == 0
		}
	}
	notLower := func(p workload.Pod) bool {
		inDesign := w.Config.Mode == placement.ModeDesign && p.Terminating
		return w.Stays(p) && (w.priorityOf(p) >= w.Request.Priority || inDesign)
	}
	stays := func(p workload.Pod) bool { return w.Stays(p) && !mayYield[p.ID] }
	if w.Request.Policy == placement.PreemptNever {
		d.Shortage = w.shortage(domains, w.Stays)
	} else if d.Shortage = w.shortage(domains, notLower); d.Shortage == nil {
		d.Shortage = w.shortage(domains, stays)
	}
	d.Blockers = w.blockers(all, d.Shortage)
}

// needs lists the resources that the members request, by name.
func (w *World) needs() []string {
	names := map[string]bool{workload.PodsResource: true}
	for _, m := range w.Members {
		for resource, amount := range m.Requests {
			names[resource] = names[resource] || amount > 0
		}
		for _, id := range m.Claims {
			for resource := range w.claim(id).Requests {
				names[resource] = true
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, needed bool) bool { return !needed })
	return slices.Sorted(maps.Keys(names))
}

// shortage lists the resources of which each domain lacks some, each resource by itself; nil if one lacks none.
func (w *World) shortage(domains [][]string, there func(workload.Pod) bool) (list []placement.Shortage) {
	w.only(there)
	short := map[string]placement.Shortage{}
	for _, nodes := range domains {
		enough := true
		for _, resource := range w.needs() {
			need := int64(math.MaxInt64)
			for _, m := range w.Members {
				need = min(need, takes(m, resource)+w.ownClaims(resource))
			}
			if need == 0 {
				continue
			}
			// One more pod lacks what the best node lacks once it is filled up.
			places, missing := 0, need
			if len(nodes) > 0 {
				missing = math.MaxInt64
			}
			for _, n := range nodes {
				left := w.free[n][resource]
				for ; left >= need && places < w.need(); left -= need {
					places++
				}
				missing = min(missing, need-left)
			}
			if places >= w.need() {
				continue
			}
			enough = false
			s, known := short[resource]
			if !known {
				s.Resource, s.Missing = resource, missing
			}
			s.Domains, s.Missing = s.Domains+1, min(s.Missing, missing)
			short[resource] = s
		}
		if enough {
			return nil
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(short)) {
		list = append(list, short[resource])
	}
	return list
}

// blockers lists the units that may not yield, the least important first.
func (w *World) blockers(nodes []string, short []placement.Shortage) []placement.Blocker {
	inTheWay := func(p workload.Pod) bool {
		lacks := func(s placement.Shortage) bool { return w.takesOf(p, s.Resource) }
		return slices.Contains(nodes, p.Node) && (len(short) == 0 || slices.ContainsFunc(short, lacks))
	}
	type kept struct {
		Unit
		placement.Blocker
	}
	var list []kept
	add := func(u Unit, b placement.Blocker) {
		b.Group, b.Pod, b.Priority = u.Group, u.Pods[0].ID, u.Priority
		list = append(list, kept{u, b})
	}
	for _, u := range w.Units() {
		b := w.KeptBy(u)
		if b.Rule == 0 && w.Config.Budgets == placement.Hard && len(w.OverBudget([]Unit{u})) > 0 {
			b.Rule = placement.RuleBudget
		}
		if b.Rule != 0 && slices.ContainsFunc(u.Pods, inTheWay) {
			add(u, b)
		}
	}
	if w.Config.Mode == placement.ModeDesign { // pods that were told to stop are in no unit there
		for _, u := range w.unitsOf(Everyone) {
			if slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return w.stuck(p) && inTheWay(p) }) {
				add(u, placement.Blocker{Rule: placement.RuleTerminating})
			}
		}
	}
	slices.SortFunc(list, func(a, b kept) int { return w.moreImportant(b.Unit, a.Unit) })
	most := cmp.Or(w.Config.MaxBlockers, 4)
	if w.Config.MaxBlockers < 0 {
		most = 0
	}
	var out []placement.Blocker
	for _, k := range list[:min(most, len(list))] {
		out = append(out, k.Blocker)
	}
	return out
}
