package nodes

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// score is step 8 for the victims of a domain.
type score struct {
	violations, sum, pods int64
	highest               int32
	started               time.Time
}

func (w *World) score(victims []Unit) score {
	s := score{highest: math.MinInt32}
	for i, u := range victims {
		if w.Config.Budgets == placement.Soft {
			s.violations += int64(u.Violations)
		}
		s.pods += int64(len(u.Pods))
		s.sum += int64(len(u.Pods)) * (int64(u.Priority) - math.MinInt32)
		if i == 0 || u.Priority > s.highest {
			s.highest, s.started = u.Priority, time.Time{}
		}
		for _, p := range u.Pods {
			if u.Priority == s.highest && !p.Started.IsZero() && (s.started.IsZero() || p.Started.Before(s.started)) {
				s.started = p.Started
			}
		}
	}
	return s
}

// better is negative if score a is better than b.
func better(a, b score) int {
	started := func(s score) time.Time {
		if s.started.IsZero() { // it is not known, which is better than any
			return time.Unix(0, math.MaxInt64)
		}
		return s.started
	}
	return cmp.Or(
		cmp.Compare(a.violations, b.violations), cmp.Compare(a.highest, b.highest), cmp.Compare(a.sum, b.sum),
		cmp.Compare(a.pods, b.pods), started(b).Compare(started(a)),
	)
}

// ways lists what the steps find in each domain.
func (w *World) ways() (list []inDomain) {
	for _, d := range w.DomainsOfVictims() {
		found := w.steps(d)
		if found.reason == 0 && len(found.victims) == 0 && w.Request.Group == "" && w.Request.SkipFit {
			found.reason = placement.ReasonNoRoom // where no unit has to yield, preemption does not help
		}
		list = append(list, found)
	}
	return list
}

// Placements is placement.Preemptor.Placements, without bounds on the candidates.
func Placements(c placement.Config, st placement.State, r placement.Request) (list []placement.Placement) {
	if isBasic(c, st, r) { // it has one pod
		r = alone(r, 0)
	}
	w := New(c, st, r)
	for _, found := range w.ways() {
		if found.reason == 0 && len(found.victims) > 0 && (len(list) == 0 || !w.isLast(found.Domain)) {
			list = append(list, w.answer(preemption.Preempt, found.Name, found.placed, found.victims).Placement)
		}
	}
	return list
}

// preempt returns the best of the domains, or why none is.
func (w *World) preempt() placement.Decision {
	none := placement.Decision{Outcome: preemption.Impossible, Reason: placement.ReasonNoVictims}
	var best *inDomain
	for _, found := range w.ways() {
		if best != nil && w.placesOnce() {
			break // the first domain with room is the one, whatever runs there
		}
		if best != nil && w.isLast(found.Domain) {
			break
		}
		none.Placeable = max(none.Placeable, found.first)
		switch {
		case found.reason != 0:
			none.Reason = max(none.Reason, found.reason)
		case best == nil || better(w.score(found.victims), w.score(best.victims)) < 0:
			best = &found
		}
	}
	if best == nil {
		return none
	}
	d := w.answer(preemption.Preempt, best.Name, best.placed, best.victims)
	if len(d.Victims) > 0 {
		d.Withdrawn = w.withdrawn(&d)
	} else if d.Outcome = preemption.Fits; !w.Stand(Everyone, best.placed) {
		d.Outcome = preemption.Wait
	}
	return d
}

// withdrawn lists the other waiting pods that lose their nominations: pods of lower priority on the nodes of the
// members, and pods of groups that yield whole.
func (w *World) withdrawn(d *placement.Decision) (list []string) {
	for _, p := range w.State.Nominated {
		on := slices.ContainsFunc(d.Nominations, func(n placement.Nomination) bool { return n.Node == p.Node })
		own := slices.ContainsFunc(w.Members, func(m workload.Pod) bool { return m.ID == p.ID })
		with := w.yieldsWith(p)
		whole := with != "" && slices.ContainsFunc(d.Victims, func(v placement.Victim) bool { return v.Group == with })
		if !own && (whole || on && w.priorityOf(p) < w.Request.Priority) {
			list = append(list, p.ID)
		}
	}
	slices.Sort(list)
	return list
}
