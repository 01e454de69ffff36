package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
)

// donor is a queue in which a tier may accept workloads.
type donor struct {
	node int
	// common is the lowest cohort above it and the preemptor's queue, and side the child of that on the
	// way to the queue; -1 for the own queue and in other trees.
	common, side int
}

func donorAt(s *search.Search, node int) donor {
	d := donor{node, -1, -1}
	if node != s.Request.Queue {
		if d.common = s.Common(node); d.common >= 0 {
			d.side = s.Below(d.common, node)
		}
	}
	return d
}

// victim returns a workload of the queue as a victim of rules, which yields as a whole.
func (d *donor) victim(w *cluster.Workload) right.Victim {
	return right.Victim{Workload: w, Set: -1, Count: 1, Cohort: d.common, Side: d.side, Queue: d.node, ByRules: true}
}

// collect appends the donors of a tier to an empty list, by node. Where each selector has a constraint on
// quota, a queue gives only while it borrows what needs preemption.
func (t *tier) collect(s *search.Search, list []donor) []donor {
	for q := range s.Cluster.Queues {
		node, of := len(s.Cluster.Cohorts)+q, &s.Cluster.Queues[q]
		if of.Inactive {
			continue
		}
		any, free := t.rules.MayAcceptIn(of.Name)
		if free || any && node != s.Request.Queue && !s.View.WithinNominalAtFirst(node, s.Needs) {
			list = append(list, donorAt(s, node))
		}
	}
	return list
}
