package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
)

// taking is how a workload was taken.
type taking struct {
	tier     int32 // that took it
	from, to int32 // its selectors that accepted: matches[from:to]
	// held are the constraints on quota that held then, if the rules have any; by are those of them that
	// selectors asked for.
	held, by selectors.QuotaSet
	// bound: no selector accepted without a constraint.
	bound bool
}

// verdict is whether a workload may be taken.
type verdict uint8

const (
	refused verdict = iota
	// refusedByQuota: a constraint on quota refuses it, or a limit on rules of which some may not accept it
	// later.
	refusedByQuota
	accepted
)

// judge asks the rules of a tier and limits about a candidate, and notes how it is taken.
func (t *Taker) judge(s *search.Search, i int, w *cluster.Workload, d *donor) (v right.Victim, of verdict) {
	if _, gone := t.gone[w]; gone || w.Leaving > 0 && right.GoesWhole(w, s.Taken) {
		return v, refused
	}
	by, moment, from := t.tiers[i].rules, t.moment(s, i), len(t.matches)
	moment.Quota = selectors.AllQuota()
	t.fill(w)
	if t.matches = by.AppendSelected(t.matches, &t.one, moment); len(t.matches) == from {
		return v, refused
	}
	v = d.victim(w)
	how := taking{tier: int32(i), from: int32(from)}
	if t.constrained {
		how.held = t.quotaOf(s, &v, s.Taken)
		t.keepHeld(&how, by)
	}
	if len(t.matches) == from {
		return v, refusedByQuota
	}
	how.to, v.Taking = int32(len(t.matches)), int32(len(t.takings))
	if t.takings = append(t.takings, how); s.Limited(&v) { // rules of a later tier may take it
		t.takings, t.matches = t.takings[:v.Taking], t.matches[:from]
		if t.constrained {
			return v, refusedByQuota
		}
		return v, refused
	}
	return v, accepted
}

// keepHeld keeps the selectors of which the constraints hold.
func (t *Taker) keepHeld(how *taking, by *selectors.Tier) {
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
