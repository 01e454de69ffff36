package queue

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// Each method below returns a new Pending and never changes the receiver. A method that fails
// returns the receiver.

// Add adds a waiting workload: a new one, or one that was evicted (preemption.Victim.Requeued
// gives its timestamp). Requests may be without flavor. It fails, with all faults, if the ID
// waits already, the queue is unknown or the workload is malformed.
func (p *Pending) Add(w workload.Workload) (*Pending, error) {
	if _, waits := p.find(w.ID); waits {
		return p, fault.List{{Path: "workload.id", Problem: fmt.Sprintf("%q waits already", w.ID)}}
	}
	e, err := p.newWaiting("workload", w)
	if err != nil {
		return p, err
	}
	next := *p
	next.insert(e)
	return &next, nil
}

// Update replaces the facts of a waiting workload. If a decision could notice the change (the
// queue, the queue-order timestamp, or anything that makes two workloads not alike), the
// workload is treated as newly added. Otherwise it stays where it is. A backoff is never
// shortened. It fails as Add does, and if no workload of that ID waits.
func (p *Pending) Update(w workload.Workload) (*Pending, error) {
	old, waits := p.find(w.ID)
	if !waits {
		return p, fault.List{{Path: "workload.id", Problem: fmt.Sprintf("no workload %q waits", w.ID)}}
	}
	e, err := p.newWaiting("workload", w)
	if err != nil {
		return p, err
	}
	next := *p
	next.remove(old)
	if old.same(e) || old.activity == Away {
		e.activity, e.reason, e.first, e.until = old.activity, old.reason, old.first && e.queue == old.queue, old.until
		e.owed = old.owed && e.tree == old.tree
	}
	next.insert(e)
	next.endAside(old.tree)
	return &next, nil
}

// same reports whether a decision cannot notice the change of facts, and the workload keeps
// its place.
func (w *waiting) same(other *waiting) bool {
	return w.queue == other.queue && w.queued == other.queued &&
		strings.TrimSuffix(w.alike, signalling) == strings.TrimSuffix(other.alike, signalling)
}

// Remove removes a waiting workload. For one that was admitted call [Pending.Admit]. It fails
// if no workload of that ID waits.
func (p *Pending) Remove(id string) (*Pending, error) {
	e, waits := p.find(id)
	if !waits {
		return p, fault.List{{Path: "id", Problem: fmt.Sprintf("no workload %q waits", id)}}
	}
	next := *p
	next.remove(e)
	next.endAside(e.tree)
	return &next, nil
}

// Admit removes a workload that was admitted. Inadmissible workloads of its cohort tree that
// had no candidates, or were gated, become active again if their queue may preempt at all, by its policies or by
// rules: the admitted workload may yield or keep others from yielding, or its queue now borrows. It costs O(inadmissible classes and workloads
// in the tree), as [Pending.Release] does. It fails if no workload of that ID waits.
func (p *Pending) Admit(id string) (*Pending, error) {
	next, err := p.Remove(id)
	if err != nil {
		return p, err
	}
	e, _ := p.find(id)
	tree := e.tree
	next.clock++
	next.admitted = next.admitted.Set(tree, next.clock)
	next.unbar(next.barred, func(c *class) bool { return c.tree < tree }, func(c *class) bool { return c.tree == tree },
		func(c *class) bool { return next.mayGain(c.queue, c.reason) })
	next.bringBack(next.aside, func(e *waiting) bool { return e.tree < tree }, func(e *waiting) bool { return e.tree == tree },
		func(e *waiting) bool { return next.mayGain(e.queue, e.reason) })
	return next, nil
}

// mayGain reports whether an admission may help a workload of the queue that was requeued for
// the reason.
func (p *Pending) mayGain(queue int, why RequeueReason) bool {
	of := &p.shape.queues[queue]
	return why == Borrows || (why == NoCandidates || why == Gated) && (of.Rules != "" || of.Preemption.WithinClusterQueue != Never || of.Preemption.ReclaimWithinCohort != Never)
}

