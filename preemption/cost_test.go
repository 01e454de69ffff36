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
