package preemption

import (
	"math"

	"github.com/cedesched/cede/guard"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/workload"
)

// Guard is a caller's own rule: a checkpoint in progress, a pinned job. It is asked last:
// about running workloads that use what needs preemption and that the policies and the
// minimum runtimes would let go, now or, for Decision.RetryAt, later; in any way of losing
// resources, surplus replicas included. The verdicts of all rules are AND-ed: one that
// says no is enough, and the latest time wins.
//
// The laws, which preemptiontest.CheckGuard checks:
//
//  1. The verdict depends on the workload and the request alone, and always comes out the
//     same for them.
//  2. It does not depend on Request.Now. Time enters only as the time that it gives, else
//     RetryAt would not be exact.
//  3. It changes neither the workload nor the request, and keeps nothing of them.
type Guard interface {
	Verdict(running workload.Workload, r Request) guard.Verdict
}

// guard turns the guards into the verdict of the search: the last instant at which a
// workload is protected, instant.Unset when it is not, math.MaxInt64 when it always is.
func (c *Config) guard(r *Request) func(*cluster.Workload) int64 {
	if len(c.Guards) == 0 {
		return nil
	}
	request := *r // so that a request without guards is not moved to the heap
	return func(w *cluster.Workload) int64 {
		latest := instant.Unset
		for _, g := range c.Guards {
			v := g.Verdict(w.Workload(), request)
			until, timed := v.Until()
			switch {
			case v.Never(), timed && !instant.Valid(until) && until.After(request.Now):
				return math.MaxInt64
			case timed && instant.Valid(until):
				latest = max(latest, instant.Of(until))
			}
		}
		return latest
	}
}
