package placement_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// The placements are those of the witness, also of a sample.
func placementsAgreeWithTheWitness(t *rapid.T) {
	st, r, c, _ := draw(t)
	if isBasic(c, st, r) {
		r = withoutNeeds(r)
		r.Pods = r.Pods[:1]
	}
	r.MaxDomains, r.FirstNode = rapid.IntRange(0, 3).Draw(t, "most"), rapid.IntRange(0, 5).Draw(t, "first")
	p := must(placement.New(c))(t)
	list := must(p.Placements(snapshotOf(t, st), r))(t)
	noDiff(t, "the witness has other placements (- witness, + list)", nodes.Placements(c, st, r), list)
}

// Who chooses among all placements decides as Decide does, where Decide preempts.
func chosenIsDecided(t *rapid.T) {
	st, r, c, d := draw(t)
	if d.Outcome != preemption.Preempt || isBasic(c, st, r) || c.Mode == placement.ModeInPlace && len(r.Domains) > 0 {
		return
	}
	p := must(placement.New(c))(t)
	s := snapshotOf(t, st)
	list := must(p.Placements(s, r))(t)
	got, err := p.Choose(s, r, list)
	if diff := differ(d, got); diff != "" || err != nil {
		t.Fatalf("%v (- decided, + chosen):\n%s", err, diff)
	}
	left := slices.DeleteFunc(slices.Clone(list), func(c placement.Placement) bool { return c.Domain == d.Domain })
	if len(left) == 0 {
		return
	}
	if got, err := p.Choose(s, r, left); err != nil || got.Domain == d.Domain || got.Violations < d.Violations {
		t.Fatalf("without the best: %v, %v", got, err)
	}
}

// Extenders leave out nodes and victims: what is left is scored anew.
func TestChoose(t *testing.T) {
	s := snapshotOf(t, world(t, "n1 2: a/1 b/2", "n2 2: c/1 d/3"))
	at := func(node string, order int, victims ...string) placement.Placement {
		c := placement.Placement{Domain: node, Nominations: []placement.Nomination{{Pod: "in0", Node: node}}}
		for _, id := range victims {
			c.Victims = append(c.Victims, placement.Victim{Pods: []string{id}, Order: order})
		}
		return c
	}
	violating := at("n1", 0, "a")
	violating.Victims[0].Violations = 1
	for want, list := range map[string][]placement.Placement{
		"Preempt in0@n1; evict a b":                   {at("n2", 0, "c", "d"), at("n1", 0, "a", "b")},
		"Preempt in0@n2; evict c":                     {at("n1", 0, "b"), at("n2", 0, "c")},
		"Preempt in0@n1; evict a":                     {at("n1", 0, "a"), at("n2", 0, "c")},
		"Preempt in0@n2; evict d":                     {violating, at("n2", 0, "d")},
		"Preempt in0@n1; evict a, 1 against a budget": {violating},
		"Fits in0@n2":                                 {at("n1", 0, "a"), at("n2", 0)},
	} {
		d, err := new(placement.Preemptor).Choose(s, pending(0), list)
		if err != nil || text(d) != want {
			t.Errorf("%q, %v; want %q", text(d), err, want)
		}
	}
}

// Nodes are given in any order, and some are unschedulable: a nomination is void on the node of the placement.
func TestChooseWithdraws(t *testing.T) {
	st := world(t, "k 1:", "z 1: a/1", "m 1: b/1")
	st.Nodes[0].Unschedulable = true
	for _, n := range st.Nodes {
		st.Nominated = append(st.Nominated, workload.Pod{ID: "to-" + n.Name, UID: n.Name, Node: n.Name, Requests: workload.Resources{"slots": 1}})
	}
	s := snapshotOf(t, st)
	for node, victim := range map[string]string{"z": "a", "m": "b"} {
		d, err := new(placement.Preemptor).Choose(s, pending(0), []placement.Placement{{
			Domain: node, Nominations: []placement.Nomination{{Pod: "in0", Node: node}}, Victims: []placement.Victim{{Pods: []string{victim}}},
		}})
		if want := []string{"to-" + node}; err != nil || !slices.Equal(d.Withdrawn, want) {
			t.Errorf("%s: withdrawn %v, %v; want %v", node, d.Withdrawn, err, want)
		}
	}
}

func TestFaultsOfPlacements(t *testing.T) {
	s := snapshotOf(t, world(t, "n1 2: a/1 b/2"))
	_, err := new(placement.Preemptor).Choose(s, pending(0), nil)
	wantFaults(t, err, "placements: is empty")
	_, err = new(placement.Preemptor).Choose(s, placement.Request{}, nil)
	wantFaults(t, err, "request.pods: is empty")
	_, err = new(placement.Preemptor).Choose(s, pending(0), []placement.Placement{{}, {
		Nominations: []placement.Nomination{{Pod: "other", Node: "n1"}, {Pod: "in0", Node: "n9"}, {Pod: "in0", Node: "n1"}, {Pod: "in0", Node: "n1"}},
		Victims:     []placement.Victim{{}, {Pods: []string{"a", "gone", "a"}, Violations: -1}},
	}})
	wantFaults(t, err, `
placements[1].nominations[0].pod: "other" is not in the request
placements[1].nominations[1].node: unknown node "n9"
placements[1].nominations[3].pod: "in0" is there already
placements[1].victims[0].pods: is empty
placements[1].victims[1].violations: -1 is negative
placements[1].victims[1].pods[1]: no pod "gone" runs
placements[1].victims[1].pods[2]: "a" is there already`)
}

// "In the order of the domains; with MaxDomains those without violation first." Sampling
// "starts at FirstNode, wraps around, and stops after MaxDomains of them".
func TestOrderOfPlacements(t *testing.T) {
	var st placement.State
	for _, node := range []string{"a", "b", "c", "d"} {
		st.Nodes = append(st.Nodes, workload.Node{Name: node, Capacity: workload.Resources{"cpu": 1}})
		guarded := map[string]string{"guarded": map[string]string{"a": "yes", "c": "yes"}[node]}
		st.Pods = append(st.Pods, workload.Pod{ID: node, Namespace: "ns", Node: node, Labels: guarded, Requests: workload.Resources{"cpu": 1}})
	}
	st.Budgets = []workload.DisruptionBudget{{Namespace: "ns", Name: "none", Selector: &workload.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}}}
	p := must(placement.New(placement.Config{}))(t)
	for _, c := range []struct {
		most, first int
		want        string
	}{{0, 0, "dcba"}, {0, 2, "dcba"}, {100, 0, "dbca"}, {1, 0, "d"}, {1, 2, "b"}, {1, 3, "da"}, {1, 6, "b"}, {2, 0, "dc"}} {
		r := placement.Request{Priority: 1, MaxDomains: c.most, FirstNode: c.first, Prefer: []string{"d", "c", "b", "a"},
			Pods: []workload.Pod{{ID: "new", Requests: workload.Resources{"cpu": 1}}}}
		list, err := p.Placements(snapshotOf(t, st), r)
		got := ""
		for _, c := range list {
			got += c.Domain
		}
		if err != nil || got != c.want {
			t.Errorf("at most %d from %d on: %s, %v; want %s", c.most, c.first, got, err, c.want)
		}
		if list, err := p.Placements(snapshotOf(t, placement.State{}), placement.Request{MaxDomains: c.most, FirstNode: c.first, Pods: r.Pods}); err != nil || len(list) != 0 {
			t.Errorf("without nodes: %v, %v", list, err)
		}
	}
}
