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

// reach is what depends on which workloads of a queue requests of another could ever take.
type reach struct {
	donor           *donor
	common, columns int
	at              int64
}

// lastReach is what neverReached found last: many queues have the same answer.
type lastReach struct {
	reach
	workload string
	never    bool
}

// reached reports whether requests of a queue could ever take a workload, of those of its queue that yield before it.
func (a *Asker) reached(w *workload.Workload, q *asking, at int64) bool {
	if !a.narrows || q.Name == w.Queue || w.EffectivePriority() >= math.MaxInt32 {
		return true
	}
	by := a.reach(w.Queue, q, &reach{a.donorOf(w.Queue), a.common(q.Name, w.Queue), q.columns, at})
	return by == nil || by[w.ID]
}

// reach returns the workloads; nil: it is not known.
func (a *Asker) reach(donor string, q *asking, of *reach) map[string]bool {
	by, known := a.reaches[*of]
	if !known {
		var rows []rune
		for row := range q.rows {
			if contested(&q.rows[row]) {
				rows = append(rows, rune(row))
			}
		}
		by = map[string]bool{}
		r := a.requestOf(&pass{queue: q, priority: math.MaxInt32, at: of.at, rows: string(rows)})
		if err := a.decider.Reached(a.snapshot, r, donor, func(id string) { by[id] = true }); err != nil {
			by = nil
		}
		a.reaches[*of] = by
	}
	return by
}

// neverReached reports that requests of a queue could take others of the workload's queue, but never it, at any time.
func (a *Asker) neverReached(w *workload.Workload, q *threat, of reach) bool {
	if !a.narrows || !a.timeless || q.own || w.EffectivePriority() >= math.MaxInt32 {
		return false
	}
	of.common, of.columns = q.common, q.columns
	if a.last.reach != of || a.last.workload != w.ID {
		by := a.reach(w.Queue, q.asking, &of)
		a.last = lastReach{of, w.ID, len(by) > 0 && !by[w.ID]}
	}
	return a.last.never
}
