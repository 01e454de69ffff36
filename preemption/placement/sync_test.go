package placement_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Sync leads from any state to any other: to what NewSnapshot makes of it, by edits that do
// the same, or to its faults.
func syncIsNewSnapshot(t *rapid.T) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	c := preemptiontest.PlacementConfigs().Draw(t, "config")
	s := snapshotOf(t, record.State)
	for range rapid.IntRange(1, 3).Draw(t, "steps") {
		st := changedState(t, s.State())
		if rapid.IntRange(0, 3).Draw(t, "another") == 0 {
			st = preemptiontest.PlacementRecords().Draw(t, "other").State
		}
		if rapid.Bool().Draw(t, "in another order") {
			st.Pods, st.Nodes = rapid.Permutation(st.Pods).Draw(t, "pods"), rapid.Permutation(st.Nodes).Draw(t, "nodes")
		}
		before := s.State()
		next, edits, err := s.Sync(st)
		noDiff(t, "the receiver is another", before, s.State())
		whole, wanted := placement.NewSnapshot(st)
		if fmt.Sprint(err) != fmt.Sprint(wanted) {
			t.Fatalf("error %v, want %v", err, wanted)
		}
		if err != nil {
			if next != s || edits != nil {
				t.Fatalf("with an error: %p and %d edits, want %p and none", next, len(edits), s)
			}
			continue
		}
		for name, got := range map[string]*placement.Snapshot{"Sync": next, "With": edit(t, s, edits...)} {
			isSnapshot(t, name, whole, got, c, *record.Request)
		}
		if same, again, err := next.Sync(st); err != nil || len(again) > 0 || same != next {
			t.Fatalf("once more: %d edits, %v", len(again), err)
		}
		if s = next; rapid.Bool().Draw(t, "edits between") { // that replace pods: those under the budget, those of a group, one
			budget := workload.DisruptionBudget{Namespace: "ns", Name: "between", Selector: &workload.LabelSelector{}}
			edits := []placement.Edit{placement.SetBudget(budget), placement.SetGroup(workload.PodGroup{ID: "between"}), placement.RemoveGroup("between")}
			for p := range s.Pods() {
				if !p.Terminating {
					edits = append(edits, placement.StartEviction(p.ID))
					break
				}
			}
			s = edit(t, s, edits...)
		}
	}
}

// Where nothing changed, Sync allocates the same few lists whatever the size of the cluster. With
// the pods in another order, the second one does.
func TestAllocationsOfSyncWithoutChanges(t *testing.T) {
	skipInRace(t)
	for _, backwards := range []bool{false, true} {
		for _, nodes := range []int{50, 400} {
			st := fleet{nodes: nodes, perNode: 10, levels: 5, covered: 5}.state()
			s := snapshotOf(t, st)
			if backwards {
				slices.Reverse(st.Pods)
			}
			s, edits, err := s.Sync(st)
			if len(edits) > 0 || err != nil {
				t.Fatal(edits, err)
			}
			n := testing.AllocsPerRun(5, func() {
				if again, edits, err := s.Sync(st); again != s || len(edits) > 0 || err != nil {
					t.Fatal(edits, err)
				}
			})
			if n > 60 {
				t.Errorf("%d nodes, backwards %v: %v allocations", nodes, backwards, n)
			}
		}
	}
}

// isSnapshot checks that two snapshots are equal and decide alike.
func isSnapshot(t fatal, name string, want, got *placement.Snapshot, c placement.Config, r placement.Request) {
	t.Helper()
	if diff := differ(want.State(), got.State()); diff != "" {
		t.Fatal(name, "another state:", diff)
	}
	if diff := differ(new(placement.Preemptor).PotentialVictims(want, r.Priority), new(placement.Preemptor).PotentialVictims(got, r.Priority)); diff != "" {
		t.Fatal(name, "other potential victims:", diff)
	}
	p := must(placement.New(c))(t)
	d, err := p.Decide(want, r)
	again, other := p.Decide(got, r)
	if fmt.Sprint(err) != fmt.Sprint(other) {
		t.Fatal(name, other, "want", err)
	}
	if diff := differ(d, again); diff != "" {
		t.Fatal(name, "another decision:", diff)
	}
}

