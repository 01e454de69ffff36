package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/guard"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var (
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	gpu   = quota.FlavorResource{Flavor: "f", Resource: "gpu"}
)

func clusterOf(name string, gpus int64) ClusterConfig {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	nominal := []quota.Quota{{Flavor: gpu.Flavor, Resource: gpu.Resource, Nominal: gpus}}
	return ClusterConfig{Name: name, Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
		{Name: "a", Cohort: "root", Quotas: nominal, Preemption: policy},
		{Name: "b", Cohort: "root", Quotas: nominal, Preemption: policy, Strategy: queue.StrictFIFO},
	}}
}

func minutes(low, high int) [2]time.Duration {
	return [2]time.Duration{time.Duration(low) * time.Minute, time.Duration(high) * time.Minute}
}

// busy is clusters full of local jobs, with important ones that go to all of them.
func busy(seed uint64, clusters int, length time.Duration, gated bool) Config {
	c := Config{Start: start, Gated: gated}
	streams := []Stream{{Name: "urgent", Queues: []string{"a", "b"}, Priority: 10, Every: minutes(20, 90), Runs: minutes(10, 60),
		Grace: minutes(0, 1), Amount: [2]int64{2, 6}, Of: gpu}}
	for i := range clusters {
		name := fmt.Sprintf("worker%d", i+1)
		c.Clusters = append(c.Clusters, clusterOf(name, 8))
		streams = append(streams, Stream{Name: name, Cluster: name, Queues: []string{"a", "b"}, Priority: 0, Every: minutes(1, 12),
			Runs: minutes(10, 90), Grace: minutes(1, 4), Amount: [2]int64{1, 4}, Of: gpu})
	}
	c.Jobs = Draw(seed, start, length, streams...)
	return c
}

// whole is until nothing is left to happen.
var whole = start.AddDate(1, 0, 0)

func simulate(t interface{ Fatalf(string, ...any) }, c Config, until time.Time) Metrics {
	w, err := newChecked(c)
	if err == nil {
		err = w.Run(until)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	m := w.Metrics()
	if m.Arrived != len(c.Jobs) || until.After(start.AddDate(0, 1, 0)) && m.Completed != len(c.Jobs) {
		t.Fatalf("of %d jobs %d arrived and %d were completed", len(c.Jobs), m.Arrived, m.Completed)
	}
	return m
}

// The seed decides everything; every job is completed; a gate saves preemptions, and
// urgent work is admitted all the same.
func TestDays(t *testing.T) {
	var plain, gated Metrics
	for seed := range uint64(3) {
		plain = simulate(t, busy(seed, 3, 24*time.Hour, false), whole)
		gated = simulate(t, busy(seed, 3, 24*time.Hour, true), whole)
		if diff := cmp.Diff(gated, simulate(t, busy(seed, 3, 24*time.Hour, true), whole)); diff != "" {
			t.Errorf("seed %d, twice:\n%s", seed, diff)
		}
		if gated.Preemptions >= plain.Preemptions || gated.Openings == 0 || gated.Wasted > plain.Wasted/2 || len(gated.Delays) != len(plain.Delays) {
			t.Errorf("seed %d: with gates %+v, without %+v", seed, gated, plain)
		}
	}
	if testing.Verbose() {
		t.Logf("without gates: %d preemptions, %v of work lost; with: %d, %v", plain.Preemptions, plain.LostWork, gated.Preemptions, gated.LostWork)
	}
}

func TestManyWorlds(t *testing.T) { rapid.Check(t, manyWorlds) }
func FuzzManyWorlds(f *testing.F) { f.Fuzz(rapid.MakeFuzz(manyWorlds)) }

// manyWorlds checks the invariants in small worlds of every kind.
func manyWorlds(t *rapid.T) {
	c := busy(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 3).Draw(t, "clusters"), 3*time.Hour, rapid.Bool().Draw(t, "gated"))
	c.Gates.Order = rapid.SampledFrom([]gate.ReplicaOrder{gate.FirstSignal, gate.Preference, gate.Cheapest}).Draw(t, "rule")
	c.Gates.Grace = time.Duration(rapid.IntRange(0, 3).Draw(t, "grace")) * time.Minute
	c.Gates.PreemptingTimeout = time.Duration(rapid.IntRange(0, 4).Draw(t, "preempting timeout")) * time.Minute
	c.Cycle.Borrowing = rapid.SampledFrom([]cycle.Borrowing{cycle.AsBuilt, cycle.KEP83, cycle.KEP83Lasting}).Draw(t, "borrowing")
	c.Cycle.Preemption.PreemptWithinNominal = c.Cycle.Preemption.PreemptWithinNominal || c.Cycle.Borrowing != cycle.AsBuilt
	p := &c.Cycle.Preemption
	p.NewerByReservation = rapid.IntRange(0, 3).Draw(t, "newer by reservation") == 3
	p.Sharing = rapid.SampledFrom([]preemption.Sharing{preemption.Classical, preemption.Fair}).Draw(t, "sharing")
	if rapid.Bool().Draw(t, "guarded") {
		p.Guards = []preemption.Guard{pinned{}}
		if rapid.Bool().Draw(t, "who is alike to them") {
			c.Cycle.Alike = func(w workload.Workload) string { return fmt.Sprint(unpopular(w.ID)) }
		}
	}
	flavors := rapid.Bool().Draw(t, "flavors")
	for i := range c.Clusters {
		for j := range c.Clusters[i].Queues {
			q := &c.Clusters[i].Queues[j]
			if flavors {
				q.Quotas = []quota.Quota{q.Quotas[0], {Flavor: "g", Resource: gpu.Resource, Nominal: rapid.Int64Range(0, 4).Draw(t, "nominal of g")}}
				q.FlavorFungibility = queue.FlavorFungibility{
					WhenCanBorrow:  rapid.SampledFrom([]queue.FungibilityPolicy{queue.TryNextFlavor, queue.MayStopSearch}).Draw(t, "when can borrow"),
					WhenCanPreempt: rapid.SampledFrom([]queue.FungibilityPolicy{queue.TryNextFlavor, queue.MayStopSearch}).Draw(t, "when can preempt"),
				}
			}
			q.Strategy = rapid.SampledFrom([]queue.Strategy{queue.BestEffortFIFO, queue.StrictFIFO}).Draw(t, "strategy")
			if rapid.Bool().Draw(t, "timed") {
				q.Preemption.WithinClusterQueue = queue.LowerOrNewerEqualPriority
				q.Preemption.MinAdmitDuration = quota.Some(20 * time.Minute)
			}
			q.MinRuntime.Reclaim = quota.Some(time.Duration(rapid.IntRange(0, 20).Draw(t, "reclaim")) * time.Minute)
		}
	}
	elastic, fixed := rapid.IntRange(2, 8).Draw(t, "one is elastic of"), rapid.IntRange(2, 8).Draw(t, "one has a flavor of")
	never := rapid.IntRange(3, 12).Draw(t, "one never preempts of")
	for i := range c.Jobs {
		j := &c.Jobs[i]
		j.Grace = max(j.Grace, time.Second) // else equals may take turns in no time
		p := &j.Workload.PodSets[0]
		if i%elastic == 1 {
			p.Count, p.MinCount = 3, workload.AtLeast(1)
			p.Requests[0].Amount = min(p.Requests[0].Amount, 2)
		}
		if flavors && i%fixed != 1 {
			p.Requests[0].Flavor = ""
		}
		j.Workload.NeverPreempts = i%never == 1
	}
	simulate(t, c, start.Add(4*time.Hour)) // equals that take turns may never get done
}

