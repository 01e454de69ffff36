package placement_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// A unit that shares no node with the placed preemptor is reprieved without a check: the
// number of checks is that of the units around it, whatever the size of the cluster.
func TestChecksAreThoseOfTheAnswer(t *testing.T) {
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, covered := range []int{0, 5} {
		var first int
		for i, nodes := range []int{200, 400, 800} {
			f := fleet{nodes: nodes, perNode: 4, levels: 1, covered: covered}
			cost, err := p.Cost(snapshotOf(t, f.state()), gang(20, 2000, 2))
			if err != nil {
				t.Fatal(err)
			}
			checks := cost.Checks
			if i == 0 {
				first = checks
			}
			// On each of 20 nodes four units, and the violating ones once before.
			if most := 20*4 + 20*4*min(covered, 1); checks != first || checks == 0 || checks > most {
				t.Errorf("%v: %d checks, want %d, at most %d", f, checks, first, most)
			}
		}
	}
}

// A decision allocates its result and copies of the request: nothing that grows with the
// cluster.
func TestAllocationsAreThoseOfTheAnswer(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, r := range map[string]placement.Request{"group": gang(20, 2000, 2), "pod": {Priority: 1 << 20, Pods: gang(1, 2000, 2).Pods}} {
		var first float64
		for i, nodes := range []int{100, 800} {
			s := snapshotOf(t, fleet{nodes: nodes, perNode: 4, levels: 3, covered: 5}.state())
			p, err := placement.New(placement.Config{})
			if err != nil {
				t.Fatal(err)
			}
			n := testing.AllocsPerRun(20, func() {
				if d, err := p.Decide(s, r); err != nil || d.Outcome != preemption.Preempt {
					t.Fatalf("%v: %v", d.Outcome, err)
				}
			})
			if i == 0 {
				first = n
			}
			// Lists of the result grow by doubling.
			if n > first+30 {
				t.Errorf("%s: %v allocations at %d nodes, %v at 100", name, n, nodes, first)
			}
		}
	}
}

// Any number of goroutines decide on one snapshot with one preemptor.
func TestConcurrentUse(t *testing.T) {
	f := fleet{nodes: 40, perNode: 4, levels: 5, covered: 5, groupOf: 4}
	s := snapshotOf(t, f.state())
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan string)
	const goroutines = 8
	for i := range goroutines {
		go func() {
			d, err := p.Decide(s, gang(10+i%2, 2000, 2))
			if err != nil {
				answers <- err.Error()
				return
			}
			_, err = s.With(d.Edits()...)
			answers <- fmt.Sprint(i%2, text(d), err)
		}()
	}
	seen := map[string]bool{}
	for range goroutines {
		seen[<-answers] = true
	}
	if len(seen) != 2 {
		t.Errorf("%d answers to two requests: %v", len(seen), seen)
	}
}
