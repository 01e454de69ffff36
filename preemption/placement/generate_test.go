package placement_test

import (
	"slices"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// The generated records reach every outcome, reason and kind of victim often enough for the
// laws to mean something. Floors are in tenths of a percent.
func TestGeneratorsReachEverything(t *testing.T) {
	const n = 2000
	floors := map[string]int{
		"Preempt": 300, "Wait": 80, "Fits": 80,
		"PolicyNever": 5, "NoVictims": 20, "NoRoom": 20, "Budgets": 10,
		"mode Design": 250, "mode InPlace": 150,
		"two victims": 120, "whole group": 60, "group of groups": 10, "nested groups": 100, "request of nested groups": 25, "needs of nested groups": 15, "claims": 100, "shared claim goes": 2, "claim stays with another pod": 10, "claims of the request": 60, "nested group is left out": 3, "preferred domains": 20, "outside preferred domains": 3, "group of several": 40, "reprieve": 150, "budget binds": 50, "violation": 20,
		"promised": 50, "withdrawn": 20, "several nodes": 150, "several domains": 50,
		"basic group": 80, "pod of a group": 30, "over the timeout": 30, "waits though asked alone": 20,
		"retry at": 55, "running pods are bound": 100, "promise and retry at": 10, "minimum runtime blocks": 50, "guard blocks": 30, "budget blocks": 20, "shortage": 80, "protected beside a victim": 20,
		"surplus": 150, "surplus goes": 25, "surplus goes under a minimum runtime": 5,
		"reclaim differs": 60, "reclaimed though not to be preempted": 5, "kept from reclaim alone": 20,
	}
	ceilings := map[string]int{"Impossible": 350, "hopeless": 100} // hopeless: no room in an idle cluster either
	seen := map[string]int{}
	for seed := range n {
		record := preemptiontest.PlacementRecords().Example(seed)
		st, r := record.State, *record.Request
		c := preemptiontest.PlacementConfigs().Example(seed)
		d := decide(t, c, snapshotOf(t, st), r)
		kinds := kindsOf(t, st, r, c, d)
		for kind, is := range kinds {
			if floors[kind]+ceilings[kind] == 0 {
				t.Fatalf("%q has no floor", kind)
			}
			if is {
				seen[kind]++
			}
		}
		idle := placement.State{Nodes: st.Nodes, Groups: st.Groups, Claims: st.Claims}
		r.SkipFit = false
		if decide(t, c, snapshotOf(t, idle), r).Outcome == preemption.Impossible {
			seen["hopeless"]++
		}
	}
	for kind, floor := range floors {
		if share := seen[kind] * 1000 / n; share < floor {
			t.Errorf("%s: %d of a thousand, want %d", kind, share, floor)
		} else {
			t.Logf("%s: %d of a thousand", kind, share)
		}
	}
	for kind, ceiling := range ceilings {
		if share := seen[kind] * 1000 / n; share > ceiling {
			t.Errorf("%s: %d of a thousand, want at most %d", kind, share, ceiling)
		} else {
			t.Logf("%s: %d of a thousand", kind, share)
		}
	}
}

func kindsOf(t *testing.T, st placement.State, r placement.Request, c placement.Config, d placement.Decision) map[string]bool {
	kinds := map[string]bool{d.Outcome.String(): true, "mode " + c.Mode.String(): true}
	if d.Reason != 0 {
		kinds[d.Reason.String()] = true
	}
	gone, nodes := victimIDs(d), map[string]bool{}
	kinds["two victims"] = len(d.Victims) > 1
	kinds["whole group"] = slices.ContainsFunc(d.Victims, func(v placement.Victim) bool { return v.Group != "" })
	kinds["running pods are bound"] = slices.ContainsFunc(st.Pods, func(p workload.Pod) bool { return p.Nowhere || len(p.Nodes) > 0 })
	kinds["group of several"] = slices.ContainsFunc(d.Victims, func(v placement.Victim) bool { return len(v.Pods) > 1 })
	kinds["group of groups"] = slices.ContainsFunc(d.Victims, func(v placement.Victim) bool {
		return v.Group != "" && slices.ContainsFunc(st.Pods, func(p workload.Pod) bool { return slices.Contains(v.Pods, p.ID) && p.Group != v.Group })
	})
	kinds["nested groups"] = slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.Parent != "" })
	kinds["request of nested groups"] = slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.Parent != "" && g.Parent == r.Group })
	kinds["needs of nested groups"] = r.MinGroups > 0 || len(r.Nested) > 0
	flat := r
	flat.MinGroups, flat.Nested = 0, nil
	kinds["nested group is left out"] = kinds["needs of nested groups"] && len(d.Nominations) < len(decide(t, c, snapshotOf(t, st), flat).Nominations)
	kinds["claims"] = len(st.Claims) > 0
	for _, k := range st.Claims {
		going, staying := 0, 0
		for _, p := range st.Pods {
			if slices.Contains(p.Claims, k.ID) && gone[p.ID] {
				going++
			} else if slices.Contains(p.Claims, k.ID) {
				staying++
			}
		}
		kinds["shared claim goes"] = kinds["shared claim goes"] || going > 1 && staying == 0
		kinds["claim stays with another pod"] = kinds["claim stays with another pod"] || going > 0 && staying > 0
		kinds["claims of the request"] = kinds["claims of the request"] || slices.ContainsFunc(r.Pods, func(p workload.Pod) bool { return slices.Contains(p.Claims, k.ID) })
	}
	kinds["preferred domains"] = r.DomainsPreferred
	kinds["outside preferred domains"] = r.DomainsPreferred && d.Domain == "" && len(d.Nominations) > 1
	kinds["violation"] = d.Violations > 0
	kinds["withdrawn"] = len(d.Withdrawn) > 0
	for _, n := range d.Nominations {
		nodes[n.Node] = true
	}
	for _, p := range st.Pods {
		spared := !gone[p.ID] && nodes[p.Node] && priorityOf(st, p) < r.Priority
		kinds["reprieve"] = kinds["reprieve"] || d.Outcome == preemption.Preempt && spared
		old := !p.TerminatingSince.IsZero() && r.Now.Sub(p.TerminatingSince) >= r.TerminationTimeout
		kinds["over the timeout"] = kinds["over the timeout"] || r.TerminationTimeout > 0 && old
	}
	for _, p := range r.Pods {
		kinds["promised"] = kinds["promised"] || slices.ContainsFunc(st.Nominated, func(n workload.Pod) bool { return n.ID == p.ID })
	}
	kinds["several nodes"] = d.Outcome == preemption.Preempt && r.Group != "" && len(st.Nodes) > 1 && (len(r.Domains) == 0 || len(r.Domains) < len(st.Nodes))
	kinds["several domains"] = len(r.Domains) > 1
	kinds["basic group"] = slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == r.Group && g.Basic })
	kinds["pod of a group"] = r.Group == "" && r.Pods[0].Group != ""
	kinds["waits though asked alone"] = d.Outcome == preemption.Wait && r.Group == ""
	kinds["retry at"] = !d.RetryAt.IsZero()
	kinds["promise and retry at"] = !d.RetryAt.IsZero() && len(d.Nominations) > 0
	for _, b := range d.Blockers {
		kinds["minimum runtime blocks"] = kinds["minimum runtime blocks"] || b.Rule == placement.RuleMinRuntime
		kinds["guard blocks"] = kinds["guard blocks"] || b.Rule == placement.RuleGuarded
		kinds["budget blocks"] = kinds["budget blocks"] || b.Rule == placement.RuleBudget
	}
	for _, p := range st.Pods {
		until := protectedUntil(st, r, c, p)
		goes := slices.ContainsFunc(d.Victims, func(v placement.Victim) bool { return slices.Contains(v.Pods, p.ID) })
		kinds["surplus"] = kinds["surplus"] || isSurplus(st, p)
		kinds["surplus goes"] = kinds["surplus goes"] || goes && isSurplus(st, p)
		whole := slices.Clone(st.Groups)
		for i := range whole {
			whole[i].MinCount = 0
		}
		all := st
		all.Groups = whole
		kinds["surplus goes under a minimum runtime"] = kinds["surplus goes under a minimum runtime"] || goes && !r.Now.After(protectedUntil(all, r, c, p))
		alone := r
		alone.Queue = ""
		reclaimed := !protectedUntil(st, alone, c, p).Equal(until)
		kinds["reclaim differs"] = kinds["reclaim differs"] || reclaimed
		kinds["reclaimed though not to be preempted"] = kinds["reclaimed though not to be preempted"] || reclaimed && goes && !r.Now.After(protectedUntil(st, alone, c, p))
		kinds["kept from reclaim alone"] = kinds["kept from reclaim alone"] || reclaimed && !until.IsZero() && !r.Now.After(until)
		kinds["protected beside a victim"] = kinds["protected beside a victim"] || !until.IsZero() && !r.Now.After(until) && len(d.Victims) > 0
	}
	kinds["shortage"] = len(d.Shortage) > 0
	without := st
	without.Budgets = nil
	free := decide(t, c, snapshotOf(t, without), r)
	kinds["budget binds"] = !slices.EqualFunc(free.Victims, d.Victims, func(a, b placement.Victim) bool { return slices.Equal(a.Pods, b.Pods) })
	return kinds
}
