package placement_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// A unit that shares no node with the placed preemptor is reprieved without a check, and without
// a look at it: the numbers of checks and of units are those of the units around, whatever the
// size of the cluster.
func TestChecksAreThoseOfTheAnswer(t *testing.T) {
	p := must(placement.New(placement.Config{}))(t)
	for _, covered := range []int{0, 5} {
		var first, looked int
		for i, nodes := range []int{200, 400, 800} {
			f := fleet{nodes: nodes, perNode: 4, levels: 1, covered: covered}
			cost := must(p.Cost(snapshotOf(t, f.state()), gang(20, 2000, 2)))(t)
			checks := cost.Checks
			if i == 0 {
				first, looked = checks, cost.Looked
			}
			if cost.Looked != looked || looked == 0 || looked > 5*20*4 {
				t.Errorf("%v: %d units looked at, want %d, at most %d", f, cost.Looked, looked, 5*20*4)
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
	skipInRace(t)
	for name, r := range map[string]placement.Request{"group": gang(20, 2000, 2), "pod": {Priority: 1 << 20, Pods: gang(1, 2000, 2).Pods}} {
		var first float64
		for i, nodes := range []int{100, 800} {
			s := snapshotOf(t, fleet{nodes: nodes, perNode: 4, levels: 3, covered: 5}.state())
			p := must(placement.New(placement.Config{}))(t)
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
	p := must(placement.New(placement.Config{}))(t)
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

// A snapshot costs some allocations for each node, and less than one for each pod: pods of one
// template share what follows from it. (The map by ID has a leaf for every two to sixteen.)
func TestAllocationsOfNewSnapshot(t *testing.T) {
	skipInRace(t)
	const nodes = 200
	for _, perNode := range []int{10, 40} {
		st := fleet{nodes: nodes, perNode: perNode, levels: 5, covered: 5}.state()
		n := testing.AllocsPerRun(3, func() { snapshotOf(t, st) })
		if most := float64(nodes * (12 + perNode/2)); n > most {
			t.Errorf("%v allocations with %d pods on each of %d nodes, want at most %v", n, perNode, nodes, most)
		}
	}
}

// Pods with equal fields share copies of them. What is not equal stays apart: nil and empty
// maps, namespaces; and the state that was given is not read again.
func TestPodsKeepTheirOwnFields(t *testing.T) {
	web, db := map[string]string{"app": "web"}, map[string]string{"app": "db"}
	one, two := workload.Resources{"cpu": 1}, workload.Resources{"cpu": 2}
	st := placement.State{Nodes: []workload.Node{{Name: "n"}}}
	for _, labels := range []map[string]string{nil, {}, web, db, {"app": "web", "tier": "web"}, {"tier": "web"}} {
		for _, requests := range []workload.Resources{nil, {}, one, two, {"cpu": 1, "gpu": 2}, {"cpu": 2, "gpu": 1}} {
			for _, namespace := range []string{"", "ns", "ns"} {
				id := fmt.Sprintf("%03d", len(st.Pods))
				st.Pods = append(st.Pods, workload.Pod{ID: id, Node: "n", Namespace: namespace, Labels: labels, Requests: requests})
			}
		}
	}
	s, want := snapshotOf(t, st), make([]workload.Pod, len(st.Pods))
	for i := range st.Pods {
		want[i] = st.Pods[i].Clone()
	}
	web["app"], one["cpu"] = "changed", 7
	if got := s.State().Pods; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
