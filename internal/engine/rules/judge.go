package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue/rules"
)

// taking is how a workload was taken.
type taking struct {
	tier     int32 // that took it
	from, to int32 // its selectors that accepted: matches[from:to]
	// held are the constraints on quota that held then, if the rules have any; by are those of them that
	// selectors asked for.
	held, by rules.QuotaSet
	// bound: no selector accepted without a constraint.
	bound bool
}

// verdict is whether a workload may be taken.
type verdict uint8

const (
	refused verdict = iota
	notNow          // a constraint on quota refuses it, or a limit on rules of which some may not accept it later
	notYet          // and all after it in its queue, until somebody of the preemptor's side is taken
	never           // and all after it in its queue, whoever else is taken
	early           // its minimum runtime is not over
	accepted
)

// judge asks the rules of a tier, protections and limits about a workload, and notes who is taken.
func (t *Taker) judge(s *search.Search, i int, w *cluster.Workload, node int) (v right.Victim, of verdict) {
	switch _, gone := t.gone[w]; {
	case !w.Facts.Evicted && protects(minimumOf(s, node), w, s.Now):
		return v, early
	case gone || w.Leaving > 0 && right.GoesWhole(w, s.Taken) || t.quotaOnly(s, i) && !s.UsesNeeded(w.Loads) || guarded(s, w):
		return v, refused
	}
	by, moment, from := t.tiers[i].rules, t.moment(s, i), len(t.matches)
	moment.Quota = rules.AllQuota()
	t.fill(w)
	if t.matches = by.AppendSelected(t.matches, &t.one, moment); len(t.matches) == from {
		return v, refused
	}
	v = victim(s, w, node)
	how := taking{tier: int32(i), from: int32(from)}
	if t.constrained {
		how.held = t.quotaOf(s, &v, s.Taken)
		t.keepHeld(&how, by)
	}
	if len(t.matches) == from {
		return v, t.refusedOf(s, &v)
	}
	how.to, v.Taking = int32(len(t.matches)), int32(len(t.takings))
	if t.takings = append(t.takings, how); s.Limited(&v) { // rules of a later tier may take it
		t.takings, t.matches = t.takings[:v.Taking], t.matches[:from]
		if t.constrained {
			return v, notNow
		}
		return v, refused
	}
	return v, accepted
}

// keepHeld keeps the selectors whose constraints hold.
func (t *Taker) keepHeld(how *taking, by *rules.Tier) {
	all := t.matches[how.from:]
	t.matches, how.bound = t.matches[:how.from], true
	for _, m := range all {
		if c := by.Constraint(m); how.held.Meets(c) {
			t.matches = append(t.matches, m)
			how.by = how.by.With(c) & how.held
			how.bound = how.bound && c != ""
		}
	}
}

// refusedOf returns the verdict on a workload that a constraint on quota refuses.
func (t *Taker) refusedOf(s *search.Search, v *right.Victim) verdict {
	d := t.order.last()
	holds, mayFinal := t.quotaOfQueue(s, v)
	if mayFinal {
		holds = holds.With(rules.DRSLessThanOrEqualToFinalShare)
	}
	switch {
	case d.Free || d.Asked&holds != 0:
		return notNow
	case holds == 0:
		return never // the queue does not borrow
	}
	return notYet
}
