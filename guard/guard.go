// Package guard has the verdict of a guard: a rule of the caller's own on who may be
// preempted, as a checkpoint in progress or a pinned job. Guards on workloads are a
// preemption.Guard, those on pods a placement.Guard.
package guard

import "time"

// Verdict says whether something that runs may yield, and when. The zero value lets it
// yield now.
type Verdict struct {
	until time.Time
	never bool
}

// MayYield lets it yield now.
func MayYield() Verdict { return Verdict{} }

// ProtectedUntil lets it yield strictly after the time. The zero time protects nobody.
func ProtectedUntil(t time.Time) Verdict { return Verdict{until: t} }

// NeverYields lets it never yield.
func NeverYields() Verdict { return Verdict{never: true} }

// Until returns the last instant at which it is protected; ok is false when it never is,
// or always.
func (v Verdict) Until() (t time.Time, ok bool) { return v.until, !v.never && !v.until.IsZero() }

// Never reports whether it may never yield.
func (v Verdict) Never() bool { return v.never }
