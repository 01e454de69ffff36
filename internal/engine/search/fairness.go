package search

// Strategy is a test that a victim of another queue must pass in fair sharing. Both
// compare the shares of the two children of the lowest common cohort: that on the
// preemptor's side with the request, and that on the victim's.
type Strategy uint8

const (
	// FinalShare: the preemptor's share is at most the victim's without the victim.
	FinalShare Strategy = 1 + iota
	// InitialShare: the preemptor's share is less than the victim's with the victim.
	InitialShare
)

// Fairness is the configuration of fair sharing. The zero value is none.
type Fairness struct {
	First, Second Strategy // Second may be none
	// EntitlesNominal: a preemptor that stays within its nominal quota needs no
	// strategy.
	EntitlesNominal bool
	// Recheck the strategies before a victim is put back.
	Recheck bool
}

// Enabled reports whether sharing is fair.
func (f *Fairness) Enabled() bool { return f.First != 0 }

// Has reports whether a strategy is configured.
func (f *Fairness) Has(t Strategy) bool { return f.First == t || f.Second == t }
