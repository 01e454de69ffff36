package quotatree

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The sum of two lists has the columns of both in order, and the sum of the amounts of each.
func TestAddLoads(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	drawn := func(sums map[int]int64) (list []Load) {
		for column := range 12 {
			if r.IntN(3) > 0 {
				amount := r.Int64N(9)
				list = append(list, Load{column, amount})
				sums[column] += amount
			}
		}
		return list
	}
	for range 2000 {
		sums := map[int]int64{}
		a, b := drawn(sums), drawn(sums)
		before := slices.Clone(b)
		got := AddLoads(slices.Clone(a), b)
		if len(got) != len(sums) || !slices.Equal(b, before) || !slices.IsSortedFunc(got, func(x, y Load) int { return x.Column - y.Column }) {
			t.Fatalf("%v and %v: %v", a, b, got)
		}
		for _, l := range got {
			if l.Amount != sums[l.Column] {
				t.Fatalf("%v and %v: %v", a, b, got)
			}
		}
	}
}
