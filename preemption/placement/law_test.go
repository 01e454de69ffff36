package placement_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// Each law is a property, checked on generated records, and a fuzz target.
var laws = []struct {
	name  string
	check func(*rapid.T)
}{
	{"AgreesWithTheWitness", agreesWithTheWitness},
	{"BestFitAgreesWithTheWitness", bestFitAgreesWithTheWitness},
	{"OrderOfInputIsNothing", orderOfInputIsNothing},
	{"ArgumentsAreLeftAlone", argumentsAreLeftAlone},
	{"EditsMakeTheState", editsMakeTheState},
	{"PromisesPreemptOnce", promisesPreemptOnce},
	{"StateRoundTrips", stateRoundTrips},
	{"PlacementsAgreeWithTheWitness", placementsAgreeWithTheWitness},
	{"DecisionsArePlain", decisionsArePlain},
	{"StrangersChangeNothing", strangersChangeNothing},
	{"OnePodIsOnePod", onePodIsOnePod},
	{"RetryAtIsTheFirstInstant", retryAtIsTheFirstInstant},
	{"TestFilterIsLawful", func(t *rapid.T) {
		preemptiontest.CheckFilter(t, preemptiontest.Apart{Label: "app", Anywhere: rapid.Bool().Draw(t, "anywhere")})
	}},
	{"SpreadIsLawful", func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"zone", ""}).Draw(t, "key")
		preemptiontest.CheckSetFilter(t, preemptiontest.Spread{TopologyKey: key, Label: "app", MaxSkew: rapid.IntRange(1, 2).Draw(t, "skew")})
	}},
	{"DecisionsOfSetsVerify", decisionsOfSetsVerify},
	{"LastFitIsLawful", func(t *rapid.T) { preemptiontest.CheckPlacer(t, preemptiontest.LastFit{}) }},
	{"ChosenIsDecided", chosenIsDecided},
	{"ResizesVerify", resizesVerify},
	{"ConfigEditsAreFresh", configEditsAreFresh},
	{"SurplusFollowsEdits", surplusFollowsEdits},
	{"SyncIsNewSnapshot", syncIsNewSnapshot},
	{"SpreadAgreesWithCounting", spreadAgreesWithCounting},
	{"TestGuardIsLawful", func(t *rapid.T) {
		preemptiontest.CheckPlacementGuard(t, preemptiontest.Pinned{Label: "app", Value: "db", Until: rapid.SampledFrom([]time.Time{{}, preemptiontest.Now}).Draw(t, "until")})
	}},
}

func TestLaws(t *testing.T) {
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, law.check)
		})
	}
}

func FuzzLaws(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { laws[rapid.IntRange(0, len(laws)-1).Draw(t, "law")].check(t) }))
}

var same = cmpopts.EquateEmpty()

// differ returns what [cmp.Diff] does, at once where there is no difference.
func differ(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, same)
}

type fatal interface {
	Helper()
	Fatal(...any)
}

// must returns what came without an error.
func must[T any](v T, err error) func(fatal) T {
	return func(t fatal) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func snapshotOf(t fatal, st placement.State) *placement.Snapshot {
	t.Helper()
	return must(placement.NewSnapshot(st))(t)
}

func decide(t fatal, c placement.Config, s *placement.Snapshot, r placement.Request) placement.Decision {
	t.Helper()
	return must(must(placement.New(c))(t).Decide(s, r))(t)
}

func edit(t fatal, s *placement.Snapshot, edits ...placement.Edit) *placement.Snapshot {
	t.Helper()
	return must(s.With(edits...))(t)
}

// draw is a record with a configuration and the decision about it.
func draw(t *rapid.T) (st placement.State, r placement.Request, c placement.Config, d placement.Decision) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r = record.State, *record.Request
	c = preemptiontest.PlacementConfigs().Draw(t, "config")
	return st, r, c, decide(t, c, snapshotOf(t, st), r)
}

// agreesWithTheWitness asks about all at once what the laws of the witness ask about some traits at a time.
func agreesWithTheWitness(t *rapid.T) {
	st, r, c, d := draw(t)
	agrees(t, c, st, r, d)
}

// Where the tightest node is taken, or filters are asked, a pod that is put back anywhere
// may move the others.
func bestFitAgreesWithTheWitness(t *rapid.T) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	r.MinGroups, r.Nested = 0, nil
	r.Group, r.SkipFit, r.MinCount = "many", true, rapid.IntRange(0, 1).Draw(t, "min count")
	c := placement.Config{Order: placement.BestFit, Mode: rapid.SampledFrom([]placement.Mode{placement.ModeInPlace, placement.ModeDesign}).Draw(t, "mode")}
	if rapid.Bool().Draw(t, "filtered") {
		c.Order, c.Filters = placement.FirstFit, []placement.Filter{preemptiontest.Apart{Label: "app", Zone: "a", Anywhere: rapid.Bool().Draw(t, "anywhere")}}
	}
	for i := range r.Pods {
		r.Pods[i].Group = ""
		r.Pods[i].Requests = workload.Resources{"cpu": rapid.Int64Range(1, 3).Draw(t, "cpu")}
	}
	agrees(t, c, st, r, decide(t, c, snapshotOf(t, st), r))
}