// changedState draws a state near another, or one that is not valid.
func changedState(t *rapid.T, st placement.State) placement.State {
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		at := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "at") }
		switch kind := rapid.IntRange(0, 24).Draw(t, "kind"); {
		case len(st.Pods) == 0 || len(st.Nodes) == 0:
		case kind == 0:
			st.Pods = append(st.Pods[:0], st.Pods[1:]...)
		case kind == 1:
			st.Pods[at(len(st.Pods))].Node = st.Nodes[at(len(st.Nodes))].Name
		case kind == 2:
			st.Pods[at(len(st.Pods))].Priority += 2
		case kind == 3:
			st.Pods[at(len(st.Pods))].Requests = workload.Resources{"cpu": 1, "disk": 2}
		case kind == 4:
			st.Pods[at(len(st.Pods))].Labels = map[string]string{"app": "db"}
		case kind == 5:
			st.Pods[at(len(st.Pods))].Started = preemptiontest.Now.Add(-time.Minute)
		case kind == 6:
			st.Pods[at(len(st.Pods))].Terminating = true
		case kind == 7:
			p := st.Pods[at(len(st.Pods))]
			p.ID += "x"
			st.Pods = append(st.Pods, p)
		case kind == 8:
			st.Pods = append(st.Pods, st.Pods[at(len(st.Pods))]) // twice
		case kind == 9:
			st.Nominated = append(st.Nominated, st.Pods[at(len(st.Pods))]) // runs, and perhaps terminates
		case kind == 10 && len(st.Nominated) > 0:
			p := st.Nominated[at(len(st.Nominated))]
			if st.Pods = append(st.Pods, p); rapid.Bool().Draw(t, "bound") {
				st.Nominated = nil
			}
		case kind == 11:
			n := at(len(st.Nodes))
			st.Nodes[n].Capacity = workload.Resources{"cpu": 9}
			st.Nodes[n].Unschedulable = !st.Nodes[n].Unschedulable
		case kind == 12:
			st.Nodes = append(st.Nodes, workload.Node{Name: "more", Capacity: workload.Resources{"cpu": 4}})
		case kind == 13: // a node is gone, and its pods move, unless they do not
			last := len(st.Nodes) - 1
			for i := range st.Pods {
				if st.Pods[i].Node == st.Nodes[last].Name && rapid.IntRange(0, 9).Draw(t, "moves") > 0 {
					st.Pods[i].Node = st.Nodes[0].Name
				}
			}
			st.Nodes = st.Nodes[:last]
		case kind == 14 && len(st.Groups) > 0:
			st.Groups[at(len(st.Groups))].Priority++
		case kind == 15 && len(st.Groups) > 0:
			g := &st.Groups[at(len(st.Groups))]
			g.DisruptionMode, g.Basic = workload.DisruptionModePodGroup-g.DisruptionMode, false
		case kind == 16 && len(st.Groups) > 0:
			st.Groups = st.Groups[1:]
		case kind == 20 && len(st.Groups) > 0: // perhaps below itself
			st.Groups[at(len(st.Groups))].Parent = st.Groups[at(len(st.Groups))].ID
		case kind == 21 && len(st.Groups) > 0:
			st.Groups[at(len(st.Groups))].Parent = ""
		case kind == 22 && len(st.Claims) > 0: // its pods may still hold it
			st.Claims = append(st.Claims[:0], st.Claims[1:]...)
		case kind == 23 && len(st.Claims) > 0:
			st.Claims[0].Requests = workload.Resources{"device": 7}
		case kind == 24 && len(st.Claims) > 0:
			p := &st.Pods[at(len(st.Pods))]
			p.Claims = []string{st.Claims[at(len(st.Claims))].ID}
		case kind == 17 && len(st.Budgets) > 0:
			st.Budgets[at(len(st.Budgets))].Allowed++
		case kind == 18 && len(st.Budgets) > 0:
			st.Budgets[at(len(st.Budgets))].Selector = &workload.LabelSelector{}
		case kind == 19 && len(st.Budgets) > 0:
			st.Budgets = append(st.Budgets[1:], workload.DisruptionBudget{Namespace: "ns", Name: "new", Disrupted: []string{st.Pods[0].ID}})
		}
	}
	return st
}

