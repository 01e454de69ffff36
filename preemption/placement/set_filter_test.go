package placement_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

func drawSpread(t *rapid.T) (placement.State, placement.Request, placement.Config) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	c := preemptiontest.PlacementConfigs().Draw(t, "config")
	for i := range st.Pods {
		st.Pods[i].Labels = map[string]string{"app": rapid.SampledFrom([]string{"web", "web", "db"}).Draw(t, "app")}
	}
	for i := range r.Pods {
		r.Pods[i].Labels = map[string]string{"app": "web"}
	}
	r.SetFilters = []placement.SetFilter{preemptiontest.Spread{TopologyKey: rapid.SampledFrom([]string{"zone", ""}).Draw(t, "key"), Label: "app", MaxSkew: rapid.IntRange(1, 2).Draw(t, "skew")}}
	return st, r, c
}

func drawPlacer(t *rapid.T) (placement.State, placement.Request, placement.Config) {
	st, r, c := drawSpread(t)
	r.MinGroups, r.Nested = 0, nil
	if r.Placer = (preemptiontest.LastFit{}); rapid.Bool().Draw(t, "no set filter") {
		r.SetFilters = nil
	}
	return st, r, c
}

// The example counts what the rule says: the skew is the number of matching pods in the
// node's domain with the new one, less the least number in any domain.
func spreadAgreesWithCounting(t *rapid.T) {
	st := preemptiontest.PlacementStates().Draw(t, "state")
	f := preemptiontest.Spread{TopologyKey: "zone", Label: "app", MaxSkew: rapid.IntRange(1, 2).Draw(t, "skew")}
	pod := workload.Pod{ID: "new", Labels: map[string]string{"app": "web"}}
	trial := f.Begin(snapshotOf(t, st), placement.Request{})
	for _, n := range st.Nodes {
		counts := map[string]int{}
		for _, other := range st.Nodes {
			counts[other.Labels["zone"]] += 0
			for _, p := range st.Pods {
				if p.Node == other.Name && p.Labels["app"] == "web" {
					counts[other.Labels["zone"]]++
				}
			}
		}
		least := len(st.Pods)
		for _, count := range counts {
			least = min(least, count)
		}
		pod.Node = n.Name
		if got, want := trial.Allows(pod, n), counts[n.Labels["zone"]]+1-least <= f.MaxSkew; got != want {
			t.Fatalf("on %q: %v, want %v: %v", n.Name, got, want, counts)
		}
	}
}

// zoned puts every node into the zone of its first letter, and gives all pods one label.
func zoned(st *placement.State, r *placement.Request) {
	for i := range st.Nodes {
		st.Nodes[i].Labels = map[string]string{"zone": st.Nodes[i].Name[:1]}
	}
	for _, list := range [][]workload.Pod{st.Pods, r.Pods} {
		for i := range list {
			if !strings.HasPrefix(list[i].ID, "other") {
				list[i].Labels = map[string]string{"app": "web"}
			}
		}
	}
}

// "When scheduling this pod would violate the constraint, do not schedule it"
// (topologySpreadConstraints, DoNotSchedule): the victims are those without whom the skew is
// kept, which no rule about pairs can say.
func TestSpreadDecides(t *testing.T) {
	for name, test := range map[string]struct {
		want  string
		skew  int
		pods  int
		lines []string
	}{
		"the other zone":          {"Preempt in0@b1; evict c", 1, 0, []string{"a1 3: a/2000 b/2000", "b1 1: c/5"}},
		"one of the own zone":     {"Preempt in0@a1; evict a", 1, 0, []string{"a1 2: a/1 other/2", "b1 1: x/2000"}},
		"a wide skew":             {"Preempt in0@a1; evict other", 2, 0, []string{"a1 2: a/1 other/0", "b1 1: x/2000"}},
		"more than for room":      {"Preempt in0@a1; evict a", 1, 0, []string{"a1 3: a/1 b/2", "b1 1: x/2000"}},
		"less by another's stay":  {"Preempt in0@a1; evict low", 1, 0, []string{"a1 3: high/9 low/1 other/2/g", "b1 1: x/2/g"}},
		"a gang takes both zones": {"Preempt in0@a1 in1@b1; evict a b", 1, 2, []string{"a1 2: a/1 other/1", "b1 1: b/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			st, r := world(t, test.lines...), pending(test.pods)
			zoned(&st, &r)
			r.SetFilters = []placement.SetFilter{preemptiontest.Spread{TopologyKey: "zone", Label: "app", MaxSkew: test.skew}}
			got := decide(t, placement.Config{}, snapshotOf(t, st), r)
			if text(got) != test.want {
				t.Errorf("%q, want %q", text(got), test.want)
			}
			agrees(t, placement.Config{}, st, r, got)
		})
	}
}

// turns is a set filter: in1 may run as long as in0 does not, and in0 beside old or in1.
type turns struct{}

