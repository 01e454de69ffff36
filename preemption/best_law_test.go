package preemption_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// mostCandidates is the largest number of candidates, replicas counted one by one, of which all sets are tried.
const mostCandidates = 9

// "The best allowed set": the best search finds what trying all sets finds, in every mode,
// and says that it is the best.
func bestOfAllSets(t *rapid.T) {
	config, st, r := drawSearched(t, preemptiontest.Records())
	r.Room = drawRoom(t, st)
	config.Search, config.MaxRetrySteps = preemption.Best, -1
	config.Best.Steps = 1_000_000_000
	config.Cost = drawCost(t, &st)
	config.Best.FewestFirst = config.Cost != nil && rapid.Bool().Draw(t, "fewest first")
	got := decideWith(t, config, snapshotOf(t, st), r)
	if got.Proof == nil || leavingAlone(got) {
		t.Skip("nobody else is to be found")
	}
	want, small := witness.BestSet(config, st, r, mostCandidates)
	if !small {
		t.Skip("too many candidates")
	}
	noDiff(t, "-all sets +best", want, got.Victims, sameDecision, cmpopts.IgnoreFields(preemption.Victim{}, "Order", "Lost"))
	v := valueOf(config, st, r, want)
	value := v.Lost
	if config.Cost == nil || config.Best.FewestFirst {
		value = v.Victims
	}
	if p := got.Proof; !p.Optimal || p.Value != value || p.LowerBound != p.Value || got.Lost != v.Lost {
		t.Fatalf("proof %+v, %d is lost, want %+v", *p, got.Lost, v)
	}
}

// valueOf is what counts of victims.
func valueOf(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim) witness.Value {
	return witness.ValueOf(c, r, victims, func(id string) workload.Workload { return workloadOf(st, id) })
}

// drawCost draws a cost, or nil, and what it reads.
func drawCost(t *rapid.T, st *preemption.State) preemption.Cost {
	kind := rapid.IntRange(0, 5).Draw(t, "cost")
	if kind < 2 {
		return nil
	}
	st.Admitted = slices.Clone(st.Admitted)
	for i := range st.Admitted {
		loss := &st.Admitted[i].Loss
		switch rapid.IntRange(0, 3).Draw(t, "known loss") {
		case 0:
			loss.PerReplica = rapid.Int64Range(0, 4).Draw(t, "per replica")
		case 1:
			loss.Milestones = []workload.Milestone{{After: quota.Some(time.Minute), Cost: 100}, {After: quota.Some(time.Hour), Cost: rapid.Int64Range(0, 200).Draw(t, "at last")}}
		case 2:
			loss.LastCheckpoint = preemptiontest.Now.Add(-time.Duration(rapid.Int64Range(-1, 30).Draw(t, "saved")) * time.Minute)
			loss.Restart = quota.Some(time.Duration(rapid.Int64Range(0, 5).Draw(t, "restart")) * time.Minute)
		}
	}
	return [...]preemption.Cost{
		preemption.CostByAge{}, preemption.CostByAge{Resources: []string{"cpu", "gpu"}},
		preemption.CostSinceCheckpoint{Resources: []string{"cpu"}}, preemption.CostDeclared{},
	}[kind-2]
}

func TestBestOfAllSets(t *testing.T) { rapid.Check(t, bestOfAllSets) }

// Verify has nothing against decisions of the best search and of exchanges, at any time.
func bestDecisionsVerify(t *rapid.T) {
	records := preemptiontest.Records()
	if rapid.IntRange(0, 4).Draw(t, "without flavors") == 0 {
		records = preemptiontest.RecordsWithoutFlavors()
	}
	config, st, r := drawSearched(t, records)
	config.Search = preemption.Best
	config.Best.Steps = rapid.SampledFrom([]int{-1, 0, 0, 1, 2, 3}).Draw(t, "steps")
	config.Cost = drawCost(t, &st)
	r.Room = drawRoom(t, st)
	s := snapshotOf(t, st)
	d := decideWith(t, config, s, r)
	verified(t, st, r, config, d)
	explained, err := explain.Explain(preemptorOf(config), s, r)
	if diff := cmp.Diff(d, explained.Decision, sameDecision); err != nil || diff != "" {
		t.Fatalf("%v -Decide +Explain:\n%s", err, diff)
	}
	var recorder trace.Recorder
	_, names := traced(t, config, s, r, &recorder)
	if len(r.MinCounts) == 0 || len(d.Counts) == 0 && d.Possible() {
		checkImproved(t, names.Better(), &d)
	}
}

