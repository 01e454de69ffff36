package rules

import "math"

// Reach says whom the selectors of a tier may accept in a queue. The zero value is nobody.
type Reach struct {
	// Any: somebody.
	Any bool
	// Free: somebody whatever the quota says; else every selector has a constraint on quota.
	Free bool
	// Most is the highest effective priority.
	Most int64
}

// add adds those whom a selector may accept.
func (r *Reach) add(o Reach) {
	if !r.Any {
		*r = o
	} else if o.Any {
		r.Free, r.Most = r.Free || o.Free, max(r.Most, o.Most)
	}
}

// reachOf returns whom a selector may accept in the queues of its scope.
func (s *selector) reachOf(preemptor int64) Reach {
	r := Reach{Any: true, Free: s.quota == "", Most: math.MaxInt64}
	if s.mode == Base {
		return r // whatever the boosts
	}
	r.Most = s.most.Or(math.MaxInt64)
	switch {
	case s.mode != Boosted:
	case s.comparison == LessThanOrEqual:
		r.Most = min(r.Most, preemptor)
	case s.comparison == LessThan && preemptor == math.MinInt64:
		return Reach{}
	case s.comparison == LessThan:
		r.Most = min(r.Most, preemptor-1)
	}
	return r
}

// sumReach notes whom the selectors that serve the preemptor may accept.
func (t *Tier) sumReach() {
	priority := t.preemptor.EffectivePriority()
	for i, r := range t.index.rules {
		if !t.serves[i] {
			continue
		}
		for j := range r.selectors {
			s := &r.selectors[j]
			of := s.reachOf(priority)
			t.timed = t.timed || s.times != nil
			if s.scope != WithinLocalQueue && s.scope != WithinClusterQueue {
				t.elsewhere.add(of)
			}
			if s.queueLabels != nil {
				t.labelled = append(t.labelled, s)
				continue
			}
			for k, scope := range scopes {
				if s.scope == scope {
					t.byScope[k].add(of)
				}
			}
		}
	}
}

// scopes are all scopes, as an array.
var scopes = [8]Scope{
	WithinLocalQueue, WithinClusterQueue, WithinParentCohort, WithinCohortTree, AnyClusterQueue,
	OtherInParentCohort, OtherInCohortTree, OtherClusterQueue,
}

// Timed reports whether some selector that serves the preemptor reads times.
func (t *Tier) Timed() bool { return t.timed }

// Elsewhere returns whom the selectors may accept in any queue but the preemptor's.
func (t *Tier) Elsewhere() Reach { return t.elsewhere }

// Reach returns whom the selectors may accept in a queue, by their scopes, by the labels of the
// queue and by priority.
func (t *Tier) Reach(queue string) (r Reach) {
	if t.served == 0 {
		return r
	}
	at, known := t.evaluator.places[queue]
	if !known {
		return r
	}
	for i, scope := range scopes {
		if t.byScope[i].Any && t.reaches(scope, queue, &at) {
			r.add(t.byScope[i])
		}
	}
	for _, s := range t.labelled {
		if t.reaches(s.scope, queue, &at) && selects(s.queueLabels, at.labels) {
			r.add(s.reachOf(t.preemptor.EffectivePriority()))
		}
	}
	return r
}
