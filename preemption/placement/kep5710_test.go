package placement_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// world is a state in few words. Each line is a node, its slots, and what runs there: a
// name, a priority, and marks: a group, "young", "old", "protected" (by a budget that
// allows nothing), "leaving".
//
//	node1 2: low/10 member/5/g web/10/protected
func world(t *testing.T, lines ...string) placement.State {
	t.Helper()
	var st placement.State
	groups := map[string]bool{}
	for _, line := range lines {
		head, pods, ok := strings.Cut(line, ":")
		n := workload.Node{Capacity: workload.Resources{}}
		var slots int64
		if _, err := fmt.Sscan(head, &n.Name, &slots); err != nil || !ok {
			t.Fatalf("%q is no node: %v", line, err)
		}
		n.Capacity["slots"] = slots
		st.Nodes = append(st.Nodes, n)
		for _, text := range strings.Fields(pods) {
			words := strings.Split(text, "/")
			p := workload.Pod{ID: words[0], UID: words[0], Node: n.Name, Requests: workload.Resources{"slots": 1}}
			if _, err := fmt.Sscan(words[1], &p.Priority); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			for _, mark := range words[2:] {
				switch mark {
				case "young":
					p.Started = time.Unix(2000, 0)
				case "old":
					p.Started = time.Unix(1000, 0)
				case "protected":
					p.Labels = map[string]string{"app": "protected"}
				case "leaving":
					p.Terminating, p.Preempted = true, true
				default:
					p.Group = mark
					if !groups[mark] {
						st.Groups = append(st.Groups, workload.PodGroup{ID: mark, Priority: p.Priority, DisruptionMode: workload.DisruptionModePodGroup})
					}
					groups[mark] = true
				}
			}
			st.Pods = append(st.Pods, p)
		}
	}
	st.Budgets = []workload.DisruptionBudget{{Name: "budget", Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "protected"}}}}
	return st
}

// pending is a group of n pods of one slot each, priority 1000; n = 0 is a single pod.
func pending(n int) placement.Request {
	r := placement.Request{Priority: 1000, Group: "in", MinCount: n}
	if n == 0 {
		n, r.Group = 1, ""
	}
	for i := range n {
		r.Pods = append(r.Pods, workload.Pod{ID: fmt.Sprintf("in%d", i), Requests: workload.Resources{"slots": 1}})
	}
	return r
}

// text is a decision in one line.
func text(d placement.Decision) string {
	var b strings.Builder
	b.WriteString(d.Outcome.String())
	if d.Reason != 0 {
		fmt.Fprintf(&b, " (%v)", d.Reason)
	}
	for _, n := range d.Nominations {
		fmt.Fprintf(&b, " %s@%s", n.Pod, n.Node)
	}
	if len(d.Victims) > 0 {
		b.WriteString("; evict " + strings.Join(slices.Sorted(maps.Keys(victimIDs(d))), " "))
	}
	if d.Violations > 0 {
		fmt.Fprintf(&b, ", %d against a budget", d.Violations)
	}
	if len(d.Withdrawn) > 0 {
		fmt.Fprintf(&b, "; withdraw %s", strings.Join(d.Withdrawn, " "))
	}
	return b.String()
}

type change func(st *placement.State, r *placement.Request, c *placement.Config)

