package placement_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/twin"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// Each law is a property, checked on generated records, and a fuzz target.
var laws = []struct {
	name  string
	check func(*rapid.T)
}{
	{"AgreesWithTwin", agreesWithTwin},
	{"BestFitAgreesWithTwin", bestFitAgreesWithTwin},
	{"VictimsMakeRoom", victimsMakeRoom},
	{"NoVictimCanBePutBack", noVictimCanBePutBack},
	{"VictimsArePermitted", victimsArePermitted},
	{"HardBudgetsHold", hardBudgetsHold},
	{"OrderOfInputIsNothing", orderOfInputIsNothing},
	{"ArgumentsAreLeftAlone", argumentsAreLeftAlone},
	{"EditsMakeTheState", editsMakeTheState},
	{"PromisesPreemptOnce", promisesPreemptOnce},
	{"StateRoundTrips", stateRoundTrips},
	{"BestCandidateIsChosen", bestCandidateIsChosen},
	{"TestFilterIsLawful", func(t *rapid.T) {
		preemptiontest.CheckFilter(t, preemptiontest.Apart{Label: "app", Anywhere: rapid.Bool().Draw(t, "anywhere")})
	}},
	{"TestGuardIsLawful", func(t *rapid.T) {
		preemptiontest.CheckPlacementGuard(t, preemptiontest.Pinned{Label: "app", Value: "db"})
	}},
}

func TestLaws(t *testing.T) {
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) { rapid.Check(t, law.check) })
	}
}

func FuzzAgreesWithTwin(f *testing.F)        { f.Fuzz(rapid.MakeFuzz(agreesWithTwin)) }
func FuzzBestFitAgreesWithTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bestFitAgreesWithTwin)) }
func FuzzVictimsMakeRoom(f *testing.F)       { f.Fuzz(rapid.MakeFuzz(victimsMakeRoom)) }
func FuzzNoVictimCanBePutBack(f *testing.F)  { f.Fuzz(rapid.MakeFuzz(noVictimCanBePutBack)) }
func FuzzVictimsArePermitted(f *testing.F)   { f.Fuzz(rapid.MakeFuzz(victimsArePermitted)) }
func FuzzHardBudgetsHold(f *testing.F)       { f.Fuzz(rapid.MakeFuzz(hardBudgetsHold)) }
func FuzzOrderOfInputIsNothing(f *testing.F) { f.Fuzz(rapid.MakeFuzz(orderOfInputIsNothing)) }
func FuzzArgumentsAreLeftAlone(f *testing.F) { f.Fuzz(rapid.MakeFuzz(argumentsAreLeftAlone)) }
func FuzzEditsMakeTheState(f *testing.F)     { f.Fuzz(rapid.MakeFuzz(editsMakeTheState)) }
func FuzzPromisesPreemptOnce(f *testing.F)   { f.Fuzz(rapid.MakeFuzz(promisesPreemptOnce)) }
func FuzzStateRoundTrips(f *testing.F)       { f.Fuzz(rapid.MakeFuzz(stateRoundTrips)) }
func FuzzBestCandidateIsChosen(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bestCandidateIsChosen)) }

var same = cmp.Options{cmpopts.IgnoreUnexported(placement.Decision{}), cmpopts.EquateEmpty()}

type fatal interface {
	Helper()
	Fatal(...any)
}