// Each field of each kind is compared: a change of it is one edit, and the state is the new
// one. A time in another zone is no change.
func TestSyncMissesNothing(t *testing.T) {
	state := func() placement.State {
		st := world(t, "n1 2: a/1/g b/2", "n2 1: leaves/1/leaving")
		promise(&st, "w", "n1", 3)
		return st
	}
	for name, test := range map[string]struct {
		change func(st *placement.State)
		edits  int
	}{
		"nothing":    {func(*placement.State) {}, 0},
		"uid":        {func(st *placement.State) { st.Pods[0].UID = "other" }, 1},
		"namespace":  {func(st *placement.State) { st.Pods[1].Namespace = "other" }, 1},
		"labels":     {func(st *placement.State) { st.Pods[1].Labels = map[string]string{"a": "b"} }, 1},
		"no labels":  {func(st *placement.State) { st.Pods[1].Labels = map[string]string{} }, 0},
		"group":      {func(st *placement.State) { st.Pods[0].Group = "" }, 1},
		"priority":   {func(st *placement.State) { st.Pods[1].Priority++ }, 1},
		"requests":   {func(st *placement.State) { st.Pods[1].Requests = workload.Resources{"slots": 2} }, 1},
		"node":       {func(st *placement.State) { st.Pods[1].Node = "n2" }, 1},
		"nodes":      {func(st *placement.State) { st.Pods[1].Nodes = []string{"n2"} }, 1},
		"nowhere":    {func(st *placement.State) { st.Pods[1].Nowhere = true }, 1},
		"started":    {func(st *placement.State) { st.Pods[1].Started = time.Unix(9, 0) }, 1},
		"leaves":     {func(st *placement.State) { st.Pods[1].Terminating = true }, 1},
		"since":      {func(st *placement.State) { st.Pods[2].TerminatingSince = time.Unix(9, 0) }, 1},
		"preempted":  {func(st *placement.State) { st.Pods[2].Preempted = false }, 1},
		"nomination": {func(st *placement.State) { st.Nominated[0].Priority++ }, 1},
		"withdrawn":  {func(st *placement.State) { st.Nominated = nil }, 1},
		"bound":      {func(st *placement.State) { st.Pods, st.Nominated = append(st.Pods, st.Nominated[0]), nil }, 2},
		"capacity":   {func(st *placement.State) { st.Nodes[0].Capacity["slots"]++ }, 1},
		"node label": {func(st *placement.State) { st.Nodes[0].Labels = map[string]string{"a": "b"} }, 1},
		"cordoned":   {func(st *placement.State) { st.Nodes[0].Unschedulable = true }, 1},
		"group mode": {func(st *placement.State) { st.Groups[0].DisruptionMode = workload.DisruptionModePod }, 2},
		"group priority": {func(st *placement.State) {
			st.Groups[0].Priority++
			st.Pods[0].Priority++
		}, 3},
		"no group":  {func(st *placement.State) { st.Groups = nil }, 1},
		"allowed":   {func(st *placement.State) { st.Budgets[0].Allowed++ }, 1},
		"disrupted": {func(st *placement.State) { st.Budgets[0].Disrupted = []string{"a"} }, 1},
		"labelled":  {func(st *placement.State) { st.Budgets[0].LabelledOnly = true }, 1},
		"selector":  {func(st *placement.State) { st.Budgets[0].Selector.MatchLabels["app"] = "other" }, 1},
		"no budget": {func(st *placement.State) { st.Budgets = nil }, 1},
		"swapped":   {func(st *placement.State) { st.Pods[0], st.Pods[1] = st.Pods[1], st.Pods[0] }, 0},
	} {
		st := state()
		test.change(&st)
		s := snapshotOf(t, state())
		next, edits, err := s.Sync(st)
		if err != nil || len(edits) != test.edits {
			t.Errorf("%s: %d edits, want %d; %v", name, len(edits), test.edits, err)
			continue
		}
		isSnapshot(t, name, snapshotOf(t, st), next, placement.Config{}, pending(2))
	}
	var none *placement.Snapshot
	if next, edits, err := none.Sync(state()); err != nil || len(edits) != 8 || len(next.State().Pods) != 3 {
		t.Errorf("from nothing: %d edits, %v", len(edits), err)
	}
	st := state()
	st.Pods[0].Started = time.Unix(5, 0)
	s := snapshotOf(t, st)
	st.Pods[0].Started = st.Pods[0].Started.In(time.FixedZone("there", 3600))
	if _, edits, err := s.Sync(st); err != nil || len(edits) > 0 {
		t.Errorf("in another zone: %d edits, %v", len(edits), err)
	}
}

