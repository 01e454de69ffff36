package preemption_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/quota"
)

// withFlavors is the state of a world with this number of flavors, each as full as the one of the
// world, since every workload takes as much of each.
func withFlavors(w scenario.World, flavors int) preemption.State {
	st := w.State()
	for i := range st.Queues {
		var quotas []quota.Quota
		for f := range flavors {
			for _, q := range st.Queues[i].Quotas {
				q.Flavor = fmt.Sprintf("f%d", f)
				quotas = append(quotas, q)
			}
		}
		st.Queues[i].Quotas = quotas
	}
	for i := range st.Admitted {
		p := &st.Admitted[i].PodSets[0]
		var requests []quota.Amount
		for f := range flavors {
			for _, a := range p.Requests {
				a.Flavor = fmt.Sprintf("f%d", f)
				requests = append(requests, a)
			}
		}
		p.Requests = requests
	}
	return st
}

func openRequest(r preemption.Request, flavor string) preemption.Request {
	r.Workload = r.Workload.Clone()
	r.NeedsPreemption = nil
	for i := range r.Workload.PodSets[0].Requests {
		r.Workload.PodSets[0].Requests[i].Flavor = flavor
	}
	return r
}

// An assignment is three allocations, whatever the number of flavors; the victims one.
func TestAssignmentAllocatesItsResult(t *testing.T) {
	w := scenario.Worlds[0]
	s := snapshotOf(t, withFlavors(w, 4))
	r := openRequest(scenario.Request("cq-0000", 1000, w.First(4, -1)), "")
	second := r.Workload.Clone().PodSets[0]
	second.Name = "second"
	r.Workload.PodSets = append(r.Workload.PodSets, second)
	d := decide(t, s, r)
	if d.Outcome != preemption.Preempt || len(d.Assignment) != 2 || len(d.Assignment[0].Tried) != 4 {
		t.Fatalf("%+v", d)
	}
	p := preemptorOf(preemption.Config{}) // one for all: it keeps its working memory
	if n := testing.AllocsPerRun(100, func() { p.Decide(s, r) }); n > 4 && !raceEnabled {
		t.Errorf("%v allocations, want 4", n)
	}
}

// Four victims are reclaimed in one of the flavors, none of which fits: two forecasts a
// flavor, and the decision. pinned is the decision alone.
func BenchmarkAssign(b *testing.B) {
	for _, w := range worlds[:3] {
		for _, flavors := range []int{1, 4, 16} {
			if flavors > 4 && w.Workloads() > 10_000 {
				continue // the world takes too long to make
			}
			s := snapshotOf(b, withFlavors(w, flavors))
			request := scenario.Request("cq-0000", 1000, w.First(4, -1))
			for _, q := range []question{
				{"pinned", openRequest(request, "f0"), preemption.Preempt, 4},
				{"assigned", openRequest(request, ""), preemption.Preempt, 4},
				{"fits", openRequest(scenario.Request("cq-0000", 1000, scenario.Size{}), ""), preemption.Fits, 0},
			} {
				b.Run(fmt.Sprintf("%s/flavors=%d/%s", q.name, flavors, nameOf(w)), func(b *testing.B) {
					b.ReportAllocs()
					var d preemption.Decision
					for b.Loop() {
						d = decide(b, s, q.request)
					}
					if d.Outcome != q.outcome || len(d.Victims) < q.victims {
						b.Fatalf("%v with %d victims", d.Outcome, len(d.Victims))
					}
				})
			}
		}
	}
}
