package settle_test

import (
	"fmt"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// With the Exact search an answer about one cohort has the fewest victims of all sets that may leave: each workload of such a
// set leaves while its queue uses more than its own quota, in some order, and the cohort is then within what it may use.
func fewestOfAllSets(t *rapid.T) {
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "all"}}}
	own := map[string]int64{}
	for _, name := range []string{"a", "b", "c"} {
		own[name] = rapid.Int64Range(0, 4).Draw(t, "nominal")
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "all", Quotas: gpus(own[name])})
	}
	used, over := map[string]int64{}, -own["a"]-own["b"]-own["c"]
	for i := range rapid.IntRange(1, 9).Draw(t, "workloads") {
		in := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "queue")
		w := job(fmt.Sprint(in, i), 0, rapid.Int64Range(1, 5).Draw(t, "gpus"), i)
		w.NeverYields = rapid.IntRange(0, 5).Draw(t, "never") == 0
		st.Admitted = append(st.Admitted, w)
		used[in] += size(&w)
		over += size(&w)
	}
	if over <= 0 {
		return
	}
	fewest := 0 // none
	for set := uint(1); set < 1<<len(st.Admitted); set++ {
		if n := bits.OnesCount(set); (fewest == 0 || n < fewest) && mayLeave(&st, own, used, set, over) {
			fewest = n
		}
	}
	a := decided(t, preemption.Config{Search: preemption.Best}, st, settle.Request{Now: now})
	switch {
	case fewest == 0 && len(a.Remaining) == 0:
		t.Fatalf("%s, but no set may leave", told(a))
	case fewest > 0 && (len(a.Remaining) > 0 || len(a.Victims) != fewest || !a.Proof.Optimal):
		t.Fatalf("%s, proof %+v, but %d suffice", told(a), a.Proof, fewest)
	}
}

// mayLeave reports whether a set frees as much as is over, and has an order in which each of its workloads may leave: of one queue
// the order in which the largest is the last.
func mayLeave(st *preemption.State, own, used map[string]int64, set uint, over int64) bool {
	left, largest := map[string]int64{}, map[string]int64{}
	for i := range st.Admitted {
		if w := &st.Admitted[i]; set>>i&1 == 1 {
			if w.NeverYields {
				return false
			}
			over -= size(w)
			left[w.Queue] += size(w)
			largest[w.Queue] = max(largest[w.Queue], size(w))
		}
	}
	for in, freed := range left {
		if used[in]-(freed-largest[in]) <= own[in] { // before the last one leaves
			return false
		}
	}
	return over <= 0
}

func size(w *workload.Workload) int64 { return w.PodSets[0].Requests[0].Amount }

func TestFewestOfAllSets(t *testing.T) { rapid.Check(t, fewestOfAllSets) }
