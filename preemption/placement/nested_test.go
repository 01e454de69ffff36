package placement_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const whole = workload.DisruptionModePodGroup

// nestedState has two pods in group "leaf" and one in group "other", both in "middle" in "root"; one slot is free.
func nestedState(change func(groups map[string]*workload.PodGroup)) placement.State {
	st := placement.State{
		Nodes: []workload.Node{machine("n1", 2), machine("n2", 2)},
		Pods:  []workload.Pod{cpu("a", "n1", 90, 1), cpu("b", "n2", 90, 1), cpu("c", "n2", 90, 1)},
		Groups: []workload.PodGroup{
			{ID: "root", Priority: 3}, {ID: "middle", Parent: "root", Priority: 70},
			{ID: "leaf", Parent: "middle", Priority: 80}, {ID: "other", Parent: "middle", Priority: 80},
		},
	}
	st.Pods[0].Group, st.Pods[1].Group, st.Pods[2].Group = "leaf", "leaf", "other"
	groups := map[string]*workload.PodGroup{}
	for i := range st.Groups {
		groups[st.Groups[i].ID] = &st.Groups[i]
	}
	change(groups)
	return st
}

// The highest group of mode PodGroup is the unit, whatever is below or above it; the priority is the root's. (As built in
// Kubernetes v1.37.)
func TestUnitsOfNestedGroups(t *testing.T) {
	for name, test := range map[string]struct {
		whole string
		units []string // the most important first
	}{
		"no mode":          {"", []string{"a", "b", "c"}},
		"the own group":    {"leaf", []string{"leaf: a b", "c"}},
		"the middle":       {"middle", []string{"middle: a b c"}},
		"the root":         {"root", []string{"root: a b c"}},
		"single between":   {"leaf root", []string{"root: a b c"}},
		"single above":     {"leaf middle", []string{"middle: a b c"}},
		"two side by side": {"leaf other", []string{"leaf: a b", "other: c"}},
	} {
		st := nestedState(func(groups map[string]*workload.PodGroup) {
			for _, id := range strings.Fields(test.whole) {
				groups[id].DisruptionMode = whole
			}
		})
		var units []string
		for _, u := range snapshotOf(t, st).Units() {
			text := ""
			if u.Group != "" {
				text = u.Group + ": "
			}
			var ids []string
			for _, p := range u.Pods {
				ids = append(ids, p.ID)
			}
			if units = append(units, text+strings.Join(ids, " ")); u.Priority != 3 {
				t.Errorf("%s: priority %d of %v, want the root's", name, u.Priority, ids)
			}
		}
		if !slices.Equal(units, test.units) {
			t.Errorf("%s: %q, want %q", name, units, test.units)
		}
	}
}

// Of units of one priority a group of groups is more important than a larger group, and that than a pod.
func TestGroupsOfGroupsComeFirst(t *testing.T) {
	st := nestedState(func(groups map[string]*workload.PodGroup) { groups["middle"].DisruptionMode = whole })
	st.Nodes[0].Capacity["cpu"] = 9
	st.Groups = append(st.Groups, workload.PodGroup{ID: "flat", Priority: 3, DisruptionMode: whole})
	for _, id := range []string{"d", "e", "f", "g"} {
		p := cpu(id, "n1", 0, 1)
		p.Group = "flat"
		st.Pods = append(st.Pods, p)
	}
	alone := cpu("h", "n1", 3, 1)
	alone.Started = time.Unix(1, 0)
	st.Pods = append(st.Pods, alone)
	var groups []string
	for _, u := range snapshotOf(t, st).Units() {
		groups = append(groups, u.Group)
	}
	if want := []string{"middle", "flat", ""}; !slices.Equal(groups, want) {
		t.Errorf("%q, want %q", groups, want)
	}
}

// A pod without a minimum runtime has that of the nearest group that sets one.
func TestMinimumOfTheNearestGroup(t *testing.T) {
	now := preemptiontest.Now
	for name, test := range map[string]struct {
		change func(groups map[string]*workload.PodGroup)
		until  time.Time
		setBy  string
	}{
		"root": {func(g map[string]*workload.PodGroup) { g["root"].MinRuntime = quota.Some(2 * time.Hour) }, now.Add(time.Hour), `group "root"`},
		"middle is near": {func(g map[string]*workload.PodGroup) {
			g["root"].MinRuntime, g["middle"].MinRuntime = quota.Some(9*time.Hour), quota.Some(3*time.Hour)
		}, now.Add(2 * time.Hour), `group "middle"`},
		"zero is set": {func(g map[string]*workload.PodGroup) {
			g["root"].MinRuntime, g["leaf"].MinRuntime, g["other"].MinRuntime = quota.Some(9*time.Hour), quota.Some(time.Duration(0)), quota.Some(2*time.Hour)
		}, now.Add(time.Hour), `group "other"`},
	} {
		st := nestedState(func(groups map[string]*workload.PodGroup) {
			test.change(groups)
			groups["middle"].DisruptionMode = whole
		})
		st.Nodes[0].Capacity["cpu"] = 1
		for i := range st.Pods {
			st.Pods[i].Started = now.Add(-time.Hour)
		}
		d := decide(t, placement.Config{}, snapshotOf(t, st), placement.Request{Priority: 9, Now: now, Pods: []workload.Pod{cpu("in", "", 0, 1)}})
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(test.until.Add(1)) || len(d.Blockers) == 0 || d.Blockers[0].SetBy != test.setBy {
			t.Errorf("%s: %v at %v, %+v, want %v by %s", name, d.Outcome, d.RetryAt, d.Blockers, test.until, test.setBy)
		}
	}
}

