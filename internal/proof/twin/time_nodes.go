package twin

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// minimum returns the minimum runtime that counts for a pod, and whose setting it is. The surplus of a group has
// none.
func (q *nodes) minimum(p workload.Pod) (d time.Duration, setBy string) {
	if q.isSurplus(p) {
		return 0, ""
	}
	of, ofGroup := p, workload.PodGroup{ID: p.Group}
	for _, g := range q.st.Groups {
		if g.ID == p.Group {
			ofGroup, of.Queue = g, g.Queue
		}
	}
	own, group, general := p.MinRuntime, ofGroup.MinRuntime, q.config.MinRuntime
	if isReclaim := of.Queue != "" && q.r.Queue != "" && of.Queue != q.r.Queue; isReclaim {
		own, group, general = p.ReclaimMinRuntime, ofGroup.ReclaimMinRuntime, q.config.ReclaimMinRuntime
	}
	if d, ok := own.Get(); ok {
		return d, fmt.Sprintf("pod %q", p.ID)
	}
	if d, ok := group.Get(); ok {
		return d, fmt.Sprintf("group %q", p.Group)
	}
	d, _ = general.Get()
	return d, "default"
}

// runtime returns the last instant at which minimum runtimes protect a unit, and whose setting
// it is; zero for none.
func (q *nodes) runtime(u unit) (until time.Time, setBy string) {
	for _, p := range u.Pods {
		d, by := q.minimum(p)
		if p.Terminating || p.Started.IsZero() || d <= 0 {
			continue
		}
		if end := p.Started.Add(d); end.After(until) {
			until, setBy = end, by
		}
	}
	return until, setBy
}

// kept reports the rule that keeps a unit of lower priority from yielding now; zero for
// none.
func (q *nodes) kept(u unit) (rule placement.Rule, until time.Time, setBy string) {
	if slices.ContainsFunc(u.Pods, q.stuck) {
		return placement.RuleTerminating, time.Time{}, ""
	}
	if until, setBy := q.runtime(u); !until.IsZero() && !until.Before(q.r.Now) {
		return placement.RuleMinRuntime, until, setBy
	}
	latest, never := time.Time{}, false
	for _, g := range q.config.Guards {
		v := g.Verdict(u.Unit, q.r)
		never = never || v.Never()
		if t, ok := v.Until(); ok && t.After(latest) {
			latest = t
		}
	}
	switch {
	case never:
		return placement.RuleGuarded, time.Time{}, ""
	case !latest.IsZero() && !latest.Before(q.r.Now):
		return placement.RuleGuarded, latest, ""
	}
	return 0, time.Time{}, ""
}

// RetryAtOnNodes returns the first instant after now at which the request fits or can preempt
// with nothing but time changed. It tries every instant at which anything could change.
func RetryAtOnNodes(config placement.Config, st placement.State, r placement.Request) (at time.Time, ok bool) {
	for _, at := range InstantsOnNodes(config, st, r) {
		later := r
		later.Now = at
		if d := nowOnNodes(config, st, later); d.Outcome.Succeeds() {
			return at, true
		}
	}
	return time.Time{}, false
}

// InstantsOnNodes lists every instant after now, and one nanosecond on, at which anything
// that depends on time could change.
func InstantsOnNodes(config placement.Config, st placement.State, r placement.Request) []time.Time {
	var list []time.Time
	add := func(at time.Time) {
		for _, at := range []time.Time{at, at.Add(1)} {
			if at.After(r.Now) {
				list = append(list, at)
			}
		}
	}
	q, _, _ := ask(config, st, r)
	everyone := there{}
	for _, p := range st.Pods {
		everyone[p.ID] = true
		if d, _ := q.minimum(p); !p.Started.IsZero() {
			add(p.Started.Add(d))
		}
		if p.Terminating && !p.TerminatingSince.IsZero() && r.TerminationTimeout > 0 {
			add(p.TerminatingSince.Add(r.TerminationTimeout))
		}
	}
	for _, g := range config.Guards {
		for _, u := range q.all(everyone) {
			if until, ok := g.Verdict(u.Unit, r).Until(); ok {
				add(until)
			}
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
