package placement_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/proof/agree"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
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

// verified fails if Verify has something against a decision.
func verified(t fatal, st placement.State, r placement.Request, c placement.Config, d placement.Decision) {
	t.Helper()
	if err := verify.Placement(st, r, c, d); err != nil {
		t.Fatal(err, text(d))
	}
}

// agrees fails if the witness decides otherwise.
func agrees(t fatal, c placement.Config, st placement.State, r placement.Request, d placement.Decision) {
	t.Helper()
	if diff := agree.OnNodes(c, st, r, d); diff != "" {
		t.Fatal(diff)
	}
}

// noDiff fails if two values differ; about says what - and + are.
func noDiff(t fatal, about string, minus, plus any) {
	t.Helper()
	if diff := differ(minus, plus); diff != "" {
		t.Fatal(about + ":\n" + diff)
	}
}

// wantText fails if a text is another than wanted; about says of what.
func wantText(t *testing.T, got, want string, about ...any) {
	t.Helper()
	if got == want {
		return
	}
	what := ""
	if len(about) > 0 {
		what = fmt.Sprintf(about[0].(string), about[1:]...) + ": "
	}
	t.Errorf("%s%q, want %q", what, got, want)
}

type change func(st *placement.State, r *placement.Request, c *placement.Config)

func promise(st *placement.State, id, node string, priority int32) {
	st.Nominated = append(st.Nominated, workload.Pod{ID: id, Node: node, Priority: priority, Requests: workload.Resources{"slots": 1}})
}

// An order of importance of the caller's own decides who is put back first.
func TestImportance(t *testing.T) {
	c := placement.Config{Importance: func(a, b placement.Unit) int { return strings.Compare(a.Pods[0].ID, b.Pods[0].ID) }}
	s := snapshotOf(t, world(t, "n1 2: a/1 b/2"))
	wantText(t, text(decide(t, c, s, pending(0))), "Preempt in0@n1; evict b")
}

func decided(t *testing.T, st placement.State, r placement.Request) placement.Decision {
	t.Helper()
	d := decide(t, placement.Config{}, snapshotOf(t, st), r)
	return d
}

// withoutNeeds returns a request for any number of pods in the whole cluster.
func withoutNeeds(r placement.Request) placement.Request {
	r.MinCount, r.MinGroups, r.Nested, r.Domains, r.DomainsPreferred = 0, 0, nil, nil, false
	return r
}

func priorityOf(st placement.State, p workload.Pod) int32 {
	if g, known := rootOf(st, p.Group); known {
		return g.Priority
	}
	return p.Priority
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

// skipInRace skips a test that counts allocations.
func skipInRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
}
