package decide

import "github.com/cedesched/cede/internal/engine/search"

// Failures knows searches for an amount of one column alone, in the same cluster, that found no victims at an instant.
type Failures interface {
	// Failed returns what such a search found short, if anything, in slot 0; ok is false if it is not known.
	Failed(column int, amount, now int64) (short []search.Shortage, ok bool)
}

// failedAlone reports whether the search is known to find no victims: preemption is needed in one column, for which alone none were
// found, and the other columns of the request count in no share. It notes what is short. By policies the request could also have
// to stay nominal in the other columns, so that is not known.
func (s *Searcher) failedAlone() bool {
	core := &s.search
	r := core.Request
	if s.Failures == nil || s.rules != nil || r.Rules.Alone || r.Room != nil || r.Limits != nil || r.Better.Best || r.Trace != nil ||
		!r.Fair.Enabled() || r.Fair.Stable {
		return false
	}
	only := -1
	for slot, needed := range core.Needs {
		if needed && only >= 0 {
			return false
		}
		if needed {
			only = slot
		}
	}
	if only < 0 {
		return false
	}
	short, ok := s.Failures.Failed(r.Columns[only], r.Amounts[only], core.Now)
	if !ok || core.OthersBorrow(only) {
		return false
	}
	core.CollectLevels()
	for _, sh := range short {
		sh.Slot = only
		core.WhyNot.Shortages = append(core.WhyNot.Shortages, sh)
	}
	return true
}