func orderOfInputIsNothing(t *rapid.T) {
	st, r, c, d := draw(t)
	st.Nodes = rapid.Permutation(st.Nodes).Draw(t, "nodes")
	st.Pods = rapid.Permutation(st.Pods).Draw(t, "pods")
	st.Nominated = rapid.Permutation(st.Nominated).Draw(t, "nominated")
	st.Groups = rapid.Permutation(st.Groups).Draw(t, "groups")
	st.Budgets = rapid.Permutation(st.Budgets).Draw(t, "budgets")
	noDiff(t, "another order, another decision", d, decide(t, c, snapshotOf(t, st), r))
}

func argumentsAreLeftAlone(t *rapid.T) {
	st, r, c, d := draw(t)
	p := must(placement.New(c))(t)
	text := func(v any) string {
		data := must(json.Marshal(v))(t)
		return string(data)
	}
	stBefore, rBefore := text(st), text(r)
	s := snapshotOf(t, st)
	inside := s.State()
	for range 2 { // the second one finds used memory
		again, err := p.Decide(s, r)
		if diff := differ(d, again); diff != "" || err != nil {
			t.Fatalf("asked again: %v\n%s", err, diff)
		}
		if _, err := p.Placements(s, r); err != nil && !isBasic(c, st, r) {
			t.Fatal(err)
		}
	}
	edit(t, s, d.Edits()...)
	if text(st) != stBefore || text(r) != rBefore {
		t.Fatal("arguments changed")
	}
	noDiff(t, "the snapshot changed", inside, s.State())
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
	for _, g := range slices.Backward(parentsFirst(other.Groups)) {
		edits = append(edits, placement.RemoveGroup(g.ID))
	}
	for _, b := range other.Budgets {
		edits = append(edits, placement.RemoveBudget(b.Namespace, b.Name))
	}
	for _, k := range other.Claims {
		edits = append(edits, placement.RemoveClaim(k.ID))
	}
	s = edit(t, s, edits...)
	noDiff(t, "something is left", placement.State{}, s.State())
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
	for _, g := range parentsFirst(st.Groups) {
		if g.Parent == "" {
			add(placement.SetGroup(g))
		} else {
			late = append(late, placement.SetGroup(g)) // after its parent
		}
	}
	for _, b := range st.Budgets {
		add(placement.SetBudget(b))
	}
	for _, k := range st.Claims {
		edits = append(edits, placement.SetClaim(k)) // before its pods
	}
	for _, p := range st.Nominated {
		add(placement.Nominate(p))
	}
	for _, p := range st.Pods {
		first := p
		first.Terminating, first.Preempted, first.TerminatingSince = false, false, time.Time{}
		edits = append(edits, placement.Run(first))
		if p.Preempted {
			add(placement.StartEvictionAt(p.ID, p.TerminatingSince))
		} else if p.Terminating {
			add(placement.Run(p))
		}
	}
	s = edit(t, s, append(edits, late...)...)
	noDiff(t, "the edits make another state", snapshotOf(t, st).State(), s.State())
	noDiff(t, "the edits make another decision", d, decide(t, c, s, r))
}

// parentsFirst lists groups so that parents come before the groups below them.
func parentsFirst(groups []workload.PodGroup) []workload.PodGroup {
	st := placement.State{Groups: groups}
	depth := func(g workload.PodGroup) int { return len(groupsAround(st, workload.Pod{Group: g.ID})) }
	return slices.SortedStableFunc(slices.Values(groups), func(a, b workload.PodGroup) int { return depth(a) - depth(b) })
}

// KEP-5710, Delayed preemption: once the victims were told to stop, the same request
// preempts nobody more; once they are gone it fits.
func promisesPreemptOnce(t *rapid.T) {
	st, r, c, _ := draw(t)
	c.Mode, r.SkipFit = placement.ModeDesign, false
	if isBasic(c, st, r) {
		r.MinGroups, r.Nested = 0, nil
		r.Pods = r.Pods[:1] // one that has no place withdraws its promise, which may be room for another
	}
	s := snapshotOf(t, st)
	d := must(must(placement.New(c))(t).Decide(s, r))(t)
	if d.Outcome != preemption.Preempt && d.Outcome != preemption.Wait || d.Reason != 0 {
		return
	}
	s = edit(t, s, d.Edits()...)
	again := decide(t, c, s, r)
	if again.Outcome != preemption.Wait && again.Outcome != preemption.Fits {
		t.Fatalf("after\n%+v:\n%+v\n%+v\n%+v", d, again, st, r)
	}
	var gone []placement.Edit
	for p := range s.Pods() {
		if p.Terminating {
			gone = append(gone, placement.Remove(p.ID))
		}
	}
	s = edit(t, s, gone...)
	if last := decide(t, c, s, r); last.Outcome != preemption.Fits {
		t.Fatalf("with the victims gone: %+v", last)
	} else {
		s = edit(t, s, last.Edits()...)
		for _, p := range s.State().Nominated {
			if slices.ContainsFunc(last.Pods, func(m workload.Pod) bool { return m.ID == p.ID }) {
				t.Fatalf("pod %q runs, or has no place, and is nominated", p.ID)
			}
		}
	}
}

func stateRoundTrips(t *rapid.T) {
	st, r, c, d := draw(t)
	data := must(json.Marshal(placement.Record{State: snapshotOf(t, st).State(), Request: &r}))(t)
	record := must(placement.ParseRecord(data))(t)
	noDiff(t, "another decision", d, decide(t, c, snapshotOf(t, record.State), *record.Request))
}