// checkImproved: the exchanges lead from the victims of the search in order to those of the
// decision, each to something better.
func checkImproved(t *rapid.T, x *trace.Better, d *preemption.Decision) {
	if x == nil {
		return
	}
	set := map[string]int64{}
	move := func(list []trace.Unit, times int64) {
		for _, s := range list {
			key := s.Workload + "/" + s.PodSet
			if set[key] += times * max(1, s.Replicas); set[key] == 0 {
				delete(set, key)
			} else if set[key] < 0 {
				t.Fatalf("%s is put back, but was not taken: %+v", key, *x)
			}
		}
	}
	move(x.Before, 1)
	victims, lost := x.Victims, x.Lost
	for _, change := range x.Changes {
		if len(change.PutBack)+len(change.Taken) == 0 {
			t.Fatalf("an exchange of nobody: %+v", *x)
		}
		for _, taken := range change.Taken {
			if slices.ContainsFunc(change.PutBack, func(s trace.Unit) bool { return cmp.Equal(s, taken) }) {
				t.Fatalf("%+v is put back and taken: %+v", taken, *x)
			}
		}
		if worse := change.Victims > victims && change.Lost >= lost; worse && victims > 0 {
			t.Fatalf("%+v is worse than %d victims who lose %d", change, victims, lost)
		}
		move(change.PutBack, -1)
		move(change.Taken, 1)
		victims, lost = change.Victims, change.Lost
	}
	if len(d.Victims) == 0 {
		return // what was found in order is not allowed
	}
	want := map[string]int64{}
	for _, v := range d.Victims {
		for _, r := range v.Replicas {
			want[v.Workload+"/"+r.PodSet] = r.Count
		}
		if len(v.Replicas) == 0 {
			want[v.Workload+"/"] = 1
		}
	}
	if diff := cmp.Diff(want, set); diff != "" || victims != int64(len(d.Victims)) || lost != d.Lost {
		t.Fatalf("%d victims who lose %d, -victims +after all exchanges:\n%s", victims, lost, diff)
	}
}

func TestBestDecisionsVerify(t *testing.T) { rapid.Check(t, bestDecisionsVerify) }

// "The search ends if no exchange is left", "the answer is never worse than Greedy's": of all
// exchanges of the answer none is better, in every mode.
func noExchangeIsLeft(t *rapid.T) {
	config, st, r := drawSearched(t, preemptiontest.Records())
	r.Room = drawRoom(t, st)
	config.Search, config.Best.Steps, config.MaxRetrySteps = preemption.Best, -1, -1
	config.Cost = drawCost(t, &st)
	config.Best.FewestFirst = config.Cost != nil && rapid.Bool().Draw(t, "fewest first")
	greedy, got := witness.Decide(config, st, r), decideWith(t, config, snapshotOf(t, st), r)
	if greedy.Possible() != got.Possible() || greedy.Leaving != got.Leaving {
		t.Fatalf("%v, Greedy's %v", got.Outcome, greedy.Outcome)
	}
	if len(got.Victims) == 0 || leavingAlone(got) {
		t.Skip("nobody yields")
	}
	better, worse, small := witness.Exchange(config, st, r, got.Victims, mostCandidates)
	changed := cmp.Diff(greedy.Victims, got.Victims, sameDecision, cmpopts.IgnoreFields(preemption.Victim{}, "Lost"))
	before, after := valueOf(config, st, r, greedy.Victims), valueOf(config, st, r, got.Victims)
	switch {
	case !small:
		t.Skip("too many candidates")
	case before.Compare(after, config.Best.FewestFirst) == 0 && changed != "":
		t.Fatalf("-Greedy's +those of an exchange that gains nothing:\n%s", changed)
	case worse:
		t.Fatalf("worse than Greedy's, %+v, want at most %+v:\n%s", after, before, changed)
	case len(better) > 0:
		t.Fatalf("an exchange is left: %v, better is\n%s", got.Victims, cmp.Diff(got.Victims, better))
	case got.Lost != after.Lost:
		t.Fatalf("%d is lost, want %d", got.Lost, after.Lost)
	}
}

func TestNoExchangeIsLeft(t *testing.T) { rapid.Check(t, noExchangeIsLeft) }
