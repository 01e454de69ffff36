package preemption

import (
	"cmp"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
)

// limiter asks the limits during a decision.
type limiter struct {
	c       *cluster.Cluster
	sc      *scratch
	limits  []limits.Limit
	history *limits.History
	queue   string              // of the preemptor
	refused []*cluster.Workload // by limit: the first that it refused
	noting  bool
	now     int64
	classOf map[*cluster.Workload]limits.Class // of victims by rules, now
	known   map[countedKey]*counted            // now
	counts  []*counted                         // those known, in the order of the questions
	waits   []wait                             // of the search that began last
	begun   bool                               // it began now
	looks   int                                // events looked at
}

// enterLimits gives the request the limits, if there are any.
func (sc *scratch) enterLimits(s *Snapshot, config *Config, r *Request) {
	if sc.request.Limits = nil; len(config.Limits) == 0 {
		return
	}
	sc.request.Limits = &limiter{
		c: s.inside(), sc: sc, limits: config.Limits, history: r.History, queue: r.Workload.Queue,
		refused: make([]*cluster.Workload, len(config.Limits)), noting: true,
	}
}

func (l *limiter) labels(name string) map[string]string {
	if node, known := l.c.QueueNode(name); known {
		return l.c.Queue(node).Labels
	}
	return nil
}

// class returns what selectors read of a victim.
func (l *limiter) class(v *search.Victim) limits.Class {
	if !v.ByRules {
		return limits.Class{PreemptingQueue: l.queue, PreemptedQueue: v.Workload.Facts.Queue()}
	}
	if known, is := l.classOf[v.Workload]; is {
		return known
	}
	c := l.classByRules(v)
	if l.classOf == nil {
		l.classOf = map[*cluster.Workload]limits.Class{}
	}
	l.classOf[v.Workload] = c
	return c
}

func (l *limiter) classByRules(v *search.Victim) limits.Class {
	c := limits.Class{PreemptingQueue: l.queue, PreemptedQueue: v.Workload.Facts.Queue()}
	var tier rules.Trigger // that takes it
	l.sc.rules.Matches(l.now, v, func(by *rules.Tier, trigger rules.Trigger, m rules.Match) {
		if tier == "" {
			tier = trigger
		}
		if trigger != tier {
			return
		}
		name := by.RuleName(m)
		if n := len(c.Rules); n == 0 || c.Rules[n-1] != name {
			c.Rules = append(c.Rules, name)
		}
		c.Config = by.Config()
	})
	return c
}

// Refuses reports whether a limit keeps a victim from being taken.
func (l *limiter) Refuses(v search.Victim, taken []search.Victim, now int64) (limit string) {
	for i := range taken {
		if taken[i].Workload == v.Workload && !v.ByRules {
			return "" // replicas of it are counted already, by the same right
		}
	}
	l.moveTo(now)
	delete(l.classOf, v.Workload) // it may be that of an earlier tier
	class, waits := l.class(&v), len(l.waits)
	for i := range l.limits {
		of := &l.limits[i]
		if !of.Covers(&class, l.labels) {
			continue
		}
		c, now := l.counted(i, &class, v.Workload.Facts.ID), l.taken(of, &class, v.Workload, taken)
		if c.count+now < of.Limit {
			continue
		}
		l.waits = append(l.waits, wait{counted: c, to: of.Limit - 1 - now})
		if limit = cmp.Or(limit, of.Name); l.noting && l.refused[i] == nil {
			l.refused[i] = v.Workload
		}
	}
	l.noteWaits(waits)
	return limit
}

