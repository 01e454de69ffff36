package cycle_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// KEP-83, Test Plan: nobody waits for another one for ever. Workloads come, cycles run until nothing changes, what was told
// leaves, and what runs finishes, in a drawn order. In the end nothing runs. Then nobody waits who would be admitted in the
// empty cluster: no head that would borrow bars those of its queue that would not, and what can never run bars nobody. Under
// StrictFIFO that is so as long as the first of the queue can run.
func nobodyWaitsInAnEmptyCluster(t *rapid.T) {
	strategy := rapid.SampledFrom([]queue.Strategy{queue.BestEffortFIFO, queue.StrictFIFO}).Draw(t, "strategy")
	mode := cycle.KEP83Lasting // the others reserve or close for a head that waits, which may be for ever: see Borrowing
	policies := []queue.VictimPolicy{queue.Never, queue.LowerPriority}
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "c"}}, Flavors: []queue.Flavor{
		{Name: "f"}, {Name: "tainted", NodeTaints: []workload.Taint{{Key: "x", Effect: workload.NoSchedule}}},
	}}
	for i := range rapid.IntRange(1, 3).Draw(t, "queues") {
		q := queue.Queue{Name: fmt.Sprintf("q%d", i), Cohort: "c", Strategy: strategy}
		flavor := rapid.SampledFrom([]string{"f", "f", "f", "tainted"}).Draw(t, "flavor")
		q.Quotas = []quota.Quota{{Flavor: flavor, Resource: "gpu", Nominal: rapid.Int64Range(0, 4).Draw(t, "nominal")}}
		q.Preemption.WithinClusterQueue = rapid.SampledFrom(policies).Draw(t, "within")
		q.Preemption.ReclaimWithinCohort = rapid.SampledFrom(policies).Draw(t, "reclaim")
		st.Queues = append(st.Queues, q)
	}
	s := snapshotOf(t, st)
	pending, err := queue.NewPending(st.Cohorts, st.Queues)
	if err != nil {
		t.Fatal(err)
	}
	left := rapid.IntRange(1, 7).Draw(t, "workloads")
	next := 0
	placeless := map[string]bool{} // no node has room for them
	come := func() {
		w := job(fmt.Sprintf("w%d", next), rapid.SampledFrom(st.Queues).Draw(t, "queue").Name, int64(rapid.IntRange(0, 2).Draw(t, "priority")),
			rapid.Int64Range(1, 5).Draw(t, "amount"), 0)
		w.ReservedAt, w.Queued = time.Time{}, now.Add(time.Duration(next)*time.Second)
		w.NeverPreempts = rapid.IntRange(0, 3).Draw(t, "never preempts") == 0
		w.PodSets[0].Requests[0].Flavor = ""
		placeless[w.ID] = rapid.IntRange(0, 7).Draw(t, "no room") == 0
		if pending, err = pending.Add(w); err != nil {
			t.Fatal(err)
		}
		next++
		left--
	}
	c, err := cycle.New(cycle.Config{Borrowing: mode, Alike: func(w workload.Workload) string { return fmt.Sprint(placeless[w.ID]) }})
	if err != nil {
		t.Fatal(err)
	}
	pending = pending.AlikeBy(c.Alike)
	room := func(w workload.Workload, _ []cycle.HeadResult) preemption.Room {
		if placeless[w.ID] {
			return noRoom{}
		}
		return nil
	}
	submitted := map[string]workload.Workload{}
	for at := now; ; at = at.Add(time.Minute) {
		for again, cycles := true, 0; again; cycles++ {
			if cycles > 100 {
				t.Fatal("cycles without end")
			}
			for _, h := range pending.Heads() {
				submitted[h.Workload.ID] = h.Workload
			}
			r, err := c.RunRequest(s, cycle.Request{Heads: pending.Heads(), Now: at, Room: room})
			if err != nil {
				t.Fatal(err)
			}
			if s, pending, err = r.Apply(s, pending, at); err != nil {
				t.Fatal(err)
			}
			again = r.Again
		}
		runs := []workload.Workload{}
		for w := range s.Workloads() {
			runs = append(runs, w)
		}
		if left > 0 && (len(runs) == 0 || rapid.Bool().Draw(t, "one more")) {
			come()
			continue
		}
		if len(runs) == 0 {
			break
		}
		gone := rapid.SampledFrom(runs).Draw(t, "goes")
		if s, err = s.With(preemption.Remove(gone.ID)); err != nil {
			t.Fatal(err)
		}
		if back := submitted[gone.ID]; gone.Evicted && rapid.Bool().Draw(t, "comes back") {
			back.Queued = at
			if pending, err = pending.Add(back); err != nil {
				t.Fatal(err)
			}
		}
		pending = pending.Release(gone.Queue).Advance(at)
	}
	empty := snapshotOf(t, st)
	var alone preemption.Preemptor
	fits := func(w workload.Workload) bool {
		d, err := alone.Decide(empty, preemption.Request{Workload: w, Now: now})
		return err == nil && d.Outcome == preemption.Fits && !placeless[w.ID]
	}
	for _, h := range pending.Heads() {
		if fits(h.Workload) {
			t.Fatalf("%v, %v: nothing runs, and %s, a head, waits though it fits", mode, strategy, h.Workload.ID)
		}
	}
	for n := range next {
		w, _, waits := pending.Find(fmt.Sprintf("w%d", n))
		if waits && strategy == queue.BestEffortFIFO && fits(w) {
			t.Fatalf("%v, %v: nothing runs, and %s waits though it fits", mode, strategy, w.ID)
		}
	}
}

type noRoom struct{}

func (noRoom) Remove(string)  {}
func (noRoom) Restore(string) {}
func (noRoom) Fits() bool     { return false }

func TestNobodyWaitsInAnEmptyCluster(t *testing.T) { rapid.Check(t, nobodyWaitsInAnEmptyCluster) }
