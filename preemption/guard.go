package preemption

import (
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/workload"
)

// Guard is a rule of the caller: a checkpoint in progress, a pinned job. It is asked last,
// about running workloads that use what needs preemption and that the policies and minimum
// runtimes permit as victims, now or, for Decision.RetryAt, later. It is asked about surplus
// replicas, too. The verdicts of all rules are combined: one that says never is enough, and
// the latest end wins.
//
// A guard must keep these laws, which preemptiontest.CheckGuard checks:
//
//  1. The verdict depends on the workload and the request alone: equal arguments give
//     equal verdicts.
//  2. The verdict does not depend on Request.Now. Time enters only as the end that the
//     verdict names; otherwise RetryAt would not be exact.
//  3. The guard changes neither the workload nor the request, and keeps no reference to
//     them.
//
// For instance:
//
//	func (pinned) Verdict(running workload.Workload, r preemption.Request) preemption.Verdict {
//		if running.Labels["pinned"] == "true" {
//			return preemption.NeverYields()
//		}
//		return preemption.ProtectedUntil(running.ReservedAt.Add(10 * time.Minute))
//	}
type Guard interface {
	Verdict(running workload.Workload, r Request) Verdict
}

// Verdict says whether a running workload or pod may yield, and when. The zero value: it may
// yield now.
type Verdict struct {
	until time.Time
	never bool
}

// MayYield returns the verdict that it may yield now.
func MayYield() Verdict { return Verdict{} }

// ProtectedUntil returns the verdict that it may yield strictly after the time. The zero time
// protects no workload.
func ProtectedUntil(t time.Time) Verdict { return Verdict{until: t} }

// NeverYields returns the verdict that it may never yield.
func NeverYields() Verdict { return Verdict{never: true} }

// Until returns the last instant of a protection that ends; ok is false if there is none.
func (v Verdict) Until() (t time.Time, ok bool) { return v.until, !v.never && !v.until.IsZero() }

// Never reports whether it may never yield.
func (v Verdict) Never() bool { return v.never }

// guard turns the guards into the verdict of the search: the last instant at which a workload
// is protected; instant.Unset if it is not; math.MaxInt64 if it always is.
func (c *Config) guard(r *Request) func(*cluster.Workload) int64 {
	if len(c.Guards) == 0 {
		return nil
	}
	request := *r // so that a request is not moved to the heap if there are no guards
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
