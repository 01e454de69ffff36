package placement_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func explainWith(t fatal, c placement.Config, s *placement.Snapshot, r placement.Request) explain.PlacementExplanation {
	t.Helper()
	p := must(placement.New(c))(t)
	return must(explain.ExplainPlacement(p, s, r))(t)
}

// An explanation has the decision that Decide makes, is the same each time, and survives JSON.
// It counts each unit once. Each way, applied, makes the request succeed as it says, and one
// unit less does not.
func explanationsHold(t *rapid.T) {
	st, r, c, d := draw(t)
	s := snapshotOf(t, st)
	e := explainWith(t, c, s, r)
	noDiff(t, "- Decide, + Explain", d, e.Decision)
	data := must(json.Marshal(e))(t)
	var read explain.PlacementExplanation
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(read); err != nil || string(again) != string(data) {
		t.Fatalf("%v: through JSON\n%s\nis\n%s", err, data, again)
	}
	if second, err := json.Marshal(explainWith(t, c, s, r)); err != nil || string(second) != string(data) {
		t.Fatalf("%v: first\n%s\nthen\n%s", err, data, second)
	}
	if n := unitsSaid(e); d.Outcome != preemption.Fits && n != len(s.Units()) {
		t.Fatalf("%d of %d units are counted", n, len(s.Units()))
	}
	c.MaxRetrySteps = -1
	for _, w := range e.Ways {
		if d, err := applied(t, c, w, s, r); err != nil || d.Outcome != w.Outcome || len(d.Victims) != w.Victims || !d.Outcome.Succeeds() {
			t.Fatalf("%+v: %v with %d victims, %v", w, d.Outcome, len(d.Victims), err)
		}
		for _, less := range unitLess(w) {
			if d, err := applied(t, c, less, s, r); err == nil && d.Outcome.Succeeds() {
				t.Fatalf("%+v is too much: %+v is %v", w, less, d.Outcome)
			}
		}
	}
}

// unitsSaid is how many units an explanation says may yield or are kept.
func unitsSaid(e explain.PlacementExplanation) (sum int) {
	for _, s := range e.Steps {
		for _, line := range s.Lines {
			if n := 0; s.Section == "Who may yield" {
				fmt.Sscan(line, &n)
				sum += n
			}
		}
	}
	return sum
}

func applied(t fatal, c placement.Config, w explain.Way, s *placement.Snapshot, r placement.Request) (placement.Decision, error) {
	changed, request, err := w.ApplyToPlacement(s, r)
	if err != nil {
		return placement.Decision{}, err
	}
	p := must(placement.New(c))(t)
	return p.Decide(changed, request)
}

// unitLess lists the changes that are one unit smaller.
func unitLess(w explain.Way) (list []explain.Way) {
	less := w
	switch w.Kind {
	case explain.WayTime:
		less.At = w.At.Add(-1)
	case explain.WayPriority:
		less.Priority--
	case explain.WayMinCount:
		less.MinCount++
	case explain.WayCapacity:
		for resource := range w.Capacity {
			less.Capacity = maps.Clone(w.Capacity)
			if less.Capacity[resource]--; less.Capacity[resource] == 0 {
				delete(less.Capacity, resource)
			}
			list = append(list, less)
		}
		return list
	default:
		return nil
	}
	return append(list, less)
}

func TestExplanationsHold(t *testing.T) { rapid.Check(t, explanationsHold) }

