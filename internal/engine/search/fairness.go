package search

import "github.com/cedesched/cede/internal/engine/usage"

// Strategy is a test that a victim of another queue must pass in fair sharing. Both
// strategies compare the shares of two children of the lowest common cohort: the child on the
// preemptor's side, with the request, and the child on the victim's side.
type Strategy uint8

const (
	// FinalShare: the preemptor's share is at most that of the victim's side without the
	// victim.
	FinalShare Strategy = 1 + iota
	// InitialShare: the preemptor's share is less than that of the victim's side with the
	// victim.
	InitialShare
)

// Fairness configures fair sharing. The zero value is classical sharing.
type Fairness struct {
	First, Second Strategy // Second may be none
	// EntitlesNominal: a preemptor that stays within its nominal quota needs no strategy.
	EntitlesNominal bool
	// Recheck asks the strategies again before a victim is put back.
	Recheck bool
	// Reevaluate runs the first strategy once more, after victims of the own queue, over those
	// that it refused.
	Reevaluate bool
	// Stable refuses victims that might take their place back; see stability.
	Stable bool
}

// Enabled reports whether sharing is fair.
func (f *Fairness) Enabled() bool { return f.First != 0 }

// Entitled reports whether the preemptor, whose request must be counted in the usage, needs no
// strategy: it stays within its nominal quota in what needs preemption; with Stable, in
// everything.
func (s *Search) Entitled() bool {
	switch q := s.Request.Queue; {
	case !s.Request.Fair.EntitlesNominal:
		return false
	case s.Request.Fair.Stable:
		return s.borrowsNothing()
	default:
		return s.View.WithinNominal(q, s.Needs)
	}
}

// borrowsNothing reports whether the queue stays within its nominal quota in all of which its tree has a
// quota, and in all that is asked.
func (s *Search) borrowsNothing() bool {
	for slot, c := range s.View.Cells(s.Request.Queue) {
		if !c.WithinNominal(c.Used(usage.Victims)) && (slot >= len(s.Request.Amounts) || s.Request.Amounts[slot] > 0 || s.hasQuota(s.Request.Columns[slot])) {
			return false
		}
	}
	return true
}

// hasQuota reports whether the tree of the queue has a quota of a column.
func (s *Search) hasQuota(column int) bool {
	for of := range s.Cluster.Tree.EachColumn(s.Cluster.Tree.Root(s.Request.Queue)) {
		if of == column {
			return true
		}
	}
	return false
}

// Has reports whether a strategy is configured.
func (f *Fairness) Has(t Strategy) bool { return f.First == t || f.Second == t }