// The pods of a request may be in groups below that of the request.
func TestRequestOfNestedGroups(t *testing.T) {
	st := nestedState(func(map[string]*workload.PodGroup) {})
	st.Groups = append(st.Groups,
		workload.PodGroup{ID: "above", Priority: 9}, workload.PodGroup{ID: "x", Parent: "above"}, workload.PodGroup{ID: "y", Parent: "above"})
	x, y := cpu("x1", "", 0, 1), cpu("y1", "", 0, 1)
	x.Group, y.Group = "x", "y"
	r := placement.Request{Group: "above", Priority: 9, MinCount: 2, Pods: []workload.Pod{x, y}}
	d := decide(t, placement.Config{}, snapshotOf(t, st), r)
	if d.Outcome != preemption.Preempt || len(d.Victims) != 1 || d.Pods[0].Group != "x" || d.Pods[1].Group != "y" {
		t.Errorf("%+v", d)
	}
	r.Pods[1].Group = "leaf"
	if _, err := new(placement.Preemptor).Decide(snapshotOf(t, st), r); err == nil ||
		err.Error() != `request.pods[1].group: "leaf" is neither "above" nor below it` {
		t.Error(err)
	}
}

// What is wrong with parents is said of each group, with its path, by a snapshot and by edits.
func TestParentsAreChecked(t *testing.T) {
	group := func(id, parent string) workload.PodGroup { return workload.PodGroup{ID: id, Parent: parent} }
	_, err := placement.NewSnapshot(placement.State{Groups: []workload.PodGroup{
		group("lost", "gone"), group("self", "self"), group("a", "b"), group("b", "c"), group("c", "a"), group("below", "a"),
		group("1", ""), group("2", "1"), group("3", "2"), group("4", "3"), group("5", "4"), group("6", "5"),
	}})
	want := []string{
		`groups[1].parent: "self" is the group itself`,
		`groups[0].parent: unknown group "gone"`,
		`groups[2].parent: "b" is below group "a"`,
		`groups[3].parent: "c" is below group "b"`,
		`groups[4].parent: "a" is below group "c"`,
		`groups[10].parent: 5 groups in each other, more than 4`,
		`groups[11].parent: 6 groups in each other, more than 4`,
	}
	if err == nil {
		t.Fatal("no fault")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\nwant %s", err, w)
		}
	}
	if n := strings.Count(err.Error(), "groups["); n != len(want) {
		t.Errorf("%d faults, want %d: %v", n, len(want), err)
	}
	s := snapshotOf(t, nestedState(func(map[string]*workload.PodGroup) {}))
	s = edit(t, s, placement.SetGroup(group("top", "")), placement.SetGroup(group("under", "top")))
	for problem, e := range map[string]placement.Edit{
		`edits[0].parent: unknown group "gone"`:                                                           placement.SetGroup(group("top", "gone")),
		`edits[0].parent: "under" is below group "top"`:                                                   placement.SetGroup(group("top", "under")),
		`edits[0].parent: 5 groups in each other, more than 4`:                                            placement.SetGroup(group("top", "leaf")),
		`edits[0].parent: "top" is not the "" that it is: fixed while the group has pods (3)`:             placement.SetGroup(workload.PodGroup{ID: "root", Parent: "top", Priority: 3}),
		`edits[0].disruptionMode: PodGroup is not the Pod that it is: fixed while the group has pods (3)`: placement.SetGroup(workload.PodGroup{ID: "root", Priority: 3, DisruptionMode: whole}),
		`edits[0]: group "root" is the parent of "middle"`:                                                placement.RemoveGroup("root"),
	} {
		if _, err := s.With(e); err == nil || err.Error() != problem {
			t.Errorf("%v, want %s", err, problem)
		}
	}
}

