package placement_test

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/twin"
	"github.com/cedesched/cede/preemption/placement"
)

// left is what is free of a resource on a node, with the pods that are there.
func left(st placement.State, r placement.Request, n placement.Node, resource string, there func(placement.Pod) bool) int64 {
	takes := func(p placement.Pod) int64 {
		if resource == placement.PodsResource {
			return 1
		}
		return p.Requests[resource]
	}
	free, listed := n.Capacity[resource]
	if resource == placement.PodsResource && !listed {
		free = 1 << 40
	}
	for _, p := range st.Pods {
		if p.Node == n.Name && there(p) {
			free -= takes(p)
		}
	}
	for _, p := range st.Nominated {
		own := slices.ContainsFunc(r.Pods, func(m placement.Pod) bool { return m.ID == p.ID })
		if p.Node == n.Name && !own && priorityOf(st, p) >= r.Priority {
			free -= takes(p)
		}
	}
	return free
}

func priorityOf(st placement.State, p placement.Pod) int32 {
	for _, g := range st.Groups {
		if g.ID == p.Group {
			return g.Priority
		}
	}
	return p.Priority
}

// hasRoom reports whether the nominated pods have their room beside those that are there.
func hasRoom(st placement.State, r placement.Request, d placement.Decision, there func(placement.Pod) bool) bool {
	for _, n := range st.Nodes {
		needs := map[string]int64{}
		for _, nomination := range d.Nominations {
			if nomination.Node != n.Name {
				continue
			}
			needs[placement.PodsResource]++
			for _, p := range r.Pods {
				if p.ID == nomination.Pod {
					for resource, amount := range p.Requests {
						needs[resource] += amount
					}
				}
			}
		}
		for resource, amount := range needs {
			if amount > 0 && amount > left(st, r, n, resource, there) {
				return false
			}
		}
	}
	return true
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
	if d.Outcome == placement.Impossible || d.Outcome == placement.Wait && c.Mode != placement.Design {
		return
	}
	gone := victimIDs(d)
	there := func(p placement.Pod) bool {
		stays := d.Outcome == placement.Fits && !r.Unschedulable || !p.Terminating || c.Mode != placement.Design
		return stays && !gone[p.ID]
	}
	if !hasRoom(st, r, d, there) {
		t.Fatalf("no room: %+v", d)
	}
	if len(d.Nominations) < max(1, r.MinCount) || len(d.Nominations) != d.Placeable {
		t.Fatalf("%d pods placed, want %d: %+v", len(d.Nominations), r.MinCount, d)
	}
	for _, n := range d.Nominations {
		for _, p := range r.Pods {
			if p.ID == n.Pod && p.Nodes != nil && !slices.Contains(p.Nodes, n.Node) {
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

// No unit of the set can be put back where it runs. (As built in v1.36 units are put back
// by placing anew, so one that could not be may fit around the last placement.)
func noVictimCanBePutBack(t *rapid.T) {
	st, r, c, d := draw(t)
	if c.Mode == placement.Replace || len(c.Filters) > 0 {
		return
	}
	gone := victimIDs(d)
	for _, v := range d.Victims {
		there := func(p placement.Pod) bool {
			return (!gone[p.ID] || slices.Contains(v.Pods, p.ID)) && (!p.Terminating || c.Mode != placement.Design)
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
		if p.Terminating && c.Mode == placement.Design {
			t.Fatalf("pod %q terminates and is a victim", p.ID)
		}
		for _, g := range st.Groups {
			for _, other := range st.Pods {
				split := g.ID == p.Group && other.Group == g.ID && !gone[other.ID] && !(other.Terminating && c.Mode == placement.Design)
				if split && g.DisruptionMode == placement.DisruptionModePodGroup {
					t.Fatalf("group %q is split: %q goes, %q stays", g.ID, p.ID, other.ID)
				}
			}
		}
		for range c.Guards {
			if p.Labels["app"] == "db" {
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
	victims := slices.DeleteFunc(slices.Clone(st.Pods), func(p placement.Pod) bool { return !gone[p.ID] })
	if !twin.WithinBudgets(st, victims) || d.Violations > 0 {
		t.Fatalf("a budget is violated: %+v", d)
	}
	c.Budgets = placement.Soft
	soft := decide(t, c, snapshotOf(t, st), r)
	if (d.Outcome == placement.Impossible) != (soft.Outcome == placement.Impossible) && d.Reason != placement.Budgets {
		t.Fatalf("%v for %v, with soft budgets %v", d.Reason, d.Outcome, soft.Outcome)
	}
}

// The decision is one of the candidates, and none has fewer violations.
func bestCandidateIsChosen(t *rapid.T) {
	st, r, c, d := draw(t)
	p, err := placement.New(c)
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.Candidates(snapshotOf(t, st), r)
	if err != nil {
		t.Fatal(err)
	}
	if d.Outcome != placement.Preempt {
		if d.Outcome == placement.Impossible && d.Reason != placement.PolicyNever && len(list) > 0 {
			t.Fatalf("%+v, but there are candidates: %+v", d, list)
		}
		return
	}
	at := slices.IndexFunc(list, func(o placement.Candidate) bool { return o.Domain == d.Domain })
	if at < 0 || !cmp.Equal(list[at], d.Candidate, same) {
		t.Fatalf("%+v is not among %+v", d, list)
	}
	for _, other := range list {
		if other.Violations < d.Violations {
			t.Fatalf("%+v has fewer violations than %+v", other, d)
		}
	}
}
