package queue

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/internal/fault"
	"github.com/cedesched/cede/internal/instant"
	"github.com/cedesched/cede/internal/vector"
	"github.com/cedesched/cede/workload"
)

// Each move returns a new Pending; the receiver is never changed.

// Add lets a workload wait: a new one, or one that was evicted and waits again (see
// preemption.Victim.Requeued for its timestamp). It fails when the ID waits already, the
// queue is unknown or the workload malformed, with all faults.
func (p *Pending) Add(w workload.Workload) (*Pending, error) {
	if _, waits := p.find(w.ID); waits {
		return nil, fault.List{{Path: "workload.id", Problem: fmt.Sprintf("%q waits already", w.ID)}}
	}
	e, err := p.newWaiting("workload", w)
	if err != nil {
		return nil, err
	}
	next := *p
	next.insert(next.settled(e))
	return &next, nil
}

// Update replaces the facts of a waiting workload. Where they matter (queue, priority,
// timestamp, what it asks for, gates that are now open or closed) it comes back into the
// order; else it stays where it is. Only a backoff is never cut short. It fails as Add
// does, and when no workload of that ID waits.
func (p *Pending) Update(w workload.Workload) (*Pending, error) {
	old, waits := p.find(w.ID)
	if !waits {
		return nil, fault.List{{Path: "workload.id", Problem: fmt.Sprintf("no workload %q waits", w.ID)}}
	}
	e, err := p.newWaiting("workload", w)
	if err != nil {
		return nil, err
	}
	next := *p
	next.remove(old)
	same := e.queue == old.queue && e.priority == old.priority && e.queued == old.queued && e.asks == old.asks &&
		w.Gates.AnyClosed() == old.facts.Gates.AnyClosed()
	if same || old.place == Away {
		e.place, e.reason, e.alone, e.first, e.until = old.place, old.reason, old.alone, old.first && e.queue == old.queue, old.until
	}
	next.insert(e)
	return &next, nil
}

// Remove takes a workload out: it is admitted, or gone. It fails when no workload of
// that ID waits.
func (p *Pending) Remove(id string) (*Pending, error) {
	e, waits := p.find(id)
	if !waits {
		return nil, fault.List{{Path: "id", Problem: fmt.Sprintf("no workload %q waits", id)}}
	}
	next := *p
	next.remove(e)
	return &next, nil
}

