// Package least finds the smallest step that succeeds.
package least

// maxScan is how many steps are tried one after the other. With more steps the smallest is
// found by halving. 64 decisions take as long as a person does not notice.
const maxScan = 64

// Step returns the result of the smallest step from 1 to most that succeeds. A search for
// victims may fail with more of what helps, because it takes others first. So few steps are
// tried one after the other; of many, one is found by halving that succeeds
// while the step before it does not. Step 0 does not succeed; try must not depend on anything
// but the step.
func Step[T any](most int64, try func(int64) (T, bool)) (best T, ok bool) {
	if most <= maxScan {
		for n := int64(1); n <= most; n++ {
			if tried, ok := try(n); ok {
				return tried, true
			}
		}
		return best, false
	}
	best, ok = try(most)
	if !ok {
		return best, false
	}
	low := int64(0)
	for high := most; high-low > 1; {
		middle := low + (high-low)/2
		if tried, ok := try(middle); ok {
			best, high = tried, middle
		} else {
			low = middle
		}
	}
	return best, true
}
