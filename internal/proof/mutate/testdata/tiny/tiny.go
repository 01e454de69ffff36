// Package tiny has mutants that are killed, that survive, that no test runs.
package tiny

// Abs returns the amount without its sign.
func Abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// Sum adds up.
func Sum(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

// Wait counts down; turned round it never ends.
func Wait(n int) int {
	for n > 0 {
		n--
	}
	return n
}
