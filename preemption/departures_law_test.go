package preemption_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The victims of a decision follow KEP-83 and KEP-8522 word by word, but where a predicate of
// docs/departures.md holds (Sentences of the designs). reached counts where they depart.
func departsAsListed(t *rapid.T, reached map[string]int) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemption.Config{Sharing: rapid.SampledFrom([]preemption.Sharing{preemption.Classical, preemption.Fair}).Draw(t, "sharing")}
	s := snapshotOf(t, st)
	d := decideWith(t, config, s, r)
	own, _ := s.Queue(r.Workload.Queue)
	least, timed := own.Preemption.MinAdmitDuration.Get()
	equal := func(w workload.Workload) bool {
		return w.Queue == own.Name && w.EffectivePriority() == r.Workload.EffectivePriority()
	}
	reserved := func(w workload.Workload) time.Time {
		if w.ReservedAt.IsZero() {
			return r.Now
		}
		return w.ReservedAt
	}
	over := func(w workload.Workload) bool { return timed && r.Now.Sub(reserved(w)) > least }
	newer := func(w workload.Workload) bool { // a time that is not known is the latest
		return !r.Workload.Queued.IsZero() && (w.Queued.IsZero() || w.Queued.After(r.Workload.Queued))
	}
	var inOrder []workload.Workload
	victims := slices.Clone(d.Victims)
	slices.SortFunc(victims, func(a, b preemption.Victim) int { return a.Order - b.Order })
	for _, v := range victims {
		w, _ := s.Find(v.Workload)
		for _, few := range v.Replicas {
			p := w.PodSets[slices.IndexFunc(w.PodSets, func(p workload.PodSet) bool { return p.Name == few.PodSet })]
			if minimum, ok := p.MinCount.Get(); few.Count > few.Leaving && (!ok || p.Count <= minimum) {
				t.Fatalf("%v of %+v yield, which has no replicas over its minimum", few, p)
			}
			reached["partial preemption"]++
		}
		if v.Leaving || !equal(w) {
			continue
		}
		if timed && !over(w) {
			if !newer(w) {
				t.Fatalf("%s yields before its time is over, and is not newer", w.ID)
			}
			reached["an equal before its time is over"]++
		}
		if over(w) && newer(w) {
			if v.Reason != preemption.InClusterQueue || !queuedAgain(v, w.Queued, r.Now).Equal(w.Queued) {
				t.Fatalf("%s is newer, and waits again from %v for %v", w.ID, queuedAgain(v, w.Queued, r.Now), v.Reason)
			}
			reached["newer, and its time is over"]++
		}
		inOrder = append(inOrder, w)
	}
	surplus := func(w workload.Workload) bool {
		return slices.ContainsFunc(w.PodSets, func(p workload.PodSet) bool { return p.Surplus() > 0 })
	}
	for i, b := range inOrder {
		for _, a := range inOrder[:i] {
			switch {
			case over(a) && over(b) && !reserved(a).After(reserved(b)), over(a) && !over(b), !over(a) && !over(b):
			case surplus(a):
				reached["surplus before an equal that has run for longer"]++
			case len(r.LocalQueueUsage) > 0 && a.LocalQueue != b.LocalQueue:
				reached["by usage of local queues"]++
			default:
				t.Fatalf("%s yields before %s, which has run for longer", a.ID, b.ID)
			}
		}
	}
	sideEffects(t, config, st, r, d, reached)
}

// What a victim preempts when it comes back is in no cost: whether it ever preempts changes no
// answer (KEP-5710, Principles).
func sideEffects(t *rapid.T, config preemption.Config, st preemption.State, r preemption.Request, d preemption.Decision, reached map[string]int) {
	st = cloneState(st)
	for i := range st.Admitted {
		st.Admitted[i].NeverPreempts = !st.Admitted[i].NeverPreempts
	}
	noDiff(t, "", d, decideWith(t, config, snapshotOf(t, st), r), sameDecision)
	reached["side effects"] += len(d.Victims)
}

