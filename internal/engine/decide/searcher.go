package decide

import (
	"github.com/cedesched/cede/internal/engine/best"
	"github.com/cedesched/cede/internal/engine/fair"
	"github.com/cedesched/cede/internal/engine/reclaim"
	"github.com/cedesched/cede/internal/engine/rules"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/when"
	"github.com/cedesched/cede/internal/engine/why"
)

// Searcher decides about requests, one at a time. The zero value is ready. It may be reused,
// by one goroutine at a time.
type Searcher struct {
	search   search.Search
	fair     fair.Sharing
	byShares reclaim.Taker
	when     when.Finder
	best     best.Solver
	why      why.Asker
	// rules take victims after those of the policies, if these are not enough; nil: there are none.
	rules *rules.Taker
	// shortages are those of the decision; trials of other instants have their own.
	shortages []search.Shortage
	// Failures are of searches about the same request; nil: there are none.
	Failures Failures
}

// takeAll takes every candidate that an attempt with borrowing permits.
func (s *Searcher) takeAll() {
	if m := (source.Mode{Borrowing: true, All: true}); s.search.Request.Fair.Enabled() {
		s.fair.Find(&s.search, m)
	} else {
		s.search.Attempt(m)
	}
}
