package witness

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Question is a request about a state, in which every amount has a flavor: what a judge of other answers asks.
type Question struct {
	*world
	yielding []*candidate // who may yield now
}

// Ask returns the question. The state and the request are valid. Whoever asked calls Done.
func Ask(c preemption.Config, st preemption.State, r preemption.Request) *Question {
	w, list := units(c, st, r)
	return &Question{w, list}
}

// Done leaves the room as it was.
func (q *Question) Done() { tell(q.world) }

// Inactive reports whether the queue of the request is inactive.
func (q *Question) Inactive() bool { return q.own.queue.Inactive }

// Fits reports whether the request fits now.
func (q *Question) Fits() bool { return q.fitsNow() }

// Awaited reports whether what was told to leave is enough, alone or with what terminates in the room.
func (q *Question) Awaited() bool {
	leaving, soon := awaited(q.world, q.request.Now)
	return soon || len(leaving) > 0
}

// FitsSoon reports whether the request fits once what terminates in the room is gone.
func (q *Question) FitsSoon() bool {
	q.soon = true
	defer func() { q.soon = false }()
	return q.fits(true)
}

// BorrowHeight is how far up the tree the request borrows without victims.
func (q *Question) BorrowHeight(victims []preemption.Victim) int {
	for _, n := range q.queues {
		for _, r := range n.running {
			i := slices.IndexFunc(victims, func(v preemption.Victim) bool { return v.Workload == r.ID })
			if i >= 0 {
				r.gone = len(victims[i].Replicas) == 0
				r.lose(victims[i].Replicas, 1)
				defer func() {
					r.gone = false
					r.lose(victims[i].Replicas, -1)
				}()
			}
		}
	}
	return borrowHeight(q.world)
}

func (r *running) lose(replicas []preemption.Replicas, times int64) {
	for k := range r.PodSets {
		for _, p := range replicas {
			if p.PodSet == r.PodSets[k].Name {
				r.left[k] += times * p.Count
			}
		}
	}
}

// Value is what counts of victims, of whom each runs.
func (q *Question) Value(victims []preemption.Victim) Value {
	r := q.request
	return ValueOf(q.config, r, victims, func(id string) workload.Workload { return q.find(id).Workload })
}

// find returns a workload that runs; nil if none has the ID.
func (q *Question) find(id string) *running {
	for _, n := range q.queues {
		for _, r := range n.running {
			if r.ID == id {
				return r
			}
		}
	}
	return nil
}

// OutOfTurn names, for each victim that it lists, a workload of its queue that comes before it in the order of removal,
// frees as much of what is asked for, and stays. In fair sharing it frees the same of everything. Names make no order.
func (q *Question) OutOfTurn(victims []preemption.Victim) map[string]string {
	goes := func(c *candidate) bool {
		return slices.ContainsFunc(victims, func(v preemption.Victim) bool { return v.Workload == c.of.ID })
	}
	turn := map[string]string{}
	for _, v := range q.yielding {
		for _, first := range q.yielding {
			wholes := v.podSet == whole && first.podSet == whole && !v.leaving && !first.leaving
			if wholes && goes(v) && !goes(first) && first.of.home == v.of.home && before(first, v, q.request.Now) && q.freesAsMuch(first, v) {
				if turn[v.of.ID] == "" {
					turn[v.of.ID] = first.of.ID
				}
			}
		}
	}
	return turn
}

// before is steps 3 and 4 alone.
func before(a, b *candidate, at time.Time) bool {
	x, y := *a.of, *b.of
	x.UID, y.UID, x.ID, y.ID = "", "", "", ""
	a, b = &candidate{of: &x, podSet: whole, expired: a.expired}, &candidate{of: &y, podSet: whole, expired: b.expired}
	return compare(a, b, at) < 0
}

func (q *Question) freesAsMuch(a, b *candidate) bool {
	for _, fr := range q.allColumns() {
		if more := a.of.usage(fr) - b.of.usage(fr); q.config.Sharing != preemption.Classical && more != 0 || q.asked[fr] > 0 && more < 0 {
			return false
		}
	}
	return true
}
