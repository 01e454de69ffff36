package preemption

import (
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
)

// enterLimits gives the request the limits, if there are any.
func (sc *scratch) enterLimits(s *Snapshot, config *Config, r *Request) {
	if sc.request.Limits = nil; len(config.Limits) == 0 {
		return
	}
	sc.request.Limits = &right.Limiter{
		Limits: config.Limits, History: r.History, Queue: r.Workload.Queue, Cluster: s.inside(),
		Refused: make([]*cluster.Workload, len(config.Limits)), ByRules: sc.classByRules,
	}
}

// classByRules returns what selectors of limits read of a victim of rules.
func (sc *scratch) classByRules(v *right.Victim, now int64) limits.Class {
	c := limits.Class{PreemptingQueue: sc.waiting.Queue, PreemptedQueue: v.Workload.Facts.Queue()}
	var tier rules.Trigger // that takes it
	sc.rules.Matches(now, v, func(by *selectors.Tier, trigger rules.Trigger, m rules.Match) {
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

// limitBlockers returns a blocker for each limit that refused a workload.
func (sc *scratch) limitBlockers() (list []Blocker) {
	l := sc.request.Limits
	if l == nil {
		return nil
	}
	for i, w := range l.Refused {
		if w != nil {
			list = append(list, Blocker{Rule: RuleLimit, Queue: w.Facts.Queue(), Workload: w.Facts.ID, SetBy: l.Limits[i].Name})
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
