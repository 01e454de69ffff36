package safe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// ask looks for the least request that names a workload at an instant, one for one resource before one for
// two; nil: there is none among those that are asked.
func (a *Asker) ask(w *workload.Workload, e *exposures, at int64) *Request {
	for others := range 2 {
		if found := a.askEach(w, e, at, others); found != nil {
			return found
		}
	}
	return nil
}

// askEach asks requests for one resource and so many others, queue by queue.
func (a *Asker) askEach(w *workload.Workload, e *exposures, at int64, others int) *Request {
	for from := 0; from < len(e.of); {
		to := from + 1
		for to < len(e.of) && e.of[to].queue == e.of[from].queue {
			to++
		}
		rights := slices.DeleteFunc(slices.Clone(e.of[from:to]), func(x exposure) bool {
			return others >= len(x.queue.rows) || at < x.among || others == 0 && at < x.alone
		})
		if len(rights) > 0 {
			if found := a.askQueue(w, rights, at, others); found != nil {
				return found
			}
		}
		from = to
	}
	return nil
}

// askQueue asks requests of one queue, the lowest priority first. If the turn of the workload comes at none of the priorities that
// matter most, it comes at none.
func (a *Asker) askQueue(w *workload.Workload, rights []exposure, at int64, others int) (found *Request) {
	q := rights[0].queue
	first := a.priorities(w, q, !a.inTurn)
	a.unsure = false
	for i := 0; i < len(first) && found == nil; i++ {
		found = a.askPriority(w, rights, first[i], at, others, false)
	}
	if found == nil && !a.unsure || found != nil && found.Priority == first[0] {
		return found
	}
	for _, p := range a.priorities(w, q, true) {
		if found != nil && p >= found.Priority {
			break
		}
		if unsure := a.unsure && found == nil; unsure || !slices.Contains(first, p) {
			if lower := a.askPriority(w, rights, p, at, others, unsure); lower != nil {
				return lower
			}
		}
	}
	return found
}

// askPriority asks requests of one queue with one priority, of the ages that matter most or of all that matter.
func (a *Asker) askPriority(w *workload.Workload, rights []exposure, p, at int64, others int, allAges bool) *Request {
	q := rights[0].queue
	for _, of := range rights {
		var least *Request
		row := q.rows[of.row]
		for _, queued := range a.ages(w, q, allAges) {
			r := a.request(q, p, queued, at, quota.Amount{Flavor: row.Flavor, Resource: row.Resource})
			a.eachBeside(q, of.row, 0, others, r.Workload.PodSets[0].Requests, func(asks []quota.Amount) {
				r.Workload.PodSets[0].Requests = asks
				least = lesser(least, a.askAmounts(w, r, row, q.cleared[of.row]))
			})
		}
		if least != nil {
			return least
		}
	}
	return nil
}

func lesser(a, b *Request) *Request {
	if a == nil || b != nil && b.Asks[0].Amount < a.Asks[0].Amount {
		return b
	}
	return a
}

// eachBeside yields the requests beside which so many other resources are asked for, in critical amounts. Resources before from were
// decided about. The list is valid until the next one.
func (a *Asker) eachBeside(q *asking, row, from, others int, asks []quota.Amount, yield func([]quota.Amount)) {
	if others == 0 {
		yield(asks)
		return
	}
	for i := from; i < len(q.rows); i++ {
		if i == row {
			continue
		}
		for _, amount := range a.critical(q, i) {
			more := append(slices.Clone(asks), quota.Amount{Flavor: q.rows[i].Flavor, Resource: q.rows[i].Resource, Amount: amount})
			a.eachBeside(q, row, i+1, others-1, more, yield)
		}
	}
}

