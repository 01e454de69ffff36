package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

// shape makes states that are built to make one decision slow.
type shape struct {
	name string
	of   func(n int) asked // of about n workloads or pods
}

// asked is a state with what is asked about it.
type asked interface {
	// ways are the ways in which it can be decided. An explanation comes after the decision that it makes a hundred times.
	ways() []way
	// decider returns a function that decides in one way. What it needs is made before.
	decider(way string) (func() (answer, error), error)
	// numbers are what a reader needs to build the state again.
	numbers() string
}

// way is a way to decide.
type way struct {
	name     string
	explains string // the way that it explains; empty: it is a decision
}

// answer is what a row says about a decision.
type answer struct {
	outcome        string
	victims, steps int
}

func shapes() []shape {
	return slices.Concat(shapesOfAQueue(), shapesOfATree(), shapesOfARequest(), shapesOfRules(), shapesOfNodes())
}

// A row does not grow to the next size if it would probably take longer there than the first time. It is repeated if it takes less
// than the second.
const (
	patience = 3 * time.Second
	repeated = time.Second
	repeats  = 3
)

// leastHostile is the least size of hostile states: parts of it are the numbers of queues and nodes.
const leastHostile = 1000

// sizesUpTo are the sizes at which a shape is asked, one after the other.
func sizesUpTo(n int) []int {
	var sizes []int
	for _, part := range []int{100, 30, 10, 3, 1} {
		sizes = append(sizes, max(leastHostile, n/part))
	}
	return slices.Compact(sizes)
}

// hostile asks every shape in every way at each size, and passes on the rows of each shape: of every way that of the largest size
// that it reached.
func hostile(o options, sizes []int, done func([]row) error) ([]row, error) {
	var all []row
	for _, s := range shapes() {
		if !o.worlds.match(s.name) {
			continue
		}
		rows, err := s.grow(o, sizes)
		if err != nil {
			return all, fmt.Errorf("state %s: %w", s.name, err)
		}
		if len(rows) == 0 {
			continue
		}
		if err := done(rows); err != nil {
			return all, err
		}
		all = append(all, rows...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no way matches -scenario %q, or no state -world %q", o.scenarios.String(), o.worlds.String())
	}
	return all, nil
}

// grow asks about larger and larger states.
func (s shape) grow(o options, sizes []int) ([]row, error) {
	var rows []row
	find := func(name string) *row {
		i := slices.IndexFunc(rows, func(r row) bool { return r.Scenario == name })
		if i < 0 {
			return nil
		}
		return &rows[i]
	}
	for _, n := range sizes {
		a := s.of(n)
		runtime.GC() // the garbage of the sizes before
		for _, way := range a.ways() {
			if !o.scenarios.match(way.name) {
				continue
			}
			if by := find(way.explains); by != nil && by.explainedIn(n) > patience {
				continue
			}
			r := find(way.name)
			if r == nil {
				rows = append(rows, row{World: s.name, Scenario: way.name})
				r = &rows[len(rows)-1]
			} else if r.tooSlowFor(n) {
				continue
			}
			earlier := *r
			r.Workloads, r.Numbers = n, a.numbers()
			if err := r.ask(a, !o.quick && n == sizes[len(sizes)-1]); err != nil {
				return nil, fmt.Errorf("%s of %d: %w", way.name, n, err)
			}
			r.growth = earlier.growthTo(r)
		}
	}
	return rows, nil
}

// explainedIn is about the time of an explanation of a state of size n, if the row is of that size, else longer than anyone waits.
func (r *row) explainedIn(n int) time.Duration {
	if r.Workloads < n {
		return math.MaxInt64
	}
	return time.Duration(100 * r.Ns)
}

// growthTo is the power of the size with which the time grew: 2 if it is not known, and at least 1.
func (r *row) growthTo(larger *row) float64 {
	if r.Ns < float64(time.Millisecond) {
		return 2
	}
	return max(1, math.Log(larger.Ns/r.Ns)/math.Log(float64(larger.Workloads)/float64(r.Workloads)))
}

func (r *row) tooSlowFor(n int) bool {
	return r.Ns*math.Pow(float64(n)/float64(r.Workloads), r.growth) > float64(patience)
}

// ask measures one way: the least time of a few decisions, or the time of one.
func (r *row) ask(a asked, several bool) error {
	decide, err := a.decider(r.Scenario)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var got answer
	r.Blocks, err = blocksOf(func() { _, err = decide() })
	if err != nil {
		return err
	}
	for i := range repeats {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := threadTime()
		got, err = decide()
		took := float64(threadTime() - start)
		runtime.ReadMemStats(&after)
		if err != nil {
			return err
		}
		if i == 0 || took < r.Ns {
			r.Ns = took
		}
		// The first decision fills the preemptor's memory; a later one tells what each costs.
		r.Bytes, r.Allocs = int64(after.TotalAlloc-before.TotalAlloc), int64(after.Mallocs-before.Mallocs)
		if !several || r.Ns > float64(repeated) {
			break
		}
	}
	r.Mode, r.OK = scenario.Mode(r.Scenario), true
	r.Victims, r.Steps, r.Outcome = got.victims, got.steps, got.outcome
	r.Name = r.path()
	return nil
}
