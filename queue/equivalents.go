package queue

import (
	"cmp"

	"github.com/cedesched/cede/internal/base/instant"
)

// class holds the active workloads of a queue that are alike. They become inadmissible
// together: a bar is set, and workloads queued at or after it are inadmissible. Workloads
// queued before it stay active: they have more newer equals that they could preempt. A class
// is immutable.
type class struct {
	queue, tree int
	alike       string
	len         int
	front       *waiting      // the first workload before the bar; nil: none
	bar         *waiting      // nil: none; it may have left the queue since
	reason      RequeueReason // of the bar
	until       int64         // an instant: when time removes the bar; instant.Unset: never
	owed        bool          // when the bar was set, it waited for quota within its nominal quota
}

// keeps reports whether the bar makes e inadmissible.
func (c *class) keeps(e *waiting) bool { return c.bar != nil && compareInClass(c.bar, e) <= 0 }

func (p *Pending) classOf(e *waiting) (*class, bool) {
	return p.classes.Get(func(c *class) int {
		return cmp.Or(cmp.Compare(c.queue, e.queue), cmp.Compare(c.alike, e.alike))
	})
}

// setBar makes e, and the workloads after it in its class, inadmissible.
func (p *Pending) setBar(e *waiting, reason RequeueReason, until int64) {
	p.setClass(e, func(c *class) {
		c.owed = e.owed
		if c.bar == nil || compareInClass(e, c.bar) < 0 {
			c.bar = e
		}
		if c.until == instant.Unset || until != instant.Unset && until < c.until {
			c.until = until
		}
		c.reason = reason
	})
}

// unbar removes the bars of the classes in a range of a set for which `which` holds.
func (p *Pending) unbar(set set[*class], before, in, which func(*class) bool) {
	var cursor setCursor[*class]
	for cursor.Seek(set, before); ; cursor.Next() { // the set as it was
		c, ok := cursor.Item()
		if !ok || !in(c) {
			return
		}
		if !which(c) {
			continue
		}
		p.setClass(c.bar, func(c *class) { c.bar, c.until, c.owed = nil, instant.Unset, false })
	}
}

// setClass changes the class of a workload and the front of that class.
func (p *Pending) setClass(e *waiting, change func(*class)) {
	next := class{queue: e.queue, tree: e.tree, alike: e.alike, until: instant.Unset}
	if old, known := p.classOf(e); known {
		next = *old
		p.owe(old.tree, old.owes(), -1)
		p.classes, _ = p.classes.Delete(old)
		p.barred, _ = p.barred.Delete(old)
		p.ending, _ = p.ending.Delete(old)
		if old.front != nil {
			p.fronts, _ = p.fronts.Delete(old.front)
		}
	}
	change(&next)
	var cursor setCursor[*waiting]
	cursor.Seek(p.members, func(other *waiting) bool {
		return cmp.Or(cmp.Compare(other.queue, e.queue), cmp.Compare(other.alike, e.alike)) < 0
	})
	next.front = nil
	if first, ok := cursor.Item(); ok && next.len > 0 && !next.keeps(first) {
		next.front = first
		p.fronts = p.fronts.Insert(first)
	}
	if next.bar != nil {
		p.barred = p.barred.Insert(&next)
	}
	if next.until != instant.Unset {
		p.ending = p.ending.Insert(&next)
	}
	if next.len > 0 || next.bar != nil {
		p.classes = p.classes.Insert(&next)
		p.owe(next.tree, next.owes(), 1)
	}
}

// owes reports whether the workloads behind the bar wait for quota within the nominal quota,
// as the bar did.
func (c *class) owes() bool { return c.bar != nil && c.owed && c.len > 0 }

// owe counts the waits for nominal quota in a tree.
func (p *Pending) owe(tree int, counts bool, by int64) {
	if counts {
		p.owed = p.owed.Set(tree, p.owed.At(tree)+by)
	}
}

func compareClasses(a, b *class) int {
	return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.alike, b.alike))
}

func compareBarred(a, b *class) int {
	return cmp.Or(cmp.Compare(a.tree, b.tree), compareClasses(a, b))
}

func compareEnding(a, b *class) int {
	return cmp.Or(cmp.Compare(a.until, b.until), compareClasses(a, b))
}
