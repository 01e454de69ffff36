package twin

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// DecideOnNodes is placement.Preemptor.Decide, without bounds on the candidates and
// without a custom order of importance.
func DecideOnNodes(config placement.Config, st placement.State, r placement.Request) placement.Decision {
	d := nowOnNodes(config, st, r)
	if at, ok := RetryAtOnNodes(config, st, r); ok && !d.Outcome.Succeeds() {
		d.Outcome, d.RetryAt = preemption.Wait, at
	}
	return d
}

// nowOnNodes is DecideOnNodes as if time stood still.
func nowOnNodes(config placement.Config, st placement.State, r placement.Request) placement.Decision {
	if basic(st, r.Group) {
		return eachOnNodes(config, st, r)
	}
	q, everywhere, names := ask(config, st, r)
	d := q.decide(everywhere, names)
	if d.Now = r.Now; d.Outcome == preemption.Impossible {
		q.explain(&d, everywhere)
	}
	for _, m := range q.members {
		for _, n := range d.Nominations {
			if n.Pod == m.ID {
				m.Node = n.Node
			}
		}
		m.Nodes, m.Nowhere = nil, false
		d.Pods = append(d.Pods, m)
	}
	return d
}

func ask(config placement.Config, st placement.State, r placement.Request) (q *nodes, everywhere [][]workload.Node, names []string) {
	q = &nodes{st: st, r: r, config: config}
	for _, p := range r.Pods {
		if r.Group != "" {
			p.Group = r.Group
		}
		p.Priority, p.Queue = r.Priority, r.Queue
		q.members = append(q.members, p)
	}
	q.order = q.sorted(st.Nodes)
	if len(r.Domains) == 0 {
		return q, [][]workload.Node{q.order}, []string{""}
	}
	for _, d := range r.Domains {
		list := slices.DeleteFunc(slices.Clone(st.Nodes), func(n workload.Node) bool { return !slices.Contains(d.Nodes, n.Name) })
		everywhere, names = append(everywhere, q.sorted(list)), append(names, d.Name)
	}
	return q, everywhere, names
}

// stuck reports whether a terminating pod is not waited for: it has terminated for too long, or nobody
// preempted it, and the preemptor could not.
func (q *nodes) stuck(p workload.Pod) bool {
	if q.config.Mode == placement.ModeDesign && p.Terminating && !p.Preempted && q.priorityOf(p) >= q.r.Priority {
		return true
	}
	return p.Terminating && q.r.TerminationTimeout > 0 && !p.TerminatingSince.IsZero() &&
		!p.TerminatingSince.Add(q.r.TerminationTimeout).After(q.r.Now)
}

