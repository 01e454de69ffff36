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
	c := a.courseOf(&w, nil)
	for c.answer.Outcome == 0 {
		a.step(c)
	}
	return c.answer, nil
}

// course is the way of a workload through the instants at which its answer may change.
type course struct {
	*workload.Workload
	rights *exposures
	tried
	at     int64  // the next instant
	answer Answer // without an outcome as long as it is not known
	// What follows is for one of all.
	place int      // among the answers
	next  int      // right, of those of the queues that were not asked yet at an instant
	more  bool     // some queue has quota for more resources
	found *Request // at the instant
}

// courseOf returns the way of a workload, up to the instant at which the first right over it begins. Of one of all it is known what is
// asked now; o is nil where it is not.
func (a *Asker) courseOf(w *workload.Workload, o *open) *course {
	c := &course{Workload: w, tried: tried{left: a.options.MaxDecisions}, answer: Answer{Workload: w.ID, Queue: w.Queue}}
	if w.Evicted {
		c.answer.Outcome = Leaving
		return c
	}
	var found *Request
	if o != nil {
		c.tried, found = o.tried, o.named
	}
	if found == nil {
		a.tried = c.tried
		c.rights, found = a.exposures(w, o == nil)
		c.tried = a.tried
	}
	if found != nil {
		c.answer.Outcome, c.answer.At, c.answer.Request = Now, a.options.Now, found
		return c
	}
	c.answer.Keeps = c.rights.keeps
	if c.at = c.rights.after(math.MinInt64); c.at == math.MaxInt64 {
		c.answer.Outcome = Never
	}
	return c
}

// step asks at the next instant, about one workload alone.
func (a *Asker) step(c *course) {
	from := 1
	if c.at == instant.Of(a.options.Now) {
		from = 2 // exposures asked for one resource
	}
	a.tried = c.tried
	found := a.ask(c.Workload, c.rights, c.at, from)
	c.tried = a.tried
	a.goOn(c, found)
}

// goOn answers by what was found at an instant. If that says nothing, it goes on to the next at which anything may change.
func (a *Asker) goOn(c *course, found *Request) {
	now := c.at == instant.Of(a.options.Now)
	answer, at := &c.answer, instant.Time(c.at)
	if now {
		at = a.options.Now
	}
	if found != nil {
		answer.Outcome, answer.At, answer.Request = Later, at, found
		if now {
			answer.Outcome, answer.Keeps = Now, nil
		}
		return
	}
	if doubts := a.doubtsOf(c); len(doubts) > 0 {
		answer.Outcome, answer.At, answer.Doubts, answer.Keeps = Unknown, at, doubts, nil
		return
	}
	of := a.where.regionAt(c.Queue, len(a.where.cohorts[c.Queue])) // the tree
	if !c.possible {
		of = a.where.regionAt(c.Queue, max(0, len(a.where.cohorts[c.Queue])-1)) // the highest branch: elsewhere nothing makes it possible
	}
	c.at = min(c.rights.after(c.at), next(a.runs.changesIn(of), c.at))
	c.several, c.possible = false, false
	if c.at == math.MaxInt64 {
		answer.Outcome = Never
		if now {
			answer.Keeps = nil
		}
	}
}

// doubtsOf returns why requests that were not asked at the last instant may count.
func (a *Asker) doubtsOf(c *course) []Doubt {
	list := slices.Clone(a.doubts)
	if c.several {
		list = append(list, SeveralResources)
	}
	if c.left <= 0 {
		list = append(list, Decisions)
	}
	if slices.ContainsFunc(c.rights.of, func(e exposure) bool { return e.room <= c.at }) {
		list = append(list, Rooms)
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
	room  int64 // the same, for room on nodes
}

// after returns the first instant after another at which a right begins; the highest int64: there is none.
func (e *exposures) after(at int64) int64 {
	first := int64(math.MaxInt64)
	for _, of := range e.of {
		for _, begins := range [...]int64{of.alone, of.among, of.room} {
			if begins > at {
				first = min(first, begins)
			}
		}
	}
	return first
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
		} else if from := len(e.of); a.neverReached(w, &q) {
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
		e.of = append(e.of, exposure{&asking{}, 0, math.MaxInt64, now, math.MaxInt64})
	}
	return e, nil
}

// addRights adds the rights of one queue over a workload. It notes the rules that keep it, if they are to be noted.
func (a *Asker) addRights(e *exposures, w *workload.Workload, q *asking, note *exposures) {
	usage, now := w.Usage(), instant.Of(a.options.Now)
	for row := range q.rows {
		named, uses := usesOf(usage, q.rows[row].FlavorResource)
		of := exposure{q, row, math.MaxInt64, math.MaxInt64, math.MaxInt64}
		if uses && contested(&q.rows[row]) {
			if of.alone = a.begin(w, q, row, alone, note); len(q.rows) > 1 && of.alone > now {
				of.among = a.begin(w, q, row, among, nil)
			}
			of.among = min(of.among, of.alone)
		}
		if named && q.onNodes[row] {
			of.room = a.begin(w, q, row, forRoom, nil)
		}
		if min(of.among, of.room) < math.MaxInt64 {
			e.of = append(e.of, of)
		}
	}
}

// usesOf reports whether a usage names a resource, and whether it has some of it. For room on nodes what it names is enough.
func usesOf(usage []quota.Amount, fr quota.FlavorResource) (named, some bool) {
	for _, u := range usage {
		if u.FlavorResource() == fr {
			named, some = true, some || u.Amount > 0
		}
	}
	return named, some
}

// asks is what a right is asked for.
type asks uint8

const (
	alone   asks = iota // one resource
	among               // and others that are contested
	forRoom             // whatever may need preemption
)

// begin returns from when on a right of a queue holds; the highest int64: never.
func (a *Asker) begin(w *workload.Workload, q *asking, row int, as asks, note *exposures) int64 {
	key, refused := refusal{q, row, as}, a.donors[w.Queue].refused
	if rule := refused[key]; rule != 0 {
		note.note(preemption.Blocker{Rule: rule, Queue: w.Queue}, q.Name)
		return math.MaxInt64
	}
	rows := []rune{rune(row)}
	for i := range q.rows {
		if as != alone && i != row && (contested(&q.rows[i]) || as == forRoom && q.onNodes[i]) {
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
			for i := range asks { // anything else may need preemption, too
				if i > 0 || as == forRoom {
					asks[i].Amount = 0
				}
				if as != alone {
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
