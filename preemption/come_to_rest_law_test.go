package preemption_test

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// start is a state, who waits, and by which configuration they are decided about.
type start struct {
	state   preemption.State
	waiting []workload.Workload
	config  preemption.Config
}

// starts are the generators of starts.
var starts = []struct {
	name string
	draw func(t *rapid.T) start
}{
	{"records", func(t *rapid.T) start { return withMore(t, preemptiontest.Records().Draw(t, "record")) }},
	{"records without flavors", func(t *rapid.T) start { return withMore(t, preemptiontest.RecordsWithoutFlavors().Draw(t, "record")) }},
	{"crowds", func(t *rapid.T) start {
		st, r := crowd(t)
		return withMore(t, preemption.Record{State: st, Request: &r})
	}},
	{"rivals", rivals},
}

func withMore(t *rapid.T, r preemption.Record) start {
	s := start{r.State, []workload.Workload{r.Request.Workload}, preemptiontest.Configs().Draw(t, "config")}
	for i := range rapid.IntRange(0, 3).Draw(t, "more who wait") {
		s.waiting = append(s.waiting, preemptiontest.Workload(r.State, fmt.Sprintf("ns/more%d", i)).Draw(t, "more"))
	}
	return s
}

// rivals draws small trees whose queues reclaim from each other most often, in which nothing
// runs and several workloads wait. Of all generators it draws the most circles.
func rivals(t *rapid.T) start {
	random := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))) // rapid prefers small numbers, with which nobody preempts
	n := func(_ string, most int) int { return random.Intn(most + 1) }
	s := start{config: preemptiontest.Configs().Draw(t, "config")}
	resources := []string{"gpu", "cpu"}[:1+n("resources", 1)]
	quotas := func() (list []quota.Quota) {
		for _, r := range resources {
			if n("quota", 5) > 0 {
				list = append(list, quota.Quota{Flavor: "h100", Resource: r, Nominal: int64(n("nominal", 4))})
			}
		}
		return list
	}
	for i := range 1 + n("cohorts", 2) {
		c := queue.Cohort{Name: fmt.Sprintf("c%d", i)}
		if i > 0 {
			c.Parent = fmt.Sprintf("c%d", n("parent", i-1))
		}
		if n("own quota", 1) == 1 {
			c.Quotas = quotas()
		}
		s.state.Cohorts = append(s.state.Cohorts, c)
	}
	for i := range 2 + n("queues", 2) {
		q := queue.Queue{Name: fmt.Sprintf("q%d", i), Cohort: s.state.Cohorts[n("cohort", len(s.state.Cohorts)-1)].Name, Quotas: quotas()}
		q.Preemption.WithinClusterQueue = queue.VictimPolicy(n("within", 2))
		q.Preemption.ReclaimWithinCohort = []queue.VictimPolicy{queue.Never, queue.LowerPriority, queue.Any, queue.Any, queue.Any}[n("reclaim", 4)]
		s.state.Queues = append(s.state.Queues, q)
	}
	for i := range 3 + n("workloads", 5) {
		at := started(60 * n("age", 2))
		w := workload.Workload{ID: fmt.Sprintf("w%d", i), Priority: int64(n("priority", 2)), Queued: at, Created: at}
		w.Queue = s.state.Queues[n("queue", len(s.state.Queues)-1)].Name
		w.PodSets = []workload.PodSet{{Name: "main", Count: 1}}
		for _, r := range resources {
			if amount := int64(n("amount", 4)); amount > 0 {
				w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: "h100", Resource: r, Amount: amount})
			}
		}
		s.waiting = append(s.waiting, w)
	}
	return s
}

// knownToLoop names why workloads may evict each other in a circle; empty if they may not.
func (s *start) knownToLoop() string {
	switch {
	case len(s.state.Rules) > 0:
		return "rules"
	case s.config.Sharing == preemption.Stable:
		return ""
	case slices.ContainsFunc(s.state.Queues, func(q queue.Queue) bool { return q.Preemption.ReclaimWithinCohort == queue.Any }):
		return "reclaimWithinCohort Any"
	}
	return ""
}

