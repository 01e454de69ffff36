package cycle

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// plan is a cycle in progress.
type plan struct {
	cycle   *Cycle
	request *Request
	// now is the cluster with the workloads that this cycle admitted. then is the same once
	// all victims are gone, with placeholders for their preemptors. A head has to fit in
	// both: a large victim leaves more room than its preemptor needs, but only when it is
	// gone. runs is then without the promises: what runs, once all victims are gone.
	now, then, runs *preemption.Snapshot
	first           *preemption.Snapshot            // then, before the first head was served
	promised        map[string][]workload.Workload  // placeholders that are not in runs, by queue
	rooms           map[string]string               // by cohort, the queue that stands for promises in seen
	running         []preemption.Edit               // not yet made in runs
	gone            []string                        // IDs of whole workloads that are in now but not in then
	closed          map[string]bool                 // KEP83: trees in which no head may borrow in this cycle
	alones          map[string]*preemption.Snapshot // by queue: the queue alone, empty; see couldBeNominal
	history         *limits.History                 // with the preemptions of this cycle, if there are limits
	result          Result
}

// settle tells the victims to leave that what is over takes, if the cycle settles, and returns the snapshot in which the heads are
// decided about.
func (p *plan) settle(s *preemption.Snapshot) (*preemption.Snapshot, error) {
	c := p.cycle.settling
	if c == nil {
		return s, nil
	}
	a, err := settle.Decide(p.cycle.alone, s, settle.Request{
		Now: p.request.Now, Delays: c.Delays, Since: p.request.Over, MaxVictims: c.MaxVictims,
		LocalQueueUsage: p.request.LocalQueueUsage, History: p.request.History,
	})
	if err != nil {
		return s, err
	}
	p.result.Settled = &a
	if p.cycle.limited {
		if p.history, err = p.history.With(a.Events(s, p.request.Now)...); err != nil {
			return s, err
		}
	}
	return s.With(a.Edits()...)
}

// serve computes the result of the next head.
func (p *plan) serve(e *entry) (HeadResult, error) {
	v := HeadResult{Head: e.head, Decision: e.nominated}
	w := &e.workload
	if waits(e.nominated) {
		return p.wait(v, e)
	}
	if p.lost(w.ID) {
		v.Outcome, v.Reason = Wait, queue.FailedAfterNomination
		return v, nil
	}
	if p.then != p.first {
		var err error
		if v.Decision, err = p.decide(p.cycle.after, *w, nil, nil); err != nil {
			return v, err
		}
		v.Decision.Counts = e.nominated.Counts
	}
	borrows := v.Decision.BorrowHeight > 0
	tree := ""
	if p.cycle.borrowing.letter() {
		tree = root(p.then, w.Queue)
	}
	taken := waits(v.Decision) || e.nominated.Outcome == preemption.Fits && v.Decision.Outcome != preemption.Fits
	if taken && e.height == 0 {
		p.close(tree)
	}
	if taken || borrows && p.closed[tree] { // earlier heads took the room
		v.Outcome, v.Reason, v.Decision = Wait, queue.FailedAfterNomination, e.nominated
		if !taken && e.head.NominalWaits && p.cycle.borrowing == KEP83Lasting {
			v.Reason = queue.Borrows
		}
		return v, nil
	}
	if !borrows {
		p.close(tree)
	}
	if v.Decision.Leaving { // pods terminate in its room
		v.Outcome, v.Reason = Wait, queue.PendingPreemption
		return v, p.promise(*w, p.stands(w.ID))
	}
	if v.Decision.Outcome == preemption.Gated {
		v.Outcome, v.Reason = Gated, queue.Gated
		return v, nil
	}
	if v.Decision.Outcome == preemption.Preempt {
		v.Outcome, v.Reason = Preempt, queue.PendingPreemption
		if err := p.count(&v.Decision, w); err != nil {
			return v, err
		}
		return v, p.promise(*w, p.stands(w.ID), p.leave(v.Decision.Victims)...)
	}
	if room := p.room(*w); !p.fitsNow(e) || room != nil && !room.Fits() {
		v.Outcome, v.Reason = Wait, queue.PendingPreemption
		return v, p.promise(*w, p.stands(w.ID))
	}
	v.Outcome = Admit
	var err error
	if p.now, err = p.now.With(v.Decision.Edits()...); err != nil {
		return v, err
	}
	return v, p.admit(*w)
}

