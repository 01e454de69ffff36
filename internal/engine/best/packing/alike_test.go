package packing_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/best/packing"
)

// Pods that all differ are too many for a table. The bound is that of pods as small as the
// smallest, and the known places keep the victims that they need.
func manyKinds(t *rapid.T) {
	const pods, plenty = 15, 1 << 40
	alike := &packing.Problem{Least: pods, MaxNodes: math.MaxInt32, Kinds: []packing.Kind{{Count: pods, Needs: []int64{1, 1}}}}
	nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
	for range nodes {
		alike.Free = append(alike.Free, []int64{rapid.Int64Range(-1, 6).Draw(t, "free"), plenty})
	}
	all := []int{}
	for n := range rapid.IntRange(3, 7).Draw(t, "units") {
		at := rapid.IntRange(0, nodes-1).Draw(t, "node")
		takes := []int64{rapid.Int64Range(1, 7).Draw(t, "takes"), 0}
		alike.Units = append(alike.Units, packing.Unit{
			Priority: rapid.Int32Range(0, 2).Draw(t, "priority"), Pods: 1, Parts: []packing.Part{{Node: at, Pods: 1, Takes: takes}},
		})
		all = append(all, n)
	}
	differ := *alike
	differ.Kinds = nil
	for n := range pods {
		differ.Kinds = append(differ.Kinds, packing.Kind{Count: 1, Needs: []int64{1, 1 + int64(n)}})
	}
	var x packing.Solver
	easy, hard := x.Solve(alike), x.Solve(&differ)
	if easy.None != hard.None {
		t.Fatalf("none: %v, but %v if all pods differ", easy.None, hard.None)
	}
	if easy.None {
		t.Skip("no room")
	}
	if hard.Answer != nil || hard.Bound != easy.Bound {
		t.Fatalf("%+v, want no answer and the bound %+v", hard, easy.Bound)
	}
	best := &packing.Answer{Units: easy.Answer.Units}
	next := 0
	for _, counts := range easy.Answer.Places {
		places := make([]int, pods)
		for range counts[0] {
			places[next] = 1
			next++
		}
		best.Places = append(best.Places, places)
	}
	if differ.Known = best; x.Solve(&differ).Answer != nil {
		t.Fatal("there is something better than the best")
	}
	differ.Known = &packing.Answer{Units: all, Places: best.Places}
	got := x.Solve(&differ)
	if got.Bound != easy.Bound {
		t.Fatalf("the bound is %+v, want %+v", got.Bound, easy.Bound)
	}
	if got.Answer == nil {
		if len(best.Units) < len(all) {
			t.Fatalf("all yield, but %v are enough in these places", best.Units)
		}
		return
	}
	if score := differ.Score(got.Answer.Units); !permitted(&differ, got.Answer.Units, got.Answer.Places) || score != easy.Bound {
		t.Fatalf("%+v, want %+v: %+v", score, easy.Bound, *got.Answer)
	}
	if !slices.EqualFunc(got.Answer.Places, best.Places, func(a, b []int) bool { return slices.Equal(a, b) }) {
		t.Fatalf("%v are not the known places %v", got.Answer.Places, best.Places)
	}
}

func TestManyKinds(t *testing.T) { rapid.Check(t, manyKinds) }
func FuzzManyKinds(f *testing.F) { f.Fuzz(rapid.MakeFuzz(manyKinds)) }
