package preemption

import (
	"iter"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// Queue returns a copy of the configuration of a queue; ok is false for an unknown queue.
func (s *Snapshot) Queue(name string) (q queue.Queue, ok bool) {
	c := s.inside()
	node, ok := c.QueueNode(name)
	if !ok {
		return queue.Queue{}, false
	}
	return c.Queue(node).Clone(), true
}

// Cohort returns a copy of the configuration of a cohort; ok is false for an unknown cohort.
func (s *Snapshot) Cohort(name string) (co queue.Cohort, ok bool) {
	c := s.inside()
	node, ok := c.CohortNode(name)
	if !ok {
		return queue.Cohort{}, false
	}
	return c.Cohorts[node].Clone(), true
}

// Find returns a copy of the facts of a workload that holds quota; ok is false if there is
// none with that ID.
func (s *Snapshot) Find(id string) (w workload.Workload, ok bool) {
	found, ok := s.inside().Find(id)
	if !ok {
		return workload.Workload{}, false
	}
	return found.Clone(), true
}

// Cohorts iterates over copies of the configurations of cohorts, by name.
func (s *Snapshot) Cohorts() iter.Seq[queue.Cohort] {
	return func(yield func(queue.Cohort) bool) {
		for _, co := range s.inside().Cohorts {
			if !yield(co.Clone()) {
				return
			}
		}
	}
}

// Queues iterates over copies of the configurations of queues, by name.
func (s *Snapshot) Queues() iter.Seq[queue.Queue] {
	return func(yield func(queue.Queue) bool) {
		for _, q := range s.inside().Queues {
			if !yield(q.Clone()) {
				return
			}
		}
	}
}

// Flavors returns what the snapshot knows about flavors, as the state gave it.
func (s *Snapshot) Flavors() []queue.Flavor { return clones(s.flavors(), (*queue.Flavor).Clone) }

// Workloads iterates over copies of the workloads that hold quota, by ID. Each is copied when
// its turn comes: a loop that breaks copies no more. Sorting takes a pointer a workload.
func (s *Snapshot) Workloads() iter.Seq[workload.Workload] {
	return func(yield func(workload.Workload) bool) {
		for _, w := range s.inside().All() {
			if !yield(w.Clone()) {
				return
			}
		}
	}
}

// Terminating returns the IDs, sorted, of the workloads that were told to stop and still hold
// their quota. It costs O(queues + such workloads).
func (s *Snapshot) Terminating() []string {
	c := s.inside()
	var ids []string
	for i := range c.Queues {
		running := c.Running(len(c.Cohorts) + i)
		for _, lane := range [...]cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved} {
			var cursor cluster.LaneCursor
			for cursor.First(*running.Lane(lane)); ; cursor.Next() {
				w, ok := cursor.Item()
				if !ok {
					break
				}
				if w.Leaving == 0 {
					ids = append(ids, w.Facts.ID)
				}
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// Removals returns the edits that remove everything that was told to stop: terminating
// workloads and replicas. With these edits a snapshot shows the room that will become
// free, as an admission cycle reads it. It costs the same as [Snapshot.Terminating].
func (s *Snapshot) Removals() []Edit {
	var edits []Edit
	for _, id := range s.Terminating() {
		edits = append(edits, Remove(id))
	}
	for _, w := range s.inside().Terminating() {
		var gone []Replicas
		for _, p := range w.PodSets {
			if p.Terminating > 0 {
				gone = append(gone, Replicas{PodSet: p.Name, Count: p.Terminating})
			}
		}
		if len(gone) > 0 {
			edits = append(edits, Remove(w.Facts.ID, gone...))
		}
	}
	return edits
}

// RuleVerdicts returns a function that judges a running workload by the rules with a trigger of a preemptor's queue.
// It returns one verdict for each selector of the rules that serve the preemptor, in their order; none if the queue
// has no such rules or the queue of the workload is unknown. The preemptor waits: its ReservedAt has no meaning. Its
// labels must stay as they are. Times are judged at now, and the trigger has been observed since a time (zero: since
// now). Constraints on quota count as met. RuleVerdicts fails with [Faults] of the bad selectors, which leave
// the trigger without candidates, and for an unknown queue of the preemptor (KEP-13396).
func (s *Snapshot) RuleVerdicts(trigger rules.Trigger, preemptor workload.Workload) (func(running workload.Workload, now, since time.Time) []rules.Verdict, error) {
	asks := Request{Workload: preemptor}
	preemptor = asks.waiting()
	tier, err := s.evaluator().Tier(trigger, &preemptor)
	if err != nil {
		return nil, err
	}
	return func(running workload.Workload, now, since time.Time) []rules.Verdict {
		return tier.Verdicts(&running, selectors.Moment{Now: now, Since: since, Quota: selectors.AllQuota()})
	}, nil
}

// RulesReadMore reports whether rules of a queue read local queues, the creation or the triggers of
// a preemptor: then two waiting workloads that differ in them are not alike; see
// [queue.Pending.AlikeBy].
func (s *Snapshot) RulesReadMore(queue string) bool { return s.evaluator().ReadsMore(queue) }

// HasRules reports whether a queue refers to rules that there are.
func (s *Snapshot) HasRules(queue string) bool { return s.evaluator().Has(queue) }

// Rules returns a copy of the rules with the name; ok is false if there are none.
func (s *Snapshot) Rules(name string) (c rules.Config, ok bool) { return s.evaluator().Config(name) }