func (turns) Reach() placement.Reach { return placement.ReachCluster }
func (turns) Begin(s *placement.Snapshot, _ placement.Request) placement.Trial {
	there := turnsTrial{}
	for p := range s.Pods() {
		there.Add(p)
	}
	return there
}

type turnsTrial map[string]bool

func (t turnsTrial) Add(p workload.Pod)    { t[p.ID] = true }
func (t turnsTrial) Remove(p workload.Pod) { delete(t, p.ID) }
func (t turnsTrial) Allows(p workload.Pod, _ workload.Node) bool {
	return p.ID == "in1" && !t["in0"] || p.ID == "in0" && (t["old"] || t["in1"])
}

// Once old is gone, in1 keeps its nomination and in0 comes after it. Beside old they fit in the same order.
func TestFitsInTheOrderOfPlaces(t *testing.T) {
	st, r := world(t, "x 1:", "y 1:", "z 1: old/1/leaving"), pending(2)
	r.SetFilters = []placement.SetFilter{turns{}}
	for i, node := range []string{"x", "y"} {
		p := r.Pods[i]
		p.Node, p.Group, p.Priority = node, r.Group, r.Priority
		st.Nominated = append(st.Nominated, p)
	}
	st.Groups = append(st.Groups, workload.PodGroup{ID: r.Group, Priority: r.Priority})
	got := decide(t, placement.Config{}, snapshotOf(t, st), r)
	if want := "Fits in0@x in1@y"; text(got) != want {
		t.Errorf("%q, want %q", text(got), want)
	}
	agrees(t, placement.Config{}, st, r, got)
}

// counted counts what a filter and its trials are asked.
type counted struct {
	preemptiontest.Spread
	began, feasible, asked, told *int
}

func (c counted) Begin(s *placement.Snapshot, r placement.Request) placement.Trial {
	*c.began++
	return countedTrial{c, c.Spread.Begin(s, r)}
}
func (c counted) Feasible(workload.Pod, workload.Node) bool { *c.feasible++; return true }
func (c counted) Conflict(workload.Pod, workload.Pod) bool  { return false }

type countedTrial struct {
	counted
	placement.Trial
}

func (c countedTrial) Add(p workload.Pod)    { *c.told++; c.Trial.Add(p) }
func (c countedTrial) Remove(p workload.Pod) { *c.told++; c.Trial.Remove(p) }
func (c countedTrial) Allows(p workload.Pod, n workload.Node) bool {
	*c.asked++
	return c.Trial.Allows(p, n)
}

// Filters are asked where the search looks: not about nodes without room, nor about nodes that
// a bound leaves out, whatever the number of nodes.
func TestFiltersAreAskedLate(t *testing.T) {
	for _, size := range []int{10, 1000} {
		var began, feasible, asked, told int
		f := counted{preemptiontest.Spread{Label: "app", MaxSkew: 5}, &began, &feasible, &asked, &told}
		st := world(t, "best 1: other/1")
		for i := range size {
			name := fmt.Sprintf("n%04d", i)
			st.Nodes = append(st.Nodes, workload.Node{Name: name, Capacity: workload.Resources{"slots": 1}})
			st.Pods = append(st.Pods, workload.Pod{ID: name, Node: name, Priority: 9, Requests: workload.Resources{"slots": 1}})
		}
		r := pending(0)
		r.Filters, r.SetFilters = []placement.Filter{f}, []placement.SetFilter{f}
		if got, want := text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Preempt in0@best; evict other"; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		// With the only victim away: at first, and again at the lowest floor.
		wantText(t, fmt.Sprint(began, feasible, asked, told), "1 2 2 1", "%d nodes: begun, feasible, asked, told", size)
		began = 0
		r.Priority = 0
		if d := decide(t, placement.Config{MaxBlockers: -1, MaxRetrySteps: -1}, snapshotOf(t, st), r); d.Outcome != preemption.Impossible || began > 0 {
			t.Errorf("%v: begun %d times without room anywhere", d.Outcome, began)
		}
	}
}

// last is a placer that fills the last node of the domain first.
type last struct{ begun *int }

func (l last) Begin(s *placement.Snapshot, r placement.Request) placement.PlacerTrial {
	*l.begun++
	t := &lastTrial{free: map[string]int64{}}
	for n := range s.Nodes() {
		t.free[n.Name] = n.Capacity["slots"]
	}
	for p := range s.Pods() {
		t.Add(p)
	}
	return t
}

type lastTrial struct{ free map[string]int64 }

