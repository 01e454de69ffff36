package safe

import (
	"math"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// pass is what turns depend on: a request but for its amounts.
type pass struct {
	queue    *asking
	priority int64
	queued   time.Time
	at       int64
	rows     string // of the queue, as runes
}

const (
	// mostKept is how many turns are kept for other workloads.
	mostKept = 1 << 20
	// turnsPerDecision is how many turns count as a decision.
	turnsPerDecision = 256
)

// turnOf returns the turn of a workload, the first with amounts; of one that is asked about alone, no more than it is looked for.
func (a *Asker) turnOf(w *workload.Workload, of pass, r *preemption.Request) (t preemption.Turn, taken bool) {
	if a.all && of.priority < math.MaxInt32 && a.sameAtHighest(of.queue) {
		of := of
		of.priority = math.MaxInt32
		highest := a.requestOf(&of)
		if t, taken = a.turnOf(w, of, &highest); !taken || t.First && (t.Idle || t.Amounts != nil) {
			return t, taken
		}
	}
	if by, known := a.passes[of]; known {
		t, ok := by[w.ID]
		if !ok || t.Sure || t.Idle || len(of.rows) > 1 || t.Amounts != nil || a.leaves || a.anyRight {
			return t, ok
		}
	}
	if a.kept > mostKept {
		clear(a.passes)
		a.kept = 0
	}
	_, known := a.passes[of]
	by, only, single := map[string]preemption.Turn{}, w.ID, len(of.rows) == 1
	if a.all && !known {
		only = ""
	}
	looked, _ := a.decider.Turns(a.snapshot, *r, only, func(t preemption.Turn) bool {
		before, ok := by[t.Workload]
		if !ok || before.Idle || !t.Idle && before.Amounts == nil && (before.Sure || !single) {
			t.First = t.First && (!ok || before.First && before.Idle && t.Idle)
			before = t
			by[t.Workload] = t
		}
		return only == "" || before.Idle || before.Amounts == nil && (before.Sure || !single)
	})
	a.left -= looked / turnsPerDecision
	if only == "" {
		a.passes[of] = by
		a.kept += 1 + len(by)
	}
	t, taken = by[w.ID]
	return t, taken
}

// sameAtHighest reports whether requests of a queue take, up to any workload that they may take, the same at each priority: others
// whatever the priority, and then of their own queue by rising priority. What comes after it, and what fits in attempts before, may differ.
func (a *Asker) sameAtHighest(q *asking) bool {
	policy := &q.Preemption
	return a.narrows && policy.BorrowWithinCohort.Policy == queue.Never &&
		(policy.ReclaimWithinCohort == queue.Any || policy.ReclaimWithinCohort == queue.Never) &&
		policy.WithinClusterQueue != queue.LowerOrNewerEqualPriority
}
