package moving_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/best/moving"
)

// A search finds the cheapest of all sets of units and of all places.
func finds(t *rapid.T) {
	p := problem(t)
	want := cheapest(p, make([]int, 0, len(p.Units)))
	free := make([][]int64, len(p.Free))
	for i := range free {
		free[i] = slices.Clone(p.Free[i])
	}
	left := slices.Clone(p.Left)
	got := moving.Solve(p)
	if (got.Answer == nil) != (want == moving.None) || got.Answer != nil && got.Answer.Cost != want {
		t.Fatalf("%+v, want %v\n%+v", got, want, p)
	}
	if !slices.Equal(left, p.Left) {
		t.Fatalf("%v is left of budgets afterwards, %v before", p.Left, left)
	}
	if got.Answer != nil && got.Bound != want {
		t.Fatalf("bound %v, want %v", got.Bound, want)
	}
	for i := range free {
		if !slices.Equal(free[i], p.Free[i]) {
			t.Fatalf("node %d: %v is free afterwards, %v before", i, p.Free[i], free[i])
		}
	}
	p.MaxNodes, p.Limit = rapid.IntRange(0, 20).Draw(t, "few nodes"), moving.None
	if few := moving.Solve(p); want.Less(few.Bound) || few.Answer != nil && few.Answer.Cost.Less(want) {
		t.Fatalf("with %d nodes %+v, want %v", p.MaxNodes, few, want)
	}
}

func TestFinds(t *testing.T) { rapid.Check(t, finds) }
func FuzzFinds(f *testing.F) { f.Fuzz(rapid.MakeFuzz(finds)) }

func problem(t *rapid.T) *moving.Problem {
	nodes, slots := rapid.IntRange(1, 4).Draw(t, "nodes"), rapid.IntRange(1, 2).Draw(t, "slots")
	p := &moving.Problem{MaxNodes: 1 << 30, Limit: moving.None, Left: make([]int64, 2)}
	for b := range p.Left {
		p.Left[b] = rapid.Int64Range(0, 3).Draw(t, "left")
	}
	amount := rapid.Int64Range(-1, 4)
	for range nodes {
		free := make([]int64, slots)
		for slot := range free {
			free[slot] = amount.Draw(t, "free")
		}
		p.Free, p.Closed = append(p.Free, free), append(p.Closed, rapid.IntRange(0, 5).Draw(t, "closed") == 0)
	}
	add := func(waits bool, pods int) {
		price := rapid.SampledFrom([]int64{0, 1, 2, 3, moving.Never})
		u := moving.Unit{Yield: price.Draw(t, "yield"), Move: price.Draw(t, "move")}
		if waits {
			u.Yield, u.Move = moving.Never, 0
		} else if rapid.Bool().Draw(t, "charged") {
			u.Charges = rapid.SliceOfN(rapid.Int32Range(0, 1), 1, pods).Draw(t, "charges")
		}
		for range pods {
			pod := moving.Pod{At: -1, Needs: make([]int64, slots)}
			for slot := range pod.Needs {
				pod.Needs[slot] = rapid.Int64Range(0, 4).Draw(t, "needs")
			}
			if !waits {
				pod.At = rapid.IntRange(0, nodes-1).Draw(t, "at")
			}
			if rapid.IntRange(0, 4).Draw(t, "some nodes") == 0 {
				pod.May = rapid.SliceOfN(rapid.Bool(), nodes, nodes).Draw(t, "may")
			}
			u.Pods = append(u.Pods, pod)
		}
		if rapid.IntRange(0, 5).Draw(t, "within") == 0 {
			u.Within = [][]int{{0}, {nodes - 1}}
		}
		p.Units = append(p.Units, u)
	}
	for range rapid.SampledFrom([]int{1, 0, 2}).Draw(t, "wait") {
		add(true, rapid.IntRange(1, 2).Draw(t, "pods"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "units") {
		add(false, rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "pods"))
	}
	return p
}

// cheapest is the definition: every unit stays, leaves for good, or goes to any nodes. Where no pod comes a node may stay over.
// Units in vain are never cheaper, so the definition needs no word about them.
func cheapest(p *moving.Problem, chosen []int) moving.Cost {
	places := make([][]int, len(p.Units)) // nil: stays; empty: yields
	best := moving.None
	var unit func(u int, cost moving.Cost)
	unit = func(u int, cost moving.Cost) {
		if u == len(p.Units) {
			if cost.Less(best) && holds(p, places) {
				best = cost
			}
			return
		}
		it := &p.Units[u]
		waits := it.Pods[0].At < 0
		if !waits {
			places[u] = nil
			unit(u+1, cost)
			if it.Yield != moving.Never {
				places[u] = []int{}
				unit(u+1, moving.Cost{Lost: cost.Lost + it.Yield, Pods: cost.Pods + int64(len(it.Pods))})
			}
		}
		if it.Move == moving.Never {
			return
		}
		then := moving.Cost{Lost: cost.Lost + it.Move, Pods: cost.Pods + int64(len(it.Pods))}
		if waits {
			then = cost
		}
		where := make([]int, len(it.Pods))
		var pod func(k int)
		pod = func(k int) {
			if k == len(where) {
				if it.Within != nil && !slices.ContainsFunc(it.Within, func(list []int) bool {
					return !slices.ContainsFunc(where, func(n int) bool { return !slices.Contains(list, n) })
				}) {
					return
				}
				places[u] = slices.Clone(where)
				unit(u+1, then)
				return
			}
			for node := range p.Free {
				if !p.Closed[node] && (it.Pods[k].May == nil || it.Pods[k].May[node]) {
					where[k] = node
					pod(k + 1)
				}
			}
		}
		pod(0)
	}
	unit(0, moving.Cost{})
	return best
}

func holds(p *moving.Problem, places [][]int) bool {
	left := slices.Clone(p.Left)
	free := make([][]int64, len(p.Free))
	asked := make([][]bool, len(p.Free))
	for i := range free {
		free[i], asked[i] = slices.Clone(p.Free[i]), make([]bool, len(p.Free[i]))
	}
	for u := range p.Units {
		it := &p.Units[u]
		if places[u] == nil {
			if it.Pods[0].At >= 0 && slices.ContainsFunc(it.Pods, func(q moving.Pod) bool { return p.Closed[q.At] }) {
				return false
			}
			continue
		}
		for _, b := range it.Charges {
			left[b]--
		}
		for k, q := range it.Pods {
			for slot, need := range q.Needs {
				if q.At >= 0 {
					free[q.At][slot] += need
				}
				if len(places[u]) > 0 {
					free[places[u][k]][slot] -= need
					asked[places[u][k]][slot] = asked[places[u][k]][slot] || need > 0
				}
			}
		}
	}
	for i := range free {
		for slot := range free[i] {
			if asked[i][slot] && free[i][slot] < 0 {
				return false
			}
		}
	}
	return !slices.ContainsFunc(left, func(n int64) bool { return n < 0 })
}
