package why

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Asker looks for blockers after a search that found no victims. The zero value is ready. It may be
// reused, by one goroutine at a time.
type Asker struct {
	*search.Search
	// Rules are those of the preemptor's queue; nil: it has none.
	Rules Rules
	list  []Blocker
	most  int
}

// Rules judge by the rules of the preemptor's queue.
type Rules interface {
	// Verdict returns the verdict on a workload of a queue that some rule accepts now; ok is false if none does.
	Verdict(s *search.Search, queue int, w *cluster.Workload) (v right.Verdict, ok bool)
}

// firstKeptFromRules returns the first workload of a queue that some rule accepts, and that something else keeps.
func (a *Asker) firstKeptFromRules(q int) (first *cluster.Workload, kept right.Verdict) {
	if a.Rules == nil {
		return nil, kept
	}
	running := a.Cluster.Running(q)
	of := a.DonorOfRules(q, a.Common(q))
	first = source.FirstUser(&a.Case, func(lane cluster.Lane) *cluster.Workload {
		if lane.Yields() && of.Minimum < 0 && a.Request.Guard == nil {
			return nil // nothing keeps them
		}
		var cursor cluster.LaneCursor
		for cursor.First(*running.Lane(lane)); ; cursor.NextIn(a.short) {
			w, ok := cursor.Item()
			if !ok {
				return nil
			}
			if a.Steps++; !a.short(w.Loads) {
				continue
			}
			if v, accepted := a.Rules.Verdict(a.Search, q, w); accepted && !v.MayYield() {
				return w
			}
		}
	})
	if first != nil {
		if kept, _ = a.Rules.Verdict(a.Search, q, first); kept.Rule == trace.NeverYields {
			kept.Until = 0
		}
	}
	return first, kept
}

// short reports whether loads use anything of what is short.
func (a *Asker) short(loads []quotatree.Load) bool {
	for _, sh := range a.WhyNot.Shortages {
		if quotatree.AmountIn(loads, a.Request.Columns[sh.Slot]) > 0 {
			return true
		}
	}
	return false
}

// Blocker is a queue, or a whole cohort, that uses what is short and may not be preempted
// from.
type Blocker struct {
	right.Verdict                   // for rules of time with Until and SetBy
	Node          int               // a cohort, for WithinNominal only
	Workload      *cluster.Workload // the first workload that the rule keeps; nil for WithinNominal and QueueInactive
}
