package placement_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// Potential victims are of strictly lower priority: those first that violate a budget, of
// both kinds the most important first.
func TestPotentialVictims(t *testing.T) {
	s := snapshotOf(t, world(t, "n1 9: a/1/protected b/2 c/3/protected d/10 e/1/g f/1/g/protected"))
	var got []string
	for _, p := range s.PotentialVictims(10) {
		got = append(got, fmt.Sprintf("%s %d %d", p.Pods[0].ID, len(p.Pods), p.Violations))
	}
	if want := "[c 1 1 e 2 1 a 1 1 b 1 0]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// As built, a single pod is not blocked by a node that has become impossible for it; a group
// is.
func TestBlockedByAnImpossibleNode(t *testing.T) {
	for name, change := range map[string]change{
		"possible":      func(*placement.State, *placement.Request, *placement.Config) {},
		"unschedulable": func(st *placement.State, _ *placement.Request, _ *placement.Config) { st.Nodes[0].Unschedulable = true },
		"not named":     func(_ *placement.State, r *placement.Request, _ *placement.Config) { r.Pods[0].Nodes = []string{"n2"} },
		"filtered": func(st *placement.State, r *placement.Request, c *placement.Config) {
			st.Nodes[1].Labels, r.Pods[0].Labels = map[string]string{"zone": "a"}, map[string]string{"app": "db"}
			c.Filters = []placement.Filter{preemptiontest.Apart{Label: "app", Zone: "a"}}
		},
	} {
		for _, members := range []int{0, 1} {
			st, r, c := world(t, "n1 1: a/0/leaving", "n2 1: b/0"), pending(members), placement.Config{Mode: placement.ModeInPlace}
			promise(&st, "in0", "n1", 1000)
			change(&st, &r, &c)
			want := "Wait in0@n1"
			if members == 0 && name != "possible" {
				want = "Preempt in0@n2; evict b"
			}
			if got := text(decide(t, c, snapshotOf(t, st), r)); got != want {
				t.Errorf("%s, group of %d: %q, want %q", name, members, got, want)
			}
		}
	}
	st, r := world(t, "n1 1: a/0/leaving", "n2 1: b/0"), pending(0)
	promise(&st, "in0", "n1", 1000)
	r.Pods[0].Nodes = []string{"n1"}
	if got, want := text(decide(t, placement.Config{Mode: placement.ModeInPlace}, snapshotOf(t, st), r)), "Wait in0@n1"; got != want {
		t.Errorf("named: %q, want %q", got, want)
	}
}

// What stays of a group that leaves in part is covered by its budget in an edited snapshot
// as in a fresh one.
func TestBudgetOfWhatStays(t *testing.T) {
	st := world(t, "n1 2: a/0/g/protected b/0/g/protected")
	s := edit(t, snapshotOf(t, st), placement.StartEviction("a"))
	for name, s := range map[string]*placement.Snapshot{"edited": s, "fresh": snapshotOf(t, s.State())} {
		if got, want := text(decide(t, placement.Config{}, s, pending(2))), "Preempt in0@n1 in1@n1; evict b, 1 against a budget"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Members in conflict with each other share no node.
func TestMembersInConflict(t *testing.T) {
	c := placement.Config{Filters: []placement.Filter{preemptiontest.Apart{Label: "app"}}}
	r := pending(2)
	for i := range r.Pods {
		r.Pods[i].Labels = map[string]string{"app": "web"}
	}
	for nodes, want := range map[int]string{1: "Impossible (NoVictims)", 2: "Fits in0@n1 in1@n2"} {
		st := world(t, []string{"n1 4:", "n2 4:"}[:nodes]...)
		if got := text(decide(t, c, snapshotOf(t, st), r)); got != want {
			t.Errorf("%d nodes: %q, want %q", nodes, got, want)
		}
	}
}

// A fit that stands no more is made anew.
func TestFitMoves(t *testing.T) {
	st := world(t, "n1 1: a/0/g", "n2 1: b/0/h")
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := p.Fit(snapshotOf(t, st), pending(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		change func(string)
		group  string
		want   string
	}{
		{fit.Restore, "g", "[]"}, {fit.Remove, "g", "[{in0 n1}]"}, {fit.Remove, "h", "[{in0 n1}]"}, {fit.Restore, "g", "[{in0 n2}]"},
		{fit.Restore, "h", "[]"}, {fit.Remove, "g", "[{in0 n1}]"}, {fit.Restore, "g", "[]"}, {fit.Remove, "h", "[{in0 n2}]"},
	} {
		step.change(step.group)
		if got := fmt.Sprint(fit.Nominations()); got != step.want || fit.Fits() != (step.want != "[]") {
			t.Errorf("%s: %s, want %s", step.group, got, step.want)
		}
	}
}

// A gang is placed as it was nominated if only then enough of its pods have a place; the first
// domain in which they have one is the answer.
func TestFitKeepsNominations(t *testing.T) {
	st := world(t, "n1 2:", "n2 1:", "n3 1:")
	promise(&st, "in0", "n2", 1000)
	r := pending(2)
	r.Pods[1].Requests = workload.Resources{"slots": 2}
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, domains := range [][]placement.Domain{nil, {{Name: "a", Nodes: []string{"n1", "n2"}}, {Name: "b", Nodes: []string{"n3"}}}} {
		r.Domains = domains
		fit, err := p.Fit(snapshotOf(t, st), r)
		if err != nil {
			t.Fatal(err)
		}
		// On its own the first pod takes a place of n1, and the second, which needs both, has none.
		if got, want := fmt.Sprint(fit.Nominations()), "[{in0 n2} {in1 n1}]"; !fit.Fits() || got != want {
			t.Errorf("in %d domains: %s, want %s", len(domains), got, want)
		}
	}
}

// "SetBudget adds a budget or replaces the one with that namespace and name": with another
// selector it covers other pods from then on.
func TestReplacedBudgetCoversOthers(t *testing.T) {
	st := world(t, "n1 1: a/0/protected", "n2 1: b/0")
	st.Pods[1].Labels = map[string]string{"app": "other"}
	next := st.Budgets[0]
	next.Selector = &workload.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
	s := snapshotOf(t, st)
	if got, want := text(decide(t, placement.Config{}, s, pending(0))), "Preempt in0@n2; evict b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s, err := s.With(placement.SetBudget(next))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(decide(t, placement.Config{}, s, pending(0))), "Preempt in0@n1; evict a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// "Missing: the least, on one node, for one more pod": the smallest over the nodes, also over
// those that hold some pods already.
func TestLeastMissing(t *testing.T) {
	for _, c := range []struct {
		slots [2]int64 // of the nodes; each pod of the gang of three takes four
		want  int64
	}{{[2]int64{7, 2}, 1}, {[2]int64{2, 7}, 1}, {[2]int64{3, 1}, 1}, {[2]int64{4, 2}, 2}, {[2]int64{6, 5}, 2}, {[2]int64{5, 6}, 2}} {
		r := pending(3)
		for i := range r.Pods {
			r.Pods[i].Requests = workload.Resources{"slots": 4}
		}
		s := snapshotOf(t, world(t, fmt.Sprint("n1 ", c.slots[0], ":"), fmt.Sprint("n2 ", c.slots[1], ":")))
		if d := decide(t, placement.Config{}, s, r); len(d.Shortage) != 1 || d.Shortage[0].Missing != c.want {
			t.Errorf("%v: %+v, want %d missing", c.slots, d.Shortage, c.want)
		}
	}
}

// A group that yields whole is covered by the budget of a pod of it elsewhere, in a cluster of
// any size, and with an order of importance of the caller's.
func TestBudgetOfAPodElsewhere(t *testing.T) {
	lines := []string{"n1 1: a/0/g", "n2 1: b/0/g/protected"}
	for _, more := range []int{0, 20} {
		st := world(t, lines...)
		for i := range more {
			st.Nodes = append(st.Nodes, workload.Node{Name: fmt.Sprintf("small%02d", i)})
		}
		s := snapshotOf(t, st)
		for _, importance := range []func(a, b placement.Unit) int{nil, func(a, b placement.Unit) int { return 0 }} {
			for _, mode := range allModes {
				c := placement.Config{Mode: mode, Importance: importance}
				if got, want := text(decide(t, c, s, pending(0))), "Preempt in0@n1; evict a b, 1 against a budget"; got != want {
					t.Errorf("%v, %d small nodes: %q, want %q", mode, more, got, want)
				}
				c.Budgets = placement.Hard
				if got, want := text(decide(t, c, s, pending(0))), "Impossible (Budgets)"; got != want {
					t.Errorf("%v, %d small nodes, hard: %q, want %q", mode, more, got, want)
				}
			}
		}
	}
}