// Requeue puts a head back that a cycle did not admit. Where its tree was released since
// the head was read, it stays in the order: the cycle did not see that. It fails when the
// workload no longer waits, the reason is unknown or a time outside the years 1678 to
// 2262.
func (p *Pending) Requeue(h Head, r Requeue) (*Pending, error) {
	var faults fault.List
	old, waits := p.find(h.Workload.ID)
	if !waits {
		faults.Add("head", "no workload %q waits", h.Workload.ID)
	}
	if r.Reason == 0 || int(r.Reason) > len(reasonNames) {
		faults.Add("requeue.Reason", "%v is unknown", r.Reason)
	}
	if !instant.Valid(r.RetryAt) {
		faults.Add("requeue.RetryAt", "%v is not within %s", r.RetryAt, instant.Range)
	}
	if !instant.Valid(r.NotBefore) {
		faults.Add("requeue.NotBefore", "%v is not within %s", r.NotBefore, instant.Range)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	next := *p
	next.remove(old)
	e := *old
	strict := p.shape.queues[e.queue].Strategy == StrictFIFO
	e.place, e.reason, e.alone, e.until = Active, r.Reason, r.Alone, instant.Unset
	e.first = r.Reason == PendingPreemption && !strict
	switch {
	case !r.NotBefore.IsZero():
		e.place, e.until = Away, instant.Of(r.NotBefore)
	case !strict && !r.Reason.again() && p.released.At(e.tree) <= h.seen:
		e.place, e.until = Inadmissible, instant.Of(r.RetryAt)
	}
	if e.first {
		next.onlyOneFirst(e.queue)
	}
	next.insert(&e)
	if e.place == Inadmissible && e.reason.hopeless() && !r.Alone {
		next.stepAsideWith(&e)
	}
	return &next, nil
}

// Release brings the inadmissible workloads back of the cohort trees that the queues are
// in: something there was freed. Unknown queues are passed over.
func (p *Pending) Release(queues ...string) *Pending {
	next := *p
	next.clock++
	for _, name := range queues {
		q, known := p.queueOf(name)
		if !known || next.released.At(p.shape.tree[q]) == next.clock {
			continue
		}
		tree := p.shape.tree[q]
		next.released = next.released.Set(tree, next.clock)
		next.bringBack(&next.aside, func(e *waiting) bool { return e.tree < tree }, func(e *waiting) bool { return e.tree == tree })
	}
	return &next
}

// Advance brings those back whose time has come.
func (p *Pending) Advance(now time.Time) *Pending {
	next := *p
	at := instant.Of(now)
	next.bringBack(&next.timed, func(*waiting) bool { return false }, func(e *waiting) bool { return e.until <= at })
	return &next
}

// Configure replaces the configuration, which may have changed any quota: all that is
// inadmissible comes back. It fails as [Validate] does, and when a queue that is gone has
// waiting workloads.
func (p *Pending) Configure(cohorts []Cohort, queues []Queue) (*Pending, error) {
	faults, _ := Validate(cohorts, queues).(fault.List)
	next := &Pending{shape: newTrees(nil, queues), clock: p.clock + 1}
	if faults == nil {
		next.shape = newTrees(cohorts, queues) // acyclic
	}
	var all []*waiting
	var at cursor
	for at.First(p.byID); ; at.Next() {
		old, ok := at.Item()
		if !ok {
			break
		}
		q, known := next.queueOf(old.facts.Queue)
		if !known {
			faults.Add("queues", "queue %q has a waiting workload, %q", old.facts.Queue, old.facts.ID)
			continue
		}
		e := *old
		e.queue, e.tree = q, next.shape.tree[q]
		if e.place == Inadmissible {
			e.place, e.until = Active, instant.Unset
		}
		all = append(all, &e)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	next.byID, next.active = emptySet(compareByID), emptySet(compareActive)
	next.alike, next.aside, next.timed = emptySet(compareAlike), emptySet(compareAside), emptySet(compareTimed)
	released := make([]int64, next.shape.count)
	for i := range released {
		released[i] = next.clock
	}
	next.released = vector.Of(released)
	for _, e := range all {
		next.insert(e)
	}
	return next, nil
}

// The rest changes a Pending that nobody else has yet.

func (p *Pending) insert(e *waiting) {
	p.byID = p.byID.Insert(e)
	switch e.place {
	case Active:
		p.active = p.active.Insert(e)
		if p.shape.queues[e.queue].Strategy == BestEffortFIFO {
			p.alike = p.alike.Insert(e)
		}
	case Inadmissible:
		p.aside = p.aside.Insert(e)
	}
	if e.until != instant.Unset {
		p.timed = p.timed.Insert(e)
	}
}

func (p *Pending) remove(e *waiting) {
	p.byID, _ = p.byID.Delete(e)
	p.active, _ = p.active.Delete(e)
	p.alike, _ = p.alike.Delete(e)
	p.aside, _ = p.aside.Delete(e)
	p.timed, _ = p.timed.Delete(e)
}

func (p *Pending) replace(old *waiting, change func(*waiting)) {
	e := *old
	change(&e)
	p.remove(old)
	p.insert(&e)
}

// bringBack makes those active that are in a range of a set.
func (p *Pending) bringBack(set *set, before, in func(*waiting) bool) {
	var at cursor
	for at.Seek(*set, before); ; at.Next() { // of the set as it was
		e, ok := at.Item()
		if !ok || !in(e) {
			return
		}
		p.replace(e, func(e *waiting) { e.place, e.until = Active, instant.Unset })
	}
}

// onlyOneFirst ends the turn of another one whose victims are terminating.
func (p *Pending) onlyOneFirst(queue int) {
	var at cursor
	at.Seek(p.active, func(e *waiting) bool { return e.queue < queue })
	if e, ok := at.Item(); ok && e.queue == queue && e.first {
		p.replace(e, func(e *waiting) { e.first = false })
	}
}

// stepAsideWith takes those aside that ask for the same as one for which there is no room
// and nobody to yield. One that was queued earlier has more newer equals, and stays.
func (p *Pending) stepAsideWith(hopeless *waiting) {
	var at cursor
	for at.Seek(p.alike, func(e *waiting) bool { return compareAlike(e, hopeless) < 0 }); ; at.Next() {
		e, ok := at.Item()
		if !ok || e.queue != hopeless.queue || e.asks != hopeless.asks {
			return
		}
		if !e.first {
			p.replace(e, func(e *waiting) { e.place, e.reason, e.until = Inadmissible, hopeless.reason, hopeless.until })
		}
	}
}

// settled returns a newcomer, aside where one stands that asks for the same in vain.
func (p *Pending) settled(e *waiting) *waiting {
	probe := waiting{queue: e.queue, tree: e.tree, asks: e.asks, queued: instant.Unset, reason: NoFit}
	var at cursor
	at.Seek(p.aside, func(other *waiting) bool { return compareAside(other, &probe) < 0 })
	other, ok := at.Item()
	if ok && other.speaks() && other.queue == e.queue && other.asks == e.asks && other.queued <= e.queued {
		e.place, e.reason, e.until = Inadmissible, other.reason, other.until
	}
	return e
}
