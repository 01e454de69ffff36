package main

import (
	"runtime"
	"slices"
	"time"
)

// cost is the measured batches of a row.
type cost struct {
	operations int       // in each batch
	ns         []float64 // for each operation, by batch
}

const batches = 5

// measure runs an operation in five batches that together take the minimum, or in fewer if
// one operation takes longer. Time is the median of the batches; allocations are those of the batch
// with the fewest, for what the runtime allocates beside is counted, too. Blocks are those of one more.
func (r *row) measure(minimum time.Duration, operation func()) (err error) {
	n := 1
	elapsed := timed(n, operation)
	for elapsed < minimum/batches {
		grow := 2.0
		if elapsed > 0 {
			grow = max(1.2, min(100, 1.1*float64(minimum/batches)/float64(elapsed)))
		}
		n = int(float64(n)*grow) + 1
		elapsed = timed(n, operation)
	}
	c := cost{operations: n}
	for spent := time.Duration(0); len(c.ns) == 0 || len(c.ns) < batches && spent < minimum; spent += elapsed {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		elapsed = timed(n, operation)
		runtime.ReadMemStats(&after)
		bytes, allocs := int64((after.TotalAlloc-before.TotalAlloc)/uint64(n)), int64((after.Mallocs-before.Mallocs)/uint64(n))
		if len(c.ns) == 0 || allocs < r.Allocs {
			r.Bytes, r.Allocs = bytes, allocs
		}
		c.ns = append(c.ns, float64(elapsed.Nanoseconds())/float64(n))
	}
	sorted := slices.Sorted(slices.Values(c.ns))
	r.Ns, r.cost = sorted[len(sorted)/2], c
	r.Blocks, err = blocksOf(operation)
	return err
}

// What is read and written between two operations with cold caches, and the number of them.
const (
	coldBytes = 64 << 20
	coldRuns  = 21
)

// measureCold measures an operation after other work: each time the program has gone through
// the memory before. It takes the median.
func (r *row) measureCold(memory []byte, operation func()) {
	const line = 64 // bytes
	ns := make([]float64, coldRuns)
	for i := range ns {
		for at := 0; at < len(memory); at += line {
			memory[at]++
		}
		ns[i] = float64(timed(1, operation).Nanoseconds())
	}
	slices.Sort(ns)
	r.ColdNs = ns[len(ns)/2]
}

func timed(n int, operation func()) time.Duration {
	start := time.Now()
	for range n {
		operation()
	}
	return time.Since(start)
}
