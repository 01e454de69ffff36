package placement

import (
	"math"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
)

// Guard is a rule of the caller about who may yield: a checkpoint in progress, a pinned job. It is asked about units
// of lower priority. The verdicts of all rules are combined: one that says never is enough, and the latest end wins.
//
// A guard must keep these laws, which preemptiontest.CheckPlacementGuard checks:
//
//  1. The verdict depends on the unit and the request alone: equal arguments give equal
//     verdicts.
//  2. The verdict does not depend on Request.Now. Time enters only as the end that the
//     verdict names; otherwise RetryAt would not be exact.
//  3. The guard changes neither the unit nor the request, and keeps no reference to
//     them.
type Guard interface {
	Verdict(u Unit, r Request) preemption.Verdict
}

// guard returns the last instant at which the guards protect a unit; instant.Unset if they do not; math.MaxInt64 if
// they always do.
func (c *Config) guard(u Unit, r *Request) int64 {
	latest := instant.Unset
	for _, g := range c.Guards {
		v := g.Verdict(u, *r)
		until, timed := v.Until()
		switch {
		case v.Never(), timed && !instant.Valid(until) && until.After(r.Now):
			return math.MaxInt64
		case timed && instant.Valid(until):
			latest = max(latest, instant.Of(until))
		}
	}
	return latest
}
