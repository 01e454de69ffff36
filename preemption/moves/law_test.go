package moves_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// roomy draws a record with a node or two more, on which the pods of the request mostly may not run.
func roomy(t *rapid.T) (placement.State, placement.Request) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	var names []string
	for _, n := range st.Nodes {
		names = append(names, n.Name)
	}
	st.Nodes = slices.Clone(st.Nodes)
	for i := range rapid.SampledFrom([]int{2, 1, 1, 3, 0}).Draw(t, "more nodes") {
		n := workload.Node{Name: fmt.Sprintf("more%d", i), Labels: map[string]string{"zone": "b"}}
		n.Capacity = workload.Resources{"cpu": rapid.Int64Range(2, 5).Draw(t, "cpu"), "gpu": rapid.Int64Range(0, 3).Draw(t, "gpu")}
		st.Nodes = append(st.Nodes, n)
	}
	r.Pods = slices.Clone(r.Pods)
	isFree := rapid.IntRange(0, 9).Draw(t, "may run on them") == 0
	for i := range r.Pods {
		if len(r.Pods[i].Nodes) == 0 && !isFree {
			r.Pods[i].Nodes = names
		}
	}
	for i := range st.Pods {
		if p := &st.Pods[i]; rapid.IntRange(0, 7).Draw(t, "bound") == 0 {
			p.Nodes = []string{p.Node, rapid.SampledFrom(st.Nodes).Draw(t, "and").Name}
		}
	}
	return st, r
}