// Kept says what sets a minimum runtime.
func TestExplainedMinRuntimes(t *testing.T) {
	started := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	st := placement.State{Nodes: []workload.Node{machine("n1", 3)}, Groups: []workload.PodGroup{{ID: "g", MinRuntime: quota.Some(time.Hour)}}}
	for _, id := range []string{"own", "grouped", "plain"} {
		p := cpu(id, "n1", 0, 1)
		p.Started = started
		st.Pods = append(st.Pods, p)
	}
	st.Pods[0].MinRuntime, st.Pods[1].Group = quota.Some(time.Hour), "g"
	r := placement.Request{Now: started.Add(time.Minute), Priority: 10, Pods: []workload.Pod{cpu("p", "", 0, 1)}}
	text := explain.Text(explainWith(t, placement.Config{MinRuntime: quota.Some(time.Hour)}, snapshotOf(t, st), r).Steps)
	for by, who := range map[string]string{"pod": "own", "group": "grouped", "default": "plain"} {
		if want := "set by " + by + ", until 13:00:00: " + who + "\n"; !strings.Contains(strings.ReplaceAll(text, "\n    ", " "), want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}

// Of each kind a way is found where there is one, and it is the smallest.
func TestWays(t *testing.T) {
	ways := func(c placement.Config, st placement.State, r placement.Request) map[string]bool {
		got := map[string]bool{}
		for _, w := range explainWith(t, c, snapshotOf(t, st), r).Ways {
			got[fmt.Sprint(w.Kind, w.Priority, w.MinCount, w.Node, w.Capacity, w.Outcome, w.Victims)] = true
		}
		return got
	}
	never := pending(0)
	never.Policy = placement.PreemptNever
	for name, c := range map[string]struct {
		state   placement.State
		request placement.Request
		want    map[string]bool
	}{
		"important pods in the way": {world(t, "n1 1: a/1000", "n2 2: b/2000 c/3000"), pending(0), map[string]bool{
			fmt.Sprint(explain.WayPriority, 1001, 0, "", workload.Resources(nil), preemption.Preempt, 1):    true,
			fmt.Sprint(explain.WayCapacity, 0, 0, "n1", workload.Resources{"slots": 1}, preemption.Fits, 0): true,
		}},
		"a gang too large": {world(t, "n1 2:"), pending(3), map[string]bool{
			fmt.Sprint(explain.WayMinCount, 0, 2, "", workload.Resources(nil), preemption.Fits, 0):          true,
			fmt.Sprint(explain.WayCapacity, 0, 0, "n1", workload.Resources{"slots": 1}, preemption.Fits, 0): true,
		}},
		"it never preempts": {world(t, "n1 1: a/1"), never, map[string]bool{
			fmt.Sprint(explain.WayMayPreempt, 0, 0, "", workload.Resources(nil), preemption.Preempt, 1):     true,
			fmt.Sprint(explain.WayCapacity, 0, 0, "n1", workload.Resources{"slots": 1}, preemption.Fits, 0): true,
		}},
	} {
		if diff := differ(c.want, ways(placement.Config{}, c.state, c.request)); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
}

// without is a filter that lets no pod run on a node.
type without string

func (f without) Feasible(_ workload.Pod, n workload.Node) bool { return n.Name != string(f) }
func (without) Conflict(workload.Pod, workload.Pod) bool        { return false }
func (without) Reach() placement.Reach                          { return placement.ReachNode }

// Ways are tried with the filters of the configuration and of the request: none leads to a
// node that a filter refuses.
func TestWaysKeepFilters(t *testing.T) {
	st := world(t, "n1 1:", "n2 1: a/1000")
	config := placement.Config{Filters: []placement.Filter{without("n1")}}
	asked := pending(0)
	asked.Filters = config.Filters
	want := []string{
		fmt.Sprint(explain.WayPriority, 1001, "", workload.Resources(nil), preemption.Preempt, 1),
		fmt.Sprint(explain.WayCapacity, 0, "n2", workload.Resources{"slots": 1}, preemption.Fits, 0),
	}
	for name, c := range map[string]struct {
		config  placement.Config
		request placement.Request
	}{"of the configuration": {config, pending(0)}, "of the request": {placement.Config{}, asked}} {
		var got []string
		for _, w := range explainWith(t, c.config, snapshotOf(t, st), c.request).Ways {
			got = append(got, fmt.Sprint(w.Kind, w.Priority, w.Node, w.Capacity, w.Outcome, w.Victims))
		}
		if diff := differ(want, got); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
}

// An explanation is small in a cluster of any size.
func TestExplanationsAreSmall(t *testing.T) {
	s := snapshotOf(t, fleet{nodes: 2000, perNode: 4, levels: 3, covered: 5}.state())
	for _, priority := range []int32{-1, 1, 1 << 20} {
		r := placement.Request{Priority: priority, Pods: gang(1, 1<<40, 2).Pods}
		e := explainWith(t, placement.Config{}, s, r)
		data, err := json.Marshal(e)
		if err != nil || len(data) > 10_000 || unitsSaid(e) != 8000 {
			t.Errorf("priority %d: %d bytes, %d units, %v", priority, len(data), unitsSaid(e), err)
		}
	}
}

// A gang that fits without one of its pods says so.
func Example_explanation() {
	snapshot, err := placement.NewSnapshot(placement.State{Nodes: []workload.Node{{Name: "n1", Capacity: workload.Resources{"gpu": 4}}}})
	if err != nil {
		fmt.Println(err)
	}
	e, err := explain.ExplainPlacement(new(placement.Preemptor), snapshot, placement.Request{Group: "train", MinCount: 2, Pods: []workload.Pod{
		{ID: "train-0", Requests: workload.Resources{"gpu": 3}}, {ID: "train-1", Requests: workload.Resources{"gpu": 3}},
	}})
	fmt.Println(e.Decision.Outcome, err)
	for _, w := range e.Ways {
		fmt.Println(w.Kind, w.MinCount, w.Node, w.Capacity, w.Outcome)
	}
	// Output:
	// Impossible <nil>
	// MinCount 1  map[] Fits
	// Capacity 0 n1 map[gpu:2] Fits
}