// rules are the sentences of KEP-5710, with the sections that hold them.
var rules = []struct {
	section, sentence string
	nodes             []string
	members           int
	change            change
	want              string
}{
	{"Preemption algorithm", "a pod that fits preempts nobody", []string{"n1 2: a/0"}, 0, nil, "Fits in0@n1"},
	{"Preemption algorithm", "pod preempts pod", []string{"n1 1: a/0", "n2 1: b/1000"}, 0, nil, "Preempt in0@n1; evict a"},
	{"Preemption algorithm", "pod preempts group, pods elsewhere included", []string{"n1 1: a/0/g", "n2 1: b/0/g", "n3 1: c/2000"}, 0, nil, "Preempt in0@n1; evict a b"},
	{"Preemption algorithm", "group preempts pods", []string{"n1 1: a/0", "n2 1: b/0"}, 2, nil, "Preempt in0@n1 in1@n2; evict a b"},
	{"Preemption algorithm", "group preempts groups and pods", []string{"n1 1: a/0/g", "n2 2: b/0/g c/0"}, 3, nil, "Preempt in0@n1 in1@n2 in2@n2; evict a b c"},
	{"Preemption algorithm", "equal priority never yields", []string{"n1 1: a/1000"}, 0, nil, "Impossible (NoVictims)"},
	{"Preemption algorithm", "removing all victims must make room", []string{"n1 1: a/0"}, 2, nil, "Impossible (NoRoom)"},
	{"Preemption algorithm", "higher priority is reprieved first", []string{"n1 2: a/1 b/2"}, 0, nil, "Preempt in0@n1; evict a"},
	{"Preemption algorithm", "within a priority groups are reprieved first", []string{"n1 2: a/1/g b/1"}, 0, nil, "Preempt in0@n1; evict b"},
	{"Preemption algorithm", "within those the older is", []string{"n1 2: a/1/young b/1/old"}, 0, nil, "Preempt in0@n1; evict a"},
	{"Preemption algorithm", "the lowest priority that suffices is searched for", []string{"n1 1: mid/100", "n2 1: low/10"}, 1, nil, "Preempt in0@n2; evict low"},
	{"as built in v1.37", "in place it is not", []string{"n1 1: mid/100", "n2 1: low/10"}, 1,
		func(_ *placement.State, _ *placement.Request, c *placement.Config) { c.Mode = placement.ModeInPlace }, "Preempt in0@n1; evict mid"},
	{"as built in v1.36", "placing anew finds it too", []string{"n1 1: mid/100", "n2 1: low/10"}, 1,
		func(_ *placement.State, _ *placement.Request, c *placement.Config) { c.Mode = placement.ModeReplace }, "Preempt in0@n2; evict low"},
	{"Preemption algorithm", "not over the list of victims: one priority, one answer", []string{"n1 1: g1/10/g", "n2 1: g2/10/g", "n3 1: m/100"}, 1, nil, "Preempt in0@n1; evict g1 g2"},
	{"Preemption algorithm", "budgets are kept where the placement allows it", []string{"n1 2: a/1/protected b/2"}, 0, nil, "Preempt in0@n1; evict b"},
	{"Preemption algorithm", "and violated where it does not", []string{"n1 1: a/1/protected"}, 1, nil, "Preempt in0@n1; evict a, 1 against a budget"},
	{"Preemption algorithm", "the number of violations is not minimal", []string{"n1 1: a/1/protected", "n2 1: b/100"}, 1, nil, "Preempt in0@n1; evict a, 1 against a budget"},
	{"Preemption algorithm", "units saved from violation stay in the search", []string{"n1 1: m/100", "n2 1: a/10/protected"}, 1, nil, "Preempt in0@n1; evict m"},
	{"hard budgets", "a budget is never violated", []string{"n1 1: a/1/protected", "n2 1: b/100"}, 1,
		func(_ *placement.State, _ *placement.Request, c *placement.Config) { c.Budgets = placement.Hard }, "Preempt in0@n2; evict b"},
	{"hard budgets", "and the reason says so", []string{"n1 1: a/1/protected"}, 1,
		func(_ *placement.State, _ *placement.Request, c *placement.Config) { c.Budgets = placement.Hard }, "Impossible (Budgets)"},
	{"Pod Group priorities", "the group's priority counts, not the pod's: as victim", []string{"n1 1: a/5/g"}, 0,
		func(st *placement.State, _ *placement.Request, _ *placement.Config) { st.Groups[0].Priority = 1000 }, "Impossible (NoVictims)"},
	{"Pod Group priorities", "and as preemptor", []string{"n1 1: a/5"}, 1,
		func(_ *placement.State, r *placement.Request, _ *placement.Config) {
			r.Priority = 5
		}, "Impossible (NoVictims)"},
	{"Pod Group priorities", "a policy of Never preempts nobody", []string{"n1 1: a/5"}, 1,
		func(_ *placement.State, r *placement.Request, _ *placement.Config) { r.Policy = placement.PreemptNever }, "Impossible (PolicyNever)"},
	{"Preemption unit", "mode Pod: each pod by itself", []string{"n1 1: a/0/g", "n2 1: b/0/g"}, 0,
		func(st *placement.State, _ *placement.Request, _ *placement.Config) {
			st.Groups[0].DisruptionMode = workload.DisruptionModePod
		}, "Preempt in0@n1; evict a"},
	{"Preemption unit", "a group that has no object: its pods by themselves, with their own priority", []string{"n1 1: a/0/g", "n2 1: b/0/g"}, 0,
		func(st *placement.State, _ *placement.Request, _ *placement.Config) { st.Groups = nil }, "Preempt in0@n1; evict a"},
	{"scoring", "a node that costs a group elsewhere is worse", []string{"n1 1: a/0/g", "n2 1: b/0", "n3 1: c/0/g"}, 0, nil, "Preempt in0@n2; evict b"},
	{"scoring", "the lowest highest priority first", []string{"n1 1: a/7", "n2 1: b/3"}, 0, nil, "Preempt in0@n2; evict b"},
	{"scoring", "then the latest start", []string{"n1 1: a/3/old", "n2 1: b/3/young"}, 0, nil, "Preempt in0@n2; evict b"},
	{"scoring", "fewest violations before all", []string{"n1 1: a/1/protected", "n2 1: b/5"}, 0, nil, "Preempt in0@n2; evict b"},
	{"scoring", "the lowest highest priority, though higher ones run beside it", []string{"n1 1: c/4", "n2 2: a/3 b/9"}, 0, nil, "Preempt in0@n2; evict a"},
	{"scoring", "then the smallest sum of priorities", []string{"n1 2: a/5 b/3", "n2 2: c/5 d/1"}, 0, twoSlots, "Preempt in0@n2; evict c d"},
	{"scoring", "in which one more pod outweighs a negative priority", []string{"n1 2: a/5/g b/-7", "n2 2: c/5"}, 0,
		func(st *placement.State, r *placement.Request, c *placement.Config) {
			twoSlots(st, r, c)
			st.Nodes[1].Capacity["slots"] = 2
		}, "Preempt in0@n2; evict c"},
	{"scoring", "of several the earliest start counts", []string{"n1 2: a/3/old b/3/young", "n2 2: c/3/young d/3/young"}, 0, twoSlots, "Preempt in0@n2; evict c d"},
	{"as built in v1.37", "of groups the one with more pods is reprieved first", []string{"n1 2: a/1/g b/1/h", "n2 1: c/1/h"}, 0, nil, "Preempt in0@n1; evict a"},
	{"scoring", "then the first node", []string{"n2 1: b/3", "n1 1: a/3"}, 0, nil, "Preempt in0@n1; evict a"},
	{"domains", "a group is placed within one of the caller's domains", []string{"n1 1: a/0", "n2 1: b/5", "n3 1: c/1", "n4 1: d/1"}, 2,
		func(_ *placement.State, r *placement.Request, _ *placement.Config) {
			r.Domains = []placement.Domain{{Name: "x", Nodes: []string{"n1", "n2"}}, {Name: "y", Nodes: []string{"n3", "n4"}}}
		}, "Preempt in0@n3 in1@n4; evict c d"},
	{"Delayed preemption", "victims that terminate count as gone", []string{"n1 1: a/0/leaving", "n2 1: b/0"}, 0, nil, "Wait in0@n1"},
	{"Delayed preemption", "a feasible nomination preempts nobody more", []string{"n1 1: a/0/leaving"}, 0,
		func(st *placement.State, _ *placement.Request, _ *placement.Config) { promise(st, "in0", "n1", 1000) }, "Wait in0@n1"},
	{"Delayed preemption", "but it may be met elsewhere", []string{"n1 1: a/0/leaving", "n2 1:"}, 0,
		func(st *placement.State, _ *placement.Request, _ *placement.Config) { promise(st, "in0", "n1", 1000) }, "Fits in0@n2"},
	{"Delayed preemption", "an infeasible one starts from scratch", []string{"n1 1: a/2000", "n2 1: b/0"}, 0,
		func(st *placement.State, _ *placement.Request, _ *placement.Config) { promise(st, "in0", "n1", 1000) }, "Preempt in0@n2; evict b"},
	{"Delayed preemption", "room promised to others of equal priority is theirs", []string{"n1 1:", "n2 1: b/0"}, 0,
		func(st *placement.State, _ *placement.Request, _ *placement.Config) { promise(st, "other", "n1", 1000) }, "Preempt in0@n2; evict b"},
	{"Delayed preemption", "room promised to those of lower priority is not", []string{"n1 2: a/0 b/5"}, 0,
		func(st *placement.State, _ *placement.Request, _ *placement.Config) { promise(st, "other", "n1", 999) }, "Preempt in0@n1; evict a; withdraw other"},
	{"as built in v1.37", "earlier victims on the nominated node block", []string{"n1 1: a/0/leaving", "n2 1: b/0"}, 1,
		func(st *placement.State, _ *placement.Request, c *placement.Config) {
			promise(st, "in0", "n1", 1000)
			c.Mode = placement.ModeInPlace
		}, "Wait in0@n1"},
	{"as built in v1.37", "elsewhere they are preempted again", []string{"n1 1: a/0/leaving"}, 1,
		func(_ *placement.State, _ *placement.Request, c *placement.Config) { c.Mode = placement.ModeInPlace }, "Preempt in0@n1; evict a"},
	{"gang", "a gang of fewer than its minimum is not placed", []string{"n1 1: a/0", "n2 1: b/2000"}, 2, nil, "Impossible (NoRoom)"},
	{"gang", "without a minimum any number is placed", []string{"n1 1: a/0", "n2 1: b/2000"}, 2,
		func(_ *placement.State, r *placement.Request, _ *placement.Config) { r.MinCount = 0 }, "Preempt in0@n1; evict a"},
	{"gang", "it never shrinks below what was placed, to lower the priority", []string{"n1 1: a/0", "n2 1: b/500"}, 2,
		func(_ *placement.State, r *placement.Request, _ *placement.Config) { r.MinCount = 1 }, "Preempt in0@n1 in1@n2; evict a b"},
	{"gang", "nor when nodes are filled in another way: then the first placement stands",
		[]string{"n1 4: a/5 b/5 c/5 d/5", "n2 4: p/1/protected q/1/protected"}, 3,
		func(_ *placement.State, r *placement.Request, c *placement.Config) {
			r.SkipFit, r.Pods[2].Nodes, c.Order = true, []string{"n2"}, placement.BestFit
		}, "Preempt in0@n1 in1@n1 in2@n2; evict c d"},
	{"overfull node", "a reprieve may fail though nothing changed", []string{"n1 3: a/1 b/2 c/3 d/4"}, 0, nil, "Preempt in0@n1; evict a b"},
	{"overfull node", "but not where the preemptor is not", []string{"n1 1: a/1 b/2", "n2 1: c/0"}, 1, nil, "Preempt in0@n2; evict c"},
}