// count adds the victims of a head to the history that limits read.
func (p *plan) count(d *preemption.Decision, w *workload.Workload) (err error) {
	if p.cycle.limited {
		p.history, err = p.history.With(d.Events(p.now, preemption.Request{Workload: *w}, p.request.Now)...)
	}
	return err
}

// finish sets how a head is requeued and whether another cycle is needed.
func (p *plan) finish(v *HeadResult, e *entry) {
	c := p.cycle
	v.Alone = c.Alike(v.Head.Workload) != v.Head.Alike || (p.request.Room != nil || p.request.MinCounts != nil) && c.alike == nil ||
		p.stands(v.Head.Workload.ID) != "" || p.now.RulesReadMore(v.Head.Workload.Queue)
	owed := v.Outcome == Preempt || v.Outcome == Gated || v.Outcome == Wait || v.Outcome == Inadmissible && v.Reason != queue.NoFit
	v.WithinNominal = c.borrowing == KEP83Lasting && owed && e.height == 0
	promised := v.Reason == queue.PendingPreemption
	v.Again = v.Outcome == Admit || v.Outcome == Preempt || p.stepsAside(v) ||
		promised != v.Head.Preempting || v.Head.WithinNominal != v.WithinNominal
	p.result.Again = p.result.Again || v.Again
}

// stepsAside reports whether the next workload of its queue becomes the head.
func (p *plan) stepsAside(v *HeadResult) bool {
	if v.Reason == queue.Borrows {
		return true
	}
	if v.Outcome != Gated && v.Reason != queue.NoFit && v.Reason != queue.NoCandidates {
		return false
	}
	q, _ := p.now.Queue(v.Head.Workload.Queue)
	return q.Strategy == queue.BestEffortFIFO
}

// wait computes the result of a head without candidates.
func (p *plan) wait(v HeadResult, e *entry) (HeadResult, error) {
	v.Outcome, v.Reason = Inadmissible, queue.NoCandidates
	w := &e.workload
	if p.never(&v.Decision, w) {
		v.Reason = queue.NoFit
		return v, nil
	}
	if v.Decision.Outcome == preemption.Wait {
		v.Outcome = Wait
	}
	if p.cycle.borrowing.letter() {
		if e.height == 0 {
			p.close(root(p.then, w.Queue))
		}
		return v, nil
	}
	if e.holds {
		return v, nil // what it holds stays reserved
	}
	return v, p.reserve(w, v.Decision.BorrowHeight > 0)
}

// never reports whether a workload asks for more than its queue could have if nothing ran
// anywhere: in the flavors that it came with, or in each that it could be assigned. With
// several choices of flavors that is not known: another choice may leave more for the next
// pod set.
func (p *plan) never(d *preemption.Decision, w *workload.Workload) bool {
	fewer := p.minCounts(*w)
	if len(d.Assignment) == 0 {
		least := withCounts(*w, fewer)
		for _, sh := range d.Shortage {
			for _, u := range least.Usage() {
				if u.FlavorResource() == sh.FlavorResource && u.Amount > sh.PotentialAvailable {
					return true
				}
			}
		}
		return false
	}
	choice := d.Assignment[0]
	return len(fewer) == 0 && len(d.Assignment) == 1 && choice.Flavor == "" && choice.Untried == 0 &&
		!slices.ContainsFunc(choice.Tried, func(t preemption.TriedFlavor) bool {
			return t.Skipped != preemption.NoQuota && t.Skipped != preemption.ExceedsMaxQuota
		})
}

// leave returns the edits that remove the victims.
func (p *plan) leave(victims []preemption.Victim) []preemption.Edit {
	var edits []preemption.Edit
	for _, v := range victims {
		edits = append(edits, preemption.Remove(v.Workload, v.Replicas...))
		if len(v.Replicas) == 0 {
			p.gone = append(p.gone, v.Workload)
		}
	}
	return edits
}

// fitsNow reports whether a head fits before any victim has left.
func (p *plan) fitsNow(e *entry) bool { return available(p.without(e.workload.ID), &e.workload) }

