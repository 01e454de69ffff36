package placement_test

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/reference/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// left is what is free of a resource on a node, with the pods that are there.
func left(st placement.State, r placement.Request, n workload.Node, resource string, there func(workload.Pod) bool) int64 {
	takes := func(p workload.Pod) int64 {
		if resource == workload.PodsResource {
			return 1
		}
		return p.Requests[resource]
	}
	free, listed := n.Capacity[resource]
	if resource == workload.PodsResource && !listed {
		free = 1 << 40
	}
	for _, p := range st.Pods {
		if p.Node == n.Name && there(p) {
			free -= takes(p)
		}
	}
	for _, p := range st.Nominated {
		own := slices.ContainsFunc(r.Pods, func(m workload.Pod) bool { return m.ID == p.ID })
		if p.Node == n.Name && !own && priorityOf(st, p) >= r.Priority {
			free -= takes(p)
		}
	}
	return free
}

func priorityOf(st placement.State, p workload.Pod) int32 {
	if g, known := rootOf(st, p.Group); known {
		return g.Priority
	}
	return p.Priority
}

// hasRoom reports whether the nominated pods have their room beside those that are there.
func hasRoom(st placement.State, r placement.Request, d placement.Decision, there func(workload.Pod) bool) bool {
	for _, n := range st.Nodes {
		needs, asked, claims := map[string]int64{}, map[string]bool{workload.PodsResource: true}, claimsOn(st, r, n, there)
		for _, nomination := range d.Nominations {
			if nomination.Node != n.Name {
				continue
			}
			needs[workload.PodsResource]++
			for _, p := range r.Pods {
				if p.ID == nomination.Pod {
					for resource, amount := range p.Requests {
						needs[resource] += amount
						asked[resource] = asked[resource] || amount > 0
					}
					for _, k := range st.Claims {
						if slices.Contains(p.Claims, k.ID) {
							claims[k.ID] = true
							for resource, amount := range k.Requests {
								asked[resource] = asked[resource] || amount > 0
							}
						}
					}
				}
			}
		}
		for _, k := range st.Claims {
			for resource, amount := range k.Requests {
				if claims[k.ID] {
					needs[resource] += amount
				}
			}
		}
		for resource, amount := range needs {
			if amount > 0 && asked[resource] && amount > left(st, r, n, resource, there) {
				return false
			}
		}
	}
	return true
}

// claimsOn returns the claims that pods hold on a node, with the pods that are there: "once on a node, from the first of its pods
// there until the last has left".
func claimsOn(st placement.State, r placement.Request, n workload.Node, there func(workload.Pod) bool) map[string]bool {
	held := map[string]bool{}
	hold := func(p workload.Pod) {
		for _, id := range p.Claims {
			held[id] = true
		}
	}
	for _, p := range st.Pods {
		if p.Node == n.Name && there(p) {
			hold(p)
		}
	}
	for _, p := range st.Nominated {
		own := slices.ContainsFunc(r.Pods, func(m workload.Pod) bool { return m.ID == p.ID })
		if p.Node == n.Name && !own && priorityOf(st, p) >= r.Priority {
			hold(p)
		}
	}
	return held
}

// goes reports whether a pod is waited for: it terminates, because it was preempted or is of lower
// priority, and the request's timeout for that is not over.
func goes(st placement.State, r placement.Request, c placement.Config, p workload.Pod) bool {
	if c.Mode != placement.ModeDesign || !p.Terminating || !p.Preempted && priorityOf(st, p) >= r.Priority {
		return false
	}
	return r.TerminationTimeout == 0 || p.TerminatingSince.IsZero() || p.TerminatingSince.Add(r.TerminationTimeout).After(r.Now)
}

// isBasic reports whether the pods of the request are decided about one by one.
func isBasic(c placement.Config, st placement.State, r placement.Request) bool {
	return c.Mode != placement.ModeInPlace && slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == r.Group && g.Basic })
}

func victimIDs(d placement.Decision) map[string]bool {
	list := map[string]bool{}
	for _, v := range d.Victims {
		for _, id := range v.Pods {
			list[id] = true
		}
	}
	return list
}

// Victims gone, the preemptor has room for as many pods as it needs, on nodes where they
// may run and in one domain.
func victimsMakeRoom(t *rapid.T) {
	st, r, c, d := draw(t)
	if d.Reason != 0 || c.Mode != placement.ModeDesign && (d.Outcome == preemption.Wait || isBasic(c, st, r)) {
		return // as built, a promise is waited for whether there is room or not
	}
	gone := victimIDs(d)
	there := func(p workload.Pod) bool {
		return (d.Outcome == preemption.Fits || !goes(st, r, c, p)) && !gone[p.ID]
	}
	if !hasRoom(st, r, d, there) {
		t.Fatalf("no room: %+v", d)
	}
	if len(d.Nominations) < max(1, r.MinCount) || len(d.Nominations) != d.Placeable {
		t.Fatalf("%d pods placed, want %d: %+v", len(d.Nominations), r.MinCount, d)
	}
	for _, n := range d.Nominations {
		for _, p := range r.Pods {
			if p.ID == n.Pod && (p.Nowhere || len(p.Nodes) > 0 && !slices.Contains(p.Nodes, n.Node)) {
				t.Fatalf("pod %q may not run on %q", p.ID, n.Node)
			}
		}
		for _, domain := range r.Domains {
			if domain.Name == d.Domain && !slices.Contains(domain.Nodes, n.Node) {
				t.Fatalf("node %q is not in domain %q", n.Node, d.Domain)
			}
		}
	}
}