// pinned keeps some workloads for ever, some for a time, and all from some others.
type pinned struct{}

func unpopular(id string) bool { return id[len(id)-1] == '3' }

func (pinned) Verdict(running workload.Workload, r preemption.Request) guard.Verdict {
	switch last := running.ID[len(running.ID)-1]; {
	case last == '1', unpopular(r.Workload.ID):
		return guard.NeverYields()
	case last == '2':
		return guard.ProtectedUntil(running.ReservedAt.Add(10 * time.Minute))
	}
	return guard.MayYield()
}

// KEP-8522, rulings on rotation: a job that yielded because its time was over goes to the
// back, so that equals take turns; without minAdmitDuration the first keeps its place.
func TestRotation(t *testing.T) {
	c := Config{Start: start, Clusters: []ClusterConfig{clusterOf("one", 0)}}
	q := &c.Clusters[0].Queues[0]
	q.Cohort = ""
	q.Quotas[0].Nominal = 1
	q.Preemption = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority, MinAdmitDuration: quota.Some(time.Hour)}
	c.Clusters[0].Queues = c.Clusters[0].Queues[:1]
	for i := range 2 {
		w := workload.Workload{ID: fmt.Sprint("w", i), Queue: "a", PodSets: []workload.PodSet{{Name: "main", Count: 1,
			Requests: []quota.Amount{{Flavor: gpu.Flavor, Resource: gpu.Resource, Amount: 1}}}}}
		c.Jobs = append(c.Jobs, Job{Workload: w, Arrives: start.Add(time.Duration(i) * time.Minute), Runs: 100 * time.Minute, Cluster: "one"})
	}
	w, err := newChecked(c)
	if err != nil {
		t.Fatal(err)
	}
	var turns []string
	for range 40 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		for _, facts := range w.clusters[0].snapshot.State().Admitted {
			turn := fmt.Sprintf("%s since %v", facts.ID, facts.ReservedAt.Sub(start))
			if len(turns) == 0 || turns[len(turns)-1] != turn {
				turns = append(turns, turn)
			}
		}
		if len(turns) == 3 {
			break
		}
	}
	want := []string{"w0 since 0s", "w1 since 1h0m0.000000001s", "w0 since 2h0m0.000000002s"}
	if diff := cmp.Diff(want, turns); diff != "" {
		t.Error(diff)
	}
}

// The invariants are seen to be broken when they are.
func TestInvariants(t *testing.T) {
	at := func() (*World, *cluster) {
		w, err := newChecked(busy(1, 1, 12*time.Hour, false))
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		return w, w.clusters[0]
	}
	_, c := at()
	someone := c.snapshot.State().Admitted[0]
	for want, hurt := range map[string]func(c *cluster){
		"admitted: false": func(c *cluster) { c.snapshot, _ = c.snapshot.With(preemption.Remove(someone.ID)) },
		"waits: true":     func(c *cluster) { c.pending, _ = c.pending.Add(someone) },
		"but 1 are pending": func(c *cluster) {
			c.pending, _ = queue.NewPending(busy(1, 1, 0, false).Clusters[0].Cohorts, busy(1, 1, 0, false).Clusters[0].Queues)
			for id, me := range c.live {
				if me.state == waiting {
					delete(c.live, id)
				}
			}
			c.pending, _ = c.pending.Add(workload.Workload{ID: "nobody", Queue: "a"})
		},
		"told to stop for": func(c *cluster) { c.snapshot, _ = c.snapshot.With(preemption.StartEviction(someone.ID)) },
		"the sum of its": func(c *cluster) {
			c.live[someone.ID].facts.PodSets = []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 77}}}}
		},
	} {
		w, c := at()
		hurt(c)
		if err := w.observer.settled(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
