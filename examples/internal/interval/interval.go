// Package interval says where a mean is.
package interval

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Of is where the mean of differences is with 95 % confidence (Student's t). ok is false with fewer than two.
func Of(differences []float64) (low, high float64, ok bool) {
	n := len(differences)
	if n < 2 {
		return 0, 0, false
	}
	sum, squares := 0.0, 0.0
	for _, d := range differences {
		sum += d
	}
	middle := sum / float64(n)
	for _, d := range differences {
		off := float64(d - middle)
		squares += float64(off * off) // no fused multiplication: the same on every machine
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	half := t * math.Sqrt(squares/float64(n-1)/float64(n))
	return middle - half, middle + half, true
}