// Groups yields the groups in which limits count a victim of policies.
func (l *limiter) Groups(v *search.Victim, now int64, yield func(group int, most int64)) {
	l.moveTo(now)
	class, waits := l.class(v), len(l.waits)
	for i := range l.limits {
		of, group := &l.limits[i], 1+i
		if !of.Covers(&class, l.labels) {
			continue
		}
		c := l.counted(i, &class, v.Workload.Facts.ID)
		most := of.Limit - c.count
		if c.asked++; most <= 0 {
			l.waits = append(l.waits, wait{counted: c, to: of.Limit - 1})
		}
		switch of.Scope {
		case limits.PreemptedWorkload:
			if most > 0 {
				continue
			}
		case limits.PreemptedClusterQueue:
			group += (1 + v.Queue) * len(l.limits)
		}
		yield(group, most)
	}
	l.noteWaits(waits)
}

// group returns the name of the limit that a group is of, and the node of the queue; -1: of all.
func (l *limiter) group(number int) (name string, queue int) {
	return l.limits[(number-1)%len(l.limits)].Name, (number-1)/len(l.limits) - 1
}

// together reports whether two preemptions of different workloads are counted together.
func together(s limits.Scope, a, b *limits.Class) bool {
	switch s {
	case limits.PreemptingClusterQueue:
		return a.PreemptingQueue == b.PreemptingQueue
	case limits.PreemptedClusterQueue:
		return a.PreemptedQueue == b.PreemptedQueue
	}
	return true
}

// taken counts the workloads that were taken in this decision, without that of the victim. One
// of which the policies took replicas and then rules the rest is taken by the rules.
func (l *limiter) taken(of *limits.Limit, class *limits.Class, victim *cluster.Workload, taken []search.Victim) (count int64) {
	if of.Scope == limits.PreemptedWorkload {
		return 0
	}
	for i := range taken {
		v := &taken[i]
		again := v.Workload.Facts.Evicted || v.Workload == victim
		for j := i + 1; j < len(taken) && !again && len(v.Workload.Surplus) > 0; j++ {
			again = taken[j].Workload == v.Workload
		}
		if again {
			continue
		}
		if c := l.class(v); together(of.Scope, &c, class) && of.Covers(&c, l.labels) {
			count++
		}
	}
	return count
}

// Explained ends the notes of who was refused.
func (l *limiter) Explained() { l.noting = false }

// limitBlockers returns a blocker for each limit that refused somebody.
func (sc *scratch) limitBlockers() (list []Blocker) {
	l, _ := sc.request.Limits.(*limiter)
	if l == nil {
		return nil
	}
	for i, w := range l.refused {
		if w != nil {
			list = append(list, Blocker{Rule: RuleLimit, Queue: w.Facts.Queue(), Workload: w.Facts.ID, SetBy: l.limits[i].Name})
		}
	}
	return list
}

// addLimitBlockers puts them before the others.
func (sc *scratch) addLimitBlockers(d *Decision, most int) {
	if sc.request.Limits == nil || d.Outcome != Wait && d.Outcome != Impossible {
		return
	}
	d.Blockers = append(sc.limitBlockers(), d.Blockers...)
	d.Blockers = d.Blockers[:min(len(d.Blockers), most)]
}

// Events returns what the decision adds to the history if it is carried out: an event for each
// victim that is not being evicted already in the snapshot that was asked. Only Preempt has
// events.
func (d Decision) Events(s *Snapshot, r Request, at time.Time) (list []limits.Event) {
	if d.Outcome != Preempt {
		return nil
	}
	for i := range d.Victims {
		v := &d.Victims[i]
		if w, runs := s.Find(v.Workload); !runs || w.Evicted || v.Leaving {
			continue
		}
		e := limits.Event{Preemptor: r.Workload.ID, Victim: v.Workload, At: at, Class: limits.Class{PreemptingQueue: r.Workload.Queue, PreemptedQueue: v.Queue}}
		for _, by := range v.Rules {
			if by.Trigger != v.Rules[0].Trigger {
				break
			}
			if n := len(e.Rules); n == 0 || e.Rules[n-1] != by.Rule {
				e.Rules = append(e.Rules, by.Rule)
			}
			e.Config = by.Config
		}
		list = append(list, e)
	}
	return list
}
