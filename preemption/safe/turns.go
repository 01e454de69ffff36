package safe

import (
	"math"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// turn is where the turn of a workload first comes.
type turn struct {
	preemption.Turn
	sure bool
}

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

// turnOf returns the turn of a workload; of one that is asked about alone, no more than it is looked for.
func (a *Asker) turnOf(w *workload.Workload, of pass, r *preemption.Request) (turn, bool) {
	if by, known := a.passes[of]; known {
		t, ok := by[w.ID]
		return t, ok
	}
	if a.kept > mostKept {
		clear(a.passes)
		a.kept = 0
	}
	by, seen := map[string]turn{}, 0
	sure, _ := a.decider.Turns(a.snapshot, *r, func(t preemption.Turn) bool {
		seen++
		if !a.all && t.Workload != w.ID {
			return true
		}
		// Of one resource the first counts: of a lesser amount it was no turn.
		if before, ok := by[t.Workload]; !ok || len(of.rows) > 1 && before.Amounts == nil {
			by[t.Workload] = turn{Turn: t}
		}
		return a.all || len(of.rows) > 1 && t.Amounts == nil
	})
	for id, t := range by {
		t.sure = sure
		by[id] = t
	}
	a.left -= seen / turnsPerDecision
	if a.all {
		a.passes[of] = by
		a.kept += 1 + len(by)
	}
	t, ok := by[w.ID]
	return t, ok
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
