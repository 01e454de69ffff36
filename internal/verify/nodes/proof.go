package nodes

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/workload"
)

// compare is negative if a is better.
func (a Score) compare(b Score) int {
	started := func(s Score) time.Time {
		if s.Started.IsZero() { // it is not known, which is better than any
			return time.Unix(0, math.MaxInt64)
		}
		return s.Started
	}
	return cmp.Or(
		cmp.Compare(a.Violations, b.Violations), cmp.Compare(a.Highest, b.Highest), cmp.Compare(a.Sum, b.Sum),
		cmp.Compare(a.Pods, b.Pods), started(b).Compare(started(a)),
	)
}

// scoreOf rates units.
func (w *world) scoreOf(units []unit) Score {
	s := Score{Highest: math.MinInt32}
	first := true
	for _, u := range units {
		if !w.HardBudgets {
			s.Violations += int64(u.violations)
		}
		s.Pods += int64(len(u.pods))
		s.Sum += int64(len(u.pods)) * (int64(u.priority) - math.MinInt32)
		if first || u.priority > s.Highest {
			s.Highest, s.Started, first = u.priority, time.Time{}, false
		}
		for _, p := range u.pods {
			if u.priority == s.Highest && !p.Started.IsZero() && (s.Started.IsZero() || p.Started.Before(s.Started)) {
				s.Started = p.Started
			}
		}
	}
	return s
}

// proof judges what the exact search says of its answer.
func (w *world) proof(faults *fault.List, a *Answer, victims []unit) {
	p := a.Proof
	switch {
	case p == nil:
		if w.Exact && a.Outcome == Preempt {
			faults.Add("decision.proof", "there is none")
		}
		return
	case !w.Exact:
		faults.Add("decision.proof", "there is one, but the search is not exact")
		return
	case faults.Err() != nil:
		return
	}
	answered := a.Outcome == Preempt || len(a.Nominations) > 0
	if !answered {
		if p.Value != (Score{}) || p.LowerBound != (Score{}) {
			faults.Add("decision.proof", "%+v of no answer", *p)
		}
		if best, ok := w.best(); ok && p.Optimal {
			faults.Add("decision.proof.optimal", "no answer is allowed, but there is one with %+v", best)
		}
		return
	}
	if want := w.scoreOf(victims); p.Value.compare(want) != 0 && !w.OwnImportance {
		faults.Add("decision.proof.value", "%+v, want %+v", p.Value, want)
	}
	order := p.LowerBound.compare(p.Value)
	if order > 0 {
		faults.Add("decision.proof.lowerBound", "%+v is worse than %+v", p.LowerBound, p.Value)
	}
	if p.Optimal != (order == 0) {
		faults.Add("decision.proof.optimal", "%v, but the bound is %+v of %+v", p.Optimal, p.LowerBound, p.Value)
	}
	if best, ok := w.best(); ok && best.compare(p.LowerBound) < 0 && !w.OwnImportance {
		faults.Add("decision.proof.lowerBound", "%+v, but there is an answer with %+v", p.LowerBound, best)
	}
}

// What is small enough to try all answers.
const (
	mostUnits   = 12
	mostMembers = 6
	mostNodes   = 6
)

// best tries all answers in the domains that are small, and returns the best score.
func (w *world) best() (best Score, ok bool) {
	defer w.only(everybody)
	if w.Allows != nil || len(w.Members) > mostMembers {
		return best, false
	}
	domains := w.domains()
	if w.Single {
		domains = oneByOne(domains[0])
	}
	for _, domain := range domains {
		potential := w.potential(domain)
		if len(potential) == 0 || len(potential) > mostUnits || len(domain) > mostNodes {
			continue
		}
		least, known := w.least(domain, potential)
		if !known {
			continue
		}
		if w.Single && w.SkipFit && w.makeRoom(domain, nil, least) {
			continue // where nobody has to yield, preemption does not help
		}
		for set := range 1 << len(potential) {
			var units []unit
			for i, u := range potential {
				if set>>i&1 == 1 {
					units = append(units, u)
				}
			}
			if score := w.scoreOf(units); (!ok || score.compare(best) < 0) && w.permits(units) && w.makeRoom(domain, units, least) {
				best, ok = score, true
			}
		}
	}
	return best, ok
}

// least returns how many members must have a place in a domain: in the design as many as must, as built
// also as many as have one in order without all that may yield. How many it is with hard budgets is then
// known only if all must.
func (w *world) least(domain []string, potential []unit) (count int, known bool) {
	if count = max(w.MinCount, 1); w.Design || count == len(w.Members) {
		return count, true
	}
	w.only(w.stays)
	for _, u := range potential {
		for _, p := range u.pods {
			w.leave(p)
		}
	}
	return max(count, w.place(domain, false)), !w.HardBudgets
}

// permits reports whether the budgets allow all units together, if they must.
func (w *world) permits(units []unit) bool {
	over := map[int]int64{}
	for _, u := range units {
		for _, p := range u.pods {
			for _, b := range w.covering(p) {
				if over[b]++; w.HardBudgets && over[b] > w.Budgets[b].Allowed {
					return false
				}
			}
		}
	}
	return true
}

// makeRoom reports whether so many members have places in the domain without the units.
func (w *world) makeRoom(domain []string, units []unit, least int) bool {
	w.only(w.stays)
	for _, u := range units {
		for _, p := range u.pods {
			w.leave(p)
		}
	}
	return w.placeFrom(domain, 0, least)
}

// placeFrom tries all places of the members from one on. It leaves nobody placed.
func (w *world) placeFrom(domain []string, from, least int) bool {
	if len(w.placed) >= least {
		return true
	}
	if len(w.placed)+len(w.Members)-from < least {
		return false
	}
	m := w.Members[from]
	for _, node := range domain {
		if !w.mayRun(m, node) {
			continue
		}
		w.put(m, node)
		found := w.placeFrom(domain, from+1, least)
		w.move(workload.Pod{Node: node, Requests: m.Requests}, 1)
		w.placed = slices.Delete(w.placed, len(w.placed)-1, len(w.placed))
		if found {
			return true
		}
	}
	return w.placeFrom(domain, from+1, least)
}
