package workers

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
)

// Design asks what a manager by the design does, in place of Kueue 0.19's.
type Design struct {
	Order gate.ReplicaOrder
	Grace time.Duration
	// Prefer are workers, the most preferred first, for the order Preference. The others come after them, by name.
	Prefer []string
}

// config is by whose rules gates are opened.
func (q *Question) config() gate.Config {
	if q.Design == nil {
		return gate.Config{Rules: gate.Kueue019, Timeout: q.Timeout}
	}
	return gate.Config{Timeout: q.Timeout, Order: q.Design.Order, Grace: q.Design.Grace}
}

// turnsIn are the turns of the workers in one world.
func (q *Question) turnsIn(world []fact) []gate.Turn {
	turns, err := gate.Turns(q.config(), q.Now, q.replicas(world))
	if err != nil {
		return nil
	}
	return turns
}

// turns are the turns of the workers, as far as all is known.
func (q *Question) turns() []gate.Turn { return q.turnsIn(q.first()) }

// first is the first world: all that is known, and the most likely of the rest.
func (q *Question) first() (world []fact) {
	for i := range q.Workers {
		world = append(world, q.Workers[i].facts(q.Now)[0])
	}
	return world
}

// replicas are the copies in one world, as an orchestrator sees them.
func (q *Question) replicas(world []fact) (list []gate.Replica) {
	for i := range q.Workers {
		if w := &q.Workers[i]; w.Copy != nil && w.Unread == "" {
			r := q.replica(w, world[i].gates, world[i].outcome == Waits)
			r.Lost = world[i].lost
			list = append(list, r)
		}
	}
	q.prefer(list)
	return list
}

// replica is one copy with these gates, as an orchestrator sees it.
func (q *Question) replica(w *Worker, gates gate.Gates, waits bool) gate.Replica {
	r := w.Copy.Replica(w.Name)
	r.Gates, r.Offer = gates, w.Offer
	switch {
	case r.Progress == gate.Reserved:
	case waits:
		r.Progress, r.Since = gate.Preempting, w.told(q.Now)
	case r.Progress == gate.Preempting:
		r.Progress = gate.Pending
	}
	if q.early(w) && r.Evicted.Before(q.Manager.Reserved.LastTransitionTime) {
		r.Evicted = q.Manager.Reserved.LastTransitionTime
	}
	return r
}

// prefer sorts replicas by the preference of who asks.
func (q *Question) prefer(list []gate.Replica) {
	if q.Design == nil {
		return
	}
	place := func(name string) int {
		if at := slices.Index(q.Design.Prefer, name); at >= 0 {
			return at
		}
		return len(q.Design.Prefer)
	}
	slices.SortStableFunc(list, func(a, b gate.Replica) int { return cmp.Compare(place(a.Name), place(b.Name)) })
}
