package safe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// mostRows is of how many resources at most every combination is asked for; of more only pairs are.
const mostRows = 5

// ask looks for the least request that names a workload at an instant, one for fewer resources before one for more, from so many on;
// nil: there is none among those that are asked.
func (a *Asker) ask(w *workload.Workload, e *exposures, at int64, from int) *Request {
	for size := from; ; size++ {
		found, more := a.askEach(w, e.of, at, size)
		if found != nil || !more {
			return found
		}
	}
}

// askEach asks requests for so many resources, queue by queue; more: some queue has quota for more.
func (a *Asker) askEach(w *workload.Workload, of []exposure, at int64, size int) (found *Request, more bool) {
	for from, to := 0, 0; from < len(of); from = to {
		q, rights, begun := of[from].queue, []rune(nil), false
		for to = from; to < len(of) && of[to].queue == q; to++ {
			begun = begun || at >= of[to].among
			if at >= of[to].among && (size > 1 || at >= of[to].alone) {
				rights = append(rights, rune(of[to].row))
			}
		}
		if !begun || size > len(q.rows) || !a.reached(w, q, at) {
			continue
		}
		if size == 2 && len(q.rows) > mostRows {
			a.several, a.possible = true, true
		} else if size < len(q.rows) {
			more = true
		}
		if len(rights) > 0 {
			if found = a.askQueue(w, q, rights, at, size); found != nil {
				return found, false
			}
		}
	}
	return nil, more
}

// askQueue asks requests of one queue, the lowest priority first. If the turn of the workload comes at none of the priorities that
// matter most, it comes at none; unless something leaves, which is taken first, of the priorities that may yield.
func (a *Asker) askQueue(w *workload.Workload, q *asking, rights []rune, at int64, size int) (found *Request) {
	first := a.priorities(w, q, !a.inTurn || a.leaves)
	a.unsure, a.taken = false, false
	for i := 0; i < len(first) && found == nil; i++ {
		if i > 0 && !a.taken && a.mostAtLowest(w, q) {
			return nil
		}
		found = a.askPriority(w, q, rights, first[i], at, size, false)
	}
	if found == nil && !a.unsure || found != nil && found.Priority == first[0] {
		return found
	}
	for _, p := range a.priorities(w, q, true) {
		if found != nil && p >= found.Priority {
			break
		}
		if unsure := a.unsure && found == nil; unsure || !slices.Contains(first, p) {
			if lower := a.askPriority(w, q, rights, p, at, size, unsure); lower != nil {
				return lower
			}
		}
	}
	a.several = a.several || found == nil && size > 1
	return found
}

// askPriority asks requests of one queue with one priority, of the ages that matter most or of all that matter, for each combination of so
// many of its resources with a right to one of them.
func (a *Asker) askPriority(w *workload.Workload, q *asking, rights []rune, p, at int64, size int, allAges bool) *Request {
	for _, rows := range q.combinations(size) {
		if !strings.ContainsAny(rows, string(rights)) || !a.reachedWith(w, q, rows, at) {
			continue
		}
		a.possible = true
		var least *Request
		for i, queued := range a.ages(w, q, allAges) {
			if i > 0 && !a.taken && a.mostAtLowest(w, q) {
				break
			}
			found := a.askAmounts(w, pass{q, p, queued, at, rows})
			if least == nil || found != nil && found.Asks[0].Amount < least.Asks[0].Amount {
				least = found
			}
		}
		if least != nil {
			return least
		}
	}
	return nil
}

// mostAtLowest reports whether requests of a queue take a workload at the lowest priority with a right, of any age, if at any. Then those of
// its branch and class that come before it are of lower priority and come before it at all: at a higher priority there are more of them.
func (a *Asker) mostAtLowest(w *workload.Workload, q *asking) bool {
	policy := &q.Preemption
	return a.sameAtHighest(q) || a.narrows && q.Name != w.Queue &&
		(policy.ReclaimWithinCohort != queue.Any || policy.BorrowWithinCohort.Policy == queue.Never)
}

// combinations returns each choice of so many resources of a queue; of many, only pairs.
func (q *asking) combinations(size int) []string {
	for len(q.choices) < size {
		before, list := []string{""}, []string(nil)
		if n := len(q.choices); n > 0 {
			before = q.choices[n-1]
		}
		for _, rows := range before {
			last, _ := utf8.DecodeLastRuneInString(rows)
			for row := range q.rows {
				if len(q.choices) < 2 || len(q.rows) <= mostRows {
					if rows == "" || row > int(last) {
						list = append(list, rows+string(rune(row)))
					}
				}
			}
		}
		q.choices = append(q.choices, list)
	}
	return q.choices[size-1]
}

