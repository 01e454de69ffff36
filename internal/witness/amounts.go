package witness

import "math"

const unlimited = math.MaxInt64

// plus adds two amounts. "Sums saturate, never wrap; an unlimited amount absorbs."
func plus(a, b int64) int64 {
	switch {
	case a == unlimited || b == unlimited || b > 0 && a > math.MaxInt64-b:
		return unlimited
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// minus subtracts an amount. An unlimited amount stays unlimited, whatever is taken from it.
func minus(a, b int64) int64 {
	switch {
	case a == unlimited || b < 0 && a > math.MaxInt64+b:
		return unlimited
	case b > 0 && a < math.MinInt64+b:
		return math.MinInt64
	}
	return a - b
}

// times is what n replicas take together.
func times(n, amount int64) int64 {
	switch {
	case n <= 0 || amount <= 0:
		return 0
	case amount > unlimited/n:
		return unlimited
	}
	return n * amount
}
