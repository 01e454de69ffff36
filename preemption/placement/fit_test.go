package placement_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// fitAgrees: whatever is removed and restored, a fit of equal pods answers as a decision on
// the state without the groups that are taken, and has a placement to show.
func fitAgrees(t *rapid.T) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	r.SkipFit = false
	for i := range r.Pods { // equal ones: then every way to fill nodes is as good
		r.Pods[i].Requests, r.Pods[i].Nodes, r.Pods[i].Labels = r.Pods[0].Requests, r.Pods[0].Nodes, r.Pods[0].Labels
		r.Pods[i].Nowhere = r.Pods[0].Nowhere
	}
	for i := range st.Groups { // those of basic groups are decided about one by one
		st.Groups[i].Basic = st.Groups[i].Basic && st.Groups[i].ID != r.Group
	}
	for i := range st.Pods {
		if st.Pods[i].Group == "" {
			st.Pods[i].Group = fmt.Sprintf("alone%d", i%3)
		}
	}
	r.Pods = slices.Clone(r.Pods)
	for i := range r.Pods { // a claim stays where a removed pod holds it; in a state without the pod it is free
		r.Pods[i].Claims = slices.DeleteFunc(slices.Clone(r.Pods[i].Claims), func(id string) bool {
			return slices.ContainsFunc(st.Pods, func(p workload.Pod) bool { return slices.Contains(p.Claims, id) })
		})
	}
	c := placement.Config{Order: rapid.SampledFrom([]placement.Order{placement.FirstFit, placement.BestFit, placement.RoundRobin}).Draw(t, "order")}
	if rapid.Bool().Draw(t, "filtered") {
		r = withoutNeeds(r)
		r.Pods = r.Pods[:1]
		c.Filters = []placement.Filter{preemptiontest.Apart{Label: "app", Zone: "a", Anywhere: rapid.Bool().Draw(t, "anywhere")}}
	}
	p := must(placement.New(c))(t)
	fit := must(p.Fit(snapshotOf(t, st), r))(t)
	fit.PodSets(podSetOf, nil)
	removed := map[string]int64{}
	groups := []string{"g0", "g1", "g2", "g3", "alone0", "alone1", "alone2", "none"}
	taken := map[string]bool{}
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		group := rapid.SampledFrom(groups).Draw(t, "group")
		if rapid.Bool().Draw(t, "replicas") {
			podSet := rapid.SampledFrom([]string{"even", "odd", "none"}).Draw(t, "pod set")
			removed[group+" "+podSet] = rapid.Int64Range(0, 3).Draw(t, "count")
			fit.SetRemoved(group, podSet, removed[group+" "+podSet])
		} else if taken[group] = rapid.Bool().Draw(t, "take"); taken[group] {
			fit.Remove(group)
		} else {
			fit.Restore(group)
		}
		if rapid.IntRange(0, 3).Draw(t, "ask") == 0 {
			continue
		}
		without := func(soon bool) (left placement.State, fits bool) {
			left = st
			left.Pods = slices.DeleteFunc(slices.Clone(st.Pods), func(p workload.Pod) bool {
				if p.Terminating && r.TerminationTimeout > 0 && !p.TerminatingSince.IsZero() && !p.TerminatingSince.Add(r.TerminationTimeout).After(r.Now) {
					return false // it stays, whatever is taken
				}
				return soon && p.Terminating || taken[p.Group] || placeOf(st, p) < removed[p.Group+" "+podSetOf(p)]
			})
			for i := range left.Pods { // what terminates is there until it is gone
				left.Pods[i].Terminating, left.Pods[i].Preempted, left.Pods[i].TerminatingSince = false, false, time.Time{}
			}
			ask := r
			ask.Policy = placement.PreemptNever
			return left, decide(t, c, snapshotOf(t, left), ask).Outcome == preemption.Fits
		}
		if _, soon := without(true); fit.FitsSoon() != soon {
			t.Fatalf("without %v: fits soon %v, want %v", taken, !soon, soon)
		}
		left, fits := without(false)
		if got := fit.Fits(); got != fits {
			t.Fatalf("without %v: fits %v, want %v", taken, got, fits)
		}
		if !fit.Fits() {
			continue
		}
		d := placement.Decision{Outcome: preemption.Fits, Placement: placement.Placement{Nominations: fit.Nominations()}}
		verified(t, left, r, c, d)
	}
}