func (l *lastTrial) Add(p workload.Pod)                      { l.free[p.Node]-- }
func (l *lastTrial) Remove(p workload.Pod)                   { l.free[p.Node]++ }
func (l *lastTrial) Allows(workload.Pod, workload.Node) bool { return true }
func (l *lastTrial) Place(pods []workload.Pod, nodes []string) []string {
	where, placed := make([]string, len(pods)), map[string]int64{}
	for i := range pods {
		for _, n := range slices.Backward(nodes) {
			if l.free[n] > placed[n] {
				where[i] = n
				placed[n]++
				break
			}
		}
	}
	return where
}

// A placement made outside decides where the pods go; the steps choose the victims.
func TestPlacer(t *testing.T) {
	for name, test := range map[string]struct {
		want  string
		lines []string
	}{
		"fits":               {"Fits in0@n2 in1@n2", []string{"n1 2:", "n2 2:"}},
		"around who stays":   {"Preempt in0@n3 in1@n2; evict b c", []string{"n1 1: a/1", "n2 1: b/1", "n3 1: c/2", "n4 1: x/2000"}},
		"a free node beside": {"Preempt in0@n2 in1@n1; evict a", []string{"n1 1: a/1", "n2 1:", "n3 1: x/2000"}},
		"no room":            {"Impossible (NoRoom)", []string{"n1 1: a/1", "n2 1: x/2000"}},
	} {
		begun := 0
		r := pending(2)
		r.Placer = last{&begun}
		if got := text(decide(t, placement.Config{Mode: placement.ModeInPlace}, snapshotOf(t, world(t, test.lines...)), r)); got != test.want || begun != 1 {
			t.Errorf("%s: %q, want %q; begun %d times", name, got, test.want, begun)
		}
	}
}

// outside is a placer that answers with anything.
type outside struct {
	lastTrial
	where []string
}

func (o *outside) Begin(*placement.Snapshot, placement.Request) placement.PlacerTrial { return o }
func (o *outside) Add(workload.Pod)                                                   {}
func (o *outside) Remove(workload.Pod)                                                {}
func (o *outside) Place([]workload.Pod, []string) []string                            { return o.where }

// A pod is not placed where the placer may not place it.
func TestPlacerIsChecked(t *testing.T) {
	for _, where := range [][]string{nil, {"unknown"}, {""}, {"full"}, {"off"}, {"elsewhere"}} {
		st := world(t, "n1 1: a/1", "full 1: x/2000", "off 1:", "elsewhere 1:")
		st.Nodes[2].Unschedulable = true
		r := pending(1)
		r.Domains = []placement.Domain{{Name: "d", Nodes: []string{"n1", "full", "off"}}}
		r.Placer = &outside{where: where}
		wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Impossible (NoRoom)", "%v", where)
	}
	r := pending(1)
	r.Placer = &outside{where: []string{"n1", "n1", "n1"}}
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, world(t, "n1 1: a/1")), r)), "Preempt in0@n1; evict a")
}

// A placer that is asked about all nodes may take one on which the pod may not run; asked
// about the right node alone, as preemption does for a single pod, it takes that: it is Placeable, "in any domain", also with PreemptNever.
func TestPlacerOfOneNode(t *testing.T) {
	st := world(t, "a 2: other/5000", "b 2:")
	r := pending(0)
	r.Placer, r.Pods[0].Nodes = preemptiontest.LastFit{}, []string{"a"}
	for want, policy := range map[string]placement.PreemptionPolicy{
		"Impossible (NoVictims)": placement.PreemptLowerPriority, "Impossible (PolicyNever)": placement.PreemptNever} {
		r.Policy = policy
		if d := decide(t, placement.Config{}, snapshotOf(t, st), r); text(d) != want || d.Placeable != 1 {
			t.Errorf("%s, %d placeable; the placer found a place where nobody can yield", text(d), d.Placeable)
		}
	}
	st, r = world(t, "a 2: low/5", "b 2:"), pending(2)
	r.Placer, r.MinCount, r.Pods[1].Nodes = preemptiontest.LastFit{}, 0, []string{"a"}
	st.Groups = append(st.Groups, workload.PodGroup{ID: r.Group, Priority: 1000, Basic: true})
	if d := decide(t, placement.Config{}, snapshotOf(t, st), r); text(d) != "Fits in0@b in1@a" {
		t.Errorf("%s; both pods of the Basic group fit", text(d))
	}
}

// A set filter begins anew for each decision of a preemptor.
func TestSetFiltersBeginForEachDecision(t *testing.T) {
	var began, feasible, asked, told int
	f := counted{preemptiontest.Spread{Label: "app", MaxSkew: 5}, &began, &feasible, &asked, &told}
	p := must(placement.New(placement.Config{SetFilters: []placement.SetFilter{f}}))(t)
	for i := range 3 {
		if d, err := p.Decide(snapshotOf(t, world(t, "n1 2: a/1")), pending(0)); err != nil || d.Outcome != preemption.Fits || began != i+1 {
			t.Errorf("decision %d: %v, %v, begun %d times", i, d.Outcome, err, began)
		}
	}
}
