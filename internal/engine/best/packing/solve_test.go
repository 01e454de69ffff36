package packing_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/best/packing"
	"github.com/cedesched/cede/quota"
)

// drawProblem draws a small problem: few nodes, kinds and units, amounts that nearly fit.
func drawProblem(t *rapid.T) *packing.Problem {
	nodes, width := rapid.IntRange(1, 4).Draw(t, "nodes"), rapid.IntRange(1, 3).Draw(t, "slots")
	amount := rapid.Int64Range(0, 4)
	amounts := func(what string) []int64 { return rapid.SliceOfN(amount, width, width).Draw(t, what) }
	p := &packing.Problem{MaxNodes: math.MaxInt32}
	for range nodes {
		free := amounts("free")
		for i := range free {
			free[i] -= rapid.Int64Range(0, 3).Draw(t, "over-used")
		}
		p.Free = append(p.Free, free)
	}
	units := rapid.IntRange(0, 8).Draw(t, "units")
	budgets := rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "budgets")
	for range budgets {
		p.Left = append(p.Left, rapid.Int64Range(0, 3).Draw(t, "left"))
	}
	wide := rapid.Bool().Draw(t, "wide priorities")
	violating := rapid.IntRange(0, 2).Draw(t, "violating")
	for range units {
		u := packing.Unit{Priority: rapid.Int32Range(0, 3).Draw(t, "priority"), Started: rapid.Int64Range(0, 3).Draw(t, "started")}
		if wide {
			u.Priority = rapid.SampledFrom([]int32{-1 << 31, -1<<31 + 1, 0, 1, 1 << 30, 1<<31 - 1}).Draw(t, "wide priority")
		}
		if violating > 0 && rapid.IntRange(0, violating).Draw(t, "violates") > 0 {
			u.Violations = rapid.Int64Range(0, 2).Draw(t, "violations")
		}
		at := rapid.IntRange(0, nodes-1).Draw(t, "node")
		for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "parts") {
			if at < nodes {
				u.Parts = append(u.Parts, packing.Part{Node: at, Pods: rapid.Int64Range(1, 2).Draw(t, "pods"), Takes: amounts("takes")})
			}
			at += rapid.IntRange(1, 2).Draw(t, "next node")
		}
		u.Pods = rapid.SampledFrom([]int64{0, 0, 0, 1, 2}).Draw(t, "pods elsewhere")
		for _, part := range u.Parts {
			u.Pods += part.Pods
		}
		for b := range budgets {
			if n := rapid.Int64Range(0, 2).Draw(t, "charge"); n > 0 {
				u.Charges = append(u.Charges, packing.Charge{Budget: b, Pods: n})
			}
		}
		p.Units = append(p.Units, u)
	}
	kinds, all := rapid.IntRange(1, 3).Draw(t, "kinds"), 0
	for range kinds {
		k := packing.Kind{Count: rapid.IntRange(1, 2).Draw(t, "count"), Needs: amounts("needs")}
		k.Needs[0] = max(1, k.Needs[0])
		all += k.Count
		if rapid.IntRange(0, 2).Draw(t, "rules") == 0 {
			for node := range nodes {
				place := packing.Place{Barred: rapid.IntRange(0, 5).Draw(t, "barred") == 0}
				for u := range p.Units {
					there := slices.ContainsFunc(p.Units[u].Parts, func(part packing.Part) bool { return part.Node == node })
					if there && rapid.IntRange(0, 4).Draw(t, "conflict") == 0 {
						place.Removes = append(place.Removes, u)
					}
				}
				k.At = append(k.At, place)
			}
		}
		p.Kinds = append(p.Kinds, k)
	}
	if kinds > 1 && rapid.Bool().Draw(t, "apart") {
		a, b := rapid.IntRange(0, kinds-1).Draw(t, "a"), rapid.IntRange(0, kinds-1).Draw(t, "b")
		for _, pair := range [][2]int{{a, b}, {b, a}} {
			k := &p.Kinds[pair[0]]
			if k.At == nil {
				k.At = make([]packing.Place, nodes)
			}
			for i := range k.At {
				if k.At[i].Apart == nil {
					k.At[i].Apart = make([]bool, kinds)
				}
				k.At[i].Apart[pair[1]] = true
			}
		}
	}
	p.Least = rapid.IntRange(1, all).Draw(t, "least")
	if rapid.IntRange(0, 2).Draw(t, "most of them") > 0 {
		p.Least = all
	}
	return p
}

// permitted reports whether an answer makes room: the pods are there, none of them is barred,
// nothing that they ask for is over-used, and no budget is violated.
func permitted(p *packing.Problem, units []int, places [][]int) bool {
	placed := 0
	for k, kind := range p.Kinds {
		count := 0
		for _, counts := range places {
			count += counts[k]
		}
		if placed += count; count > kind.Count {
			return false
		}
	}
	left := slices.Clone(p.Left)
	for _, u := range units {
		for _, c := range p.Units[u].Charges {
			if left[c.Budget] -= c.Pods; left[c.Budget] < 0 {
				return false
			}
		}
	}
	for node, counts := range places {
		if !permittedOn(p, units, node, counts) {
			return false
		}
	}
	return placed >= p.Least
}

