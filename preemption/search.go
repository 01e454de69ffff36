package preemption

import (
	"cmp"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/best"
	"github.com/cedesched/cede/internal/engine/right"
)

// Search says how far victims are looked for. The zero value is [Greedy].
type Search uint8

const (
	// Greedy takes candidates in the documented order until the request fits, and puts back
	// those that are not needed, as Kueue does.
	Greedy Search = iota
	// Best looks for the best of all allowed sets; see [BestSearch].
	Best
)

// BestSearch configures [Best]. The zero value is valid.
//
// The search begins with Greedy's victims and improves them by exchanges: an exchange takes at most one
// candidate more and puts back one or two victims, if the set stays allowed and is better by points 1 to 4
// below. Then it looks at all allowed sets by branch and bound, until one is proven to be the best or its steps are
// used up. The answer is never worse than Greedy's.
//
// A set of candidates is allowed if the request fits without it and there is an order of
// removal in which each of them is permitted when only those before it are gone: one of the
// own queue always; one of another queue as long as its queue, and each cohort below the
// common one, still borrows something that needs preemption. In fair sharing they must still
// borrow anything and, unless the preemptor stays within its nominal quota, one of the
// strategies must hold at that step: a victim that justifies another one stays. The attempts of Greedy
// count together: what one of them permits is allowed. And the set must be within [Config.Limits].
//
// The best allowed set, in this order:
//
//  1. has no more victims of any priority and above than Greedy's (in fair sharing, than those of
//     a Greedy that keeps a victim that justifies another), by each right ([VictimReason]); if Greedy finds no victims, or no allowed set keeps to this, there is no such limit;
//  2. loses least by [Config.Cost], if there is one;
//  3. has the fewest victims, with FewestFirst before the second point;
//  4. has the fewest workloads that yield as a whole, then the fewest replicas of others; replicas
//     that are leaving already do not count, but the fewest pod sets have some of them;
//  5. comes first: of two sets, the one with the earlier candidate where they differ first,
//     both in the order of candidates.
//
// Who is best in the last point is looked for with a limited effort, and the set that is found
// need not be the first.
//
// Steps, not time, are the limit, so the same question has the same answer on every machine, and any question has an
// answer. When they are used up it is the best set so far, and [Decision.Proof] says how far it may be from the best. If
// no set was found, Wait and Impossible mean that no allowed set exists at Now, if Proof says Optimal.
// RetryAt is never too late: a trial of another instant that uses up the steps counts as one that
// may succeed.
type BestSearch struct {
	// Steps limits the steps of a decision, and of each trial of another instant. A step is a node of the search
	// tree, or 64 looks at candidates and victims beside. Zero is 200,000. Negative: exchanges alone improve
	// Greedy's victims. Then a request that Greedy refuses is refused, and there is no Proof; the exchanges end if
	// none is left, with hundreds of victims after a fixed number of looks.
	//
	// The candidates are limited, too: so many that, times the columns of each cohort above the queue and the
	// priorities of Greedy's victims, they are at most 262,144. Of more the first in order are searched, and the
	// Proof is not Optimal, with LowerBound zero. Where Greedy's victims are more than half of that, they stay.
	Steps int
	// Candidates limits the candidates that exchanges alone take: they are the first so many in the
	// order of candidates, and twice as many more as Greedy takes before it puts any back. Zero
	// is 8. Negative is an error, and any unless Steps is negative.
	Candidates int
	// FewestFirst puts the number of victims before what they lose; without a cost it changes
	// nothing.
	FewestFirst bool
}

const (
	defaultSteps      = 200_000
	defaultCandidates = 8
)

// Proof says how good a decision by the [Best] search is.
type Proof struct {
	// Optimal: no allowed set is better in points 1 to 4 of [BestSearch]. If there are no
	// victims: no allowed set exists.
	Optimal bool `json:"optimal,omitzero"`
	// Value is what the victims lose by [Config.Cost]; their number, if there is no cost or
	// with [BestSearch.FewestFirst]. LowerBound is the least that any allowed set has, and
	// the difference is the gap. Both are zero without victims.
	Value      int64 `json:"value,omitzero"`
	LowerBound int64 `json:"lowerBound,omitzero"`
	// Steps is the number of steps that it took.
	Steps int `json:"steps,omitzero"`
}

func (c *Config) validateSearch(faults *fault.List) {
	if !searchNames.Valid(c.Search) {
		faults.Add("config.Search", "%v is unknown", c.Search)
	}
	if c.Search != Greedy && (c.Sharing == Reevaluated || c.Sharing == KAI) {
		faults.Add("config.Sharing", "is %v, but the search is %v", c.Sharing, c.Search)
	}
	if c.Search != Best && c.Best != (BestSearch{}) {
		faults.Add("config.Best", "is set, but the search is %v", c.Search)
	}
	switch {
	case c.Best.Candidates < 0:
		faults.Add("config.Best.Candidates", "%d is negative", c.Best.Candidates)
	case c.Best.Candidates > 0 && c.Best.Steps >= 0:
		faults.Add("config.Best.Candidates", "is set, but exchanges are not alone: Steps is not negative")
	}
}

// enterSearch puts the configuration of the search into dense form.
func (c *Config) enterSearch(d *right.Request) {
	d.Better = right.Better{
		Best: c.Search == Best, Steps: cmp.Or(c.Best.Steps, defaultSteps),
		Candidates: cmp.Or(c.Best.Candidates, defaultCandidates), FewestFirst: c.Best.FewestFirst,
	}
}

func proofOf(p *best.Proof, found bool) *Proof {
	out := &Proof{Optimal: p.Optimal, Steps: p.Steps}
	if found {
		out.Value, out.LowerBound = p.Lost, p.Bound
	}
	return out
}