// critical returns amounts of a further resource: little, more than each quota above its queue has left, more than is available,
// now and once all that leaves has left.
func (a *Asker) critical(q *asking, row int) []int64 {
	if q.critical == nil {
		q.critical = make([][]int64, len(q.rows))
	}
	if q.critical[row] == nil {
		of := q.rows[row]
		r := a.request(q, 0, time.Time{}, instant.Of(a.options.Now), quota.Amount{Flavor: of.Flavor, Resource: of.Resource})
		list, _ := a.decider.RightEnds(a.snapshot, r)
		for i := range list {
			list[i] = quota.Add(list[i], 1)
		}
		list = append(list, 1, of.Available+1, quota.Add(q.cleared[row], 1))
		list = slices.DeleteFunc(list, func(n int64) bool { return n < 1 || n > of.PotentialAvailable })
		slices.Sort(list)
		q.critical[row] = slices.Compact(list)
	}
	return q.critical[row]
}

// askAmounts asks a request for each amount of its first resource at which the answer may change, rising. From the first that names the
// workload it goes back, by halves, to the least.
func (a *Asker) askAmounts(w *workload.Workload, r preemption.Request, row preemption.QuotaStatus, cleared int64) (found *Request) {
	if a.left--; a.left < 0 {
		return nil
	}
	r.Workload.PodSets[0].Requests[0].Amount = row.Available + 1
	if a.inTurn {
		turn, reached := a.turnsOf(&r)[w.ID]
		switch {
		case !reached:
			return nil
		case turn.Amount == 0 || len(r.Workload.PodSets[0].Requests) > 1:
			a.unsure = true
		case a.trusts && turn.sure:
			r.Workload.PodSets[0].Requests[0].Amount = turn.Amount
			return requestOf(&r, turn.Reason, turn.Replicas)
		default:
			if found = a.names(w, &r, turn.Amount); found != nil {
				return found
			}
			a.unsure = true
		}
	}
	low := row.Available // names another, or nobody
	for _, n := range a.amounts(w, r, row, cleared) {
		if found = a.names(w, &r, n); found != nil {
			break
		}
		low = n
	}
	for found != nil && low+1 < found.Asks[0].Amount {
		middle := low + (found.Asks[0].Amount-low)/2
		if lower := a.names(w, &r, middle); lower != nil {
			found = lower
		} else {
			low = middle
		}
	}
	return found
}

// names returns the request with an amount of its first resource if it makes the workload yield something that was not
// told to leave.
func (a *Asker) names(w *workload.Workload, r *preemption.Request, amount int64) *Request {
	if a.left--; a.left < 0 {
		return nil
	}
	asks := r.Workload.PodSets[0].Requests
	asks[0].Amount = amount
	d, err := a.decider.Decide(a.snapshot, *r)
	if err != nil || d.Outcome != preemption.Preempt {
		return nil // an error: nobody may ask for that much
	}
	i, named := slices.BinarySearchFunc(d.Victims, w.ID, func(v preemption.Victim, id string) int { return cmp.Compare(v.Workload, id) })
	if !named || d.Victims[i].Leaving {
		return nil
	}
	return requestOf(r, d.Victims[i].Reason, len(d.Victims[i].Replicas) > 0)
}

func requestOf(r *preemption.Request, reason preemption.VictimReason, replicas bool) *Request {
	w := &r.Workload
	return &Request{
		Queue: w.Queue, Priority: w.Priority, Queued: w.Queued, Asks: slices.Clone(w.PodSets[0].Requests), Reason: reason, Replicas: replicas,
	}
}

// turn is where the turn of a workload first comes.
type turn struct {
	preemption.Turn
	sure bool
}

// pass is what turns depend on: a request but for the amount of its first resource.
type pass struct {
	queue    string
	priority int64
	queued   time.Time
	now      time.Time
	first    quota.FlavorResource
	others   string
}

// mostKept is how many turns are kept for other workloads.
const mostKept = 1 << 20

// turnsOf returns the turns of a request, by workload.
func (a *Asker) turnsOf(r *preemption.Request) map[string]turn {
	asks := r.Workload.PodSets[0].Requests
	key := pass{queue: r.Workload.Queue, priority: r.Workload.Priority, queued: r.Workload.Queued, now: r.Now, first: asks[0].FlavorResource()}
	if len(asks) > 1 {
		key.others = fmt.Sprint(asks[1:])
	}
	if known, ok := a.passes[key]; ok {
		return known
	}
	if a.kept > mostKept {
		clear(a.passes)
		a.kept = 0
	}
	by := map[string]turn{}
	sure, _ := a.decider.Turns(a.snapshot, *r, func(t preemption.Turn) {
		if _, ok := by[t.Workload]; !ok { // of a lesser amount it was no turn
			by[t.Workload] = turn{Turn: t}
		}
	})
	for id, t := range by {
		t.sure = sure
		by[id] = t
	}
	a.passes[key] = by
	a.kept += 1 + len(by)
	return by
}