func permittedOn(p *packing.Problem, units []int, node int, counts []int) bool {
	free, asked := slices.Clone(p.Free[node]), make([]bool, len(p.Free[node]))
	for _, u := range units {
		for _, part := range p.Units[u].Parts {
			if part.Node == node {
				for slot := range free {
					free[slot] += part.Takes[slot]
				}
			}
		}
	}
	for k, count := range counts {
		if count == 0 {
			continue
		}
		kind := p.Kinds[k]
		for slot, need := range kind.Needs {
			free[slot] -= need * int64(count)
			asked[slot] = asked[slot] || need > 0
		}
		if kind.At == nil {
			continue
		}
		at := kind.At[node]
		if at.Barred || slices.ContainsFunc(at.Removes, func(u int) bool { return !slices.Contains(units, u) }) {
			return false
		}
		for other, count := range counts {
			if at.Apart != nil && at.Apart[other] && (other != k && count > 0 || other == k && count > 1) {
				return false
			}
		}
	}
	for slot := range free {
		if asked[slot] && free[slot] < 0 {
			return false
		}
	}
	return true
}

// exhaust tries all units and all places. ok is false if there is no answer.
func exhaust(p *packing.Problem) (best packing.Score, ok bool) {
	for mask := range 1 << len(p.Units) {
		var units []int
		for u := range p.Units {
			if mask>>u&1 == 1 {
				units = append(units, u)
			}
		}
		if s := p.Score(units); (!ok || s.Compare(best) < 0) && placeable(p, units) {
			best, ok = s, true
		}
	}
	return best, ok
}

func placeable(p *packing.Problem, units []int) bool {
	places := make([][]int, len(p.Free))
	var at func(node int) bool
	var fill func(node, kind int) bool
	at = func(node int) bool {
		if node == len(places) {
			return permitted(p, units, places)
		}
		places[node] = make([]int, len(p.Kinds))
		return fill(node, 0)
	}
	fill = func(node, kind int) bool {
		if kind == len(p.Kinds) {
			return permittedOn(p, units, node, places[node]) && at(node+1)
		}
		for places[node][kind] = 0; places[node][kind] <= p.Kinds[kind].Count; places[node][kind]++ {
			if fill(node, kind+1) {
				return true
			}
		}
		places[node][kind] = 0
		return false
	}
	return at(0)
}

// The answer is the best of all units with all places, and the bound is its score.
func agreesWithAllSets(t *rapid.T) {
	p := drawProblem(t)
	want, ok := exhaust(p)
	got := new(packing.Solver).Solve(p)
	if got.None == ok {
		t.Fatalf("none: %v, but %+v", got.None, want)
	}
	if !ok {
		return
	}
	check(t, p, &got)
	if score := p.Score(got.Answer.Units); score != want || got.Bound != want {
		t.Fatalf("%+v with the bound %+v, want %+v: %+v", score, got.Bound, want, *got.Answer)
	}
}

func check(t *rapid.T, p *packing.Problem, got *packing.Result) {
	t.Helper()
	if got.Answer == nil || !permitted(p, got.Answer.Units, got.Answer.Places) {
		t.Fatalf("not permitted: %+v", got.Answer)
	}
}

func TestAgreesWithAllSets(t *testing.T) { rapid.Check(t, agreesWithAllSets) }
func FuzzAgreesWithAllSets(f *testing.F) { f.Fuzz(rapid.MakeFuzz(agreesWithAllSets)) }

// A bound with fewer violations than there must be says nothing of the sum.
func TestBoundOfViolations(t *testing.T) {
	on := func(node int, pods int64, takes ...int64) packing.Part {
		return packing.Part{Node: node, Pods: pods, Takes: takes}
	}
	const lowest = -1 << 31
	p := &packing.Problem{
		Free: [][]int64{{0, 0}, {0, -2}, {0, -1}}, Least: 5,
		Kinds: []packing.Kind{
			{Count: 2, Needs: []int64{1, 1}}, {Count: 1, Needs: []int64{1, 0}},
			{Count: 2, Needs: []int64{1, 2}, At: []packing.Place{{Barred: true}, {Removes: []int{1, 2, 5}}, {Barred: true}}},
		},
		Units: []packing.Unit{
			{Priority: lowest + 1, Pods: 2, Parts: []packing.Part{on(0, 2, 0, 1)}},
			{Priority: lowest, Pods: 1, Parts: []packing.Part{on(1, 1, 0, 3)}},
			{Priority: lowest, Pods: 2, Parts: []packing.Part{on(1, 1, 2, 3), on(2, 1, 2, 1)}},
			{Priority: lowest + 1, Pods: 2, Violations: 1, Parts: []packing.Part{on(0, 1, 1, 1), on(2, 1, 3, 1)}},
			{Priority: lowest, Pods: 1, Parts: []packing.Part{on(0, 1, 3, 0)}},
			{Priority: lowest, Pods: 1, Parts: []packing.Part{on(1, 1, 2, 0)}},
		},
	}
	want, ok := exhaust(p)
	if !ok || want.Violations == 0 {
		t.Fatalf("%+v, %v", want, ok)
	}
	proven := 0
	for p.MaxNodes = range 1000 {
		got := new(packing.Solver).Solve(p)
		if got.Bound.Compare(want) > 0 {
			t.Fatalf("with %d nodes the bound is %+v, but there is %+v", p.MaxNodes, got.Bound, want)
		}
		if got.Bound == want {
			proven++
		}
	}
	if proven == 0 || proven == 1000 {
		t.Errorf("%d of 1000 are proven", proven)
	}
}