func snapshotOf(t fatal, st placement.State) *placement.Snapshot {
	t.Helper()
	s, err := placement.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decide(t fatal, c placement.Config, s *placement.Snapshot, r placement.Request) placement.Decision {
	t.Helper()
	p, err := placement.New(c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func edit(t fatal, s *placement.Snapshot, edits ...placement.Edit) *placement.Snapshot {
	t.Helper()
	next, err := s.With(edits...)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// draw is a record with a configuration and the decision about it.
func draw(t *rapid.T) (st placement.State, r placement.Request, c placement.Config, d placement.Decision) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r = record.State, *record.Request
	c = preemptiontest.PlacementConfigs().Draw(t, "config")
	return st, r, c, decide(t, c, snapshotOf(t, st), r)
}

func agreesWithTwin(t *rapid.T) {
	st, r, c, got := draw(t)
	if diff := cmp.Diff(twin.DecideOnNodes(c, st, r), got, same); diff != "" {
		t.Fatalf("the twin decides otherwise (- twin, + decision):\n%s", diff)
	}
}

// Where the tightest node is taken, or filters are asked, a pod that is put back anywhere
// may move the others.
func bestFitAgreesWithTwin(t *rapid.T) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	r.Group, r.Unschedulable, r.MinCount = "pending", true, rapid.IntRange(0, 1).Draw(t, "min count")
	c := placement.Config{Order: placement.BestFit, Mode: rapid.SampledFrom([]placement.Mode{placement.Replace, placement.Design}).Draw(t, "mode")}
	if rapid.Bool().Draw(t, "filtered") {
		c.Order, c.Filters = placement.FirstFit, []placement.Filter{preemptiontest.Apart{Label: "app", Zone: "a", Anywhere: rapid.Bool().Draw(t, "anywhere")}}
	}
	for i := range r.Pods {
		r.Pods[i].Requests = placement.Resources{"cpu": rapid.Int64Range(1, 3).Draw(t, "cpu")}
	}
	if diff := cmp.Diff(twin.DecideOnNodes(c, st, r), decide(t, c, snapshotOf(t, st), r), same); diff != "" {
		t.Fatalf("the twin decides otherwise (- twin, + decision):\n%s", diff)
	}
}

// left is what is free of a resource on a node, with the pods that are there.
func left(st placement.State, r placement.Request, n placement.Node, resource string, there func(placement.Pod) bool) int64 {
	takes := func(p placement.Pod) int64 {
		if resource == placement.PodsResource {
			return 1
		}
		return p.Requests[resource]
	}
	free, listed := n.Capacity[resource]
	if resource == placement.PodsResource && !listed {
		free = 1 << 40
	}
	for _, p := range st.Pods {
		if p.Node == n.Name && there(p) {
			free -= takes(p)
		}
	}
	for _, p := range st.Nominated {
		own := slices.ContainsFunc(r.Pods, func(m placement.Pod) bool { return m.ID == p.ID })
		if p.Node == n.Name && !own && priorityOf(st, p) >= r.Priority {
			free -= takes(p)
		}
	}
	return free
}

func priorityOf(st placement.State, p placement.Pod) int32 {
	for _, g := range st.Groups {
		if g.ID == p.Group {
			return g.Priority
		}
	}
	return p.Priority
}

// hasRoom reports whether the nominated pods have their room beside those that are there.
func hasRoom(st placement.State, r placement.Request, d placement.Decision, there func(placement.Pod) bool) bool {
	for _, n := range st.Nodes {
		needs := map[string]int64{}
		for _, nomination := range d.Nominations {
			if nomination.Node != n.Name {
				continue
			}
			needs[placement.PodsResource]++
			for _, p := range r.Pods {
				if p.ID == nomination.Pod {
					for resource, amount := range p.Requests {
						needs[resource] += amount
					}
				}
			}
		}
		for resource, amount := range needs {
			if amount > 0 && amount > left(st, r, n, resource, there) {
				return false
			}
		}
	}
	return true
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

// Victims gone, the preemptor has room for as many pods as it needs, on nodes where they
// may run and in one domain.
func victimsMakeRoom(t *rapid.T) {
	st, r, c, d := draw(t)
	if d.Outcome == placement.Impossible || d.Outcome == placement.Wait && c.Mode != placement.Design {
		return
	}
	gone := victimIDs(d)
	there := func(p placement.Pod) bool {
		stays := d.Outcome == placement.Fits && !r.Unschedulable || !p.Terminating || c.Mode != placement.Design
		return stays && !gone[p.ID]
	}
	if !hasRoom(st, r, d, there) {
		t.Fatalf("no room: %+v", d)
	}
	if len(d.Nominations) < max(1, r.MinCount) || len(d.Nominations) != d.Placeable {
		t.Fatalf("%d pods placed, want %d: %+v", len(d.Nominations), r.MinCount, d)
	}
	for _, n := range d.Nominations {
		for _, p := range r.Pods {
			if p.ID == n.Pod && p.Nodes != nil && !slices.Contains(p.Nodes, n.Node) {
				t.Fatalf("pod %q may not run on %q", p.ID, n.Node)
			}
		}
		for _, domain := range r.Domains {
			if domain.Name == d.Domain && !slices.Contains(domain.Nodes, n.Node) {
				t.Fatalf("node %q is not in domain %q", n.Node, d.Domain)
			}
		}
	}
}

// No unit of the set can be put back where it runs. (As built in v1.36 units are put back
// by placing anew, so one that could not be may fit around the last placement.)
func noVictimCanBePutBack(t *rapid.T) {
	st, r, c, d := draw(t)
	if c.Mode == placement.Replace || len(c.Filters) > 0 {
		return
	}
	gone := victimIDs(d)
	for _, v := range d.Victims {
		there := func(p placement.Pod) bool {
			return (!gone[p.ID] || slices.Contains(v.Pods, p.ID)) && (!p.Terminating || c.Mode != placement.Design)
		}
		if hasRoom(st, r, d, there) {
			t.Fatalf("%v can stay: %+v", v.Pods, d)
		}
	}
}

// Victims are of lower priority and not guarded; groups of mode PodGroup are whole.
func victimsArePermitted(t *rapid.T) {
	st, r, c, d := draw(t)
	gone := victimIDs(d)
	if r.Policy == placement.PreemptNever && len(gone) > 0 {
		t.Fatalf("a preemptor that never preempts takes %v", d.Victims)
	}
	for _, p := range st.Pods {
		if !gone[p.ID] {
			continue
		}
		if priorityOf(st, p) >= r.Priority {
			t.Fatalf("pod %q of priority %d is a victim of %d", p.ID, priorityOf(st, p), r.Priority)
		}
		if p.Terminating && c.Mode == placement.Design {
			t.Fatalf("pod %q terminates and is a victim", p.ID)
		}
		for _, g := range st.Groups {
			for _, other := range st.Pods {
				split := g.ID == p.Group && other.Group == g.ID && !gone[other.ID] && !(other.Terminating && c.Mode == placement.Design)
				if split && g.DisruptionMode == placement.DisruptionModePodGroup {
					t.Fatalf("group %q is split: %q goes, %q stays", g.ID, p.ID, other.ID)
				}
			}
		}
		for range c.Guards {
			if p.Labels["app"] == "db" {
				t.Fatalf("pod %q is guarded", p.ID)
			}
		}
	}
}

func hardBudgetsHold(t *rapid.T) {
	st, r, c, _ := draw(t)
	c.Budgets = placement.Hard
	d := decide(t, c, snapshotOf(t, st), r)
	gone := victimIDs(d)
	victims := slices.DeleteFunc(slices.Clone(st.Pods), func(p placement.Pod) bool { return !gone[p.ID] })
	if !twin.WithinBudgets(st, victims) || d.Violations > 0 {
		t.Fatalf("a budget is violated: %+v", d)
	}
	c.Budgets = placement.Soft
	soft := decide(t, c, snapshotOf(t, st), r)
	if (d.Outcome == placement.Impossible) != (soft.Outcome == placement.Impossible) && d.Reason != placement.Budgets {
		t.Fatalf("%v for %v, with soft budgets %v", d.Reason, d.Outcome, soft.Outcome)
	}
}

func orderOfInputIsNothing(t *rapid.T) {
	st, r, c, d := draw(t)
	st.Nodes = rapid.Permutation(st.Nodes).Draw(t, "nodes")
	st.Pods = rapid.Permutation(st.Pods).Draw(t, "pods")
	st.Nominated = rapid.Permutation(st.Nominated).Draw(t, "nominated")
	st.Groups = rapid.Permutation(st.Groups).Draw(t, "groups")
	st.Budgets = rapid.Permutation(st.Budgets).Draw(t, "budgets")
	if diff := cmp.Diff(d, decide(t, c, snapshotOf(t, st), r), same); diff != "" {
		t.Fatalf("another order, another decision:\n%s", diff)
	}
}

func argumentsAreLeftAlone(t *rapid.T) {
	st, r, c, d := draw(t)
	p, err := placement.New(c)
	if err != nil {
		t.Fatal(err)
	}
	text := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	stBefore, rBefore := text(st), text(r)
	s := snapshotOf(t, st)
	inside := s.State()
	for range 2 { // the second one finds used memory
		again, err := p.Decide(s, r)
		if diff := cmp.Diff(d, again, same); diff != "" || err != nil {
			t.Fatalf("asked again: %v\n%s", err, diff)
		}
		if _, err := p.Candidates(s, r); err != nil {
			t.Fatal(err)
		}
	}
	edit(t, s, d.Edits()...)
	if text(st) != stBefore || text(r) != rBefore {
		t.Fatal("arguments changed")
	}
	if diff := cmp.Diff(inside, s.State(), same); diff != "" {
		t.Fatalf("the snapshot changed:\n%s", diff)
	}
}

// A state made edit by edit is the state, and decides alike; what is set and taken away
// again leaves nothing.
func editsMakeTheState(t *rapid.T) {
	st, r, c, d := draw(t)
	other := preemptiontest.PlacementStates().Draw(t, "before")
	s := snapshotOf(t, other)
	var edits []placement.Edit
	for _, p := range other.Pods {
		edits = append(edits, placement.Remove(p.ID))
	}
	for _, p := range other.Nominated {
		edits = append(edits, placement.Withdraw(p.ID))
	}
	for _, n := range other.Nodes {
		edits = append(edits, placement.RemoveNode(n.Name))
	}
	for _, g := range other.Groups {
		edits = append(edits, placement.RemoveGroup(g.ID))
	}
	for _, b := range other.Budgets {
		edits = append(edits, placement.RemoveBudget(b.Namespace, b.Name))
	}
	s = edit(t, s, edits...)
	if diff := cmp.Diff(placement.State{}, s.State(), same); diff != "" {
		t.Fatalf("something is left:\n%s", diff)
	}
	edits = edits[:0]
	for _, n := range st.Nodes {
		edits = append(edits, placement.SetNode(n))
	}
	var late []placement.Edit
	add := func(e placement.Edit) {
		if rapid.Bool().Draw(t, "late") {
			late = append(late, e)
		} else {
			edits = append(edits, e)
		}
	}
	for _, g := range st.Groups {
		add(placement.SetGroup(g))
	}
	for _, b := range st.Budgets {
		add(placement.SetBudget(b))
	}
	for _, p := range st.Nominated {
		add(placement.Nominate(p))
	}
	for _, p := range st.Pods {
		first := p
		first.Terminating, first.Preempted = false, false
		edits = append(edits, placement.Run(first))
		if p.Preempted {
			add(placement.StartEviction(p.ID))
		} else if p.Terminating {
			add(placement.Run(p))
		}
	}
	s = edit(t, s, append(edits, late...)...)
	if diff := cmp.Diff(snapshotOf(t, st).State(), s.State(), same); diff != "" {
		t.Fatalf("the edits make another state:\n%s", diff)
	}
	if diff := cmp.Diff(d, decide(t, c, s, r), same); diff != "" {
		t.Fatalf("the edits make another decision:\n%s", diff)
	}
}

// KEP-5710, Delayed preemption: once the victims were told to go, the same request
// preempts nobody more; once they are gone it fits.
func promisesPreemptOnce(t *rapid.T) {
	st, r, c, _ := draw(t)
	c.Mode, r.Unschedulable = placement.Design, false
	s := snapshotOf(t, st)
	d := decide(t, c, s, r)
	if d.Outcome != placement.Preempt && d.Outcome != placement.Wait {
		return
	}
	s = edit(t, s, d.Edits()...)
	again := decide(t, c, s, r)
	if again.Outcome != placement.Wait && again.Outcome != placement.Fits {
		t.Fatalf("after %+v: %+v", d, again)
	}
	var gone []placement.Edit
	for _, p := range s.State().Pods {
		if p.Terminating {
			gone = append(gone, placement.Remove(p.ID))
		}
	}
	s = edit(t, s, gone...)
	if last := decide(t, c, s, r); last.Outcome != placement.Fits && last.Outcome != placement.Wait {
		t.Fatalf("with the victims gone: %+v", last)
	} else if last.Outcome == placement.Fits {
		s = edit(t, s, last.Edits()...)
		for _, p := range s.State().Nominated {
			if slices.ContainsFunc(r.Pods, func(m placement.Pod) bool { return m.ID == p.ID }) {
				t.Fatalf("pod %q runs, or has no place, and is nominated", p.ID)
			}
		}
	}
}

func stateRoundTrips(t *rapid.T) {
	st, r, c, d := draw(t)
	data, err := json.Marshal(placement.Record{State: snapshotOf(t, st).State(), Request: &r})
	if err != nil {
		t.Fatal(err)
	}
	record, err := placement.ParseRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, decide(t, c, snapshotOf(t, record.State), *record.Request), same); diff != "" {
		t.Fatalf("another decision:\n%s", diff)
	}
}

// The decision is one of the candidates, and none has fewer violations.
func bestCandidateIsChosen(t *rapid.T) {
	st, r, c, d := draw(t)
	p, err := placement.New(c)
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.Candidates(snapshotOf(t, st), r)
	if err != nil {
		t.Fatal(err)
	}
	if d.Outcome != placement.Preempt {
		if d.Outcome == placement.Impossible && d.Reason != placement.PolicyNever && len(list) > 0 {
			t.Fatalf("%+v, but there are candidates: %+v", d, list)
		}
		return
	}
	at := slices.IndexFunc(list, func(o placement.Candidate) bool { return o.Domain == d.Domain })
	if at < 0 || !cmp.Equal(list[at], d.Candidate, same) {
		t.Fatalf("%+v is not among %+v", d, list)
	}
	for _, other := range list {
		if other.Violations < d.Violations {
			t.Fatalf("%+v has fewer violations than %+v", other, d)
		}
	}
}
