package nodes

import (
	"math"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// never is the end of a protection without end.
const never = math.MaxInt64

// kindOf returns which minimum runtimes count for a unit: against reclaims, if the request is of another
// queue. All pods of a unit are of one queue.
func (s *Searcher) kindOf(u *Unit) int {
	if queue := u.Pods[0].queue; queue != s.r.Queue && queue != "" && s.r.Queue != "" {
		return reclaiming
	}
	return preempting
}

// runtimeUntil returns the last instant at which minimum runtimes protect a unit: the latest
// of all its pods; Unset if they do not. Pods without a minimum runtime have the default.
func (s *Searcher) runtimeUntil(u *Unit) int64 {
	kind := s.kindOf(u)
	if minimum := s.config.MinRuntime[kind]; minimum > 0 && u.latest[kind] != instant.Unset {
		return max(u.until[kind], quota.Add(u.latest[kind], minimum))
	}
	return u.until[kind]
}

// anyMinimums reports whether some minimum runtime may protect a unit.
func (s *Searcher) anyMinimums() bool {
	minimum := &s.config.MinRuntime
	return s.c.minimums > 0 || minimum[preempting] > 0 || minimum[reclaiming] > 0 && s.r.Queue != ""
}

// guardUntil returns the last instant at which a guard protects a unit. The guard is asked
// once for each unit.
func (s *Searcher) guardUntil(u *Unit) int64 {
	if s.r.Guard == nil {
		return instant.Unset
	}
	until, known := s.guarded[u]
	if !known {
		until = s.r.Guard(u)
		s.guarded[u] = until
	}
	return until
}

// protected reports whether a minimum runtime or a guard protects a unit now. Strictly after
// the end it may yield.
func (s *Searcher) protected(u *Unit) bool {
	until := s.runtimeUntil(u)
	return until != instant.Unset && until >= s.time || s.isGuarded(u)
}

func (s *Searcher) isGuarded(u *Unit) bool {
	until := s.guardUntil(u)
	return until != instant.Unset && until >= s.time
}

// anyRules reports whether any rule besides the priority may keep a unit from yielding.
func (s *Searcher) anyRules() bool {
	return s.r.Guard != nil || s.anyStuck || s.anyMinimums()
}

// keptFor returns the rule that keeps a unit of lower priority from yielding now; zero if
// there is none.
func (s *Searcher) keptFor(u *Unit) (rule Rule, until int64) {
	switch {
	case s.asBuilt && s.hasStuck(u):
		return Terminating, never
	case s.runtimeUntil(u) != instant.Unset && s.runtimeUntil(u) >= s.time:
		return GuaranteedRuntime, s.runtimeUntil(u)
	case s.isGuarded(u):
		return Guarded, s.guardUntil(u)
	}
	return 0, 0
}

func (s *Searcher) hasStuck(u *Unit) bool {
	for _, p := range u.Pods {
		if s.stuck(p) {
			return true
		}
	}
	return false
}

// keepAll makes all units that may not yield now stay until the end, on all nodes.
func (s *Searcher) keepAll() {
	if !s.anyRules() {
		return
	}
	for _, n := range s.nodes {
		for _, p := range n.pods {
			if p.priority >= s.priority {
				continue
			}
			if u := s.unitOf(p); u != nil && !s.stays[u] {
				if rule, _ := s.keptFor(u); rule != 0 {
					s.stay(u)
				}
			}
		}
	}
}
