package preemption

import (
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/limits"
	"github.com/cedesched/cede/rules"
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
	classOf map[*cluster.Workload]*limits.Class // of victims by rules, now
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
func (l *limiter) class(v *search.Victim) *limits.Class {
	c := &limits.Class{PreemptingQueue: l.queue, PreemptedQueue: v.Workload.Facts.Queue()}
	if !v.ByRules {
		return c
	}
	if known := l.classOf[v.Workload]; known != nil {
		return known
	}
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
	if l.classOf == nil {
		l.classOf = map[*cluster.Workload]*limits.Class{}
	}
	l.classOf[v.Workload] = c
	return c
}

// Refuses reports whether a limit keeps a victim from being taken.
func (l *limiter) Refuses(v search.Victim, taken []search.Victim, now int64) bool {
	for i := range taken {
		if taken[i].Workload == v.Workload && !v.ByRules {
			return false // replicas of it are counted already, by the same right
		}
	}
	if now != l.now {
		l.now, l.classOf = now, nil
	}
	delete(l.classOf, v.Workload) // it may be that of an earlier tier
	class, refuses := l.class(&v), false
	for i := range l.limits {
		of := &l.limits[i]
		if !of.Covers(class, l.labels) {
			continue
		}
		if count := l.counted(of, class, v.Workload.Facts.ID, now) + l.taken(of, class, v.Workload, taken); count >= of.Limit {
			if refuses = true; l.noting && l.refused[i] == nil {
				l.refused[i] = v.Workload
			}
		}
	}
	return refuses
}

// Groups yields the groups in which limits count a victim of policies.
func (l *limiter) Groups(v *search.Victim, now int64, yield func(group int, most int64)) {
	class := l.class(v)
	for i := range l.limits {
		of, group := &l.limits[i], 1+i
		if !of.Covers(class, l.labels) {
			continue
		}
		most := of.Limit - l.counted(of, class, v.Workload.Facts.ID, now)
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
}

// group returns the name of the limit that a group is of, and the node of the queue; -1: of all.
func (l *limiter) group(number int) (name string, queue int) {
	return l.limits[(number-1)%len(l.limits)].Name, (number-1)/len(l.limits) - 1
}

// counted counts the events that a limit counts together with a victim.
func (l *limiter) counted(of *limits.Limit, class *limits.Class, victim string, now int64) int64 {
	since := of.Since(instant.Time(now))
	matches := func(c *limits.Class) bool { return together(of.Scope, c, class) && of.Covers(c, l.labels) }
	if of.Scope == limits.PreemptedWorkload {
		return l.history.CountOf(victim, since, matches)
	}
	return l.history.Count(since, matches)
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
		if c := l.class(v); together(of.Scope, c, class) && of.Covers(c, l.labels) {
			count++
		}
	}
	return count
}

// Next returns the first instant after now at which an event leaves the window of a limit that
// may refuse somebody.
func (l *limiter) Next(now int64) (at int64, ok bool) {
	for i := range l.limits {
		of := &l.limits[i]
		if of.Limit == 0 {
			continue
		}
		next, has := l.history.Next(of, instant.Time(now), func(c *limits.Class) bool {
			return (of.Scope != limits.PreemptingClusterQueue || c.PreemptingQueue == l.queue) && of.Covers(c, l.labels)
		})
		if has && (!ok || instant.Of(next) < at) {
			at, ok = instant.Of(next), true
		}
	}
	return at, ok
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
		if w, runs := s.Find(v.Workload); !runs || w.Evicted {
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
