package least

// Most returns the largest number from 0 to most that holds. Zero holds and is not tried; of two numbers the smaller
// holds if the larger does. It tries about twice as many numbers as the answer has binary digits. The last one that
// does not hold is the one after the answer.
func Most(most int64, holds func(int64) bool) (n int64) {
	step := int64(1)
	for ; step > 0 && step <= most-n && holds(n+step); step *= 2 {
		n += step
	}
	for step /= 2; step > 0; step /= 2 {
		if step <= most-n && holds(n+step) {
			n += step
		}
	}
	return n
}