// askAmounts asks for the amounts at which the turn of the workload comes. Where they do not say it, it asks, of one resource, for each
// amount at which the answer may change, rising, and goes back from the first that names the workload, by halves, to the least.
func (a *Asker) askAmounts(w *workload.Workload, of pass) (found *Request) {
	if a.left--; a.left < 0 {
		return nil
	}
	r := a.requestOf(&of)
	asks := r.Workload.PodSets[0].Requests
	if a.inTurn {
		turn, taken := a.turnOf(w, of, &r)
		if a.taken = a.taken || taken; !taken || turn.Idle {
			return nil
		}
		for i, n := range turn.Amounts {
			asks[i].Amount = n
		}
		if turn.Amounts != nil && turn.Sure {
			return answerOf(&r, turn.Reason, turn.Replicas)
		}
		if a.unsure = true; turn.Sure {
			return nil
		}
		if turn.Amounts != nil {
			if found = a.names(w, &of, &r); found != nil {
				return found
			}
		}
	}
	if len(asks) > 1 {
		return a.askBeyond(w, &of, &r)
	}
	first := []rune(of.rows)[0]
	row := &of.queue.rows[first]
	low := row.Available // names another, or nobody
	for _, n := range a.amounts(w, r, row, of.queue.cleared[first]) {
		if asks[0].Amount = n; found == nil {
			if found = a.names(w, &of, &r); found == nil {
				low = n
			}
		}
	}
	for found != nil && low+1 < found.Asks[0].Amount {
		asks[0].Amount = low + (found.Asks[0].Amount-low)/2
		if lower := a.names(w, &of, &r); lower != nil {
			found = lower
		} else {
			low = asks[0].Amount
		}
	}
	return found
}

// askBeyond asks for several resources once more, where what leaves already is not enough: of each in turn for more than that.
func (a *Asker) askBeyond(w *workload.Workload, of *pass, r *preemption.Request) (found *Request) {
	if found = a.names(w, of, r); found != nil || !a.leaves {
		return found
	}
	asks := r.Workload.PodSets[0].Requests
	for i, row := range []rune(of.rows) {
		amount := asks[i].Amount
		if asks[i].Amount = max(amount, quota.Add(of.queue.cleared[row], 1)); asks[i].Amount > amount {
			if found = a.names(w, of, r); found != nil {
				return found
			}
		}
		asks[i].Amount = amount
	}
	return nil
}

// names returns the request if it makes the workload yield something that was not told to leave.
func (a *Asker) names(w *workload.Workload, of *pass, r *preemption.Request) *Request {
	if with := a.asked(r); with != nil {
		if found := a.namesIn(with, w, of, r); found != nil {
			return found
		}
	}
	if !a.mayWait(r) {
		return nil
	}
	return a.namesIn(a.snapshot, w, of, r)
}

// namesIn does so in a snapshot.
func (a *Asker) namesIn(s *preemption.Snapshot, w *workload.Workload, of *pass, r *preemption.Request) *Request {
	if a.left--; a.left < 0 {
		return nil
	}
	d := a.decide(s, of, r)
	if d.Outcome != preemption.Preempt {
		return nil
	}
	i, named := slices.BinarySearchFunc(d.Victims, w.ID, func(v preemption.Victim, id string) int { return cmp.Compare(v.Workload, id) })
	if !named || d.Victims[i].Leaving {
		return nil
	}
	return answerOf(r, d.Victims[i].Reason, len(d.Victims[i].Replicas) > 0)
}

// mostDecided is how many decisions are kept for other workloads.
const mostDecided = 32

// decided is what a decision depends on.
type decided struct {
	pass
	amounts string
	made    bool // now, so that it counts for the shares
}

// decide decides about a request; where it is invalid, for nobody may ask for that much, the zero decision.
func (a *Asker) decide(s *preemption.Snapshot, of *pass, r *preemption.Request) preemption.Decision {
	key := decided{pass: *of, made: s != a.snapshot}
	if a.all {
		key.amounts = fmt.Sprint(r.Workload.PodSets[0].Requests)
		if d, known := a.decisions[key]; known {
			return d
		}
	}
	d, err := a.decider.Decide(s, *r)
	if err != nil {
		d = preemption.Decision{}
	}
	if a.all {
		if len(a.decisions) == mostDecided {
			clear(a.decisions)
		}
		a.decisions[key] = d
	}
	return d
}

func answerOf(r *preemption.Request, reason preemption.VictimReason, replicas bool) *Request {
	w := &r.Workload
	return &Request{
		Queue: w.Queue, Priority: w.Priority, Queued: w.Queued, Asks: slices.Clone(w.PodSets[0].Requests), Reason: reason, Replicas: replicas,
	}
}

// amounts returns the critical amounts of one resource that need preemption, rising.
func (a *Asker) amounts(w *workload.Workload, r preemption.Request, row *preemption.QuotaStatus, cleared int64) []int64 {
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
