package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/workload"
)

// The worlds of the benchmarks: flat cohorts of ten and of a hundred queues, one
// cohort of a hundred, a tree of three levels, and a hundred times the first, of which
// the decisions are the same.
var worlds = []scenario.World{scenario.Worlds[1], scenario.Worlds[2], scenario.Worlds[4], scenario.Worlds[6], scenario.Large[0]}

func nameOf(w scenario.World) string {
	shape := fmt.Sprintf("cohort=%d", w.Group)
	if w.Leaves > 0 {
		shape = "tree"
	}
	switch {
	case w.Levels > 0:
		shape = fmt.Sprintf("priorities=%d", w.Levels)
	case w.Flavors > 0:
		shape = fmt.Sprintf("flavors=%d", 1+w.Flavors)
	case w.Guarantee > 0:
		shape = "protected"
	}
	return fmt.Sprintf("%s/queues=%d/workloads=%dk", shape, w.Queues, w.Workloads()/1000)
}

// questions are asked of every world: one that fits, and the scenarios.
func questions(w scenario.World) []question {
	list := []question{{"fits", scenario.Request("cq-0000", 1000, scenario.Size{}), preemption.Fits, 0}}
	for _, s := range w.Scenarios() {
		list = append(list, question{s.Name, s.Request, s.Outcome, len(s.Victims)})
	}
	return list
}

type question struct {
	name    string
	request preemption.Request
	outcome preemption.Outcome
	victims int // at least
}

func BenchmarkDecide(b *testing.B) {
	for _, w := range worlds {
		s := snapshotOf(b, w.State())
		for _, q := range questions(w) {
			b.Run(q.name+"/"+nameOf(w), func(b *testing.B) {
				b.ReportAllocs()
				var d preemption.Decision
				for b.Loop() {
					d = decide(b, s, q.request)
				}
				if d.Outcome != q.outcome || len(d.Victims) < q.victims {
					b.Fatalf("%v with %d victims", d.Outcome, len(d.Victims))
				}
				b.ReportMetric(float64(len(d.Victims)), "victims")
			})
		}
	}
}

func BenchmarkWith(b *testing.B) {
	for _, w := range worlds {
		st := w.State()
		s := snapshotOf(b, st)
		extra := st.Admitted[len(st.Admitted)/2].Clone()
		extra.ID = "bench/extra"
		b.Run("admit/"+nameOf(w), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				edit(b, s, preemption.Admit(extra))
			}
		})
		with := edit(b, s, preemption.Admit(extra))
		b.Run("remove/"+nameOf(w), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				edit(b, with, preemption.Remove(extra.ID))
			}
		})
	}
}

// The edits of a workload that benchmarks make.
var kindsOfEdits = []struct {
	name string
	edit func(w workload.Workload) preemption.Edit
}{
	{"update", func(w workload.Workload) preemption.Edit { w.Priority++; return preemption.Admit(w) }},
	{"evict", func(w workload.Workload) preemption.Edit { return preemption.StartEviction(w.ID) }},
	{"remove", func(w workload.Workload) preemption.Edit { return preemption.Remove(w.ID) }},
	{"admit", func(w workload.Workload) preemption.Edit { w.ID += "/new"; return preemption.Admit(w) }},
}

// BenchmarkEdits makes a hundred edits of workloads at random places at a time.
func BenchmarkEdits(b *testing.B) {
	for _, w := range []scenario.World{scenario.Worlds[2], scenario.Large[0]} {
		st := w.State()
		s := snapshotOf(b, st)
		for _, kind := range kindsOfEdits {
			b.Run(kind.name+"/"+nameOf(w), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				batches := make([][]preemption.Edit, 20)
				for i := range batches {
					seen := map[int]bool{}
					for len(batches[i]) < 100 {
						if at := r.IntN(len(st.Admitted)); !seen[at] {
							seen[at] = true
							batches[i] = append(batches[i], kind.edit(st.Admitted[at]))
						}
					}
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					edit(b, s, batches[i%len(batches)]...)
					i++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(100*i), "ns/edit")
			})
		}
	}
}

// BenchmarkEditAlone makes one edit right after a garbage collection: most of the snapshot is then out of the caches, and
// each size of memory is allocated for the first time.
func BenchmarkEditAlone(b *testing.B) {
	w := scenario.Worlds[2]
	st := w.State()
	s := snapshotOf(b, st)
	for _, kind := range kindsOfEdits {
		b.Run(kind.name+"/"+nameOf(w), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			var times []time.Duration
			for b.Loop() {
				e := kind.edit(st.Admitted[r.IntN(len(st.Admitted))])
				runtime.GC()
				start := time.Now()
				_, err := s.With(e)
				times = append(times, time.Since(start))
				if err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[0].Nanoseconds()), "least-ns")
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "median-ns")
		})
	}
}

// Beside the cost of making a snapshot, what it holds for each workload when the state
// that it was made of is still there. A process that has just started pays for the pages,
// too: -benchtime 1x -count 1 shows it, with one world a process.
func BenchmarkNewSnapshot(b *testing.B) {
	for _, w := range append(slices.Clone(worlds), scenario.Large[1]) {
		b.Run(nameOf(w), func(b *testing.B) {
			st := w.State()
			runtime.GC()
			b.ReportAllocs()
			for b.Loop() {
				snapshotOf(b, st)
			}
			before := liveHeap()
			s := snapshotOf(b, st)
			b.ReportMetric((liveHeap()-before)/float64(w.Workloads()), "retained-B/workload")
			runtime.KeepAlive(s)
			runtime.KeepAlive(st)
		})
	}
}

// An edit of a queue validates the whole configuration, and reads no workload.
func BenchmarkSetQueue(b *testing.B) {
	for _, w := range []scenario.World{scenario.Worlds[2], scenario.Large[1]} {
		s := snapshotOf(b, w.State())
		q := slices.Collect(s.Queues())[0]
		b.Run(nameOf(w), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q.Inactive = !q.Inactive
				edit(b, s, preemption.SetQueue(q))
			}
		})
	}
}

func liveHeap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