// Two of a name are refused as NewSnapshot refuses them, be they new or there before; s stays.
func TestSyncRefusesTwice(t *testing.T) {
	for name, change := range map[string]func(st *placement.State){
		"a pod that is there": func(st *placement.State) { st.Pods = append(st.Pods, st.Pods[0]) },
		"new pods": func(st *placement.State) {
			st.Pods = append(st.Pods, workload.Pod{ID: "new", Node: "n1"}, workload.Pod{ID: "new", Node: "n2"})
		},
		"a nominated pod": func(st *placement.State) { st.Nominated = append(st.Nominated, st.Nominated[0]) },
		"new nominated pods": func(st *placement.State) {
			st.Nominated = append(st.Nominated, workload.Pod{ID: "new", Node: "n1"}, workload.Pod{ID: "new", Node: "n2"})
		},
		"runs, and nominated":  func(st *placement.State) { st.Pods = append(st.Pods, st.Nominated[0]) },
		"a node that is there": func(st *placement.State) { st.Nodes = append(st.Nodes, st.Nodes[0]) },
		"new nodes": func(st *placement.State) {
			st.Nodes = append(st.Nodes, workload.Node{Name: "new"}, workload.Node{Name: "new"})
		},
		"a known group": func(st *placement.State) { st.Groups = append(st.Groups, st.Groups[0]) },
		"new groups": func(st *placement.State) {
			st.Groups = append(st.Groups, workload.PodGroup{ID: "new"}, workload.PodGroup{ID: "new"})
		},
		"a known budget": func(st *placement.State) { st.Budgets = append(st.Budgets, st.Budgets[0]) },
		"new budgets": func(st *placement.State) {
			st.Budgets = append(st.Budgets, workload.DisruptionBudget{Name: "new"}, workload.DisruptionBudget{Name: "new"})
		},
	} {
		st := world(t, "n1 2: a/1/g b/2", "n2 1:")
		promise(&st, "w", "n1", 3)
		s := snapshotOf(t, st)
		change(&st)
		_, want := placement.NewSnapshot(st)
		next, edits, err := s.Sync(st)
		if want == nil || err == nil || err.Error() != want.Error() || next != s || edits != nil {
			t.Errorf("%s: %v, want %v; %d edits", name, err, want, len(edits))
		}
	}
}

