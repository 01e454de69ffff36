package selectors

import (
	"math"
	"slices"

	"github.com/cedesched/cede/queue/rules"
)

// MayAcceptIn reports whether some selector that serves the preemptor accepts workloads of a queue by its scope
// and the labels of the queue. free: one that has no constraint on quota does.
func (t *Tier) MayAcceptIn(queue string) (any, free bool) {
	if t.served == 0 {
		return false, false
	}
	at, known := t.placeOf(queue)
	for i := 0; known && i < len(t.of.entries) && !free; i++ {
		if s := &t.of.entries[i]; t.serves.has(s.rule) && t.selectsQueue(s, queue, &at) {
			any, free = true, s.Quota == ""
		}
	}
	return any, free
}

// Reach says up to which priority selectors may accept workloads, whatever protects these. The zero value:
// none.
type Reach struct {
	// Any: some workload.
	Any bool
	// Free: some workload whatever the quota says; else every selector has a constraint on quota.
	Free bool
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
	r.Free, r.Most = r.Free || o.Free, max(r.Most, o.Most)
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
	r := Reach{Any: true, Free: s.Quota == "", Most: most, Others: s.Quota != rules.BorrowingCapacityFromPreemptor}
	if r.Others {
		r.MostOthers = most
	}
	return r
}

// Reaches returns what the selectors that serve the preemptor may accept in its own queue and in others. has
// reports whether some workload of a queue has one of the traits that a selector asks for.
func (t *Tier) Reaches(has func(queue string, asked []Trait) bool) (own, others Reach) {
	if t.served == 0 {
		return own, others
	}
	for i := range t.of.entries {
		s := &t.of.entries[i]
		if !t.serves.has(s.rule) {
			continue
		}
		in := func(queue string, at *place) bool {
			return t.selectsQueue(s, queue, at) && (len(s.asked) == 0 || has(queue, s.asked))
		}
		if in(t.preemptor.queue, &t.place) {
			own.Add(t.reachOf(s))
		}
		elsewhere := len(s.asked) == 0 && s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue
		for name, at := range t.evaluator.places {
			if elsewhere || len(s.asked) == 0 {
				break
			}
			elsewhere = name != t.preemptor.queue && in(name, &at)
		}
		if elsewhere {
			others.Add(t.reachOf(s))
		}
	}
	return own, others
}

// asksFor returns traits of which the selector accepts only workloads with one; none if it asks
// for no trait.
func (s *selector) asksFor() []Trait {
	for list := range LabelsAsked(s.LabelSelector) {
		return list
	}
	var list []Trait
	for _, name := range slices.Compact(slices.Clone(s.classes.match)) {
		list = append(list, Trait{Value: name})
	}
	return list
}