// Sync takes groups away from below and sets them from above.
func TestSyncOfNestedGroups(t *testing.T) {
	old := nestedState(func(map[string]*workload.PodGroup) {})
	for name, test := range map[string]struct {
		change func(groups map[string]*workload.PodGroup)
		edits  int
	}{
		"nothing":          {func(map[string]*workload.PodGroup) {}, 0},
		"priority of root": {func(g map[string]*workload.PodGroup) { g["root"].Priority++ }, 8},
		"mode of middle":   {func(g map[string]*workload.PodGroup) { g["middle"].DisruptionMode = whole }, 6},
		"parent of a leaf": {func(g map[string]*workload.PodGroup) { g["leaf"].Parent = "" }, 2},
		"minimum of root":  {func(g map[string]*workload.PodGroup) { g["root"].MinRuntime = quota.Some(time.Hour) }, 1},
		"upside down":      {func(g map[string]*workload.PodGroup) { g["root"].Parent, g["middle"].Parent = "middle", "" }, 8},
		"another root":     {func(g map[string]*workload.PodGroup) { g["root"].ID, g["middle"].Parent = "top", "top" }, 8},
		"flat": {func(g map[string]*workload.PodGroup) {
			g["middle"].Parent, g["leaf"].Parent, g["other"].Parent = "", "", ""
		}, 6},
	} {
		st := nestedState(test.change)
		s := snapshotOf(t, old)
		next, edits, err := s.Sync(st)
		if err != nil || len(edits) != test.edits {
			t.Errorf("%s: %d edits, want %d; %v", name, len(edits), test.edits, err)
			continue
		}
		isSnapshot(t, name, snapshotOf(t, st), next, placement.Config{}, pending(2))
	}
	gone := old
	gone.Groups = gone.Groups[1:]
	if _, _, err := snapshotOf(t, old).Sync(gone); err == nil || err.Error() != `groups[0].parent: unknown group "root"` {
		t.Error(err)
	}
}

// As built in v1.37 a basic group is placed as a group: any number of its pods is enough, and a unit of lower priority
// yields for all that were placed. In the other modes each pod preempts by itself, where that costs least.
func TestBasicGroupInPlace(t *testing.T) {
	st := placement.State{
		Nodes:  []workload.Node{machine("n1", 1), machine("n2", 1), machine("n3", 1)},
		Pods:   []workload.Pod{cpu("mid", "n1", 5, 1), cpu("high", "n2", 50, 1), cpu("low", "n3", 1, 1)},
		Groups: []workload.PodGroup{{ID: "basic", Priority: 10, Basic: true}},
	}
	r := placement.Request{Group: "basic", Priority: 10, Pods: []workload.Pod{cpu("in0", "", 0, 1)}}
	for mode, want := range map[placement.Mode]string{
		placement.ModeDesign:  "Preempt in0@n3; evict low",
		placement.ModeInPlace: "Preempt in0@n1; evict mid",
	} {
		wantText(t, text(decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r)), want, "%v", mode)
	}
	r.Domains = []placement.Domain{{Name: "rack", Nodes: []string{"n3"}}}
	wantText(t, text(decide(t, placement.Config{Mode: placement.ModeInPlace}, snapshotOf(t, st), r)), "Preempt in0@n3; evict low")
}

// As built in v1.37 units of lower priority are charged to the budgets wherever they run: a more important one on a node
// that takes no pods uses the allowance.
func TestBudgetsAreChargedAnywhere(t *testing.T) {
	labels := map[string]string{"app": "x"}
	first, second := cpu("first", "closed", 5, 1), cpu("second", "n1", 1, 1)
	first.Labels, second.Labels = labels, labels
	st := placement.State{
		Nodes:   []workload.Node{machine("n1", 1), machine("closed", 1)},
		Pods:    []workload.Pod{first, second},
		Budgets: []workload.DisruptionBudget{{Name: "b", Allowed: 1, Selector: &workload.LabelSelector{MatchLabels: labels}}},
	}
	st.Nodes[1].Unschedulable = true
	r := placement.Request{Group: "in", Priority: 10, Pods: []workload.Pod{cpu("in0", "", 0, 1)}}
	for mode, want := range map[placement.Mode]int{placement.ModeDesign: 0, placement.ModeInPlace: 1} {
		if d := decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r); d.Violations != want || len(d.Victims) != 1 {
			t.Errorf("%v: %+v, want %d violations", mode, d, want)
		}
	}
}

// The root's priority counts for all pods of nested groups, as in kube-scheduler 1.37, in every mode. By KEP-5710 the
// smallest unit that states one would overwrite those above it.
func TestNestedPriorityIsTheRoots(t *testing.T) {
	for _, mode := range []placement.Mode{placement.ModeDesign, placement.ModeInPlace} {
		for _, c := range []struct {
			root, leaf int32
			want       preemption.Outcome
		}{{9, 1, preemption.Impossible}, {1, 9, preemption.Preempt}} {
			pod := cpu("a", "n1", 0, 1)
			pod.Group = "leaf"
			st := placement.State{
				Nodes: []workload.Node{machine("n1", 1)}, Pods: []workload.Pod{pod},
				Groups: []workload.PodGroup{{ID: "root", Priority: c.root}, {ID: "leaf", Parent: "root", Priority: c.leaf}},
			}
			r := placement.Request{Priority: 5, Pods: []workload.Pod{cpu("in", "", 5, 1)}}
			if d := decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r); d.Outcome != c.want {
				t.Errorf("%v, root %d, leaf %d: %v, want %v", mode, c.root, c.leaf, d.Outcome, c.want)
			}
		}
	}
}
