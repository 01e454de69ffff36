package preemption_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// With fewer replicas the decision is the one about a workload of so many, and the number is the witness's.
func partialIsOfTheTwin(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	if rapid.Bool().Draw(t, "without flavors") {
		record = preemptiontest.RecordsWithoutFlavors().Draw(t, "record")
	}
	config := preemption.Config{MaxBlockers: -1}
	if rapid.Bool().Draw(t, "fair") {
		config.Sharing = preemption.Fair
	}
	r := *record.Request
	for i := range r.Workload.PodSets {
		p := &r.Workload.PodSets[i]
		p.Count = rapid.Int64Range(1, 9).Draw(t, "count")
		if rapid.IntRange(0, 3).Draw(t, "listed") > 0 {
			r.MinCounts = append(r.MinCounts, preemption.Replicas{PodSet: p.Name, Count: rapid.Int64Range(0, p.Count).Draw(t, "at least")})
		}
	}
	s := snapshotOf(t, record.State)
	d := decideWith(t, config, s, r)
	agrees(t, config, record.State, r, d)
	verified(t, record.State, r, config, d)
	noDiff(t, "- Decide, + Explain", d, explainWith(t, config, s, r).Decision, sameDecision)
	twin := r
	twin.MinCounts, twin.Workload = nil, r.Workload.Clone()
	for i, c := range d.Counts {
		twin.Workload.PodSets[i].Count = c.Count
	}
	want := decideWith(t, config, s, twin)
	if want.Counts = d.Counts; !want.Possible() {
		want.Outcome, want.RetryAt = d.Outcome, d.RetryAt // asked below
	}
	noDiff(t, "- want, + got", want, d, sameDecision)
	if d.Outcome == preemption.Wait && !d.RetryAt.IsZero() {
		r.Now = d.RetryAt
		if later := decideWith(t, config, s, r); !later.Possible() {
			t.Fatalf("%v at RetryAt", later.Outcome)
		}
	}
}

func TestPartialIsOfTheTwin(t *testing.T) { rapid.Check(t, partialIsOfTheTwin) }

// The largest number of replicas that fits or may preempt; all sets in proportion.
func TestPartialAdmission(t *testing.T) {
	lower := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(10), Preemption: lower}},
		Admitted: []workload.Workload{job("low", "a", 0, 4, started(10)), job("high", "a", 20, 2, started(10))}}
	replicas := func(counts ...int64) (list []preemption.Replicas) {
		for i, n := range counts {
			list = append(list, preemption.Replicas{PodSet: string(rune('a' + i)), Count: n})
		}
		return list
	}
	for _, c := range []struct {
		name        string
		counts, min []int64
		want        []int64
		outcome     preemption.Outcome
		victims     int
	}{
		{"all fit", []int64{4}, []int64{1}, nil, preemption.Fits, 0},
		{"all preempt", []int64{8}, []int64{1}, nil, preemption.Preempt, 1},
		{"as many as preemption makes room for", []int64{12}, []int64{1}, []int64{8}, preemption.Preempt, 1},
		{"the minimum is too many", []int64{12}, []int64{9}, nil, preemption.Impossible, 0},
		{"two sets in proportion", []int64{12, 6}, []int64{0, 0}, []int64{5, 3}, preemption.Preempt, 1}, // at step 11 of 18; at step 10 they are 6 and 3
	} {
		w := job("pending", "a", 10, 1, started(0))
		w.PodSets = nil
		for i, n := range c.counts {
			w.PodSets = append(w.PodSets, workload.PodSet{Name: string(rune('a' + i)), Count: n, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}})
		}
		d := decide(t, snapshotOf(t, st), preemption.Request{Workload: w, Now: now, MinCounts: replicas(c.min...)})
		if d.Outcome != c.outcome || len(d.Victims) != c.victims || !slices.Equal(d.Counts, replicas(c.want...)) {
			t.Errorf("%s: %v, %d victims, %v", c.name, d.Outcome, len(d.Victims), d.Counts)
		}
	}
}

// What a workload holds does not count against it when it asks again.
func holdsQuotaIsWithoutIt(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	r := *record.Request
	s := snapshotOf(t, record.State)
	want := decide(t, s, r)
	held := r.Workload.Clone()
	held.Gates, held.Evicted = workload.Workload{}.Gates, rapid.Bool().Draw(t, "evicted")
	again := r
	again.HoldsQuota = true
	var p *preemption.Preemptor
	if _, err := p.Decide(s, again); err == nil {
		t.Fatal("it does not hold quota")
	}
	holding := edit(t, s, preemption.Admit(held))
	d := decide(t, holding, again)
	noDiff(t, "- want, + got", want, d, sameDecision)
	verified(t, holding.State(), again, preemption.Config{}, d)
	noDiff(t, "- Decide, + Explain", d, explainWith(t, preemption.Config{}, holding, again).Decision, sameDecision)
	if after := edit(t, holding, d.Edits()...); d.Outcome == preemption.Fits {
		if got, ok := after.Find(held.ID); !ok || !got.ReservedAt.Equal(r.Now) {
			t.Fatalf("it is admitted as %+v", got)
		}
	}
}

func TestHoldsQuotaIsWithoutIt(t *testing.T) { rapid.Check(t, holdsQuotaIsWithoutIt) }

// A workload that replaces another is decided about as if that one were not there, which is no victim,
// and takes its place when it is admitted.
func replacingIsWithoutIt(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	r := *record.Request
	s := snapshotOf(t, record.State)
	if len(record.State.Admitted) == 0 {
		return
	}
	old := rapid.SampledFrom(record.State.Admitted).Draw(t, "old")
	want := decide(t, edit(t, s, preemption.Remove(old.ID)), r)
	want.Replaced = old.ID
	r.Replaces = old.ID
	d := decide(t, s, r)
	noDiff(t, "- want, + got", want, d, sameDecision)
	verified(t, record.State, r, preemption.Config{}, d)
	if slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Workload == old.ID }) {
		t.Fatalf("%s is a victim", old.ID)
	}
	noDiff(t, "- Decide, + Explain", d, explainWith(t, preemption.Config{}, s, r).Decision, sameDecision)
	if after := edit(t, s, d.Edits()...); d.Outcome == preemption.Fits {
		if _, there := after.Find(old.ID); there {
			t.Fatalf("%s is still there", old.ID)
		}
	}
}

func TestReplacingIsWithoutIt(t *testing.T) { rapid.Check(t, replacingIsWithoutIt) }

// What is replaced must be there, and is not the workload itself.
func TestReplacesIsChecked(t *testing.T) {
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "q"}}, Admitted: []workload.Workload{{ID: "old", Queue: "q"}}})
	var p *preemption.Preemptor
	for want, r := range map[string]preemption.Request{
		`request.replaces: no workload "gone" is admitted`:                 {Workload: workload.Workload{ID: "new", Queue: "q"}, Now: now, Replaces: "gone"},
		`request.replaces: "old", and holdsQuota is set: want one of them`: {Workload: workload.Workload{ID: "old", Queue: "q"}, Now: now, Replaces: "old", HoldsQuota: true},
	} {
		if _, err := p.Decide(s, r); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
