package placement_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Units that violate a budget and share no node with the members placed first stay, without a
// look at each. With an order of the caller each is looked at: all choose the same.
func TestUnitsElsewhereStay(t *testing.T) {
	seen, none := map[string]int{}, 0
	for seed := range 60 {
		st := crowd(seed, 24)
		selector := &workload.LabelSelector{MatchLabels: map[string]string{"tier": "0"}}
		st.Budgets = append(st.Budgets, workload.DisruptionBudget{Namespace: "ns", Name: "lax", Selector: selector, Allowed: int64(seed%2) * 1000})
		for i := 0; i < len(st.Pods); i += 19 {
			st.Pods[i].Group, st.Pods[i].Terminating = fmt.Sprint(i%9), i%2 == 0
		}
		s := snapshotOf(t, st)
		for i := range 4 {
			r := gang(2+(seed+i)%7, int64(2+i%3), 0)
			r.Priority, r.MinCount = int32(seed%5), len(r.Pods)-i%2
			if i == 3 {
				r.Domains = []placement.Domain{{Name: "low"}, {Name: "high"}}
				for k, n := range st.Nodes {
					d := &r.Domains[k/12]
					d.Nodes = append(d.Nodes, n.Name)
				}
			}
			c := placement.Config{Mode: placement.Mode(seed % 8 / 7), Order: placement.Order(seed % 3)}
			d := decide(t, c, s, r)
			each := c
			each.Importance = func(a, b placement.Unit) int { return 0 } // the built-in order breaks ties
			noDiff(t, fmt.Sprintf("seed %d, request %d (- each unit, + as it is)", seed, i), decide(t, each, s, r), d)
			if i == 0 || !testing.Short() { // the witness takes its time
				agrees(t, c, st, r, d)
			}
			p := must(placement.New(c))(t)
			cost := must(p.Cost(s, r))(t)
			if cost.Elsewhere == 0 {
				none++
			} else {
				for what := range coverageOf(st, r.Priority) {
					seen[what]++
				}
				seen[fmt.Sprint(c.Mode, " in ", len(r.Domains), " domains")]++
			}
		}
	}
	for _, what := range []string{
		"allowance that ends", "allowance that does not end", "disrupted", "two budgets", "group covered in part", "covered group of which a pod terminates",
		"Design in 0 domains", "Design in 2 domains",
	} {
		if seen[what] < 10 {
			t.Errorf("%s: %d times", what, seen[what])
		}
		delete(seen, what)
	}
	if none < 10 {
		t.Errorf("nobody stays elsewhere: %d times", none)
	}
	t.Log(seen)
}

// coverageOf says what kinds of coverage there are among the pods below a priority.
func coverageOf(st placement.State, priority int32) map[string]bool {
	kinds, groups := map[string]bool{}, map[string]map[string]bool{}
	lists := func(ids []string, id string) bool {
		for _, other := range ids {
			if other == id {
				return true
			}
		}
		return false
	}
	covered := make([]int, len(st.Pods)) // by so many budgets
	for i := range st.Budgets {
		b, charged := &st.Budgets[i], int64(0)
		for k := range st.Pods {
			p := &st.Pods[k]
			if !b.Covers(p) || priorityOf(st, *p) >= priority {
				continue
			}
			covered[k]++
			if lists(b.Disrupted, p.ID) {
				kinds["disrupted"] = true
			} else if !p.Terminating {
				charged++
			}
		}
		kinds["allowance that ends"] = kinds["allowance that ends"] || b.Allowed > 0 && charged > b.Allowed
		kinds["allowance that does not end"] = kinds["allowance that does not end"] || b.Allowed > 0 && charged <= b.Allowed
	}
	for k, p := range st.Pods {
		kinds["two budgets"] = kinds["two budgets"] || covered[k] > 1
		for _, g := range st.Groups {
			if g.ID == p.Group && g.DisruptionMode == workload.DisruptionModePodGroup && priorityOf(st, p) < priority {
				if groups[g.ID] == nil {
					groups[g.ID] = map[string]bool{}
				}
				groups[g.ID]["covered"] = groups[g.ID]["covered"] || covered[k] > 0
				groups[g.ID]["free"] = groups[g.ID]["free"] || covered[k] == 0
				groups[g.ID]["terminating"] = groups[g.ID]["terminating"] || p.Terminating
			}
		}
	}
	for _, g := range groups {
		kinds["group covered in part"] = kinds["group covered in part"] || g["covered"] && g["free"]
		kinds["covered group of which a pod terminates"] = kinds["covered group of which a pod terminates"] || g["covered"] && g["terminating"]
	}
	for kind, is := range kinds {
		if !is {
			delete(kinds, kind)
		}
	}
	return kinds
}