// podSetOf says of which of two pod sets a drawn pod is.
func podSetOf(p workload.Pod) string {
	if n := p.ID[len(p.ID)-1]; n%2 == 0 {
		return "even"
	}
	return "odd"
}

// placeOf returns how many pods of its pod set leave before a pod: those that terminate, then the last by ID.
func placeOf(st placement.State, p workload.Pod) (before int64) {
	for _, o := range st.Pods {
		if o.Group == p.Group && podSetOf(o) == podSetOf(p) && (o.Terminating && !p.Terminating || o.Terminating == p.Terminating && o.ID > p.ID) {
			before++
		}
	}
	return before
}

// The pods of a pod set leave in the caller's order, those that terminate first, and the last by ID where
// the order says nothing.
func TestFitFreesReplicas(t *testing.T) {
	st := world(t, "n1 1: e-0/1", "n2 1: e-1/1/leaving", "n3 1: e-2/1", "n4 1: e-3/1", "n5 1: f-0/1")
	for i := range st.Pods {
		st.Pods[i].Group = st.Pods[i].ID[:1]
	}
	p := must(placement.New(placement.Config{Mode: placement.ModeInPlace}))(t)
	firstFirst := func(a, b workload.Pod) int { return cmp.Compare(a.ID, b.ID) }
	for _, c := range []struct {
		podSet      func(workload.Pod) string
		first       func(a, b workload.Pod) int
		order, node string // of two removed: of the second the node
	}{
		{nil, nil, "[]", ""},
		{func(workload.Pod) string { return "main" }, nil, "[e-1 e-3 e-2 e-0]", "n4"},
		{func(workload.Pod) string { return "main" }, firstFirst, "[e-1 e-0 e-2 e-3]", "n1"},
		{func(workload.Pod) string { return "main" }, func(a, b workload.Pod) int { return 0 }, "[e-1 e-3 e-2 e-0]", "n4"},
		{func(p workload.Pod) string { return map[bool]string{true: "main"}[p.ID < "e-2"] }, nil, "[e-1 e-0]", "n1"},
	} {
		r := placement.Request{Pods: []workload.Pod{{ID: "in", Requests: workload.Resources{"slots": 1}}}}
		r.Pods[0].Nodes = []string{"n1", "n3", "n4"} // n2 is free when the first has left
		fit := must(p.Fit(snapshotOf(t, st), r))(t)
		var room preemption.ReplicaRoom = fit
		if c.podSet != nil {
			fit.PodSets(c.podSet, c.first)
		}
		if got := fmt.Sprint(fit.Replicas("e", "main")); got != c.order {
			t.Errorf("order %s, want %s", got, c.order)
		}
		if room.SetRemoved("e", "main", 1); room.Fits() {
			t.Errorf("with one of %s gone: fits", c.order)
		}
		room.SetRemoved("e", "main", 2)
		node := ""
		for _, n := range fit.Nominations() {
			node = n.Node
		}
		if node != c.node {
			t.Errorf("with two of %s gone: on %q, want %q", c.order, node, c.node)
		}
		if room.SetRemoved("e", "main", 0); room.Fits() {
			t.Errorf("with none gone: fits")
		}
	}
}

// labelled lets pods with a label run.
type labelled struct{}

func (labelled) Feasible(p workload.Pod, _ workload.Node) bool { return p.Labels["may"] == "run" }
func (labelled) Conflict(_, _ workload.Pod) bool               { return false }
func (labelled) Reach() placement.Reach                        { return placement.ReachNode }

// A Fit keeps its own copy of the request.
func TestFitKeepsTheRequest(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("n1", 4)}})
	pods := []workload.Pod{cpu("p", "", 0, 1), cpu("q", "", 0, 1)}
	for i := range pods {
		pods[i].Labels = map[string]string{"may": "run"}
	}
	p := must(placement.New(placement.Config{}))(t)
	fit := must(p.Fit(s, placement.Request{Pods: pods, Group: "g", Filters: []placement.Filter{labelled{}}}))(t)
	for i := range pods {
		pods[i].ID, pods[i].Labels["may"] = "other", "not run"
	}
	if got := fit.Nominations(); !fit.Fits() || len(got) != 2 || got[0].Pod != "p" || got[1].Pod != "q" {
		t.Errorf("fits %v: %v", fit.Fits(), got)
	}
}