func (q *nodes) decide(everywhere [][]workload.Node, names []string) placement.Decision {
	st, r, config := q.st, q.r, q.config
	everyone, staying := there{}, there{}
	leaving := false
	for _, p := range st.Pods {
		everyone[p.ID] = true
		if !p.Terminating || q.stuck(p) {
			staying[p.ID] = true
		}
		node := slices.IndexFunc(st.Nodes, func(n workload.Node) bool { return n.Name == p.Node })
		inDomain := slices.ContainsFunc(everywhere, func(d []workload.Node) bool {
			return slices.ContainsFunc(d, func(n workload.Node) bool { return n.Name == p.Node })
		})
		far := r.Placer != nil || slices.ContainsFunc(config.Filters, func(f placement.Filter) bool { return f.Reach() == placement.ReachCluster }) ||
			slices.ContainsFunc(slices.Concat(config.SetFilters, r.SetFilters), func(f placement.SetFilter) bool { return f.Reach() == placement.ReachCluster })
		leaving = leaving || !staying[p.ID] && (far || !st.Nodes[node].Unschedulable && inDomain)
	}
	var promised []workload.Pod
	for _, m := range q.members {
		for _, p := range st.Nominated {
			if p.ID == m.ID {
				m.Node = p.Node
				promised = append(promised, m)
			}
		}
	}
	// room looks for places beside the pods present: first the nominated ones, with the others
	// around them, then any.
	room := func(present there) (placement.Decision, bool) {
		found := func(name string, placed []workload.Pod) (placement.Decision, bool) {
			if q.stands(everyone, placed) {
				return q.answer(preemption.Fits, name, placed, nil), !r.SkipFit
			}
			return q.answer(preemption.Wait, name, placed, nil), true
		}
		for i, domain := range everywhere {
			kept := q.keep(domain, present, promised)
			if placed := q.placeAround(domain, present, kept); len(kept) > 0 && len(placed) >= max(1, r.MinCount) {
				return found(names[i], placed)
			}
		}
		for i, domain := range everywhere {
			if placed := q.place(domain, present); len(placed) >= max(1, r.MinCount) {
				return found(names[i], placed)
			}
		}
		return placement.Decision{}, false
	}
	if !r.SkipFit {
		if d, ok := room(everyone); ok {
			return d
		}
	}
	if config.Mode != placement.ModeDesign {
		if r.Policy == placement.PreemptNever {
			return q.never(everywhere, everyone)
		}
		if q.blocked(promised) {
			d := q.answer(preemption.Wait, "", promised, nil)
			d.Domain = ""
			return d
		}
		d, _ := q.preempt(everywhere, names, everyone, everyone)
		return d
	}
	if leaving {
		if d, ok := room(staying); ok {
			return d
		}
	}
	if r.Policy == placement.PreemptNever {
		return q.never(everywhere, staying)
	}
	d, _ := q.preempt(everywhere, names, everyone, staying)
	return d
}

// never returns the answer for a request that may not preempt.
func (q *nodes) never(everywhere [][]workload.Node, present there) placement.Decision {
	d := placement.Decision{Outcome: preemption.Impossible, Reason: placement.ReasonPolicyNever}
	for _, domain := range everywhere {
		d.Placeable = max(d.Placeable, len(q.place(domain, present)))
	}
	return d
}

// keep lists the members that still fit on the node of their nomination.
func (q *nodes) keep(domain []workload.Node, present there, promised []workload.Pod) (kept []workload.Pod) {
	for _, m := range promised {
		for _, n := range domain {
			if n.Name == m.Node && q.canRun(m, n, present, kept) {
				kept = append(kept, m)
			}
		}
	}
	return kept
}

func (q *nodes) answer(outcome preemption.Outcome, domain string, placed []workload.Pod, victims []unit) placement.Decision {
	d := placement.Decision{Outcome: outcome}
	d.Domain, d.Placeable = domain, len(placed)
	for _, m := range q.members {
		for _, p := range placed {
			if p.ID == m.ID {
				d.Nominations = append(d.Nominations, placement.Nomination{Pod: p.ID, Node: p.Node})
			}
		}
	}
	if q.r.Group == "" && len(placed) > 0 {
		d.Domain = placed[0].Node
	}
	for _, u := range victims {
		v := placement.Victim{Group: u.Group, Priority: u.Priority, Violations: u.violations}
		for _, p := range u.Pods {
			v.Pods = append(v.Pods, p.ID)
		}
		slices.Sort(v.Pods)
		v.Order = len(d.Victims) + 1
		d.Violations += u.violations
		d.Victims = append(d.Victims, v)
	}
	slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return d
}

func (q *nodes) blocked(promised []workload.Pod) bool {
	for _, m := range promised {
		n := q.st.Nodes[slices.IndexFunc(q.st.Nodes, func(n workload.Node) bool { return n.Name == m.Node })]
		possible := !n.Unschedulable && mayRunOn(m, n)
		for _, f := range q.config.Filters {
			possible = possible && f.Feasible(m, n)
		}
		if q.r.Group == "" && !possible {
			continue
		}
		for _, p := range q.st.Pods {
			if p.Node == m.Node && p.Preempted && !q.stuck(p) && q.priorityOf(p) < q.r.Priority {
				return true
			}
		}
	}
	return false
}