// play lets them ask, in queue order or in any, until nobody gets a place any more or what
// runs and what waits is as it was before. Time stands still, victims leave at once and ask
// again. It returns the steps and how many of them preempted.
func (s *start) play(t failer, pick func(n int) int) (steps []string, preempting int, loops bool) {
	s.config.MaxBlockers, s.config.MaxRetrySteps = -1, -1
	p, snapshot, waiting := preemptorOf(s.config), snapshotOf(t, s.state), slices.Clone(s.waiting)
	for seen := map[string]bool{}; ; {
		slices.SortFunc(waiting, func(a, b workload.Workload) int {
			return cmp.Or(cmp.Compare(b.EffectivePriority(), a.EffectivePriority()), workload.CompareQueued(a.Queued, b.Queued), cmp.Compare(a.ID, b.ID))
		})
		key := fmt.Sprint(waiting, slices.Collect(snapshot.Workloads()))
		if seen[key] {
			return steps, preempting, true
		}
		seen[key] = true
		moved := false
		for left := slices.Clone(waiting); len(left) > 0 && !moved; {
			i := pick(len(left))
			w := left[i]
			left = slices.Delete(left, i, i+1)
			d, err := p.Decide(snapshot, preemption.Request{Workload: w, Now: now})
			if err != nil || !d.Outcome.Succeeds() {
				continue // a workload that runs already, as drawn
			}
			moved = true
			steps = append(steps, w.ID+" "+text(d))
			waiting = slices.DeleteFunc(waiting, func(o workload.Workload) bool { return o.ID == w.ID })
			if len(d.Victims) > 0 {
				preempting++
			}
			var back []workload.Workload
			snapshot, back = evict(t, snapshot, d.Victims)
			waiting = append(waiting, back...)
			w = d.Assignment.Pin(w)
			w.ReservedAt = now
			snapshot = edit(t, snapshot, preemption.Admit(w))
		}
		if !moved {
			return steps, preempting, false
		}
	}
}

// evict lets victims leave, and returns those that ask again.
func evict(t failer, s *preemption.Snapshot, victims []preemption.Victim) (after *preemption.Snapshot, back []workload.Workload) {
	for _, v := range victims {
		for _, r := range v.Replicas {
			s = edit(t, s, preemption.Remove(v.Workload, preemption.Replicas{PodSet: r.PodSet, Count: r.Count}))
		}
		if len(v.Replicas) > 0 {
			continue
		}
		w, _ := s.Find(v.Workload)
		w.Queued, w.ReservedAt, w.Evicted = queuedAgain(v, w.Queued, now), time.Time{}, false
		for i := range w.PodSets {
			w.PodSets[i].Terminating = 0
		}
		back = append(back, w)
		s = edit(t, s, preemption.Remove(v.Workload))
	}
	return s, back
}

// "While time stands still, every run of decisions comes to rest" (docs/stability.md),
// except in the modes that are known to loop.
func runsComeToRest(t *rapid.T) {
	i := rapid.IntRange(0, len(starts)-1).Draw(t, "generator")
	s := starts[i].draw(t)
	if s.knownToLoop() != "" {
		if s.config.Sharing == preemption.Classical {
			for i := range s.state.Queues {
				if p := &s.state.Queues[i].Preemption; p.ReclaimWithinCohort == queue.Any {
					p.ReclaimWithinCohort = queue.LowerPriority
				}
			}
		} else {
			s.config.Sharing, s.config.Compat.Kueue016 = preemption.Stable, false
		}
	}
	pick := func(int) int { return 0 }
	if rapid.Bool().Draw(t, "any order") {
		pick = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "next") }
	}
	if steps, _, loops := s.play(t, pick); loops {
		t.Fatalf("%s:\n%s", starts[i].name, strings.Join(steps, "\n"))
	}
}

func TestRunsComeToRest(t *testing.T) { rapid.Check(t, runsComeToRest) }

// TestStartsPreempt counts what the generators of the law draw: enough starts preempt, again
// and again, and without Stable some of them loop.
func TestStartsPreempt(t *testing.T) {
	const number = 400
	for _, g := range starts {
		generator, preempting, again := rapid.Custom(g.draw), 0, 0
		for seed := range number {
			s := generator.Example(seed)
			s.config = preemption.Config{Sharing: preemption.Stable}
			_, n, loops := s.play(t, rand.New(rand.NewSource(int64(seed))).Intn)
			if loops {
				t.Errorf("%s: seed %d loops", g.name, seed)
			}
			if n > 0 {
				preempting++
			}
			if n > 1 {
				again++
			}
		}
		if preempting < number/8 || again < number/100 {
			t.Errorf("%s: of %d starts %d preempt, %d of them more than once", g.name, number, preempting, again)
		}
		t.Logf("%s: of %d starts %d preempt, %d of them more than once", g.name, number, preempting, again)
	}
	loops, generator := 0, rapid.Custom(rivals)
	for seed := range 2 * number {
		s := generator.Example(seed)
		s.config = preemption.Config{Sharing: preemption.Fair}
		if _, _, again := s.play(t, rand.New(rand.NewSource(int64(seed))).Intn); again {
			loops++
		}
	}
	if loops == 0 {
		t.Error("without Stable no start loops: the law would not see a circle")
	}
	t.Logf("without Stable %d of %d rivals loop", loops, 2*number)
}