// No unit of the set can be put back where it runs.
func noVictimCanBePutBack(t *rapid.T) {
	st, r, c, d := draw(t)
	if len(c.Filters) > 0 {
		return
	}
	if isBasic(c, st, r) && len(r.Pods) > 1 {
		return // a group that yields whole for one pod may spare a victim of the one before
	}
	gone := victimIDs(d)
	for _, v := range d.Victims {
		there := func(p workload.Pod) bool {
			return (!gone[p.ID] || slices.Contains(v.Pods, p.ID)) && !goes(st, r, c, p)
		}
		if hasRoom(st, r, d, there) {
			t.Fatalf("%v can stay: %+v", v.Pods, d)
		}
	}
}

// Victims are of lower priority and not guarded; groups of mode PodGroup are whole.
func victimsArePermitted(t *rapid.T) {
	st, r, c, d := draw(t)
	gone := victimIDs(d)
	if r.Policy == placement.PreemptNever && len(gone) > 0 {
		t.Fatalf("a preemptor that never preempts takes %v", d.Victims)
	}
	for _, p := range st.Pods {
		if !gone[p.ID] {
			continue
		}
		if priorityOf(st, p) >= r.Priority {
			t.Fatalf("pod %q of priority %d is a victim of %d", p.ID, priorityOf(st, p), r.Priority)
		}
		if p.Terminating && c.Mode == placement.ModeDesign {
			t.Fatalf("pod %q terminates and is a victim", p.ID)
		}
		for _, g := range st.Groups {
			for _, other := range st.Pods {
				split := g.ID == p.Group && other.Group == g.ID && !gone[other.ID] && !(other.Terminating && c.Mode == placement.ModeDesign)
				if split && g.DisruptionMode == workload.DisruptionModePodGroup {
					t.Fatalf("group %q is split: %q goes, %q stays", g.ID, p.ID, other.ID)
				}
			}
		}
		for _, g := range c.Guards {
			pinned := g.(preemptiontest.Pinned)
			if p.Labels[pinned.Label] == pinned.Value && (pinned.Until.IsZero() || !r.Now.After(pinned.Until)) {
				t.Fatalf("pod %q is guarded", p.ID)
			}
		}
	}
}

func hardBudgetsHold(t *rapid.T) {
	st, r, c, _ := draw(t)
	c.Budgets = placement.Hard
	d := decide(t, c, snapshotOf(t, st), r)
	gone := victimIDs(d)
	victims := slices.DeleteFunc(slices.Clone(st.Pods), func(p workload.Pod) bool { return !gone[p.ID] })
	evicted := nodes.Unit{Unit: placement.Unit{Pods: victims}}
	if len(nodes.New(c, st, r).OverBudget([]nodes.Unit{evicted})) > 0 || d.Violations > 0 {
		t.Fatalf("a budget is violated: %+v", d)
	}
	c.Budgets = placement.Soft
	soft := decide(t, c, snapshotOf(t, st), r)
	if (d.Reason != 0) != (soft.Reason != 0) && d.Reason != placement.ReasonBudgets {
		t.Fatalf("%v for %v, with soft budgets %v", d.Reason, d.Outcome, soft.Outcome)
	}
}

// rating is the score of a candidate by its documentation: the smaller is better, entry by
// entry.
func rating(st placement.State, d placement.Placement) []int64 {
	highest, earliest := int64(math.MinInt64), int64(math.MaxInt64)
	var sum, pods int64
	for _, v := range d.Victims {
		highest = max(highest, int64(v.Priority))
		sum += int64(len(v.Pods)) * (int64(v.Priority) + 1<<31)
		pods += int64(len(v.Pods))
	}
	for _, p := range st.Pods {
		for _, v := range d.Victims {
			if int64(v.Priority) == highest && slices.Contains(v.Pods, p.ID) && !p.Started.IsZero() {
				earliest = min(earliest, p.Started.UnixNano())
			}
		}
	}
	return []int64{int64(d.Violations), highest, sum, pods, -earliest}
}

// The decision is the first of the best of its own candidates, and those are the candidates of the reference.
func bestCandidateIsChosen(t *rapid.T) {
	st, r, c, d := draw(t)
	p, err := placement.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if isBasic(c, st, r) {
		r = withoutNeeds(r)
		r.Pods = r.Pods[:1]
		d = decide(t, c, snapshotOf(t, st), r)
	}
	list, err := p.Placements(snapshotOf(t, st), r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := differ(nodes.Placements(c, st, r), list); diff != "" {
		t.Fatalf("the reference has other candidates (- reference, + list):\n%s", diff)
	}
	if d.Outcome != preemption.Preempt {
		if d.Reason != 0 && d.Reason != placement.ReasonPolicyNever && len(list) > 0 {
			t.Fatalf("%+v, but there are candidates: %+v", d, list)
		}
		return
	}
	best := list[0]
	inOrder := c.Mode == placement.ModeInPlace && r.Group != "" // the first domain with room is the one
	for _, other := range list[1:] {
		if !inOrder && slices.Compare(rating(st, other), rating(st, best)) < 0 {
			best = other
		}
	}
	if isBasic(c, st, r) {
		best.Domain = ""
	}
	if diff := differ(best, d.Placement); diff != "" {
		t.Fatalf("not the best candidate (- best, + decision):\n%s", diff)
	}
}
