package safe

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/workload"
)

// Which workloads requests could ever take depends on little, so it is found once for many requests and many workloads. What they take of a
// branch, the queues below a child of the lowest cohort above both, depends on that branch alone: what others give changes nothing there.

// places says where the queues are.
type places struct {
	trees   map[string]string // by queue
	cohorts map[string][]int  // above a queue, from it up, as numbers
}

// region is a queue, or all queues below a cohort.
type region struct {
	cohort int // -1: the queue
	queue  string
}

// regionAt returns the region of a queue below so many cohorts above it.
func (p *places) regionAt(queue string, cohorts int) region {
	if cohorts == 0 {
		return region{-1, queue}
	}
	return region{cohort: p.cohorts[queue][cohorts-1]}
}

// below returns the queue, or the branch of the lowest cohort that is above it and another.
func (p *places) below(queue string, common int) region {
	return p.regionAt(queue, max(0, slices.Index(p.cohorts[queue], common)))
}

// common returns the lowest cohort above two queues.
func (p *places) common(one, other string) int {
	for _, c := range p.cohorts[one] {
		if slices.Contains(p.cohorts[other], c) {
			return c
		}
	}
	return -1
}

func (p *places) has(r region, queue string) bool {
	return r.cohort < 0 && r.queue == queue || slices.Contains(p.cohorts[queue], r.cohort)
}

// reach is what depends on which workloads of a region requests could ever take.
type reach struct {
	region
	common  int
	columns int // those that need preemption, as a number
}

// reached is what they could take from an instant on, until something changes in the region.
type reached struct {
	from, to int64
	by       map[string]bool // nil: it is not known
}

// lastReach is what neverReached found last: many queues have the same answer.
type lastReach struct {
	reach
	workload string
	never    bool
}

// narrow reports whether reaches say whether requests of a queue name a workload.
func (a *Asker) narrow(w *workload.Workload, q *asking) bool {
	return a.narrows && q.Name != w.Queue && w.EffectivePriority() < math.MaxInt32
}

// reached reports whether requests of a queue could ever take a workload, of those of its queue that yield before it.
func (a *Asker) reached(w *workload.Workload, q *asking, at int64) bool {
	if !a.narrow(w, q) {
		return true
	}
	by := a.reach(w.Queue, q, reach{region{-1, w.Queue}, a.donorOf(w.Queue).all[q.index].common, q.columns}, q.contested, at)
	return by == nil || by[w.ID]
}

// reachedWith reports whether requests of a queue for some of its resources could ever take a workload, of those of its branch that yield
// before it.
func (a *Asker) reachedWith(w *workload.Workload, q *asking, rows string, at int64) bool {
	if !a.narrow(w, q) {
		return true
	}
	t := &a.donorOf(w.Queue).all[q.index]
	for _, needed := range q.needed(rows) {
		by := a.reach(w.Queue, q, reach{t.branch, t.common, a.columnsOf(q, needed)}, needed, at)
		if by == nil || by[w.ID] {
			return true
		}
	}
	return false
}

// needed returns each choice of some of those rows that may need preemption.
func (q *asking) needed(rows string) (list []string) {
	for _, row := range rows {
		if contested(&q.rows[row]) {
			for _, before := range list {
				list = append(list, before+string(row))
			}
			list = append(list, string(row))
		}
	}
	return list
}

// columnsOf returns a number that stands for the columns of rows.
func (a *Asker) columnsOf(q *asking, rows string) int {
	n, known := q.numbers[rows]
	if !known {
		names := ""
		for _, row := range rows {
			names += q.rows[row].Flavor + "/" + q.rows[row].Resource + " "
		}
		n = a.number(names)
		q.numbers[rows] = n
	}
	return n
}

// reach returns the workloads that requests for those rows of a queue could take; nil: it is not known.
func (a *Asker) reach(donor string, q *asking, of reach, rows string, at int64) map[string]bool {
	found, known := a.reaches[of]
	if known && at > found.from && found.to == 0 {
		found.to = next(a.runs.changesIn(of.region), found.from)
		a.reaches[of] = found
	}
	if known && at >= found.from && (at == found.from || at < found.to) {
		return found.by
	}
	found = reached{from: at, by: map[string]bool{}}
	r := a.requestOf(&pass{queue: q, priority: math.MaxInt32, at: at, rows: rows})
	if err := a.decider.Reached(a.snapshot, r, donor, of.cohort >= 0, func(id string) { found.by[id] = true }); err != nil {
		found.by = nil
	}
	a.reaches[of] = found
	return found.by
}

// neverReached reports that requests of a queue could take others of the workload's queue, but never it, at any time.
func (a *Asker) neverReached(w *workload.Workload, q *threat) bool {
	if !a.timeless || !a.narrow(w, q.asking) {
		return false
	}
	of := reach{region{-1, w.Queue}, q.common, q.columns}
	if a.last.reach != of || a.last.workload != w.ID {
		by := a.reach(w.Queue, q.asking, of, q.contested, instant.Of(a.options.Now))
		a.last = lastReach{of, w.ID, len(by) > 0 && !by[w.ID]}
	}
	return a.last.never
}