// priced draws a configuration of moves.
func priced(t *rapid.T, st placement.State) moves.Config {
	c := moves.Config{Prefer: rapid.IntRange(0, 3).Draw(t, "prefer") == 0}
	c.Start = rapid.SampledFrom([]moves.Start{moves.AfterStop, moves.AfterStop, moves.BeforeStop}).Draw(t, "start")
	if rapid.IntRange(0, 3).Draw(t, "none yields") == 0 {
		c.Price = mustMove
	} else if rapid.Bool().Draw(t, "prices") {
		yields, moved := map[string]int64{}, map[string]int64{}
		price := rapid.SampledFrom([]int64{1, 2, 3, 5, 2, 1, 0, 4, -1})
		for _, p := range st.Pods {
			yields[p.ID] = price.Draw(t, "yield")
			if moved[p.ID] = price.Draw(t, "move"); yields[p.ID] >= 0 {
				moved[p.ID] = min(moved[p.ID], yields[p.ID])
			}
		}
		c.Price = func(u placement.Unit) (yield, move int64) {
			for _, p := range u.Pods {
				y, m := yields[p.ID], moved[p.ID]
				yield, move = plus(yield, y), plus(move, m)
			}
			return yield, move
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "domains") == 0 {
		var zones [2]placement.Domain
		for _, n := range st.Nodes {
			zone := 0
			if n.Labels["zone"] == "b" {
				zone = 1
			}
			zones[zone].Name, zones[zone].Nodes = n.Labels["zone"], append(zones[zone].Nodes, n.Name)
		}
		c.Domains = func(u placement.Unit) []placement.Domain {
			if u.Group == "" {
				return nil
			}
			return zones[:]
		}
	}
	return c
}

// plus adds prices; one that must not be makes a sum that must not be.
func plus(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

func answered(t *rapid.T, st placement.State, r placement.Request, pc placement.Config, c moves.Config) moves.Decision {
	s := must(placement.NewSnapshot(st))(t)
	p := must(placement.New(pc))(t)
	return must(moves.Decide(p, s, r, c))(t)
}

// The judge has nothing against any answer.
func answersVerify(t *rapid.T) {
	st, r := roomy(t)
	pc, c := preemptiontest.PlacementConfigs().Draw(t, "config"), priced(t, st)
	d := answered(t, st, r, pc, c)
	if err := verify.Moves(st, r, pc, c, d); err != nil {
		t.Fatalf("%v\n%s", err, told(d))
	}
}

func TestAnswersVerify(t *testing.T) { rapid.Check(t, answersVerify) }

// "With the zero value the victims are those of a decision without moves."
func zeroConfigDecidesAsBefore(t *rapid.T) {
	st, r := roomy(t)
	pc := preemptiontest.PlacementConfigs().Draw(t, "config")
	s := must(placement.NewSnapshot(st))(t)
	p := must(placement.New(pc))(t)
	want := must(p.Decide(s, r))(t)
	start := rapid.SampledFrom([]moves.Start{moves.AfterStop, moves.BeforeStop}).Draw(t, "start")
	if d := answered(t, st, r, pc, moves.Config{Start: start}); !reflect.DeepEqual(want, d.Decision) {
		t.Fatalf("%+v\nwant %+v", d.Decision, want)
	}
}

func TestZeroConfigDecidesAsBefore(t *testing.T) { rapid.Check(t, zeroConfigDecidesAsBefore) }

// "Of victims of equal priority of which either is enough, the one that can run elsewhere yields", whichever started first
// (kubernetes/kubernetes#141227).
func TestPreferTakesWhatCanMoveInBothOrders(t *testing.T) {
	for state, without := range map[string]string{
		"a=4 b=4 c=4 a:daemon@=2 a:other=2 b:x!=3 c:y!=2": "other",
		"a=4 b=4 c=4 a:other=2 a:daemon@=2 b:x!=3 c:y!=2": "daemon",
	} {
		for prefer, want := range map[bool]string{false: without, true: "other"} {
			d, err := moves.Decide(nil, snapshot(t, cluster(state)), on(pending(1, 2), "a"), moves.Config{Prefer: prefer})
			if err != nil || len(d.Decision.Victims) != 1 || d.Decision.Victims[0].Pods[0] != want {
				t.Errorf("%s, prefer %v: %s, %v, want %s", state, prefer, told(d), err, want)
			}
		}
	}
}

// If no unit may move, the decision is that without moves, also when to ask again.
func withoutMovesAsBefore(t *rapid.T) {
	st, r := roomy(t)
	pc := preemptiontest.PlacementConfigs().Draw(t, "config")
	p := must(placement.New(pc))(t)
	want := must(p.Decide(snapshot(t, st), r))(t)
	c := moves.Config{Price: func(u placement.Unit) (yield, move int64) { return int64(len(u.Pods)), -1 }}
	c.Start = rapid.SampledFrom([]moves.Start{moves.AfterStop, moves.BeforeStop}).Draw(t, "start")
	d := answered(t, st, r, pc, c)
	if !reflect.DeepEqual(want, d.Decision) || len(d.Moves) > 0 {
		t.Fatalf("%s\n%+v\nwant %+v", told(d), d.Decision, want)
	}
}

func TestWithoutMovesAsBefore(t *testing.T) { rapid.Check(t, withoutMovesAsBefore) }

// Settled: "victims that yield are gone, those that move run on their new nodes, and the pods of the request run"; all others are as before.
func settledIsDone(t *rapid.T) {
	st, r := roomy(t)
	pc, c := preemptiontest.PlacementConfigs().Draw(t, "config"), priced(t, st)
	d := answered(t, st, r, pc, c)
	if d.Decision.Outcome != preemption.Preempt || r.Resize {
		return
	}
	s := snapshot(t, st)
	after := must(s.With(d.EditsWhenDone(s)...))(t)
	on := map[string]string{}
	for _, p := range st.Pods {
		on[p.ID] = p.Node
	}
	for _, v := range d.Decision.Victims {
		for _, id := range v.Pods {
			delete(on, id)
		}
	}
	for _, m := range d.Moves {
		for _, p := range m.Pods {
			on[p.Pod] = p.To
			if runs, _ := after.Find(p.Pod); !runs.Started.Equal(d.Decision.Now) {
				t.Fatalf("%q started at %v, not anew: %s", p.Pod, runs.Started, told(d))
			}
		}
	}
	for _, p := range d.Decision.Nominations {
		on[p.Pod] = p.Node
	}
	got := map[string]string{}
	for _, p := range after.State().Pods {
		got[p.ID] = p.Node
	}
	if !reflect.DeepEqual(got, on) {
		t.Fatalf("%v runs, want %v: %s", got, on, told(d))
	}
	for p := range after.NominatedPods() {
		if slices.Contains(d.Decision.Withdrawn, p.ID) || on[p.ID] != "" {
			t.Fatalf("%q is still nominated: %s", p.ID, told(d))
		}
	}
}

func TestSettledIsDone(t *testing.T) { rapid.Check(t, settledIsDone) }

// Draws reach what the laws are about.
func TestDrawsReachMoves(t *testing.T) {
	const n = 800
	seen := map[string]int{}
	for seed := range n {
		rapid.Custom(func(t *rapid.T) int {
			st, r := roomy(t)
			pc, c := preemptiontest.PlacementConfigs().Draw(t, "config"), priced(t, st)
			d := answered(t, st, r, pc, c)
			kind := fmt.Sprint(d.Decision.Outcome)
			seen[kind]++
			if len(d.Moves) > 0 {
				seen["moves"]++
				seen[fmt.Sprint("moves, ", c.Start)]++
			}
			if slices.ContainsFunc(d.Moves, func(m moves.Move) bool { return len(m.Pods) > 1 }) {
				seen["groups move"]++
			}
			if len(d.Moves) > 0 && len(d.Moves) < len(d.Decision.Victims) {
				seen["moves and yields"]++
			}
			if len(d.Steps) > 1 && len(d.Steps[1].Stop) > 0 {
				seen["moves in several steps"]++
			}
			if d.Decision.Outcome == preemption.Wait && !d.Decision.RetryAt.IsZero() {
				seen["waits until a time"]++
			}
			return 0
		}).Example(seed)
	}
	t.Log(seen)
	for kind, least := range map[string]int{
		"moves": 80, "moves, BeforeStop": 15, "groups move": 4, "moves and yields": 12,
		"moves in several steps": 4, "waits until a time": 15,
	} {
		if seen[kind] < least {
			t.Errorf("%s: %d of %d", kind, seen[kind], n)
		}
	}
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
