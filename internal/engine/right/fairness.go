package right

import (
	"github.com/cedesched/cede/quota"
)

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

// Permits is the test: ours is the preemptor's share with the request, before and after are
// the shares of the victim's side with and without the victim.
func (s Strategy) Permits(ours, before, after quota.Share) bool {
	if s == FinalShare {
		return ours.Compare(after) <= 0
	}
	return ours.Compare(before) < 0
}

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
	// Stable refuses victims that might take their place back; see stable.go.
	Stable bool
}

// Enabled reports whether sharing is fair.
func (f *Fairness) Enabled() bool { return f.First != 0 }

// Has reports whether a strategy is configured.
func (f *Fairness) Has(t Strategy) bool { return f.First == t || f.Second == t }

// SharesDecide reports whether shares, of one kind or the other, decide whose workloads of other queues yield.
func (r *Request) SharesDecide() bool { return r.Fair.Enabled() || r.Entitled != nil }