// A terminating pod is there until it is gone, also for filters; soon there is a place.
func TestFitBesideTerminating(t *testing.T) {
	st := world(t, "n1 2: old/1/leaving")
	st.Pods[0].Labels = map[string]string{"app": "web"}
	r := pending(1)
	r.Pods[0].Labels, r.Filters = st.Pods[0].Labels, []placement.Filter{preemptiontest.Apart{Label: "app"}}
	p := must(placement.New(placement.Config{}))(t)
	fit := must(p.Fit(snapshotOf(t, st), r))(t)
	for range 2 {
		if fit.Fits() || !fit.FitsSoon() || fit.Fits() {
			t.Errorf("fits %v, soon %v", fit.Fits(), fit.FitsSoon())
		}
	}
}

// What is removed may be missed by a rule about sets: with nobody on n2 the pod would make the difference too large.
func TestFitWithASetFilter(t *testing.T) {
	st := world(t, "n1 2: a/1", "n2 2: b/1")
	for i := range st.Pods {
		st.Nodes[i].Labels = map[string]string{"zone": st.Nodes[i].Name}
		st.Pods[i].Labels, st.Pods[i].Group = map[string]string{"app": "web"}, st.Pods[i].ID
	}
	r := placement.Request{Pods: []workload.Pod{{ID: "in", Requests: workload.Resources{"slots": 1}, Labels: st.Pods[0].Labels, Nodes: []string{"n1"}}}}
	r.SetFilters = []placement.SetFilter{preemptiontest.Spread{TopologyKey: "zone", Label: "app", MaxSkew: 1}}
	p := must(placement.New(placement.Config{}))(t)
	fit := must(p.Fit(snapshotOf(t, st), r))(t)
	if !fit.Fits() {
		t.Error("does not fit beside one pod on each node")
	}
	if fit.Remove("b"); fit.Fits() {
		t.Error("fits without the other pod")
	}
	if fit.Restore("b"); !fit.Fits() {
		t.Error("does not fit once the other pod is back")
	}
}

func TestFit(t *testing.T) { rapid.Check(t, fitAgrees) }

// BenchmarkFit takes groups until a gang fits, and restores what it can: nodes full of
// groups of eight pods.
func BenchmarkFit(b *testing.B) {
	f := fleet{nodes: 5000, perNode: 4, levels: 10, groupOf: 8}
	s := snapshotOf(b, f.state())
	p := must(placement.New(placement.Config{}))(b)
	for b.Loop() {
		fit := must(p.Fit(s, gang(100, 1000, 1)))(b)
		n := 0
		for ; !fit.Fits(); n++ {
			fit.Remove(fmt.Sprintf("group-%d", n*37%625))
		}
		for i := range n {
			fit.Restore(fmt.Sprintf("group-%d", i*37%625))
			if !fit.Fits() {
				fit.Remove(fmt.Sprintf("group-%d", i*37%625))
			}
		}
	}
}

// A fit that stands no more is made anew.
func TestFitMoves(t *testing.T) {
	st := world(t, "n1 1: a/0/g", "n2 1: b/0/h")
	p := must(placement.New(placement.Config{}))(t)
	fit := must(p.Fit(snapshotOf(t, st), pending(1)))(t)
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
	p := must(placement.New(placement.Config{}))(t)
	for _, domains := range [][]placement.Domain{nil, {{Name: "a", Nodes: []string{"n1", "n2"}}, {Name: "b", Nodes: []string{"n3"}}}} {
		r.Domains = domains
		fit := must(p.Fit(snapshotOf(t, st), r))(t)
		// On its own the first pod takes a place of n1, and the second, which needs both, has none.
		if got, want := fmt.Sprint(fit.Nominations()), "[{in0 n2} {in1 n1}]"; !fit.Fits() || got != want {
			t.Errorf("in %d domains: %s, want %s", len(domains), got, want)
		}
	}
}
