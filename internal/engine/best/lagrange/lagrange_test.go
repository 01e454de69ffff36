package lagrange_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/best/lagrange"
)

// drawRelaxation draws items, of which some exclude others, and rows, of which some are limits, and returns the weight
// of the lightest set that takes enough and keeps limits and exclusions; ok is false if there is none.
func drawRelaxation(t *rapid.T) (r *lagrange.Relaxation, lightest float64, ok bool) {
	items, rows := rapid.IntRange(0, 7).Draw(t, "items"), rapid.IntRange(0, 3).Draw(t, "rows")
	r = new(lagrange.Relaxation)
	r.Resize(items, rows)
	limits := make([]bool, rows)
	for j := range r.Needs {
		limits[j] = rapid.IntRange(0, 3).Draw(t, "limit") == 0
		if r.Needs[j] = 1; limits[j] {
			r.Needs[j] = -float64(rapid.IntRange(0, 6).Draw(t, "at most"))
		}
	}
	for i := range items {
		r.Weights[i] = float64(rapid.IntRange(0, 5).Draw(t, "weight"))
		for j := range rows {
			r.Takes[i*rows+j] = float64(rapid.IntRange(0, 4).Draw(t, "takes")) / 4
			if limits[j] {
				r.Takes[i*rows+j] = -float64(rapid.IntRange(0, 3).Draw(t, "adds"))
			}
		}
	}
	for from := 0; from < items; {
		size := rapid.IntRange(1, 4).Draw(t, "together")
		if list := indexes(items)[from:min(from+size, items)]; len(list) > 1 {
			r.Either = append(r.Either, rapid.Permutation(list).Draw(t, "either"))
		}
		from += size
	}
	for set := range 1 << items {
		weight, enough := 0.0, true
		for _, list := range r.Either {
			for _, i := range list[1:] {
				enough = enough && (set>>list[0]&1 == 0 || set>>i&1 == 0)
			}
		}
		left := append([]float64(nil), r.Needs...)
		for i := range items {
			if set>>i&1 == 0 {
				continue
			}
			weight += r.Weights[i]
			for j := range rows {
				left[j] -= r.Takes[i*rows+j]
			}
		}
		for _, l := range left {
			enough = enough && l <= 0
		}
		if enough && (!ok || weight < lightest) {
			lightest, ok = weight, true
		}
	}
	return r, lightest, ok
}

// For any multipliers that are not negative, no set weighs less than the bound; climbing makes it no
// smaller than where it began, and ends after so many steps.
func boundsHold(t *rapid.T) {
	r, lightest, ok := drawRelaxation(t)
	const rounding = 1e-9
	multiply := make([]float64, len(r.Needs))
	for j := range multiply {
		multiply[j] = rapid.Float64Range(0, 20).Draw(t, "multiplier")
	}
	begin := r.Bound(multiply)
	if ok && begin > lightest+rounding {
		t.Fatalf("%v bound %v, but a set weighs %v", multiply, begin, lightest)
	}
	copy(r.Multiply, multiply)
	known := float64(math.MaxInt64)
	if ok {
		known = float64(lightest)
	}
	most := rapid.IntRange(1, 300).Draw(t, "steps")
	steps := r.Climb(known, most)
	if steps < 1 || steps > most {
		t.Fatalf("%d steps of %d", steps, most)
	}
	if r.Root < begin || ok && (r.Root > lightest+rounding || float64(r.Lowest()) > lightest) {
		t.Fatalf("bound %v (%d) from %v on, but a set weighs %v: %+v", r.Root, r.Lowest(), begin, lightest, *r)
	}
	order := rapid.Permutation(indexes(len(r.Weights))).Draw(t, "order")
	r.SumUp(order)
	for at := range r.Rest {
		want, left := 0.0, order[min(at, len(order)):]
		of := func(list ...int) (sum float64) {
			for _, i := range list {
				if slices.Contains(left, i) {
					sum += min(0, r.Reduced[i])
				}
			}
			return sum
		}
		alone := of(left...)
		for _, list := range r.Either {
			alone -= of(list...)
			want += min(of(list[0]), of(list[1:]...))
		}
		if want += alone; math.Abs(r.Rest[at]-want) > rounding {
			t.Fatalf("rest %v at %d, want %v", r.Rest, at, want)
		}
	}
	if ok && r.Exceeds(r.Root, int64(lightest)) {
		t.Fatalf("%v exceeds %v", r.Root, lightest)
	}
	if limit := r.Lowest() - 1; limit >= 0 && !r.Exceeds(r.Root, limit) {
		t.Fatalf("%v does not exceed %d", r.Root, limit)
	}
}

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestBoundsHold(t *testing.T) { rapid.Check(t, boundsHold) }

// Two rows that different items cover: the bound climbs to the weight of the best set, and ends there
// before the steps are used up. A set that is known to be no heavier ends it at once.
func TestClimb(t *testing.T) {
	r := new(lagrange.Relaxation)
	for _, c := range []struct {
		known       float64
		least, most int
	}{{7, 2, 100}, {0.9, 1, 1}} {
		r.Resize(3, 2)
		copy(r.Weights, []float64{3, 4, 9})
		copy(r.Takes, []float64{1, 0, 0, 1, 1, 1})
		copy(r.Needs, []float64{1, 1})
		steps := r.Climb(c.known, 400)
		if steps < c.least || steps > c.most {
			t.Errorf("known %v: %d steps, want %d to %d", c.known, steps, c.least, c.most)
		}
		if c.known == 7 && r.Lowest() != 7 {
			t.Errorf("bound %v after %d steps, want 7", r.Root, steps)
		}
	}
	r.Resize(2, 1)
	if r.Multiply[0] != 0 {
		t.Error("multipliers of another weight")
	}
}

// "For any multipliers that are not negative": a negative one would make the bound too large where the lightest set takes more of a row
// than is needed, as the first two items do.
func TestClimbKeepsMultipliersFromZeroOn(t *testing.T) {
	r := new(lagrange.Relaxation)
	r.Resize(3, 2)
	copy(r.Weights, []float64{0, 1, 3})
	copy(r.Takes, []float64{1, 0.25, 0.25, 0.75, 0, 0})
	copy(r.Needs, []float64{1, 1})
	if r.Climb(10, 400); r.Multiply[0] < 0 || r.Multiply[1] < 0 || r.Lowest() != 1 {
		t.Errorf("bound %v by %v, but the first two items weigh 1", r.Root, r.Multiply)
	}
}

// A copy has the bound's parts, and stays when the original changes.
func TestCopy(t *testing.T) {
	r, c := new(lagrange.Relaxation), new(lagrange.Relaxation)
	r.Resize(1, 1)
	r.Weights[0], r.Takes[0], r.Needs[0], r.Multiply[0] = 2, 1, 1, 1
	r.Root = r.Bound(r.Multiply)
	c.Copy(r)
	r.Weights[0], r.Multiply[0], r.Reduced[0], r.Root = 0, 0, 0, 0
	if c.Weights[0] != 2 || c.Multiply[0] != 1 || c.Reduced[0] != 1 || c.Root != 1 {
		t.Errorf("%+v", *c)
	}
}
