package audit_test

import (
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func pod(id, node string, priority int32, gpus int64) workload.Pod {
	return workload.Pod{ID: id, Node: node, Priority: priority, Requests: workload.Resources{"gpu": gpus}, Started: noon.Add(-time.Hour)}
}

// fleet is two nodes with eight GPUs each, all of them used: by small pods on a, by a large one and a pair on b.
func fleet() placement.State {
	whole := func(p workload.Pod, uid string) workload.Pod { p.Group, p.UID = "pair", uid; return p }
	return placement.State{
		Nodes:  []workload.Node{{Name: "a", Capacity: workload.Resources{"gpu": 8}}, {Name: "b", Capacity: workload.Resources{"gpu": 8}}},
		Groups: []workload.PodGroup{{ID: "pair", Priority: 2, DisruptionMode: workload.DisruptionModePodGroup}},
		Pods: []workload.Pod{pod("a1", "a", 1, 2), pod("a2", "a", 1, 2), pod("a3", "a", 5, 2), pod("a9", "a", 90, 2), pod("b4", "b", 3, 4),
			whole(pod("pair-0", "b", 0, 2), "later"), whole(pod("pair-1", "b", 0, 2), "first")},
	}
}

// Each verdict on nodes, and what stood in the way.
func TestPodVerdicts(t *testing.T) {
	ask := func(priority int32, gpus int64) placement.Request {
		p := pod("new", "", priority, gpus)
		p.Started = time.Time{}
		return placement.Request{Priority: priority, Pods: []workload.Pod{p}, Now: noon}
	}
	never := ask(50, 4)
	never.Policy = placement.PreemptNever
	asked := ask(50, 4)
	asked.SkipFit = true
	elsewhere := ask(50, 4)
	elsewhere.Pods[0].Nodes = []string{"b"}
	type victim struct {
		ID        string
		CouldStay bool
		Kept      placement.Rule
	}
	budgets := []workload.DisruptionBudget{{Name: "none", Selector: &workload.LabelSelector{}}}
	for name, c := range map[string]struct {
		config    placement.Config
		request   placement.Request
		node      string
		victims   []string
		edit      func(*placement.State)
		verdict   audit.Verdict
		want      []victim
		avoidable int64
		better    bool
	}{
		"the lowest":                {request: ask(50, 4), node: "a", victims: []string{"a1", "a2"}, verdict: audit.Right, want: []victim{{ID: "a1"}, {ID: "a2"}}},
		"others on that node":       {request: ask(50, 4), node: "a", victims: []string{"a3", "a1"}, verdict: audit.Right, want: []victim{{ID: "a1"}, {ID: "a3"}}, better: true},
		"one pod of a group is all": {request: ask(50, 4), node: "b", victims: []string{"pair-1"}, verdict: audit.Right, want: []victim{{ID: "pair-0"}}, better: true},
		"one too many":              {request: ask(50, 2), node: "a", victims: []string{"a1", "a2"}, verdict: audit.TooMany, want: []victim{{ID: "a1", CouldStay: true}, {ID: "a2", CouldStay: true}}, avoidable: 1},
		"one elsewhere":             {request: ask(50, 4), node: "b", victims: []string{"a1", "b4"}, verdict: audit.TooMany, want: []victim{{ID: "a1", CouldStay: true}, {ID: "b4"}}, avoidable: 1},
		"a higher priority":         {request: ask(50, 2), node: "a", victims: []string{"a9"}, verdict: audit.NotPermitted, want: []victim{{ID: "a9", Kept: placement.RulePriority}}},
		"an equal priority":         {request: ask(3, 4), node: "b", victims: []string{"b4"}, verdict: audit.NotPermitted, want: []victim{{ID: "b4", Kept: placement.RulePriority}}},
		"a higher one that was not needed": {request: ask(50, 2), node: "a", victims: []string{"a1", "a9"}, verdict: audit.TooMany,
			want: []victim{{ID: "a1"}, {ID: "a9", CouldStay: true, Kept: placement.RulePriority}}, avoidable: 1},
		"it preempts nobody":   {request: never, node: "b", victims: []string{"b4"}, verdict: audit.NotPermitted, want: []victim{{ID: "b4"}}, avoidable: 1},
		"its scheduler asked":  {request: asked, node: "a", victims: []string{"a1", "a2"}, verdict: audit.Right, want: []victim{{ID: "a1"}, {ID: "a2"}}},
		"too large":            {request: ask(50, 6), node: "b", victims: []string{"b4"}, verdict: audit.NotEnough, want: []victim{{ID: "b4"}}},
		"it may not run there": {request: elsewhere, node: "a", victims: []string{"a1", "a2"}, verdict: audit.NotEnough, want: []victim{{ID: "a1"}, {ID: "a2"}}},
		"a minimum runtime": {config: placement.Config{MinRuntime: quota.Some(2 * time.Hour)}, request: ask(50, 4), node: "b", victims: []string{"b4"},
			verdict: audit.NotPermitted, want: []victim{{ID: "b4", Kept: placement.RuleMinRuntime}}, avoidable: 1},
		"a budget is soft": {request: ask(50, 4), node: "b", victims: []string{"b4"}, edit: func(st *placement.State) { st.Budgets = budgets }, verdict: audit.Right, want: []victim{{ID: "b4"}}},
		"a budget is hard": {config: placement.Config{Budgets: placement.Hard}, request: ask(50, 4), node: "b", victims: []string{"b4"},
			edit: func(st *placement.State) { st.Budgets = budgets }, verdict: audit.NotPermitted, want: []victim{{ID: "b4"}}, avoidable: 1},
		"there was room elsewhere": {request: ask(50, 2), node: "a", victims: []string{"a1"}, edit: func(st *placement.State) { st.Pods = st.Pods[:5] },
			verdict: audit.Fitted, want: []victim{{ID: "a1", CouldStay: true}}, avoidable: 1},
		"what was leaving is enough": {request: ask(50, 4), node: "a", victims: []string{"a1", "a2"}, edit: func(st *placement.State) { st.Pods[4].Terminating = true },
			verdict: audit.Fitted, want: []victim{{ID: "a1", CouldStay: true}, {ID: "a2", CouldStay: true}}, avoidable: 2},
		"as built nothing is waited for": {config: placement.Config{Mode: placement.ModeInPlace}, request: ask(50, 4), node: "a", victims: []string{"a1", "a2"},
			edit: func(st *placement.State) { st.Pods[4].Terminating = true }, verdict: audit.Right, want: []victim{{ID: "a1"}, {ID: "a2"}}},
		"as built what leaves may be in the way": {config: placement.Config{Mode: placement.ModeInPlace}, request: ask(50, 4), node: "a", victims: []string{"a1", "a3"},
			edit: func(st *placement.State) { st.Pods[1].Terminating = true }, verdict: audit.Right, want: []victim{{ID: "a1"}, {ID: "a3"}}, avoidable: 1, better: true},
		"less was to lose on another node": {request: ask(50, 4), node: "a", victims: []string{"a1", "a2"},
			edit:    func(st *placement.State) { st.Pods = st.Pods[:5]; st.Pods[4].Requests["gpu"] = 8 },
			verdict: audit.Right, want: []victim{{ID: "a1"}, {ID: "a2"}}, avoidable: 1},
	} {
		t.Run(name, func(t *testing.T) {
			st := fleet()
			if c.edit != nil {
				c.edit(&st)
			}
			s, err := placement.NewSnapshot(st)
			if err != nil {
				t.Fatal(err)
			}
			f, err := audit.JudgePods(s, c.config, audit.PodEviction{Request: c.request, Placed: []placement.Nomination{{Pod: "new", Node: c.node}}, Victims: c.victims})
			if err != nil {
				t.Fatal(err)
			}
			var got []victim
			for _, v := range f.Victims {
				g := victim{ID: v.Pods[0], CouldStay: v.CouldStay}
				if v.Kept != nil {
					g.Kept = v.Kept.Rule
				}
				got = append(got, g)
			}
			if !f.Instead.RetryAt.IsZero() || len(f.Instead.Blockers) > 0 {
				t.Errorf("retry at %v, %v", f.Instead.RetryAt, f.Instead.Blockers)
			}
			if f.Verdict != c.verdict || !cmp.Equal(got, c.want) || f.Avoidable != c.avoidable || f.Better != c.better {
				t.Errorf("%v %+v, %d avoidable, better %v, want %v %+v, %d, %v\n%+v", f.Verdict, got, f.Avoidable, f.Better, c.verdict, c.want, c.avoidable, c.better, f)
			}
		})
	}
}

// What is wrong with an eviction is said all at once.
func TestPodEvictionsAreChecked(t *testing.T) {
	st := fleet()
	st.Pods[0].Terminating = true
	s, err := placement.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	p := pod("new", "", 0, 1)
	r := placement.Request{Pods: []workload.Pod{p}, Now: noon}
	_, err = audit.JudgePods(s, placement.Config{}, audit.PodEviction{Request: r, Victims: []string{"a1", "x", "a2", "a2"}, Placed: []placement.Nomination{{Pod: "y", Node: "a"}}})
	want := `victims[0]: "a1" was told to stop before; victims[1]: "x" does not run; victims[3]: "a2" is there twice; placed[0].pod: "y" is not in the request`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if _, err = audit.JudgePods(s, placement.Config{}, audit.PodEviction{Request: r}); err == nil || err.Error() != "victims: there is none" {
		t.Errorf("%v", err)
	}
	var faults preemption.Faults
	if _, err = audit.JudgePods(s, placement.Config{Mode: 77}, audit.PodEviction{}); !cmp.Equal(fmt.Sprintf("%T", err), fmt.Sprintf("%T", faults)) {
		t.Errorf("%T", err)
	}
}

// A scheduler told two pods to stop where one was enough, on a node on which the other had run for days.
func ExampleJudgePods() {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	run := func(id string, since time.Duration) workload.Pod {
		return workload.Pod{ID: id, Node: "n1", Requests: workload.Resources{"gpu": 4}, Started: now.Add(-since)}
	}
	snapshot, err := placement.NewSnapshot(placement.State{
		Nodes: []workload.Node{{Name: "n1", Capacity: workload.Resources{"gpu": 8}}},
		Pods:  []workload.Pod{run("days-old", 72*time.Hour), run("new", time.Minute)},
	})
	if err != nil {
		log.Fatal(err)
	}
	urgent := workload.Pod{ID: "urgent", Requests: workload.Resources{"gpu": 4}, Priority: 10}
	f, err := audit.JudgePods(snapshot, placement.Config{}, audit.PodEviction{
		Request: placement.Request{Priority: 10, Pods: []workload.Pod{urgent}, Now: now}, Placed: []placement.Nomination{{Pod: "urgent", Node: "n1"}},
		Victims: []string{"days-old", "new"},
		Cost: func(u placement.Unit) (lost int64) {
			for _, p := range u.Pods {
				lost += p.Requests["gpu"] * int64(now.Sub(p.Started)/time.Second)
			}
			return lost
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Verdict, time.Duration(f.Avoidable)*time.Second, "of GPU time could have been kept")
	// Output: TooMany 288h0m0s of GPU time could have been kept
}