// twoSlots asks for two slots.
func twoSlots(_ *placement.State, r *placement.Request, _ *placement.Config) {
	r.Pods[0].Requests = workload.Resources{"slots": 2}
}

func promise(st *placement.State, id, node string, priority int32) {
	st.Nominated = append(st.Nominated, workload.Pod{ID: id, Node: node, Priority: priority, Requests: workload.Resources{"slots": 1}})
}

func TestKEP5710(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.section+"/"+rule.sentence, func(t *testing.T) {
			st, r, c := world(t, rule.nodes...), pending(rule.members), placement.Config{}
			if rule.change != nil {
				rule.change(&st, &r, &c)
			}
			if got := text(decide(t, c, snapshotOf(t, st), r)); got != rule.want {
				t.Errorf("%q, want %q", got, rule.want)
			}
		})
	}
}

// Built-in placements of three pods of one slot on nodes with three, one and two.
func TestOrders(t *testing.T) {
	st := world(t, "n1 3:", "n2 1:", "n3 2:")
	for order, want := range map[placement.Order]string{
		placement.FirstFit:   "Fits in0@n1 in1@n1 in2@n1",
		placement.BestFit:    "Fits in0@n2 in1@n3 in2@n3",
		placement.RoundRobin: "Fits in0@n1 in1@n2 in2@n3",
	} {
		if got := text(decide(t, placement.Config{Order: order}, snapshotOf(t, st), pending(3))); got != want {
			t.Errorf("%v: %q, want %q", order, got, want)
		}
	}
	r := pending(3)
	r.Prefer = []string{"n3", "n2"}
	if got, want := text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Fits in0@n3 in1@n3 in2@n2"; got != want {
		t.Errorf("preferring: %q, want %q", got, want)
	}
}

