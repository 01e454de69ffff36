// Package decide puts a decision together: the core of the search (package search), whose
// turn it is in fair sharing (fair), and at which instant it would succeed (when).
package decide

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/fair"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/when"
)

// Searcher decides about requests, one at a time. The zero value is ready; it may be used
// again, by one goroutine at a time.
type Searcher struct {
	search search.Search
	fair   fair.Sharing
	when   when.Finder
	// shortages is those of the decision itself; trials of other instants have their own.
	shortages []search.Shortage
}

// Result is what a search found. Its slices belong to the searcher and are valid
// until its next use.
type Result struct {
	// Fits: no victim is needed.
	Fits bool
	// Victims is empty when the request fits, or cannot.
	Victims []search.Victim
	// BorrowHeight is that of the request with the victims gone.
	BorrowHeight int
	// Shortages and Blockers are there when the request does not fit and has no
	// victims.
	Shortages []search.Shortage
	Blockers  []search.Blocker
	// NoRoom: with everybody gone who may yield the quota would do, but not the room.
	NoRoom bool
	// RetryAt is, where Waits is true, the first instant at which time alone makes
	// the request possible.
	RetryAt int64
	Waits   bool
	// Steps counts the workloads that were looked at.
	Steps int
}

// Search decides about a request. At most maxBlockers blockers are listed.
func (s *Searcher) Search(c *cluster.Cluster, r *search.Request, maxBlockers int) Result {
	core := &s.search
	core.Begin(c, r)
	var result Result
	switch {
	case core.FitsAtFirst():
		result.Fits = true
	case s.findVictims():
		result.Victims = core.Taken
		core.PutRoomBack()
	default:
		s.explain(&result, maxBlockers)
		result.RetryAt, result.Waits = s.when.RetryAt(core, s.succeeds)
	}
	result.BorrowHeight = core.BorrowHeight()
	result.Steps = core.Steps
	core.End()
	return result
}

// NextChange returns the first instant after now at which the outcome of Search may be
// another than now, with nothing but time changed; ok is false when there is none.
func (s *Searcher) NextChange(c *cluster.Cluster, r *search.Request) (at int64, ok bool) {
	s.search.Begin(c, r)
	at, ok = s.when.NextChange(&s.search)
	s.search.End()
	return at, ok
}

// findVictims looks for victims, where configured a second time with the largest first.
func (s *Searcher) findVictims() bool {
	return s.findInOrder(false) || s.search.Request.LargestFirst && s.findInOrder(true)
}

func (s *Searcher) findInOrder(largestFirst bool) bool {
	core := &s.search
	core.CollectLevels()
	switch {
	case core.OverPotential():
		core.NoteHopeless()
		return false
	case core.Request.Fair.Enabled():
		return s.fair.Find(core, largestFirst)
	}
	return core.Find(largestFirst)
}

// succeeds reports whether there are victims at the Now of the search. It leaves no trace.
func (s *Searcher) succeeds() bool {
	found := s.findVictims()
	s.search.PutAllBack()
	return found
}

// explain says why the request does not fit. Where in some attempt the quota was enough,
// nothing is short but room.
func (s *Searcher) explain(result *Result, maxBlockers int) {
	why := &s.search.WhyNot
	if why.NoRoom {
		why.Shortages = why.Shortages[:0]
	}
	result.Blockers = s.search.FindBlockers(maxBlockers)
	s.shortages = append(s.shortages[:0], why.Shortages...)
	result.Shortages, result.NoRoom = s.shortages, why.NoRoom
}
