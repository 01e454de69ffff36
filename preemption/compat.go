package preemption

// Compat lets decisions follow a version of Kueue that is not the newest one. The zero value follows none.
type Compat struct {
	// Kueue016 applies the strategies of fair sharing also to a preemptor that stays within its nominal
	// quota, as Kueue does up to 0.16, and later without the gate FairSharingPreemptWithinNominal.
	// [Stable] sharing excludes it.
	Kueue016 bool
}
