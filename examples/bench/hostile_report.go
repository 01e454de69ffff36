package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// Sizes of a quick run: what a decision counts at the second is held by what it counts at the first.
var quickSizes = []int{leastHostile, 4 * leastHostile}

// blocksOfALook is about how many blocks of code a look at a workload runs.
const blocksOfALook = 50

// permitted are the most steps and allocations at the second size by those at the first: in proportion to n log n, with a look at each
// workload and some allocations more. Allocations are counted for decisions alone.
func permitted(first []row) report {
	small, large := float64(quickSizes[0]), float64(quickSizes[1])
	times := large * math.Log(large) / (small * math.Log(small))
	var most report
	for _, r := range first {
		r.Workloads = quickSizes[1]
		r.Steps, r.Allocs, r.Ns = int(float64(r.Steps)*times+large), int64(float64(r.Allocs)*times)+200, 0
		r.Blocks = int64(float64(r.Blocks)*times + blocksOfALook*large)
		r.Name = r.path()
		most.Rows = append(most.Rows, r)
	}
	return most
}

// quickly asks at both sizes, and returns the rows of the second with the most that they may count.
func quickly(o options, done func([]row) error) ([]row, report, error) {
	before, err := hostile(o, quickSizes[:1], func([]row) error { return nil })
	if err != nil {
		return nil, report{}, err
	}
	rows, err := hostile(o, quickSizes[1:], done)
	return rows, permitted(before), err
}

// printSlowest prints the slowest decisions with all that is needed to ask them again.
func printSlowest(w io.Writer, rows []row) {
	const most = 20
	slowest := slices.SortedFunc(slices.Values(rows), func(a, b row) int { return cmp.Compare(b.Ns, a.Ns) })
	fmt.Fprintf(w, "%d rows. The slowest:\n", len(rows))
	for _, r := range slowest[:min(most, len(slowest))] {
		fmt.Fprintf(w, "  %s: %s, %d steps: -hostile -world %s -scenario %s -workloads %d\n", short(r.Ns), r.Outcome, r.Steps, r.World, r.Scenario, r.Workloads)
	}
	fmt.Fprintf(w, "The first is %s of %d: %s.\n", slowest[0].World, slowest[0].Workloads, slowest[0].Numbers)
}
