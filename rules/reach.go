package rules

import "math"

// Reach says whom the selectors of a tier may accept in a queue. The zero value is nobody.
type Reach struct {
	// Any: somebody.
	Any bool
	// Free: somebody whatever the quota says; else every selector has a constraint on quota.
	Free bool
	// Asked are the constraints on quota of the selectors: unless Free, one of them must hold.
	Asked QuotaSet
	// Most is the highest effective priority.
	Most int64
	// Others: somebody by selectors that do not ask for [BorrowingCapacityFromPreemptor]; MostOthers is
	// the highest effective priority of these.
	Others     bool
	MostOthers int64
	// Sure: everybody up to the effective priority MostSure, at any time and whatever the quota says.
	Sure     bool
	MostSure int64
}

// Add adds those whom other selectors may accept.
func (r *Reach) Add(o Reach) {
	switch {
	case !o.Sure:
	case !r.Sure:
		r.Sure, r.MostSure = true, o.MostSure
	default:
		r.MostSure = max(r.MostSure, o.MostSure)
	}
	switch {
	case !o.Any:
		return
	case !r.Any:
		*r = o
		return
	case !r.Others:
		r.Others, r.MostOthers = o.Others, o.MostOthers
	case o.Others:
		r.MostOthers = max(r.MostOthers, o.MostOthers)
	}
	r.Free, r.Asked, r.Most = r.Free || o.Free, r.Asked|o.Asked, max(r.Most, o.Most)
}

// reachOf returns whom a selector may accept in the queues of its scope.
func (t *Tier) reachOf(s *entry) Reach {
	preemptor := t.preemptor.effective
	most := s.Priority.MaxValue.Or(math.MaxInt64)
	switch {
	case s.Priority.Mode == Base:
		most = math.MaxInt64 // whatever the boosts
	case s.Priority.Mode != Boosted:
	case s.Priority.Comparison == LessThanOrEqual:
		most = min(most, preemptor)
	case s.Priority.Comparison == LessThan && preemptor == math.MinInt64:
		return Reach{}
	case s.Priority.Comparison == LessThan:
		most = min(most, preemptor-1)
	}
	r := Reach{Any: true, Free: s.Quota == "", Asked: s.Quota.bits(), Most: most, Others: s.Quota != BorrowingCapacityFromPreemptor}
	if r.Others {
		r.MostOthers = most
	}
	if r.Free && !s.picks && t.index.rules[s.rule].wait == 0 {
		r.Sure, r.MostSure = true, most
	}
	return r
}

// sumReach notes whom the selectors that serve the preemptor and ask for no trait may accept.
func (t *Tier) sumReach() {
	for _, n := range t.index.rest {
		s := &t.index.entries[n]
		if !t.serves.has(s.rule) {
			continue
		}
		of := t.reachOf(s)
		if s.Scope != WithinLocalQueue && s.Scope != WithinClusterQueue {
			t.elsewhere.Add(of)
		}
		if s.ClusterQueueSelector != nil {
			t.labelled = append(t.labelled, s)
			continue
		}
		for k, scope := range scopes {
			if s.Scope == scope {
				t.byScope[k].Add(of)
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

// Elsewhere returns whom the selectors that ask for no trait may accept in any queue but the
// preemptor's.
func (t *Tier) Elsewhere() Reach { return t.elsewhere }

// Reach returns whom the selectors that ask for no trait may accept in a queue, by their scopes, by
// the labels of the queue and by priority.
func (t *Tier) Reach(queue string) (r Reach) {
	if t.served == 0 {
		return r
	}
	at, known := t.placeOf(queue)
	if !known {
		return r
	}
	for i, scope := range scopes {
		if t.byScope[i].Any && t.reaches(scope, queue, &at) {
			r.Add(t.byScope[i])
		}
	}
	for _, s := range t.labelled {
		if t.reaches(s.Scope, queue, &at) && selects(s.ClusterQueueSelector, at.labels) {
			r.Add(t.reachOf(s))
		}
	}
	return r
}

// Beside returns what [Tier.Reach] does for another queue of the preemptor's tree, of the same cohort or
// not; ok is false if the name of the queue must be known.
func (t *Tier) Beside(sameCohort bool) (r Reach, ok bool) {
	for i, scope := range scopes {
		switch scope {
		case WithinLocalQueue, WithinClusterQueue:
			continue
		case WithinParentCohort, OtherInParentCohort:
			if !sameCohort {
				continue
			}
		}
		r.Add(t.byScope[i])
	}
	return r, len(t.labelled) == 0
}

// NextTrait returns the number of the first trait, from a number on, that some selector asks for; ok
// is false if there is none.
func (t *Tier) NextTrait(from int) (trait int, ok bool) {
	if t.served == 0 {
		return 0, false
	}
	list := t.index.from(int32(from))
	if len(list) == 0 {
		return 0, false
	}
	return int(list[0].trait), true
}

// ReachOf returns whom the selectors that ask for a trait may accept in a queue in which workloads have
// it, as [Tier.Reach] does.
func (t *Tier) ReachOf(trait int, queue string) (r Reach) {
	if t.served == 0 {
		return r
	}
	at, known := t.placeOf(queue)
	if !known {
		return r
	}
	for _, a := range t.index.from(int32(trait)) {
		if a.trait != int32(trait) {
			break
		}
		if s := &t.index.entries[a.entry]; t.serves.has(s.rule) && t.reaches(s.Scope, queue, &at) && selects(s.ClusterQueueSelector, at.labels) {
			r.Add(t.reachOf(s))
		}
	}
	return r
}

// Traits returns the traits that selectors of the configurations ask for, with their numbers. The map
// must not be changed. A selector that asks for traits accepts nobody who has none of them.
func (e *Evaluator) Traits() map[Trait]int32 {
	if e == nil {
		return nil
	}
	return e.traits
}
