package rules

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/workload"
)

// State is the state of a search by rules: what runs, without those taken so far.
type State interface {
	// QuotaFits reports whether the quota suffices for the preemptor. Fits reports whether, in
	// addition, it has a place.
	QuotaFits() bool
	Fits() bool
	// Take removes a candidate with its quota and its place. It must not change the candidate.
	Take(candidate *workload.Workload)
}

// Running is a workload that runs. The zero value is not valid.
type Running struct {
	*workload.Workload
	// NodesOnly says that the workload uses no quota that the preemptor needs, but holds nodes
	// on which the preemptor could be placed: InsufficientQuota does not take it.
	NodesOnly bool
}

// Candidate is a running workload that rules accept.
type Candidate struct {
	// Workload is one of those that Find was given.
	Workload *workload.Workload
	// Trigger is that of the tier that took it, and Matches are the selectors of that tier that
	// accept it. Selectors of other tiers are not listed, as in Kueue.
	Trigger Trigger
	Matches []Match
	// Tier is the tier; [Tier.Cause] tells the matches in words.
	Tier *Tier
}

// Find takes candidates for a preemptor, one after the other, until it fits. It returns those
// taken, in the order of taking, and whether the preemptor fits without them. If it fits at
// first, nobody is taken. Find is given the running workloads that use a flavor and resource
// that needs preemption, or hold nodes of the flavor. Each is taken at most once, as a whole.
// The preemptor itself is not taken, nor one that never yields, unless it is being evicted.
//
// Tiers come in the order of [Triggers]. InsufficientQuota is passed over if the quota
// suffices without those taken so far, and QuotaFeasibleAndInsufficientTopology if it does
// not. In a tier those come first that are being evicted; then those of other queues; then
// lower effective priority, later reservation (one that is not known is the latest), UID, ID.
//
// If [Evaluator.Tier] fails for a tier that is not passed over, Find returns those taken in
// earlier tiers with that error. It puts nobody back: that is up to the caller.
func (e *Evaluator) Find(preemptor *workload.Workload, running []Running, s State) (taken []Candidate, fits bool, err error) {
	if s.Fits() {
		return nil, true, nil
	}
	order := slices.DeleteFunc(slices.Clone(running), func(w Running) bool {
		return w.ID == preemptor.ID || w.NeverYields && !w.Evicted
	})
	slices.SortStableFunc(order, func(a, b Running) int { return compare(a.Workload, b.Workload, preemptor.Queue) })
	gone := make([]bool, len(order))
	for _, trigger := range Triggers() {
		if trigger != Always && s.QuotaFits() == (trigger == InsufficientQuota) {
			continue
		}
		tier, err := e.Tier(trigger, preemptor)
		if err != nil {
			return taken, false, err
		}
		for i, w := range order {
			if gone[i] || w.NodesOnly && trigger == InsufficientQuota {
				continue
			}
			matches := tier.Select(w.Workload)
			if len(matches) == 0 {
				continue
			}
			gone[i] = true
			s.Take(w.Workload)
			taken = append(taken, Candidate{w.Workload, trigger, matches, tier})
			if s.Fits() {
				return taken, true, nil
			}
		}
	}
	return taken, false, nil
}

// compare is the order in a tier.
func compare(a, b *workload.Workload, own string) int {
	return cmp.Or(
		first(a.Evicted, b.Evicted), first(a.Queue != own, b.Queue != own),
		cmp.Compare(a.EffectivePriority(), b.EffectivePriority()),
		workload.CompareQueued(b.ReservedAt, a.ReservedAt),
		cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID),
	)
}

// first orders what is so before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
