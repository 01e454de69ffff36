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
	next.insert(e)
	return &next, nil
}

// Update replaces the facts of a waiting workload. Where they matter (queue, priority,
// timestamp, what it asks for, gates that are now open or closed) it waits as a newcomer
// does; else it stays where it is. A backoff is never cut short. It fails as Add does, and
// when no workload of that ID waits.
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
	if old.same(&w) || old.place == Away {
		e.place, e.reason, e.first, e.until = old.place, old.reason, old.first && e.queue == old.queue, old.until
	}
	next.insert(e)
	return &next, nil
}

// same reports whether other facts of a workload come to the same, for its place and for
// its chances.
func (w *waiting) same(other *workload.Workload) bool {
	return w.facts.Queue == other.Queue && w.facts.Queued.Equal(other.Queued) && w.asks == asks(other) &&
		w.facts.Gates.AnyClosed() == other.Gates.AnyClosed()
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

// Requeue puts a head back that a cycle did not admit. Where its tree was released or the
// workload changed since the head was read, it stays in the order: the cycle did not see
// that. It fails when the
// workload no longer waits, the reason is unknown or a time outside the years 1678 to
// 2262.
func (p *Pending) Requeue(h Head, r Requeue) (*Pending, error) {
	var faults fault.List
	old, waits := p.find(h.Workload.ID)
	if !waits {
		faults.Add("head", "no workload %q waits", h.Workload.ID)
	}
	if !reasonNames.Valid(r.Reason) {
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
	e.place, e.reason, e.until = Active, r.Reason, instant.Unset
	e.first = r.Reason == PendingPreemption && !strict
	inadmissible := !strict && !r.Reason.again() && p.released.At(e.tree) <= h.seen && old.same(&h.Workload)
	alike := r.Reason.hopeless() && !r.Alone
	switch {
	case !r.NotBefore.IsZero():
		e.place, e.until = Away, instant.Of(r.NotBefore)
	case inadmissible && !alike:
		e.place, e.until = Inadmissible, instant.Of(r.RetryAt)
	}
	if e.first {
		next.onlyOneFirst(e.queue)
	}
	next.insert(&e)
	if e.place == Active && inadmissible {
		next.setBar(&e, r.Reason, instant.Of(r.RetryAt))
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
		next.unbar(next.barred, func(c *class) bool { return c.tree < tree }, func(c *class) bool { return c.tree == tree })
		next.bringBack(next.aside, func(e *waiting) bool { return e.tree < tree }, func(e *waiting) bool { return e.tree == tree })
	}
	return &next
}

// Advance brings those back whose time has come.
func (p *Pending) Advance(now time.Time) *Pending {
	next := *p
	at := instant.Of(now)
	next.unbar(next.ending, func(*class) bool { return false }, func(c *class) bool { return c.until <= at })
	next.bringBack(next.timed, func(*waiting) bool { return false }, func(e *waiting) bool { return e.until <= at })
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
	var cursor setCursor[*waiting]
	for cursor.First(p.byID); ; cursor.Next() {
		old, ok := cursor.Item()
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
	next.byID, next.members, next.fronts = emptySet(compareByID), emptySet(compareMembers), emptySet(compareFronts)
	next.aside, next.timed = emptySet(compareAside), emptySet(compareTimed)
	next.classes, next.barred, next.ending = emptySet(compareClasses), emptySet(compareBarred), emptySet(compareEnding)
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
	switch {
	case e.place == Inadmissible:
		p.aside = p.aside.Insert(e)
	case e.place == Active && e.first:
		p.fronts = p.fronts.Insert(e)
	case e.place == Active:
		p.members = p.members.Insert(e)
		p.setClass(e, func(c *class) { c.len++ })
	}
	if e.until != instant.Unset {
		p.timed = p.timed.Insert(e)
	}
}

func (p *Pending) remove(e *waiting) {
	p.byID, _ = p.byID.Delete(e)
	p.aside, _ = p.aside.Delete(e)
	p.timed, _ = p.timed.Delete(e)
	switch {
	case e.place == Active && e.first:
		p.fronts, _ = p.fronts.Delete(e)
	case e.place == Active:
		p.members, _ = p.members.Delete(e)
		p.setClass(e, func(c *class) { c.len-- })
	}
}

func (p *Pending) replace(old *waiting, change func(*waiting)) {
	e := *old
	change(&e)
	p.remove(old)
	p.insert(&e)
}

// bringBack makes those active that are in a range of a set.
func (p *Pending) bringBack(set set[*waiting], before, in func(*waiting) bool) {
	var cursor setCursor[*waiting]
	for cursor.Seek(set, before); ; cursor.Next() { // of the set as it was
		e, ok := cursor.Item()
		if !ok || !in(e) {
			return
		}
		p.replace(e, func(e *waiting) { e.place, e.until = Active, instant.Unset })
	}
}

// onlyOneFirst ends the turn of another one whose victims are terminating.
func (p *Pending) onlyOneFirst(queue int) {
	var cursor setCursor[*waiting]
	cursor.Seek(p.fronts, func(e *waiting) bool { return e.queue < queue })
	if e, ok := cursor.Item(); ok && e.queue == queue && e.first {
		p.replace(e, func(e *waiting) { e.first = false })
	}
}