func TestDepartsAsListed(t *testing.T) {
	reached := map[string]int{}
	law := rapid.Custom(func(t *rapid.T) bool { departsAsListed(t, reached); return true })
	for seed := range 4000 {
		law.Example(seed)
	}
	for _, what := range []string{"partial preemption", "an equal before its time is over", "newer, and its time is over", "side effects",
		"surplus before an equal that has run for longer", "by usage of local queues"} {
		if reached[what] == 0 {
			t.Errorf("never reached: %s", what)
		}
	}
	rapid.Check(t, func(t *rapid.T) { departsAsListed(t, reached) })
}

// KAI refuses a scenario that takes an elastic workload below its minimum while its minimum runtime
// lasts. Here the minimum stays, and the surplus and others yield.
func TestProtectedMinimumIsPassedOver(t *testing.T) {
	st := preemption.State{
		Queues:   []queue.Queue{{Name: "a", Quotas: gpus(6), Preemption: reclaims, MinRuntime: minruntime.Settings{Preempt: quota.Some(time.Hour)}}},
		Admitted: []workload.Workload{elastic("elastic", "a", 4, 2, started(5)), job("long", "a", 1, 2, started(90))},
	}
	d := decideWith(t, preemption.Config{}, snapshotOf(t, st), pending("a", 10, 4))
	if got := replicas(d); d.Outcome != preemption.Preempt || len(got) != 2 || got["elastic"] != 2 {
		t.Errorf("%v %v, want two replicas of elastic, and long", d.Outcome, d.Victims)
	}
	if d := decideWith(t, preemption.Config{}, snapshotOf(t, st), pending("a", 10, 5)); d.Outcome != preemption.Wait {
		t.Errorf("what needs the minimum: %v, want Wait", d.Outcome)
	}
}

// A minimum is that of one pod set: of each what is over its own may go, however many run in the others.
func TestMinimumIsOfOnePodSet(t *testing.T) {
	w := elastic("two", "a", 3, 2, started(5))
	more := w.PodSets[0]
	more.Name, more.Count, more.MinCount = "workers", 1, workload.AtLeast(1)
	w.PodSets = append(w.PodSets, more)
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: reclaims}}, Admitted: []workload.Workload{w}}
	for asks, whole := range map[int64]bool{1: false, 2: true} {
		d := decideWith(t, preemption.Config{}, snapshotOf(t, st), pending("a", 10, asks))
		if len(d.Victims) != 1 || (len(d.Victims[0].Replicas) == 0) != whole {
			t.Errorf("%d asked: %v", asks, d.Victims)
		}
	}
}

// A column without an entry counts in no share; one of nominal quota 0 does. The workload that
// borrows it yields only where it counts.
func TestColumnWithoutEntry(t *testing.T) {
	zero := []quota.Quota{{Flavor: "f", Resource: "gpu"}}
	for _, c := range []struct {
		quotas []quota.Quota
		want   preemption.Outcome
	}{{zero, preemption.Preempt}, {nil, preemption.Impossible}} {
		st := preemption.State{
			Cohorts: []queue.Cohort{{Name: "c", Quotas: gpus(4)}},
			Queues: []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(0), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
				{Name: "b", Cohort: "c", Quotas: c.quotas}},
			Admitted: []workload.Workload{job("x", "b", 0, 4, started(5))},
		}
		if zero[0].Flavor = gpus(0)[0].Flavor; len(c.quotas) > 0 {
			st.Queues[1].Quotas = zero
		}
		d := decideWith(t, preemption.Config{Sharing: preemption.Fair}, snapshotOf(t, st), pending("a", 10, 2))
		if d.Outcome != c.want {
			t.Errorf("quotas %v: %v %v, want %v", c.quotas, d.Outcome, d.Victims, c.want)
		}
	}
}
