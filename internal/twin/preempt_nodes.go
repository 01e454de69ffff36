package twin

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
)

// DecideOnNodes is placement.Preemptor.Decide, without bounds on the candidates and
// without a custom order of importance.
func DecideOnNodes(config placement.Config, st placement.State, r placement.Request) placement.Decision {
	q := &nodes{st: st, r: r, config: config}
	for _, p := range r.Pods {
		p.Group, p.Priority = r.Group, r.Priority
		q.members = append(q.members, p)
	}
	q.order = q.sorted(st.Nodes)
	everywhere := [][]placement.Node{q.order}
	names := []string{""}
	if r.Domains != nil {
		everywhere, names = nil, nil
		for _, d := range r.Domains {
			list := slices.DeleteFunc(slices.Clone(st.Nodes), func(n placement.Node) bool { return !slices.Contains(d.Nodes, n.Name) })
			everywhere, names = append(everywhere, q.sorted(list)), append(names, d.Name)
		}
	}
	everyone, staying := there{}, there{}
	leaving := false
	for _, p := range st.Pods {
		everyone[p.ID] = true
		if !p.Terminating {
			staying[p.ID] = true
		}
		node := slices.IndexFunc(st.Nodes, func(n placement.Node) bool { return n.Name == p.Node })
		inDomain := slices.ContainsFunc(everywhere, func(d []placement.Node) bool {
			return slices.ContainsFunc(d, func(n placement.Node) bool { return n.Name == p.Node })
		})
		leaving = leaving || p.Terminating && !st.Nodes[node].Unschedulable && inDomain
	}
	if !r.Unschedulable {
		for i, domain := range everywhere {
			if placed := q.place(domain, everyone); len(placed) >= max(1, r.MinCount) {
				return q.answer(placement.Fits, names[i], placed, nil)
			}
		}
	}
	var promised []placement.Pod
	for _, m := range q.members {
		for _, p := range st.Nominated {
			if p.ID == m.ID {
				m.Node = p.Node
				promised = append(promised, m)
			}
		}
	}
	if config.Mode != placement.Design {
		if r.Policy == placement.PreemptNever {
			return placement.Decision{Outcome: placement.Impossible, Reason: placement.PolicyNever}
		}
		if q.blocked(promised) {
			d := q.answer(placement.Wait, "", promised, nil)
			d.Domain = ""
			return d
		}
		return q.preempt(everywhere, names, everyone)
	}
	for i, domain := range everywhere {
		var kept []placement.Pod
		for _, m := range promised {
			if at := slices.IndexFunc(domain, func(n placement.Node) bool { return n.Name == m.Node }); at >= 0 &&
				q.canRun(m, domain[at], staying, kept) {
				kept = append(kept, m)
			}
		}
		if len(promised) > 0 && len(kept) >= max(1, r.MinCount) {
			return q.answer(placement.Wait, names[i], kept, nil)
		}
	}
	for i, domain := range everywhere {
		if placed := q.place(domain, staying); leaving && len(placed) >= max(1, r.MinCount) {
			return q.answer(placement.Wait, names[i], placed, nil)
		}
	}
	if r.Policy == placement.PreemptNever {
		return placement.Decision{Outcome: placement.Impossible, Reason: placement.PolicyNever}
	}
	return q.preempt(everywhere, names, staying)
}

func (q *nodes) answer(outcome placement.Outcome, domain string, placed []placement.Pod, victims []unit) placement.Decision {
	d := placement.Decision{Outcome: outcome}
	d.Domain, d.Placeable = domain, len(placed)
	for _, m := range placed {
		d.Nominations = append(d.Nominations, placement.Nomination{Pod: m.ID, Node: m.Node})
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
		d.Violations += u.violations
		d.Victims = append(d.Victims, v)
	}
	slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return d
}

func (q *nodes) blocked(promised []placement.Pod) bool {
	for _, m := range promised {
		n := q.st.Nodes[slices.IndexFunc(q.st.Nodes, func(n placement.Node) bool { return n.Name == m.Node })]
		possible := !n.Unschedulable && (m.Nodes == nil || slices.Contains(m.Nodes, n.Name))
		for _, f := range q.config.Filters {
			possible = possible && f.Feasible(m, n)
		}
		if q.r.Group == "" && !possible {
			continue
		}
		for _, p := range q.st.Pods {
			if p.Node == m.Node && p.Preempted && q.priorityOf(p) < q.r.Priority {
				return true
			}
		}
	}
	return false
}

func (q *nodes) preempt(domains [][]placement.Node, names []string, present there) placement.Decision {
	if q.r.Group == "" {
		domains, names = nil, nil
		for _, n := range q.order {
			feasible := q.members[0].Nodes == nil || slices.Contains(q.members[0].Nodes, n.Name)
			for _, f := range q.config.Filters {
				feasible = feasible && f.Feasible(q.members[0], n)
			}
			if feasible {
				domains, names = append(domains, []placement.Node{n}), append(names, n.Name)
			}
		}
	}
	var best *placement.Decision
	var bestUnits []unit
	reason, most := placement.NoVictims, 0
	for i, domain := range domains {
		placed, victims, why := q.inDomain(domain, present, nil)
		most = max(most, len(placed))
		if why == 0 && q.config.Budgets == placement.Hard {
			var pods []placement.Pod
			for _, u := range victims {
				pods = append(pods, u.Pods...)
			}
			if !WithinBudgets(q.st, pods) {
				if placed, victims, why = q.inDomain(domain, present, q.rationed(domain, present)); why != 0 {
					why = placement.Budgets
				}
			}
			for j := range victims {
				victims[j].violations = 0
			}
		}
		if why == 0 && len(victims) == 0 && q.r.Group == "" && q.r.Unschedulable {
			why = placement.NoRoom
		}
		if why != 0 {
			reason = max(reason, why)
			continue
		}
		if d := q.answer(placement.Preempt, names[i], placed, victims); best == nil || better(victims, bestUnits) {
			best, bestUnits = &d, victims
		}
	}
	if best == nil {
		return placement.Decision{Outcome: placement.Impossible, Reason: reason, Candidate: placement.Candidate{Placeable: most}}
	}
	if len(best.Victims) == 0 {
		best.Outcome = placement.Fits
		return *best
	}
	for _, p := range q.st.Nominated {
		on := slices.ContainsFunc(best.Nominations, func(n placement.Nomination) bool { return n.Node == p.Node })
		own := slices.ContainsFunc(q.members, func(m placement.Pod) bool { return m.ID == p.ID })
		if on && !own && q.priorityOf(p) < q.r.Priority {
			best.Withdrawn = append(best.Withdrawn, p.ID)
		}
	}
	slices.Sort(best.Withdrawn)
	return *best
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