// As long as it is not proven that nobody who started later is enough, the bound is the latest start that there may be.
func TestBoundOfStarts(t *testing.T) {
	unit := func(pods, started int64, parts ...packing.Part) packing.Unit {
		return packing.Unit{Pods: pods, Started: started, Parts: parts}
	}
	p := &packing.Problem{
		Free: [][]int64{{0}, {0}}, Least: 1, Kinds: []packing.Kind{{Count: 1, Needs: []int64{1}}},
		Units: []packing.Unit{
			unit(2, 0, packing.Part{Pods: 1, Takes: []int64{1}}),
			unit(3, 1, packing.Part{Pods: 1, Takes: []int64{0}}, packing.Part{Node: 1, Pods: 2, Takes: []int64{1}}),
		},
	}
	for nodes, want := range map[int]int64{0: 1, math.MaxInt32: 0} {
		p.MaxNodes = nodes
		if got := new(packing.Solver).Solve(p); got.Answer == nil || !slices.Equal(got.Answer.Units, []int{0}) || got.Bound.Started != want {
			t.Errorf("with %d nodes: %+v, bound %+v", nodes, got.Answer, got.Bound)
		}
	}
}

// With few nodes the answer is permitted, and the bound is one. A known answer is never made
// worse.
func keepsItsBound(t *rapid.T) {
	p := drawProblem(t)
	p.MaxNodes = rapid.SampledFrom([]int{0, 1, 3, 10, 30, 100, 300}).Draw(t, "nodes of the search")
	want, ok := exhaust(p)
	var x packing.Solver
	got := x.Solve(p)
	if got.None && ok {
		t.Fatalf("none, but %+v", want)
	}
	if !ok {
		return
	}
	if got.Answer != nil {
		check(t, p, &got)
		if got.Bound.Compare(want) > 0 {
			t.Fatalf("the bound is %+v, but there is %+v: %#v", got.Bound, want, *p)
		}
		p.Known = got.Answer
	}
	p.MaxNodes = math.MaxInt32
	if got = x.Solve(p); got.Bound != want {
		t.Fatalf("the bound is %+v, want %+v", got.Bound, want)
	}
	if got.Answer == nil {
		got.Answer = p.Known
	}
	check(t, p, &got)
	if p.Score(got.Answer.Units) != want {
		t.Fatalf("%+v, want %+v", p.Score(got.Answer.Units), want)
	}
}

func TestKeepsItsBound(t *testing.T) { rapid.Check(t, keepsItsBound) }
func FuzzKeepsItsBound(f *testing.F) { f.Fuzz(rapid.MakeFuzz(keepsItsBound)) }

// What several pods need together may be more than an int64 holds: it does not wrap.
func TestNeedsOfManyPods(t *testing.T) {
	const most = quota.MaxUsage
	p := &packing.Problem{
		Free: [][]int64{{0}, {most}}, Least: 4, MaxNodes: 1000,
		Kinds: []packing.Kind{{Count: 4, Needs: []int64{most}}},
		Units: []packing.Unit{{Pods: 1, Parts: []packing.Part{{Node: 0, Pods: 1, Takes: []int64{most}}}}},
	}
	if got := new(packing.Solver).Solve(p); !got.None {
		t.Errorf("four pods have room where there is room for two: %+v", got)
	}
	p.Least = 2
	got := new(packing.Solver).Solve(p)
	if got.Answer == nil || !slices.Equal(got.Answer.Units, []int{0}) || got.Bound != p.Score([]int{0}) {
		t.Errorf("%+v, want the unit to yield for the second pod", got)
	}
}

// A later goal keeps the limits of the earlier ones, also with the unit that completes the set.
func TestLaterGoalsKeepTheLimits(t *testing.T) {
	unit := func(priority int32, violations, pods, takes int64) packing.Unit {
		return packing.Unit{Priority: priority, Violations: violations, Pods: pods, Parts: []packing.Part{{Pods: 1, Takes: []int64{takes}}}}
	}
	p := &packing.Problem{
		Free: [][]int64{{-3}}, Least: 1, Kinds: []packing.Kind{{Count: 1, Needs: []int64{2}}},
		Units: []packing.Unit{unit(3, 0, 1, 1), unit(0, 0, 1, 2), unit(0, 0, 2, 1), unit(3, 1, 1, 2)},
	}
	want, _ := exhaust(p)
	var x packing.Solver
	known := x.Solve(p)
	p.Known, p.MaxNodes = known.Answer, math.MaxInt32
	if got := x.Solve(p); got.Bound != want {
		t.Errorf("the bound is %+v, want %+v", got.Bound, want)
	}
}