// Requeue returns a head that a cycle did not admit to its queue. If an event since the head
// was read would have made it active again, it stays active: the cycle did not see the event.
// It fails if the workload no longer waits, the reason is unknown or a time is outside the
// years 1678 to 2262.
func (p *Pending) Requeue(h Head, r Requeue) (*Pending, error) {
	var faults fault.List
	old, waits := p.find(h.Workload.ID)
	if !waits {
		faults.Add("head", "no workload %q waits", h.Workload.ID)
	}
	if r.Reason == 0 {
		faults.Add("requeue.Reason", "is not set")
	} else if !reasonNames.Valid(r.Reason) {
		faults.Add("requeue.Reason", "%v is unknown", r.Reason)
	}
	if !instant.Valid(r.RetryAt) {
		faults.Add("requeue.RetryAt", "%v is not within %s", r.RetryAt, instant.Range)
	}
	if !instant.Valid(r.NotBefore) {
		faults.Add("requeue.NotBefore", "%v is not within %s", r.NotBefore, instant.Range)
	}
	if err := faults.Err(); err != nil {
		return p, err
	}
	next := *p
	next.remove(old)
	e := *old
	strict := p.shape.queues[e.queue].Strategy == StrictFIFO
	e.activity, e.reason, e.until = Active, r.Reason, instant.Unset
	e.first, e.owed = r.Reason == PendingPreemption && !strict, r.WithinNominal
	inadmissible := !strict && !r.Reason.again() && p.saw(&h, &e, r.Reason)
	if r.Reason == Borrows {
		inadmissible = next.owed.At(e.tree) > 0 && p.saw(&h, &e, r.Reason)
	}
	alike := r.Reason.hopeless() && !r.Alone
	switch {
	case !r.NotBefore.IsZero():
		e.activity, e.until = Away, instant.Of(r.NotBefore)
	case inadmissible && !alike:
		e.activity, e.until = Inadmissible, instant.Of(r.RetryAt)
	}
	if e.first {
		next.onlyOneFirst(e.queue)
	}
	next.insert(&e)
	if e.activity == Active && inadmissible {
		next.setBar(&e, r.Reason, instant.Of(r.RetryAt))
	}
	next.endAside(old.tree)
	return &next, nil
}

// saw reports whether e is still as the cycle saw it in h, for a requeue with the reason.
func (p *Pending) saw(h *Head, e *waiting, why RequeueReason) bool {
	q, _ := p.queueOf(h.Workload.Queue)
	asked := &waiting{facts: h.Workload, queue: q, queued: instant.Of(h.Workload.Queued)}
	p.compare(asked)
	return p.released.At(e.tree) <= h.EventsSeen && (p.admitted.At(e.tree) <= h.EventsSeen || !p.mayGain(e.queue, why)) && e.same(asked)
}

// Release makes the inadmissible workloads in the cohort trees of the queues active again:
// room became free there. Unknown queues are ignored.
func (p *Pending) Release(queues ...string) *Pending {
	next := *p.inside()
	next.clock++
	for _, name := range queues {
		q, known := p.queueOf(name)
		if !known || next.released.At(p.shape.tree[q]) == next.clock {
			continue
		}
		tree := p.shape.tree[q]
		next.released = next.released.Set(tree, next.clock)
		next.unbar(next.barred, func(c *class) bool { return c.tree < tree }, func(c *class) bool { return c.tree == tree }, every)
		next.bringBack(next.aside, func(e *waiting) bool { return e.tree < tree }, func(e *waiting) bool { return e.tree == tree }, every)
	}
	return &next
}

// Advance makes the workloads active again whose time has come.
func (p *Pending) Advance(now time.Time) *Pending {
	next := *p.inside()
	at := instant.Of(now)
	next.unbar(next.ending, func(*class) bool { return false }, func(c *class) bool { return c.until <= at }, every)
	next.bringBack(next.timed, func(*waiting) bool { return false }, func(e *waiting) bool { return e.until <= at }, every)
	return &next
}

func every[T any](T) bool { return true }

// Configure replaces the configuration. Any quota may have changed, so all inadmissible
// workloads become active again. It fails as [Validate] does, and if a queue that no longer
// exists has waiting workloads.
func (p *Pending) Configure(cohorts []Cohort, queues []Queue) (*Pending, error) {
	old := p.inside()
	faults, _ := Validate(cohorts, queues).(fault.List)
	next := &Pending{shape: newTrees(nil, queues), clock: old.clock + 1, alikeBy: old.alikeBy}
	if faults == nil {
		next.shape = newTrees(cohorts, queues) // acyclic
	}
	all := old.all()
	for i, e := range all {
		q, known := next.queueOf(e.facts.Queue)
		if !known {
			faults.Add("queues", "queue %q has a waiting workload, %q", e.facts.Queue, e.facts.ID)
			continue
		}
		moved := *e
		moved.queue, moved.tree = q, next.shape.tree[q]
		if moved.activity == Inadmissible {
			moved.activity, moved.until = Active, instant.Unset
		}
		all[i] = &moved
	}
	if err := faults.Err(); err != nil {
		return p, err
	}
	now := make([]int64, next.shape.count)
	for i := range now {
		now[i] = next.clock
	}
	next.released, next.admitted, next.owed = vector.Of(now), vector.Of(now), vector.Of(make([]int64, len(now)))
	next.fill(all)
	return next, nil
}

