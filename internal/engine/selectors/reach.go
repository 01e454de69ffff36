package selectors

import "github.com/cedesched/cede/queue/rules"

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

// Reach is whom selectors may accept by their scope and their constraints on quota, whatever else they ask for.
type Reach struct {
	Own      bool // workloads of the own queue: no constraint on quota holds there
	Others   bool // workloads of other queues
	Anywhere bool // these by a selector without a constraint on quota
}

// Reaches returns whom the selectors that serve the preemptor may accept.
func (t *Tier) Reaches() (r Reach) {
	if t.served == 0 {
		return r
	}
	for i := range t.of.entries {
		s := &t.of.entries[i]
		if !t.serves.has(s.rule) {
			continue
		}
		free := s.Quota == ""
		r.Own = r.Own || free && t.selectsQueue(s, t.preemptor.queue, &t.place)
		if s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue {
			r.Others, r.Anywhere = true, r.Anywhere || free
		}
	}
	return r
}
