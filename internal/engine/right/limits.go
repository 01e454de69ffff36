package right

import (
	"cmp"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/queue/limits"
)

// class returns what selectors of limits read of a victim.
func (l *Limiter) class(v *Victim) limits.Class {
	if !v.ByRules {
		return limits.Class{PreemptingQueue: l.Queue, PreemptedQueue: v.Workload.Facts.Queue()}
	}
	if known, is := l.classOf[v.Workload]; is {
		return known
	}
	class := l.ByRules(v, l.now)
	if l.classOf == nil {
		l.classOf = map[*cluster.Workload]limits.Class{}
	}
	l.classOf[v.Workload] = class
	return class
}

// refuses returns the name of the first limit that keeps a victim from being taken at an instant,
// after the victims taken; empty: none does. Of fewer victims none is refused.
func (l *Limiter) refuses(v *Victim, taken []Victim, now int64) (limit string) {
	l.moveTo(now)
	l.follow(taken)
	if _, is := l.tally.last[v.Workload]; is && !v.ByRules {
		return "" // replicas of it are counted already, by the same right
	}
	delete(l.classOf, v.Workload) // it may be that of an earlier tier
	class, waits := l.class(v), len(l.waits)
	for i := range l.Limits {
		of := &l.Limits[i]
		if !of.Covers(&class, l.labels) {
			continue
		}
		c, now := l.counted(i, &class, v.Workload.Facts.ID), l.taken(i, &class, v.Workload)
		if c.count+now < of.Limit {
			continue
		}
		l.waits = append(l.waits, wait{counted: c, to: of.Limit - 1 - now})
		if limit = cmp.Or(limit, of.Name); !l.explained && l.Refused[i] == nil {
			l.Refused[i] = v.Workload
		}
	}
	l.noteWaits(waits)
	return limit
}

// groups yields the groups in which limits count a victim of policies: the number of each, from 1
// on, and how many of it may yield. What limits count of the victim alone is a group
// only if the victim is refused. The instant is that of the search in order, which has noted what it
// refused.
func (l *Limiter) groups(v *Victim, yield func(group int, most int64)) {
	class := l.class(v)
	for i := range l.Limits {
		of, group := &l.Limits[i], 1+i
		if !of.Covers(&class, l.labels) {
			continue
		}
		c := l.counted(i, &class, v.Workload.Facts.ID)
		most := of.Limit - c.count
		c.asked++
		switch of.Scope {
		case limits.PreemptedWorkload:
			if most > 0 {
				continue
			}
		case limits.PreemptedClusterQueue:
			group += (1 + v.Queue) * len(l.Limits)
		}
		yield(group, most)
	}
}

// Explained says that the workloads refused from now on do not explain the decision.
func (l *Limiter) Explained() { l.explained = true }

// Limited reports whether a limit keeps a victim from being taken. A workload that is being
// evicted already was counted.
func (c *Case) Limited(v *Victim) bool {
	if c.Request.Limits == nil || v.Workload.Facts.Evicted {
		return false
	}
	of := *v // v stays on the stack of the caller
	limit := c.Request.Limits.refuses(&of, c.Taken, c.Now)
	c.Steps += c.Request.Limits.Looks()
	if t := c.Request.Trace; t != nil && limit != "" {
		step := StepOf(trace.Limited, v)
		step.Limit = limit
		t.Add(step)
	}
	return limit != ""
}

// LimitGroups yields the groups in which limits count a victim.
func (c *Case) LimitGroups(v *Victim, yield func(group int, most int64)) {
	if c.Request.Limits != nil && !v.Workload.Facts.Evicted {
		of := *v
		c.Request.Limits.groups(&of, yield)
		c.Steps += c.Request.Limits.Looks()
	}
}

// BeginLimits says that a search at the instant begins: [Case.NextOfLimits] is about it.
func (c *Case) BeginLimits() {
	if c.Request.Limits != nil {
		c.Request.Limits.begin(c.Now)
	}
}

// NextOfLimits returns the first instant after that of the case at which limits may give the last
// search another answer; ok is false if there is none.
func (c *Case) NextOfLimits() (at int64, ok bool) {
	if c.Request.Limits == nil {
		return 0, false
	}
	at, ok = c.Request.Limits.next(c.Now)
	c.Steps += c.Request.Limits.Looks()
	return at, ok
}
