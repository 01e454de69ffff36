package why

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
)

// Asker looks for blockers after a search that found no victims. The zero value is ready. It may be
// reused, by one goroutine at a time.
type Asker struct {
	*search.Search
	list []Blocker
	most int
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
