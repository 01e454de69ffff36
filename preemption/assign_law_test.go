package preemption_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The laws of the assignment of flavors, each a property and a fuzz target.
var assignmentLaws = []struct {
	name  string
	check func(*rapid.T)
}{
	{"PinnedIsDecidedAlike", inEither(pinnedIsDecidedAlike)},
	{"OrderOfInputAssignsNothing", inEither(orderOfInputAssignsNothing)},
	{"PossibilityIsWhatItIs", inEither(possibilityIsWhatItIs)},
	{"OtherKeysAreNothing", inEither(otherKeysAreNothing)},
}

func TestAssignmentLaws(t *testing.T) {
	for _, law := range assignmentLaws {
		t.Run(law.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, law.check)
		})
	}
}

func FuzzAssignmentLaws(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		assignmentLaws[rapid.IntRange(0, len(assignmentLaws)-1).Draw(t, "law")].check(t)
	}))
}

func drawOpen(t *rapid.T, config preemption.Config) (preemption.State, preemption.Request, preemption.Decision) {
	record := preemptiontest.RecordsWithoutFlavors().Draw(t, "record")
	return record.State, *record.Request, decideWith(t, config, snapshotOf(t, record.State), *record.Request)
}

// The request with the flavors filled in is decided alike, by the same assignment of
// modes, and admits the same workload.
func pinnedIsDecidedAlike(t *rapid.T, config preemption.Config) {
	st, r, d := drawOpen(t, config)
	s := snapshotOf(t, st)
	last := len(d.Assignment) - 1
	if last >= 0 && d.Assignment[last].Flavor == "" {
		// Wait: at another time another flavor is assigned to what comes before.
		if d.Possible() || len(d.Shortage) == 0 && !noneEligible(d.Assignment[last]) || len(d.Edits()) > 0 {
			t.Fatalf("no flavor, and %+v", d)
		}
		return
	}
	pinned := r
	pinned.Workload = throughJSON(t, preemption.Record{Request: &preemption.Request{Continue: d.Assignment}}).Request.Continue.Pin(r.Workload)
	p := decideWith(t, config, s, pinned)
	fits := true
	for _, c := range d.Assignment {
		for _, a := range c.Resources {
			fits = fits && a.Mode == preemption.ModeFit
		}
	}
	if last >= 0 && slices.IndexFunc(pinned.Workload.PodSets, isPinned(r.Workload)) < 0 && fits != (d.Outcome == preemption.Fits) {
		t.Fatalf("%v with %+v", d.Outcome, d.Assignment)
	}
	if !d.RetryAt.IsZero() && !d.RetryAt.After(r.Now) {
		t.Fatalf("RetryAt %v", d.RetryAt)
	}
	if !d.Possible() && !p.Possible() { // at another time another flavor may be assigned
		p.RetryAt, p.Outcome = d.RetryAt, d.Outcome
	}
	if len(p.Assignment) > 0 {
		t.Fatalf("pinned, and assigned %+v", p.Assignment)
	}
	p.Assignment = d.Assignment
	noDiff(t, "- pinned, + assigned", p, d, sameDecision)
	if d.Outcome == preemption.Fits {
		after := edit(t, s, d.Edits()...).State()
		want := pinned.Workload
		want.ReservedAt = r.Now
		noDiff(t, "- pinned, + admitted", want, workloadOf(after, r.Workload.ID), cmpopts.EquateEmpty())
	}
}

// isPinned tells the pod sets of a workload that came with flavors.
func isPinned(w workload.Workload) func(workload.PodSet) bool {
	return func(p workload.PodSet) bool {
		i := slices.IndexFunc(w.PodSets, func(q workload.PodSet) bool { return q.Name == p.Name })
		return slices.ContainsFunc(w.PodSets[i].Requests, func(a quota.Amount) bool { return a.Flavor != "" })
	}
}

// The order of queues, cohorts, workloads and of the requests of a pod set is nothing.
func orderOfInputAssignsNothing(t *rapid.T, config preemption.Config) {
	st, r, d := drawOpen(t, config)
	other := cloneState(st)
	other.Cohorts = rapid.Permutation(other.Cohorts).Draw(t, "cohorts")
	other.Queues = rapid.Permutation(other.Queues).Draw(t, "queues")
	other.Flavors = rapid.Permutation(other.Flavors).Draw(t, "flavors")
	other.Admitted = rapid.Permutation(other.Admitted).Draw(t, "admitted")
	r.Workload = r.Workload.Clone()
	for i := range r.Workload.PodSets {
		p := &r.Workload.PodSets[i]
		p.Requests = rapid.Permutation(p.Requests).Draw(t, "requests")
	}
	got := decideWith(t, config, snapshotOf(t, other), r)
	if d.Admitted != nil && got.Admitted != nil {
		for i := range got.Admitted.PodSets { // the requests are admitted in the order in which they came
			noDiff(t, "- in order, + shuffled", d.Admitted.Usage(), got.Admitted.Usage())
			got.Admitted.PodSets[i].Requests = d.Admitted.PodSets[i].Requests
		}
	}
	noDiff(t, "- in order, + shuffled", d, got, sameDecision)
}

// The forecast about one resource is the decision about it.
func possibilityIsWhatItIs(t *rapid.T, config preemption.Config) {
	record := preemptiontest.Records().Draw(t, "record")
	s, r := snapshotOf(t, record.State), *record.Request
	for _, a := range r.Workload.Usage() {
		f := must(preemptorOf(config).Forecast(s, r, a))(t)
		one := r
		one.Workload.PodSets = []workload.PodSet{{Name: "one", Count: 1, Requests: []quota.Amount{a}}}
		one.NeedsPreemption = []quota.FlavorResource{a.FlavorResource()}
		want := witness.Decide(config, record.State, one)
		if leavingAlone(want) {
			continue // the forecast is what the search in order finds
		}
		possibility := preemption.PossibilityNoCandidates
		for _, v := range want.Victims {
			if possibility != preemption.PossibilityPreempt {
				possibility = preemption.PossibilityReclaim
			}
			if v.Queue == r.Workload.Queue {
				possibility = preemption.PossibilityPreempt
			}
		}
		if f.Possibility != possibility || f.BorrowHeight != want.BorrowHeight {
			t.Fatalf("%v: %+v, want %v, %d", a, f, possibility, want.BorrowHeight)
		}
	}
}

func noneEligible(c preemption.FlavorChoice) bool {
	return len(c.Tried) > 0 && !slices.ContainsFunc(c.Tried, func(t preemption.TriedFlavor) bool { return t.Skipped != preemption.NotEligible })
}