// As kube-scheduler samples: from a node on, until so many candidates are found and one is
// without violations; of those with, so many are looked at.
func TestSampling(t *testing.T) {
	st := world(t, "n1 1: a/5/protected", "n2 1: b/3/protected", "n3 1: c/9", "n4 1: d/1", "n5 1: e/7/protected")
	for _, c := range []struct {
		most, first int
		want        string
	}{
		{0, 0, "Preempt in0@n4; evict d"},
		{2, 4, "Preempt in0@n3; evict c"}, // n5, n1, n2, n3
		{1, 3, "Preempt in0@n4; evict d"},
		{2, 2, "Preempt in0@n4; evict d"},
		{1, 12, "Preempt in0@n3; evict c"},
	} {
		got := text(decide(t, placement.Config{MaxCandidates: c.most, FirstNode: c.first}, snapshotOf(t, st), pending(0)))
		if got != c.want {
			t.Errorf("%d from %d: %q, want %q", c.most, c.first, got, c.want)
		}
	}
}

// An order of importance of the caller's own decides who is put back first.
func TestImportance(t *testing.T) {
	c := placement.Config{Importance: func(a, b placement.Unit) int { return strings.Compare(a.Pods[0].ID, b.Pods[0].ID) }}
	s := snapshotOf(t, world(t, "n1 2: a/1 b/2"))
	if got, want := text(decide(t, c, s, pending(0))), "Preempt in0@n1; evict b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
