package safe

import (
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Until answers for one workload. It fails with preemption.Faults if it does not run.
func (a *Asker) Until(id string) (Answer, error) {
	w, ok := a.snapshot.Find(id)
	if !ok {
		var faults fault.List
		faults.Add("workload", "no workload %q is admitted", id)
		return Answer{}, faults.Err()
	}
	return a.until(&w, nil), nil
}

// until answers for one workload. Of one of all it is known what is asked now; o is nil where it is not.
func (a *Asker) until(w *workload.Workload, o *open) Answer {
	answer := Answer{Workload: w.ID, Queue: w.Queue}
	if w.Evicted {
		answer.Outcome = Leaving
		return answer
	}
	var found *Request
	if a.left = a.options.MaxDecisions; o != nil {
		a.left, found = o.left, o.named
	}
	var e *exposures
	if found == nil {
		e, found = a.exposures(w, o == nil)
	}
	if found != nil {
		answer.Outcome, answer.At, answer.Request = Now, a.options.Now, found
		return answer
	}
	answer.Keeps = e.keeps
	if at, begins := e.first(); begins {
		a.search(w, e, at, &answer, o)
	} else {
		answer.Outcome = Never
	}
	return answer
}

// search asks at the instant at which the first right begins, and at each later one at which anything may change.
func (a *Asker) search(w *workload.Workload, e *exposures, at int64, answer *Answer, o *open) {
	for more := []int64(nil); ; {
		now, found := at == instant.Of(a.options.Now), (*Request)(nil)
		switch {
		case now && o != nil:
			a.several = o.several
		case now:
			found = a.ask(w, e, at, 2) // exposures asked for one resource
		default:
			found = a.ask(w, e, at, 1)
		}
		switch {
		case found != nil && now:
			answer.Outcome, answer.At, answer.Request, answer.Keeps = Now, a.options.Now, found, nil
			return
		case found != nil:
			answer.Outcome, answer.At, answer.Request = Later, instant.Time(at), found
			return
		}
		if doubts := a.doubtsNow(); len(doubts) > 0 {
			answer.Outcome, answer.At, answer.Doubts, answer.Keeps = Unknown, instant.Time(at), doubts, nil
			if now {
				answer.At = a.options.Now
			}
			return
		}
		if more == nil {
			more = slices.Concat(a.changesAfter(a.treeOf(a.trees[w.Queue])), e.begins())
			slices.Sort(more)
			more = slices.Compact(more)
		}
		next, _ := slices.BinarySearch(more, at+1)
		if next == len(more) {
			answer.Outcome = Never
			if now {
				answer.Keeps = nil
			}
			return
		}
		at = more[next]
	}
}

// doubtsNow returns why requests that were not asked at the last instant may count.
func (a *Asker) doubtsNow() []Doubt {
	list := slices.Clone(a.doubts)
	if a.several {
		list = append(list, SeveralResources)
	}
	if a.left <= 0 {
		list = append(list, Decisions)
	}
	return list
}

// exposures says from when on requests of each queue have a right over a workload.
type exposures struct {
	of    []exposure
	keeps []Kept
}

// exposure is the right of one queue for one of its resources.
type exposure struct {
	queue *asking
	row   int   // of the queue
	alone int64 // when it begins for a request for that resource alone; the highest int64: never
	among int64 // the same, for a request for others, too; never later
}

func (e *exposures) begins() (list []int64) {
	for _, of := range e.of {
		list = append(list, of.alone, of.among)
	}
	return slices.DeleteFunc(list, func(at int64) bool { return at == math.MaxInt64 })
}

func (e *exposures) first() (at int64, ok bool) {
	list := e.begins()
	if len(list) == 0 {
		return 0, false
	}
	return slices.Min(list), true
}

// exposures asks the rights of all queues, by name; if asks, until a request for one resource of one of them names the workload now.
func (a *Asker) exposures(w *workload.Workload, asks bool) (e *exposures, found *Request) {
	e = &exposures{}
	if w.NeverYields {
		e.keeps = []Kept{{Rule: preemption.RuleNeverYields, By: w.Queue}}
		return e, nil
	}
	now, of := instant.Of(a.options.Now), a.donorOf(w.Queue)
	left := of.from[:0]
	for i, q := range of.from {
		if !q.own && (!of.borrows || q.Preemption.ReclaimWithinCohort == queue.Never) {
			e.noteOther(q.asking, w.Queue)
		} else if from := len(e.of); a.neverReached(w, &q, reach{donor: of, at: now}) {
			left = append(left, q)
			continue
		} else if a.addRights(e, w, q.asking, e); asks {
			if found, _ = a.askEach(w, e.of[from:], now, 1); found != nil {
				of.from = append(left, of.from[i:]...)
				return e, found
			}
		}
		if !of.settled(&q) {
			left = append(left, q)
		}
	}
	of.from = left
	if a.anyRight {
		e.of = append(e.of, exposure{&asking{}, 0, math.MaxInt64, now})
	}
	return e, nil
}

// addRights adds the rights of one queue over a workload. It notes the rules that keep it, if they are to be noted.
func (a *Asker) addRights(e *exposures, w *workload.Workload, q *asking, note *exposures) {
	usage, now := w.Usage(), instant.Of(a.options.Now)
	for row := range q.rows {
		if !contested(&q.rows[row]) || !uses(usage, q.rows[row].FlavorResource) {
			continue
		}
		of := exposure{q, row, a.begin(w, q, row, false, note), math.MaxInt64}
		if of.among = of.alone; len(q.rows) > 1 && of.alone > now {
			of.among = a.begin(w, q, row, true, nil)
		}
		if of.among < math.MaxInt64 {
			e.of = append(e.of, of)
		}
	}
}

func uses(usage []quota.Amount, fr quota.FlavorResource) bool {
	return slices.ContainsFunc(usage, func(u quota.Amount) bool { return u.FlavorResource() == fr && u.Amount > 0 })
}

// begin returns from when on a right of a queue holds; the highest int64: never.
func (a *Asker) begin(w *workload.Workload, q *asking, row int, among bool, note *exposures) int64 {
	key, refused := refusal{q, row, among}, a.donors[w.Queue].refused
	if rule := refused[key]; rule != 0 {
		note.note(preemption.Blocker{Rule: rule, Queue: w.Queue}, q.Name)
		return math.MaxInt64
	}
	rows := []rune{rune(row)}
	for i := range q.rows {
		if among && i != row && contested(&q.rows[i]) {
			rows = append(rows, rune(i))
		}
	}
	first := int64(math.MaxInt64)
	for _, p := range [...]int64{math.MaxInt32, w.EffectivePriority()} {
		if p < math.MinInt32 || p > math.MaxInt32 {
			continue
		}
		for _, queued := range a.ages(w, q, false) {
			r := a.requestOf(&pass{q, p, queued, instant.Of(a.options.Now), string(rows)})
			asks := r.Workload.PodSets[0].Requests
			for i := 1; i < len(asks); i++ { // anything else may need preemption, too
				asks[i].Amount = 0
			}
			for i := range asks {
				if among {
					r.NeedsPreemption = append(r.NeedsPreemption, asks[i].FlavorResource())
				}
			}
			begins, rule := a.beginOf(w, r, note)
			if first = min(first, begins); q.Name != w.Queue && (rule == preemption.RuleWithinNominal ||
				rule == preemption.RuleBorrowWithinCohort && q.Preemption.BorrowWithinCohort.Policy == queue.Never) {
				refused[key] = rule
			}
			note = nil // the rules that keep it from the most important, newest request are the ones to name
		}
		if q.Name != w.Queue {
			break // equals matter in the own queue alone
		}
	}
	return first
}

// beginOf returns from when on one request has the right; if never, by which rule.
func (a *Asker) beginOf(w *workload.Workload, r preemption.Request, note *exposures) (at int64, rule preemption.Rule) {
	for {
		e, err := a.exposure(r, w.ID)
		switch {
		case err != nil:
			return math.MaxInt64, 0 // nobody may ask for that much
		case e.MayYield:
			return instant.Of(r.Now), 0
		}
		if r.Now.Equal(a.options.Now) {
			note.note(e.Keeps, r.Workload.Queue)
		}
		if e.Keeps.Until.IsZero() || instant.Of(e.Keeps.Until) == math.MaxInt64 {
			return math.MaxInt64, e.Keeps.Rule
		}
		r.Now = e.Keeps.Until.Add(time.Nanosecond)
	}
}

// note notes a rule that keeps the workload now, once for the own queue and once for the others, by the first of them.
func (e *exposures) note(b preemption.Blocker, by string) {
	if e == nil {
		return
	}
	for _, k := range e.keeps {
		if k.Rule == b.Rule && (k.By == b.Queue) == (by == b.Queue) {
			return
		}
	}
	if b.Rule != 0 {
		e.keeps = append(e.keeps, Kept{Rule: b.Rule, By: by, Until: b.Until})
	}
}