// reserve keeps room from later heads for a head that waits: what its queue could hold
// without preemption, that is, what is left of its nominal quota or, if it borrows, of its
// borrowing limit. What the queue can reclaim from any queue at any time is not
// reserved.
func (p *plan) reserve(w *workload.Workload, borrows bool) error {
	q, _ := p.then.Queue(w.Queue)
	if c := p.cycle; q.Preemption.ReclaimWithinCohort == queue.Any && !c.protects && !c.limited && !(c.ruled && p.then.HasRules(q.Name)) {
		return nil
	}
	kept := workload.PodSet{Name: "kept", Count: 1}
	for _, u := range p.grows(w) {
		if u.Flavor == "" {
			continue // its flavor is not known
		}
		row := statusOf(p.then, w, u)
		most := quota.Sub(row.Nominal, row.Usage)
		if borrows {
			most = quota.Sub(quota.Add(row.Nominal, borrowingLimit(&q, row.FlavorResource)), row.Usage)
		}
		if u.Amount = min(u.Amount, most); u.Amount > 0 {
			kept.Requests = append(kept.Requests, u)
		}
	}
	if len(kept.Requests) == 0 {
		return nil
	}
	return p.promise(workload.Workload{ID: w.ID, Queue: w.Queue, PodSets: []workload.PodSet{kept}}, "")
}

func borrowingLimit(q *queue.Queue, fr quota.FlavorResource) int64 {
	for _, e := range q.Quotas {
		if limit, ok := e.BorrowingLimit.Get(); ok && e.FlavorResource() == fr {
			return limit
		}
	}
	return quota.Unlimited
}

// close forbids borrowing in a tree, under KEP83.
func (p *plan) close(tree string) {
	if p.closed == nil {
		p.closed = map[string]bool{}
	}
	p.closed[tree] = p.cycle.borrowing.letter()
}

// closeLasting forbids borrowing in the trees in which a workload waits within its nominal
// quota.
func (p *plan) closeLasting() {
	for i := range p.request.Heads {
		if h := &p.request.Heads[i]; h.NominalWaits && p.cycle.borrowing == KEP83Lasting {
			p.close(root(p.then, h.Workload.Queue))
		}
	}
}

// root returns the name of the tree of a queue: its root cohort, or the queue itself if it
// has no cohort.
func root(s *preemption.Snapshot, queueName string) string {
	q, _ := s.Queue(queueName)
	if q.Cohort == "" {
		return "queue:" + q.Name
	}
	name := q.Cohort
	for {
		c, _ := s.Cohort(name)
		if c.Parent == "" {
			return "cohort:" + name
		}
		name = c.Parent
	}
}

// couldBeNominal reports whether a workload could be admitted within the nominal quota of its queue if nothing ran:
// flavors, taints and nodes included. (KEP-83, Admission: "pending Workloads that would fit under the min Quota".)
func (p *plan) couldBeNominal(w workload.Workload) (bool, error) {
	q, _ := p.then.Queue(w.Queue)
	alone, known := p.alones[q.Name]
	if !known {
		q.Cohort, q.Preemption, q.Rules, q.Quotas = "", queue.PreemptionPolicy{}, "", slices.Clone(q.Quotas)
		for i := range q.Quotas {
			q.Quotas[i].BorrowingLimit, q.Quotas[i].LendingLimit = quota.OptionalInt64{}, quota.OptionalInt64{}
		}
		var err error
		if alone, err = preemption.NewSnapshot(preemption.State{Queues: []queue.Queue{q}, Flavors: p.then.Flavors()}); err != nil {
			return false, err
		}
		if p.alones == nil {
			p.alones = map[string]*preemption.Snapshot{}
		}
		p.alones[q.Name] = alone
	}
	r := preemption.Request{Workload: w.Clone(), Now: p.request.Now, MinCounts: p.minCounts(w)}
	r.Workload.NeverPreempts = true
	if r.Room = p.room(w); r.Room != nil {
		for running := range p.now.Workloads() {
			r.Room.Remove(running.ID)
			defer r.Room.Restore(running.ID)
		}
	}
	d, err := p.cycle.after.Decide(alone, r)
	return d.Outcome == preemption.Fits, err
}

// available reports whether a workload fits.
func available(s *preemption.Snapshot, w *workload.Workload) bool {
	for _, u := range w.Usage() {
		if u.Amount > 0 && u.Amount > statusOf(s, w, u).Available {
			return false
		}
	}
	return true
}

func statusOf(s *preemption.Snapshot, w *workload.Workload, u quota.Amount) preemption.QuotaStatus {
	rows, _ := s.QueueStatus(w.Queue, u.FlavorResource())
	i := slices.IndexFunc(rows, func(r preemption.QuotaStatus) bool { return r.FlavorResource == u.FlavorResource() })
	return rows[i]
}
