package search

import "testing"

// Of all amounts of small boxes: those that come back fit after, but neither before nor earlier; none come back only if there are none.
func TestLeastOfABox(t *testing.T) {
	const most = 3
	each := func(do func(v []int64)) {
		for i := range int64(most * most) {
			do([]int64{i % most, i / most})
		}
	}
	fits := func(amounts, limits []int64) bool { return amounts[0] <= limits[0] && amounts[1] <= limits[1] }
	check := func(box Box, before, after, earlier []int64) {
		may := func(amounts []int64) bool {
			return fits(box.Low, amounts) && fits(amounts, box.High) && fits(amounts, after) && !fits(amounts, before) &&
				(earlier == nil || !fits(amounts, earlier))
		}
		some := false
		each(func(amounts []int64) { some = some || may(amounts) })
		if got := box.least(before, after, earlier); (got != nil) != some || some && !may(got) {
			t.Errorf("%v before %v, after %v, earlier %v: %v", box, before, after, earlier, got)
		}
	}
	each(func(low []int64) {
		each(func(high []int64) {
			each(func(before []int64) {
				each(func(after []int64) {
					check(Box{low, high}, before, after, nil)
					each(func(earlier []int64) { check(Box{low, high}, before, after, earlier) })
				})
			})
		})
	})
}
