package twin

import (
	"cmp"
	"slices"
	"sort"

	"github.com/cedesched/cede/preemption/placement"
)

// unit is what is evicted together.
type unit struct {
	placement.Unit
	violations int
}

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

// units lists what may yield, the most important first.
func (q *nodes) units(present there) []unit {
	var list []unit
	for _, p := range q.st.Pods {
		if !present[p.ID] {
			continue
		}
		group := slices.IndexFunc(q.st.Groups, func(g placement.Group) bool { return g.ID == p.Group })
		atomic := group >= 0 && q.st.Groups[group].DisruptionMode == placement.DisruptionModePodGroup
		if at := slices.IndexFunc(list, func(u unit) bool { return atomic && u.Group == p.Group }); at >= 0 {
			list[at].Pods = append(list[at].Pods, p)
			continue
		}
		u := unit{Unit: placement.Unit{Priority: q.priorityOf(p), Pods: []placement.Pod{p}}}
		if atomic {
			u.Group = p.Group
		}
		list = append(list, u)
	}
	for _, u := range list {
		slices.SortFunc(u.Pods, func(a, b placement.Pod) int { return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID)) })
	}
	list = slices.DeleteFunc(list, func(u unit) bool {
		guarded := slices.ContainsFunc(q.config.Guards, func(g placement.Guard) bool { return !g.MayYield(u.Unit, q.r) })
		return guarded || u.Priority >= q.r.Priority
	})
	slices.SortFunc(list, moreImportant)
	return list
}

// earliest is the earliest start, in nanoseconds; one that is not known is later than all.
func (u unit) earliest() int64 {
	var first int64 = 1<<63 - 1
	for _, p := range u.Pods {
		if !p.Started.IsZero() {
			first = min(first, p.Started.UnixNano())
		}
	}
	return first
}

func moreImportant(a, b unit) int {
	plain := func(u unit) int {
		if slices.ContainsFunc(u.Pods, func(p placement.Pod) bool { return p.Group != "" }) {
			return 0
		}
		return 1
	}
	return cmp.Or(
		-cmp.Compare(a.Priority, b.Priority),
		cmp.Compare(plain(a), plain(b)),
		-cmp.Compare(len(a.Pods), len(b.Pods)),
		cmp.Compare(a.earliest(), b.earliest()),
		cmp.Compare(a.Pods[0].UID, b.Pods[0].UID),
		cmp.Compare(a.Pods[0].ID, b.Pods[0].ID),
	)
}

// covering lists the budgets that a pod is charged to, by namespace and name.
func (q *nodes) covering(p placement.Pod) []int {
	var list []int
	for i, b := range q.st.Budgets {
		if b.Namespace == p.Namespace && b.Selector.Matches(p.Labels) && !slices.Contains(b.Disrupted, p.ID) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(i, j int) int { return cmp.Compare(q.st.Budgets[i].Name, q.st.Budgets[j].Name) })
	return list
}

func (q *nodes) allowances() []int64 {
	var list []int64
	for _, b := range q.st.Budgets {
		list = append(list, b.Allowed)
	}
	return list
}

// WithinBudgets reports whether the budgets allow that all these pods are evicted.
func WithinBudgets(st placement.State, pods []placement.Pod) bool {
	q := &nodes{st: st}
	left := q.allowances()
	for _, p := range pods {
		for _, b := range q.covering(p) {
			left[b]--
		}
	}
	return !slices.ContainsFunc(left, func(n int64) bool { return n < 0 })
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

// inDomain is steps 1 to 7 of the package's documentation.
func (q *nodes) inDomain(domain []placement.Node, present there, barred []unit) (placed []placement.Pod, victims []unit, why placement.Reason) {
	in := func(u unit) bool {
		return slices.ContainsFunc(u.Pods, func(p placement.Pod) bool {
			return slices.ContainsFunc(domain, func(n placement.Node) bool { return n.Name == p.Node })
		})
	}
	potential := slices.DeleteFunc(q.units(present), func(u unit) bool { return !in(u) })
	if len(potential) == 0 {
		return nil, nil, placement.NoVictims
	}
	potential = slices.DeleteFunc(potential, func(u unit) bool {
		return slices.ContainsFunc(barred, func(b unit) bool { return b.Pods[0].ID == u.Pods[0].ID })
	})
	kept := present.with()
	for _, u := range potential {
		for _, p := range u.Pods {
			delete(kept, p.ID)
		}
	}
	first := q.place(domain, kept)
	if len(first) < max(1, q.r.MinCount) {
		return first, nil, placement.NoRoom
	}
	if barred == nil {
		left := q.allowances()
		for i := range potential {
			for _, p := range potential[i].Pods {
				for _, b := range q.covering(p) {
					if left[b]--; left[b] < 0 {
						potential[i].violations++
						break
					}
				}
			}
		}
	}
	violatingFirst := slices.Clone(potential)
	slices.SortStableFunc(violatingFirst, func(a, b unit) int { return -cmp.Compare(min(1, a.violations), min(1, b.violations)) })
	if q.config.Mode == placement.Replace {
		placed = first
		for _, u := range violatingFirst {
			if again := q.place(domain, kept.with(u.Pods...)); len(again) >= len(placed) {
				placed, kept = again, kept.with(u.Pods...)
			} else {
				victims = append(victims, u)
			}
		}
		return placed, victims, 0
	}
	var rest []unit
	for _, u := range violatingFirst {
		if more := kept.with(u.Pods...); u.violations > 0 && q.stands(more, first) {
			kept = more
		} else {
			rest = append(rest, u)
		}
	}
	placed = first
	if q.config.Mode == placement.Design && len(domain) > 1 {
		kept, rest, placed = q.lowest(domain, kept, rest, first)
	}
	slices.SortFunc(rest, moreImportant)
	for _, u := range rest {
		if more := kept.with(u.Pods...); q.stands(more, placed) {
			kept = more
		} else {
			victims = append(victims, u)
		}
	}
	return placed, victims, 0
}

// lowest is the binary search over priorities.
func (q *nodes) lowest(domain []placement.Node, kept there, rest []unit, first []placement.Pod) (there, []unit, []placement.Pod) {
	var levels []int32
	for _, p := range q.st.Pods {
		if priority := q.priorityOf(p); priority < q.r.Priority {
			levels = append(levels, priority)
		}
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	above := func(i int) (there, []unit) {
		present, below := kept, []unit(nil)
		for _, u := range rest {
			if i == 0 || u.Priority > levels[i-1] {
				present = present.with(u.Pods...)
			} else {
				below = append(below, u)
			}
		}
		return present, below
	}
	i := sort.Search(len(levels), func(i int) bool {
		present, _ := above(i)
		return len(q.place(domain, present)) >= len(first)
	})
	present, below := above(i)
	if placed := q.place(domain, present); len(placed) >= len(first) {
		return present, below, placed
	}
	return kept, rest, first
}

// rationed lists the units to which the budgets allow nothing, when the least important are
// served first.
func (q *nodes) rationed(domain []placement.Node, present there) []unit {
	barred := []unit{}
	left := q.allowances()
	for _, u := range slices.Backward(q.units(present)) {
		if !slices.ContainsFunc(u.Pods, func(p placement.Pod) bool {
			return slices.ContainsFunc(domain, func(n placement.Node) bool { return n.Name == p.Node })
		}) {
			continue
		}
		after := slices.Clone(left)
		covered := false
		for _, p := range u.Pods {
			for _, b := range q.covering(p) {
				after[b]--
				covered = covered || after[b] < 0
			}
		}
		if covered {
			barred = append(barred, u)
		} else {
			left = after
		}
	}
	return barred
}