// PlacementsOnNodes is placement.Preemptor.Placements, in the same bounds as DecideOnNodes.
func PlacementsOnNodes(config placement.Config, st placement.State, r placement.Request) []placement.Placement {
	if basic(st, r.Group) { // one pod
		r.Pods = slices.Clone(r.Pods)
		r.Pods[0].Group, r.Group = r.Group, ""
	}
	q, everywhere, names := ask(config, st, r)
	present := there{}
	for _, p := range st.Pods {
		if config.Mode != placement.ModeDesign || !p.Terminating || q.stuck(p) {
			present[p.ID] = true
		}
	}
	_, list := q.preempt(everywhere, names, present, present)
	return list
}

func (q *nodes) preempt(domains [][]workload.Node, names []string, everyone, present there) (placement.Decision, []placement.Placement) {
	var list []placement.Placement
	if q.r.Group == "" {
		domains, names = nil, nil
		for _, n := range q.order {
			feasible := mayRunOn(q.members[0], n)
			for _, f := range q.config.Filters {
				feasible = feasible && f.Feasible(q.members[0], n)
			}
			if feasible {
				domains, names = append(domains, []workload.Node{n}), append(names, n.Name)
			}
		}
	}
	var best *placement.Decision
	var bestUnits []unit
	var bestPlaced []workload.Pod
	reason, most := placement.ReasonNoVictims, 0
	for i, domain := range domains {
		enough, placed, victims, why := q.inDomain(domain, present, nil)
		most = max(most, enough)
		if why == 0 && q.config.Budgets == placement.Hard {
			var pods []workload.Pod
			for _, u := range victims {
				pods = append(pods, u.Pods...)
			}
			if !WithinBudgets(q.st, pods) {
				if _, placed, victims, why = q.inDomain(domain, present, q.rationed(domain, present)); why != 0 {
					why = placement.ReasonBudgets
				}
			}
			for j := range victims {
				victims[j].violations = 0
			}
		}
		if why == 0 && len(victims) == 0 && q.r.Group == "" && q.r.SkipFit {
			why = placement.ReasonNoRoom
		}
		if why != 0 {
			reason = max(reason, why)
			continue
		}
		d := q.answer(preemption.Preempt, names[i], placed, victims)
		if len(d.Victims) > 0 {
			list = append(list, d.Placement)
		}
		if best == nil || better(victims, bestUnits) {
			best, bestUnits, bestPlaced = &d, victims, placed
		}
	}
	if best == nil {
		return placement.Decision{Outcome: preemption.Impossible, Reason: reason, Placement: placement.Placement{Placeable: most}}, list
	}
	if len(best.Victims) == 0 {
		if best.Outcome = preemption.Fits; q.config.Mode == placement.ModeDesign && !q.stands(everyone, bestPlaced) {
			best.Outcome = preemption.Wait
		}
		return *best, list
	}
	for _, p := range q.st.Nominated {
		on := slices.ContainsFunc(best.Nominations, func(n placement.Nomination) bool { return n.Node == p.Node })
		own := slices.ContainsFunc(q.members, func(m workload.Pod) bool { return m.ID == p.ID })
		whole := slices.ContainsFunc(best.Victims, func(v placement.Victim) bool { return v.Group != "" && v.Group == p.Group })
		if !own && (whole || on && q.priorityOf(p) < q.r.Priority) {
			best.Withdrawn = append(best.Withdrawn, p.ID)
		}
	}
	slices.Sort(best.Withdrawn)
	return *best, list
}

// better compares the victims of two domains.
func better(a, b []unit) bool {
	numbers := func(victims []unit) (list []int64) {
		var violations, sum, pods int64
		highest, started := int64(-1<<40), int64(0)
		for _, u := range victims {
			violations += int64(u.violations)
			pods += int64(len(u.Pods))
			sum += int64(len(u.Pods)) * (int64(u.Priority) + 1<<31)
			if int64(u.Priority) > highest {
				highest, started = int64(u.Priority), u.earliest()
			} else if int64(u.Priority) == highest {
				started = min(started, u.earliest())
			}
		}
		return []int64{violations, highest, sum, pods, -started}
	}
	return slices.Compare(numbers(a), numbers(b)) < 0
}