// amounts returns the critical amounts that need preemption, rising.
func (a *Asker) amounts(w *workload.Workload, r preemption.Request, row preemption.QuotaStatus, cleared int64) []int64 {
	var list []int64
	if a.inOrder {
		list, _ = a.decider.TurningAmounts(a.snapshot, r, w.ID)
	} else {
		list = append(list, row.Nominal-row.Usage, row.Available+1, row.PotentialAvailable)
		for n, step := row.Available+1, int64(1); n < row.PotentialAvailable; n, step = quota.Add(n, step), quota.Mul(2, step) {
			list = append(list, n)
		}
	}
	list = append(list, quota.Add(cleared, 1))
	list = slices.DeleteFunc(list, func(n int64) bool { return n <= row.Available || n > row.PotentialAvailable })
	slices.Sort(list)
	return slices.Compact(list)
}

// request returns a request of a queue for one resource.
func (a *Asker) request(q *asking, priority int64, queued time.Time, at int64, asks quota.Amount) preemption.Request {
	now := instant.Time(at)
	if at == instant.Of(a.options.Now) {
		now = a.options.Now
	}
	return preemption.Request{Now: now, History: a.options.History, Workload: workload.Workload{
		ID: a.id, Queue: q.Name, Priority: priority, Queued: queued,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{asks}}},
	}}
}

// ages returns when requests are queued that matter: as new as can be; where equals may yield also just before the
// workload, and as old as can be; with all also just before every other of the queue.
func (a *Asker) ages(w *workload.Workload, q *asking, all bool) []time.Time {
	list := []time.Time{{}}
	if q.Preemption.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
		return list
	}
	oldest := a.options.Since
	if oldest.IsZero() {
		oldest = instant.Time(instant.Unset + 1)
	}
	before := func(w *workload.Workload) time.Time {
		if w.Queued.IsZero() {
			return instant.Time(math.MaxInt64)
		}
		return w.Queued.Add(-time.Nanosecond)
	}
	ages := []time.Time{before(w), oldest}
	if all {
		running := a.treeOf(q.tree).all
		for i := range running {
			if running[i].Queue == q.Name {
				ages = append(ages, before(&running[i]))
			}
		}
	}
	for _, t := range ages {
		if instant.Valid(t) && !t.Before(oldest) && !slices.ContainsFunc(list, t.Equal) {
			list = append(list, t)
		}
	}
	return list
}

// priorities returns the priorities of requests of a queue at which the answer about a workload may change, rising: the lowest with
// a right, the highest, those around the workload's and the threshold; with all also those around every other that runs.
func (a *Asker) priorities(w *workload.Workload, q *asking, all bool) (list []int64) {
	own, from := w.EffectivePriority(), int64(0)
	policy := &q.Preemption
	switch {
	case q.Name != w.Queue && policy.ReclaimWithinCohort == queue.Any:
		from = math.MinInt32
	case q.Name == w.Queue && policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority:
		from = own
	case own < math.MaxInt32:
		from = own + 1
	default:
		return nil
	}
	list = append(list, from, own, quota.Add(own, 1), math.MaxInt32)
	if threshold, ok := policy.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok {
		list = append(list, threshold, quota.Add(threshold, 1), quota.Add(threshold, 2))
	}
	if all {
		for _, p := range a.treeOf(q.tree).distinct() {
			list = append(list, p, quota.Add(p, 1))
		}
	}
	list = slices.DeleteFunc(list, func(p int64) bool { return p < max(from, math.MinInt32) || p > math.MaxInt32 })
	slices.Sort(list)
	return slices.Compact(list)
}
