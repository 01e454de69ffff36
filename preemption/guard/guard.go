// Package guard has the verdict of a guard. A guard is a rule of the caller about who may be
// preempted: a checkpoint in progress, a pinned job. It is asked after all rules of the library,
// and can only protect.
//
//	func (pinned) Verdict(running workload.Workload, r preemption.Request) guard.Verdict {
//		if running.Labels["pinned"] == "true" {
//			return guard.NeverYields()
//		}
//		return guard.ProtectedUntil(running.ReservedAt.Add(10 * time.Minute))
//	}
//
// preemption.Guard is for workloads, placement.Guard for units of pods. Give guards to the Config
// of a Preemptor. A verdict with an end lets the decision say when the request may be asked again
// (RetryAt); the end must not depend on the time of the request.
//
// The zero value of a [Verdict] is [MayYield]. There are no errors. The laws that a guard has to
// keep are checked by preemptiontest.CheckGuard.
package guard

import "time"

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