// AlikeBy adds a condition for two workloads to be alike: the function returns the same text
// for both. It is for rules of the caller's own; cycle.Cycle.Alike fits its configuration.
// The function must depend on the workload alone. Nil, as in a new Pending, adds nothing.
// Workloads that became inadmissible together become active again.
func (p *Pending) AlikeBy(says func(workload.Workload) string) *Pending {
	next := *p.inside()
	next.alikeBy = says
	all := next.all()
	for i, e := range all {
		moved := *e
		next.compare(&moved)
		all[i] = &moved
	}
	if next.shape != nil {
		next.owed = vector.Of(make([]int64, next.shape.count))
		next.fill(all)
	}
	return &next
}

// all returns all waiting workloads, by ID.
func (p *Pending) all() (all []*waiting) {
	var cursor setCursor[*waiting]
	for cursor.First(p.byID); ; cursor.Next() {
		e, ok := cursor.Item()
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

// The functions below change a Pending that no caller has seen yet.

// fill fills new sets.
func (p *Pending) fill(all []*waiting) {
	p.byID, p.members, p.fronts = emptySet(compareByID), emptySet(compareMembers), emptySet(compareFronts)
	p.aside, p.timed = emptySet(compareAside), emptySet(compareTimed)
	p.classes, p.barred, p.ending = emptySet(compareClasses), emptySet(compareBarred), emptySet(compareEnding)
	for _, e := range all {
		p.insert(e)
	}
}

func (p *Pending) insert(e *waiting) {
	p.byID = p.byID.Insert(e)
	p.owe(e.tree, e.owed, 1)
	switch {
	case e.activity == Inadmissible:
		p.aside = p.aside.Insert(e)
	case e.activity == Active && e.first:
		p.fronts = p.fronts.Insert(e)
	case e.activity == Active:
		p.members = p.members.Insert(e)
		p.setClass(e, func(c *class) { c.len++ })
	}
	if e.until != instant.Unset {
		p.timed = p.timed.Insert(e)
	}
}

func (p *Pending) remove(e *waiting) {
	p.byID, _ = p.byID.Delete(e)
	p.owe(e.tree, e.owed, -1)
	p.aside, _ = p.aside.Delete(e)
	p.timed, _ = p.timed.Delete(e)
	switch {
	case e.activity == Active && e.first:
		p.fronts, _ = p.fronts.Delete(e)
	case e.activity == Active:
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

// bringBack makes the workloads active in a range of a set for which `which` holds.
func (p *Pending) bringBack(set set[*waiting], before, in, which func(*waiting) bool) {
	var cursor setCursor[*waiting]
	for cursor.Seek(set, before); ; cursor.Next() { // the set as it was
		e, ok := cursor.Item()
		if !ok || !in(e) {
			return
		}
		if !which(e) {
			continue
		}
		p.replace(e, func(e *waiting) { e.activity, e.until = Active, instant.Unset })
	}
}

// endAside brings back those that stepped aside in a tree in which nobody waits within nominal quota any more.
func (p *Pending) endAside(tree int) {
	if p.owed.At(tree) > 0 {
		return
	}
	p.bringBack(p.aside, func(e *waiting) bool { return e.tree < tree }, func(e *waiting) bool { return e.tree == tree },
		func(e *waiting) bool { return e.reason == Borrows })
}

// onlyOneFirst clears `first` of the other workload of the queue whose victims are
// terminating.
func (p *Pending) onlyOneFirst(queue int) {
	var cursor setCursor[*waiting]
	cursor.Seek(p.fronts, func(e *waiting) bool { return e.queue < queue })
	if e, ok := cursor.Item(); ok && e.queue == queue && e.first {
		p.replace(e, func(e *waiting) { e.first = false })
	}
}
