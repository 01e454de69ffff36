package selectors

import (
	"math"

	"github.com/cedesched/cede/queue/rules"
)

// Reaches says which workloads the selectors of a tier may accept, by queue, for a search that looks at some
// queues alone. It is immutable. The zero value accepts none.
type Reaches struct {
	tier *Tier
	// What the selectors that ask for no trait may accept: by scope, without those that ask for labels
	// of queues, which are in labelled; and in queues other than the preemptor's.
	byScope    [len(scopes)]Reach
	labelled   []*entry
	elsewhere  Reach
	otherTrees bool // some of these, whatever the quota says
}

// Reach says which workloads selectors may accept in a queue. The zero value: none.
type Reach struct {
	// Any: some workload.
	Any bool
	// Free: some workload whatever the quota says; else every selector has a constraint on quota.
	Free bool
	// Asked are the constraints on quota of the selectors: unless Free, one of them must hold.
	Asked QuotaSet
	// Others: some workload by selectors that do not ask for [rules.BorrowingCapacityFromPreemptor].
	Others bool
	// Most is the highest effective priority; MostOthers, by the selectors of Others.
	Most, MostOthers int64
}

// Add adds what other selectors may accept.
func (r *Reach) Add(o Reach) {
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

// reachOf returns what a selector may accept in the queues of its scope.
func (t *Tier) reachOf(s *entry) Reach {
	preemptor := t.preemptor.effective
	most := s.Priority.MaxValue.Or(math.MaxInt64)
	switch {
	case s.Priority.Mode == rules.Base:
		most = math.MaxInt64 // whatever the boosts
	case s.Priority.Mode != rules.Boosted:
	case s.Priority.Comparison == rules.LessThanOrEqual:
		most = min(most, preemptor)
	case s.Priority.Comparison == rules.LessThan && preemptor == math.MinInt64:
		return Reach{}
	case s.Priority.Comparison == rules.LessThan:
		most = min(most, preemptor-1)
	}
	r := Reach{Any: true, Free: s.Quota == "", Asked: bitsOf(s.Quota), Most: most, Others: s.Quota != rules.BorrowingCapacityFromPreemptor}
	if r.Others {
		r.MostOthers = most
	}
	return r
}

// Reaches returns what the selectors that serve the preemptor may accept.
func (t *Tier) Reaches() Reaches {
	x := Reaches{tier: t}
	if t.served == 0 {
		return x
	}
	for _, n := range t.index.rest {
		s := &t.index.entries[n]
		if !t.serves.has(s.rule) {
			continue
		}
		of := t.reachOf(s)
		if s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue {
			x.elsewhere.Add(of)
			x.otherTrees = x.otherTrees || of.Free && (s.Scope == rules.AnyClusterQueue || s.Scope == rules.OtherClusterQueue)
		}
		if s.ClusterQueueSelector != nil {
			x.labelled = append(x.labelled, s)
			continue
		}
		for k, scope := range scopes {
			if s.Scope == scope {
				x.byScope[k].Add(of)
			}
		}
	}
	return x
}

// scopes are all scopes, as an array.
var scopes = [8]rules.Scope{
	rules.WithinLocalQueue, rules.WithinClusterQueue, rules.WithinParentCohort, rules.WithinCohortTree, rules.AnyClusterQueue,
	rules.OtherInParentCohort, rules.OtherInCohortTree, rules.OtherClusterQueue,
}

// Elsewhere returns what the selectors that ask for no trait may accept in any queue but the
// preemptor's.
func (x *Reaches) Elsewhere() Reach { return x.elsewhere }

// OtherTrees reports whether the selectors of [Reaches.Elsewhere] may accept a workload of another tree.
func (x *Reaches) OtherTrees() bool { return x.otherTrees }

// Of returns what the selectors that ask for no trait may accept in a queue, by their scopes, by
// the labels of the queue and by priority.
func (x *Reaches) Of(queue string) (r Reach) {
	at, ok := x.placeOf(queue)
	if !ok {
		return r
	}
	t := x.tier
	for i, scope := range scopes {
		if x.byScope[i].Any && t.reaches(scope, queue, &at) {
			r.Add(x.byScope[i])
		}
	}
	for _, s := range x.labelled {
		if t.reaches(s.Scope, queue, &at) && selects(s.ClusterQueueSelector, at.labels) {
			r.Add(t.reachOf(s))
		}
	}
	return r
}

// placeOf returns where a queue stands; ok is false if it is unknown or no workload is accepted anywhere.
func (x *Reaches) placeOf(queue string) (at place, ok bool) {
	if x.tier == nil || x.tier.served == 0 {
		return at, false
	}
	return x.tier.placeOf(queue)
}

// NextTrait returns the number of the first trait, from a number on, that some selector asks for; ok
// is false if there is none.
func (x *Reaches) NextTrait(from int) (trait int, ok bool) {
	if x.tier == nil || x.tier.served == 0 {
		return 0, false
	}
	list := x.tier.index.from(int32(from))
	if len(list) == 0 {
		return 0, false
	}
	return int(list[0].trait), true
}

// OfTrait returns what the selectors that ask for a trait may accept in a queue in which workloads have
// it, as [Reaches.Of] does.
func (x *Reaches) OfTrait(trait int, queue string) (r Reach) {
	at, ok := x.placeOf(queue)
	if !ok {
		return r
	}
	t := x.tier
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
// must not be changed. A selector that asks for traits accepts only workloads with one of them.
func (e *Evaluator) Traits() map[Trait]int32 {
	if e == nil {
		return nil
	}
	return e.traits
}
