package moves_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// clearing draws a question about domains that are to be empty.
func clearing(t *rapid.T) (placement.State, placement.Config, moves.Config, moves.ClearRequest) {
	st, _ := roomy(t)
	pc, c := preemptiontest.PlacementConfigs().Draw(t, "config"), priced(t, st)
	c.Prefer = false
	r := moves.ClearRequest{Now: preemptiontest.Now}
	for _, n := range st.Nodes {
		switch at := rapid.IntRange(0, 4).Draw(t, "domain"); {
		case at == 0 || len(r.Domains) == 0:
			r.Domains = append(r.Domains, placement.Domain{Name: "d" + n.Name, Nodes: []string{n.Name}})
		case at < 3:
			d := &r.Domains[len(r.Domains)-1]
			d.Nodes = append(d.Nodes, n.Name)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "all nodes") == 0 {
		r.Domains = nil
	}
	r.Count = rapid.IntRange(0, 3).Draw(t, "count")
	if r.Within = rapid.IntRange(0, 3).Draw(t, "within") == 0; r.Within {
		for i := range st.Nodes {
			st.Nodes[i] = st.Nodes[i].Clone()
			for _, resource := range slices.Sorted(maps.Keys(st.Nodes[i].Capacity)) {
				st.Nodes[i].Capacity[resource] /= rapid.SampledFrom([]int64{1, 1, 2, 4}).Draw(t, "part")
			}
		}
	}
	if !r.Within && rapid.IntRange(0, 4).Draw(t, "some stay") == 0 {
		r.Stays = func(p workload.Pod) bool { return p.Group == "" && p.Labels["app"] == "db" }
	}
	return st, pc, c, r
}

func emptied(t *rapid.T, st placement.State, pc placement.Config, c moves.Config, r moves.ClearRequest) (*placement.Snapshot, moves.ClearAnswer) {
	s := must(placement.NewSnapshot(st))(t)
	p := must(placement.New(pc))(t)
	a := must(moves.Clear(p, s, r, c))(t)
	return s, a
}

// The judge has nothing against any answer.
func clearAnswersVerify(t *rapid.T) {
	st, pc, c, r := clearing(t)
	_, a := emptied(t, st, pc, c, r)
	if err := verify.Clear(st, r, pc, c, a); err != nil {
		t.Fatalf("%v\n%s", err, toldOfClear(a))
	}
}

func TestClearAnswersVerify(t *testing.T) { rapid.Check(t, clearAnswersVerify) }

// When all steps are done, as many domains are empty, and the same question moves nothing.
func clearAgainIsNothing(t *rapid.T) {
	st, pc, c, r := clearing(t)
	s, a := emptied(t, st, pc, c, r)
	if !a.Outcome.Succeeds() || r.Within && len(r.Domains) == 0 { // then other nodes are asked about
		return
	}
	s = must(s.With(a.EditsWhenDone(s)...))(t)
	if _, again := emptied(t, s.State(), pc, c, r); again.Outcome != preemption.Fits {
		t.Fatalf("first %s\nagain %s", toldOfClear(a), toldOfClear(again))
	}
}

func TestClearAgainIsNothing(t *testing.T) { rapid.Check(t, clearAgainIsNothing) }

// "RetryAt is the first instant at which Count domains can be emptied": there they can, and not at any earlier instant of a grid.
func clearRetryAtIsFirst(t *rapid.T) {
	st, pc, c, r := clearing(t)
	_, a := emptied(t, st, pc, c, r)
	if a.Outcome.Succeeds() {
		return
	}
	isDone := func(at time.Time) bool {
		r.Now = at
		_, then := emptied(t, st, pc, c, r)
		return then.Outcome.Succeeds()
	}
	if !a.RetryAt.IsZero() && !isDone(a.RetryAt) {
		t.Fatalf("not at %v: %s", a.RetryAt, toldOfClear(a))
	}
	for _, at := range instants() {
		if (a.RetryAt.IsZero() || at.Before(a.RetryAt)) && isDone(at) {
			t.Fatalf("at %v already: %s", at, toldOfClear(a))
		}
	}
}

func TestClearRetryAtIsFirst(t *testing.T) { rapid.Check(t, clearRetryAtIsFirst) }

// instants are those at which a protection or a wait that is drawn ends: hours around now, and a nanosecond later.
func instants() (list []time.Time) {
	for h := range 6 {
		at := preemptiontest.Now.Add(time.Duration(h) * time.Hour)
		list = append(list, at, at.Add(1))
	}
	return list[1:]
}

// "RetryAt is the first instant at which it succeeds" (prices), or at which the outcome is Fits or Preempt.
func retryAtIsFirst(t *rapid.T) {
	st, r := roomy(t)
	pc, c := preemptiontest.PlacementConfigs().Draw(t, "config"), priced(t, st)
	d := answered(t, st, r, pc, c)
	if d.Decision.Outcome.Succeeds() || len(d.Decision.Nominations) > 0 {
		return
	}
	isDone := func(at time.Time) bool {
		r.Now = at
		then := answered(t, st, r, pc, c)
		return then.Decision.Outcome.Succeeds() || len(then.Decision.Nominations) > 0
	}
	retry := d.Decision.RetryAt
	if !retry.IsZero() && !isDone(retry) {
		t.Fatalf("not at %v: %s", retry, told(d))
	}
	for _, at := range instants() {
		if (retry.IsZero() || at.Before(retry)) && isDone(at) {
			t.Fatalf("at %v already, not at %v: %s", at, retry, told(d))
		}
	}
}

func TestRetryAtIsFirst(t *testing.T) { rapid.Check(t, retryAtIsFirst) }

// Draws reach what the laws of Clear are about.
func TestDrawsReachClear(t *testing.T) {
	const n = 1000
	seen := map[string]int{}
	for seed := range n {
		rapid.Custom(func(t *rapid.T) int {
			st, pc, c, r := clearing(t)
			_, a := emptied(t, st, pc, c, r)
			seen[a.Outcome.String()]++
			for _, b := range a.Blocked {
				seen[b.Cause.String()]++
			}
			if len(a.Cleared) > 1 && len(a.Moves) > 0 {
				seen["several domains"]++
			}
			if slices.ContainsFunc(a.Moves, func(m moves.Move) bool { return len(m.Pods) > 1 }) {
				seen["groups move"]++
			}
			if len(a.Steps) > 1 {
				seen["several steps"]++
			}
			return 0
		}).Example(seed)
	}
	t.Log(seen)
	for kind, least := range map[string]int{
		"Preempt": 30, "Fits": 10, "Wait": 10, "Impossible": 30, "Protected": 10, "NoPlace": 30, "Budget": 20, "Promised": 10,
		"several domains": 5, "groups move": 3, "several steps": 3,
	} {
		if seen[kind] < least {
			t.Errorf("%s: %d of %d", kind, seen[kind], n)
		}
	}
}

// The pods of a basic group are decided about one by one: the victims of the first may leave so few pods of a group that the rest is its
// minimum, which a minimum runtime protects. Time ends that protection, too.
func TestRetryAtOfABasicGroup(t *testing.T) {
	st := cluster("a=4 b=4 c=4 a:low1/g=4 b:low2/g=4 c:high/kept=4")
	reclaim := quota.Some(3 * time.Hour)
	st.Pods[0].Started, st.Pods[1].Started = time.Time{}, now // the first is the minimum, without a protection
	st.Groups = []workload.PodGroup{
		{ID: "g", Queue: "other", MinCount: 1, ReclaimMinRuntime: reclaim},
		{ID: "kept", Queue: "other", Priority: 2, DisruptionMode: workload.DisruptionModePodGroup}, {ID: "pending", Queue: "q", Priority: 5, Basic: true},
	}
	r := placement.Request{Group: "pending", Queue: "q", Priority: 5, Now: now}
	for _, id := range []string{"in1", "in2"} {
		r.Pods = append(r.Pods, workload.Pod{ID: id, Requests: workload.Resources{"gpu": 4}})
	}
	keep := moves.Config{Price: func(u placement.Unit) (yield, move int64) {
		if u.Group == "kept" {
			return -1, -1
		}
		return 1, 1
	}}
	d := must(moves.Decide(nil, snapshot(t, st), r, keep))(t)
	if want := now.Add(3*time.Hour + 1); d.Decision.Outcome != preemption.Wait || !d.Decision.RetryAt.Equal(want) {
		t.Errorf("%v, want Wait until %v: %v", d.Decision.Outcome, want, told(d))
	}
}
