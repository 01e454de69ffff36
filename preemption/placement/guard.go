package placement

import (
	"math"

	"github.com/cedesched/cede/guard"
	"github.com/cedesched/cede/internal/base/instant"
)

// Guard is a caller's own rule on who may yield: a checkpoint in progress, a pinned job. It
// is asked about units that are of lower priority. The verdicts of all rules are AND-ed: one
// that says no is enough, and the latest time wins.
//
// The laws, which preemptiontest.CheckPlacementGuard checks:
//
//  1. The verdict depends on the unit and the request alone, and always comes out the same
//     for them.
//  2. It does not depend on Request.Now. Time enters only as the time that it gives, else
//     RetryAt would not be exact.
//  3. It changes neither the unit nor the request, and keeps nothing of them.
type Guard interface {
	Verdict(u Unit, r Request) guard.Verdict
}

// guard returns the last instant at which the guards protect a unit, instant.Unset when they
// do not, math.MaxInt64 when they always do.
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
