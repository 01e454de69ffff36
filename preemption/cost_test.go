package preemption_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/quota"
)

// deciding returns a function that decides about a request.
func deciding(t *testing.T, p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request) func() preemption.Decision {
	return func() preemption.Decision {
		d, err := p.Decide(s, r)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// A decision allocates its result and nothing else: the victims are one allocation.
func TestDecideAllocatesItsResult(t *testing.T) {
	w := worlds[0]
	s := snapshotOf(t, w.State())
	for name, p := range map[string]*preemption.Preemptor{"classical": preemptorOf(preemption.Config{}), "fair": preemptorOf(preemption.Config{Sharing: preemption.Fair})} {
		for _, q := range questions(w) {
			decide := deciding(t, p, s, q.request)
			if len(decide().Victims) == 0 { // fills the pool
				continue
			}
			if n := testing.AllocsPerRun(100, func() { decide() }); n > 1 && !raceEnabled {
				t.Errorf("%s, %s: %v allocations, want 1", name, q.name, n)
			}
		}
	}
}

// Without guards the sums say when enough workloads are
// no longer protected: not each of them is looked at.
func TestStepsOfAWait(t *testing.T) {
	st := shared(0)
	st.Queues[0].Quotas = gpus(1000)
	for i := range 1000 {
		st.Admitted = append(st.Admitted, job(fmt.Sprintf("w%04d", i), "a", 0, 1, started(i%50)))
	}
	p := preemptorOf(preemption.Config{MinRuntime: minruntime.Defaults{Preempt: quota.Some(time.Hour)}})
	s, r := snapshotOf(t, st), pending("a", 10, 4)
	if d, err := p.Decide(s, r); err != nil || d.Outcome != preemption.Wait {
		t.Fatalf("%v, %v", d.Outcome, err)
	}
	if _, n, err := p.Work(s, r); err != nil || n.Workloads == 0 || n.Workloads > 200 {
		t.Errorf("%+v, %v", n, err)
	}
}

// memory is what is in use, and what was ever allocated.
func memory() (live, allocated int64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one found unreachable in pools
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.TotalAlloc)
}

// A snapshot keeps at most 250 bytes for each workload of one pod set and two resources
// where many take the same, and 500 where each takes something else, besides its strings,
// which are the caller's.
func TestSnapshotIsSmall(t *testing.T) {
	st := scenario.Worlds[3].State()
	for _, most := range []int64{250, 500} {
		before, _ := memory()
		s := snapshotOf(t, st)
		after, _ := memory()
		if each := (after - before) / int64(len(st.Admitted)); each > most && !raceEnabled {
			t.Errorf("%d bytes a workload, at most %d wanted", each, most)
		}
		runtime.KeepAlive(s)
		for i := range st.Admitted {
			st.Admitted[i].PodSets[0].Requests[0].Amount = int64(i)
		}
	}
	runtime.KeepAlive(st)
}

// NewSnapshot allocates little besides what it keeps, in few pieces: a new process pays for each
// page that it touches for the first time.
func TestNewSnapshotAllocatesLittle(t *testing.T) {
	st := scenario.Worlds[2].State()
	_, before := memory()
	s := snapshotOf(t, st)
	_, after := memory()
	if each := (after - before) / int64(len(st.Admitted)); each > 220 && !raceEnabled {
		t.Errorf("%d bytes a workload, at most 220 wanted", each)
	}
	if n := testing.AllocsPerRun(2, func() { snapshotOf(t, st) }); n > 1.1*float64(len(st.Admitted)) && !raceEnabled {
		t.Errorf("%v allocations for %d workloads in %d queues", n, len(st.Admitted), len(st.Queues))
	}
	runtime.KeepAlive(s)
}

// An edit of a workload allocates what it copies of the way to it, and nothing for an error that it does not return.
func TestEditsAllocateTheirWay(t *testing.T) {
	st := scenario.Worlds[2].State()
	s := snapshotOf(t, st)
	for _, kind := range kindsOfEdits {
		var edits []preemption.Edit
		for i := 0; i < len(st.Admitted); i += len(st.Admitted) / 100 {
			edits = append(edits, kind.edit(st.Admitted[i]))
		}
		if n := testing.AllocsPerRun(5, func() { edit(t, s, edits...) }) / float64(len(edits)); n > 41 && !raceEnabled {
			t.Errorf("%s: %v allocations an edit, at most 41 wanted", kind.name, n)
		}
	}
}

// An edit copies at most 4 KiB, and what a new snapshot does not share with the old one
// is garbage when the old one is dropped: memory stays flat over 100,000 edits.
func TestEditsAreSmallAndLeaveNothing(t *testing.T) {
	edits := 100_000
	if testing.Short() || raceEnabled {
		edits = 20_000
	}
	st := scenario.Worlds[3].State()
	s := snapshotOf(t, st)
	before, allocated := memory()
	for i := 0; i < edits; i += 2 {
		w := st.Admitted[i%9973*7919%len(st.Admitted)]
		w.Priority++
		s = edit(t, s, preemption.Remove(w.ID))
		s = edit(t, s, preemption.Admit(w))
	}
	after, total := memory()
	if grown := after - before; grown > before/20 && !raceEnabled {
		t.Errorf("%d bytes live before, %d more after %d edits", before, grown, edits)
	}
	if each := (total - allocated) / int64(edits); each > 4096 && !raceEnabled {
		t.Errorf("%d bytes an edit", each)
	}
	runtime.KeepAlive(s)
}

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