// Where a snapshot between two edits is not valid, the edits start from nothing: two pods that
// hold all that can be counted change places; all of the resources are others.
func TestSyncStartsAnew(t *testing.T) {
	most := workload.Resources{"cpu": quota.MaxUsage}
	var old, next placement.State
	for _, n := range []string{"n1", "n2"} {
		old.Nodes = append(old.Nodes, workload.Node{Name: n})
		next.Nodes = append(next.Nodes, workload.Node{Name: n})
	}
	old.Pods = []workload.Pod{{ID: "a", Node: "n1", Requests: most}, {ID: "b", Node: "n2", Requests: most}}
	next.Pods = []workload.Pod{{ID: "a", Node: "n2", Requests: most}, {ID: "b", Node: "n1", Requests: most}}
	s := snapshotOf(t, old)
	for range 2 {
		got, edits, err := s.Sync(next)
		if err != nil {
			t.Fatal(err)
		}
		r := placement.Request{Priority: 1, Pods: []workload.Pod{{ID: "in"}}}
		isSnapshot(t, "Sync", snapshotOf(t, next), got, placement.Config{}, r)
		isSnapshot(t, "With", snapshotOf(t, next), edit(t, s, edits...), placement.Config{}, r)
		capacity := func(kind string) workload.Resources {
			r := workload.Resources{}
			for i := range placement.MaxResources {
				r[fmt.Sprint(kind, i)] = 1
			}
			return r
		}
		s = snapshotOf(t, placement.State{Nodes: []workload.Node{{Name: "n", Capacity: capacity("old")}}})
		next = placement.State{Nodes: []workload.Node{{Name: "n", Capacity: capacity("new")}}}
	}
}

// What changed costs what its edits cost: a state in which one pod changed allocates the same
// at any size, but for the lists of who was seen.
func TestAllocationsOfSync(t *testing.T) {
	skipInRace(t)
	for _, nodes := range []int{50, 400} {
		st := fleet{nodes: nodes, perNode: 10, levels: 3, covered: 5}.state()
		s := snapshotOf(t, st)
		st.Pods[7].Priority++
		n := testing.AllocsPerRun(5, func() {
			if _, edits, err := s.Sync(st); err != nil || len(edits) != 1 {
				t.Fatalf("%d edits, %v", len(edits), err)
			}
		})
		if n > 250 {
			t.Errorf("%d nodes: %v allocations", nodes, n)
		}
	}
}

// Equal lists of the nodes where pods may run are copied once, as in a new snapshot.
func TestAllocationsOfSyncOfNamedNodes(t *testing.T) {
	skipInRace(t)
	st := fleet{nodes: 50, perNode: 10, levels: 3}.state()
	s := snapshotOf(t, st)
	for i := range st.Pods {
		st.Pods[i].Nodes = make([]string, 1000)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, edits, err := s.Sync(st); err != nil || len(edits) != len(st.Pods) {
		t.Fatalf("%d edits, %v", len(edits), err)
	}
	runtime.ReadMemStats(&after)
	if n, list := after.TotalAlloc-before.TotalAlloc, uint64(16_000); n > list*uint64(len(st.Pods)) {
		t.Errorf("%d bytes: as much as a list for each pod", n)
	}
}

// A pod is charged to its budgets in their order, also after one budget took the place of another in one edit:
// the first, which it violates, is before the new one, which then allows the other pod.
func TestANewBudgetComesInItsOrder(t *testing.T) {
	all := &workload.LabelSelector{}
	st := placement.State{
		Nodes: []workload.Node{{Name: "n", Capacity: workload.Resources{"cpu": 2}}},
		Pods: []workload.Pod{
			{ID: "ns/1", Namespace: "ns", Node: "n", Priority: 2, Labels: map[string]string{"app": "web"}, Requests: workload.Resources{"cpu": 1}},
			{ID: "ns/2", Namespace: "ns", Node: "n", Priority: 1, Requests: workload.Resources{"cpu": 1}},
		},
		Budgets: []workload.DisruptionBudget{
			{Namespace: "ns", Name: "a", Selector: all, Allowed: 1},
			{Namespace: "ns", Name: "b", Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		},
	}
	s := snapshotOf(t, st)
	st.Budgets[0].Name = "c"
	next, _, err := s.Sync(st)
	if err != nil {
		t.Fatal(err)
	}
	p := must(placement.New(placement.Config{Charge: placement.ChargeToFirstViolated}))(t)
	d, err := p.Decide(next, placement.Request{Priority: 9, Pods: []workload.Pod{{ID: "ns/new", Namespace: "ns", Requests: workload.Resources{"cpu": 2}}}})
	if err != nil || len(d.Victims) != 2 || d.Violations != 1 {
		t.Errorf("%d victims, %d violations, %v; want 2 and 1", len(d.Victims), d.Violations, err)
	}
}
