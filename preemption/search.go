package preemption

import (
	"cmp"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/exact"
	"github.com/cedesched/cede/internal/engine/right"
)

// Search says how far victims are looked for. The zero value is [Greedy].
type Search uint8

const (
	// Greedy takes candidates in the documented order until the request fits, and puts back
	// those that are not needed, as Kueue does.
	Greedy Search = iota
	// Exchange improves Greedy's victims by exchanges; see [ExchangeSearch].
	Exchange
	// Exact finds the best of all allowed sets by branch and bound; see [ExactSearch].
	Exact
)

// ExchangeSearch configures [Exchange]. The zero value is valid.
//
// The search begins with Greedy's victims. An exchange takes at most one candidate more and puts
// back one or two victims. It is made if the set stays allowed (see [ExactSearch]) and
//
//  1. no more victims of any priority and above yield, by each right, than Greedy's;
//  2. it is better by points 2 to 4 of [ExactSearch].
//
// The search ends if no exchange is left; with hundreds of victims it may end before, at a fixed
// number of exchanges. So the answer is never worse than Greedy's. A request that Greedy refuses
// is refused.
type ExchangeSearch struct {
	// MaxCandidates limits the candidates that exchanges take: they are the first so many in the
	// order of candidates, and twice as many more as Greedy takes before it puts any back. Zero
	// is 8; negative is an error.
	MaxCandidates int
	// FewestFirst puts the number of victims before what they lose; without a cost it changes
	// nothing.
	FewestFirst bool
}

// ExactSearch configures [Exact]. The zero value is valid.
//
// A set of candidates is allowed if the request fits without it and there is an order of
// removal in which each of them is permitted when only those before it are gone: one of the
// own queue always; one of another queue as long as its queue, and each cohort below the
// common one, still borrows something that needs preemption. In fair sharing they must still
// borrow anything and, unless the preemptor stays within its nominal quota, one of the
// strategies must hold at that step: a victim that justifies another one stays. And the set must be
// within [Config.Limits].
//
// The best allowed set, in this order:
//
//  1. has no more victims of any priority and above than Greedy's, by each right
//     ([VictimReason]); if Greedy finds no victims, there is no such limit;
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
// The search takes nodes, not time, as its limit, so the same question has the same answer on
// every machine. When the nodes are used up it returns the best set so far, which is never
// worse than Greedy's, and [Decision.Proof] says how far it may be from the best. If no set
// was found, Wait and Impossible mean that no allowed set exists at Now, if Proof says Optimal.
// RetryAt is never too late: a trial of another instant that uses up the nodes counts as one that
// may succeed.
type ExactSearch struct {
	// MaxNodes limits the nodes of a decision, and of each trial of another instant. To look for
	// orders of removal counts, too: a node for each 64 victims that are moved. Zero is 200,000;
	// negative is an error.
	MaxNodes int
	// FewestFirst puts the number of victims before what they lose.
	FewestFirst bool
	// IgnoreCaps drops the first point: fewer victims may have a higher priority, or yield by
	// another right. If no allowed set keeps the first point, it is dropped all the same.
	IgnoreCaps bool
}

const (
	defaultMaxCandidates = 8
	defaultMaxNodes      = 200_000
)

// Proof says how good a decision by the [Exact] search is.
type Proof struct {
	// Optimal: no allowed set is better in points 1 to 4 of [ExactSearch]. If there are no
	// victims: no allowed set exists.
	Optimal bool `json:"optimal,omitzero"`
	// Value is what the victims lose by [Config.Cost]; their number, if there is no cost or
	// with [ExactSearch.FewestFirst]. LowerBound is the least that any allowed set has, and
	// the difference is the gap. Both are zero without victims.
	Value      int64 `json:"value,omitzero"`
	LowerBound int64 `json:"lowerBound,omitzero"`
	// Nodes is the number of nodes that were looked at.
	Nodes int `json:"nodes,omitzero"`
}

func (c *Config) validateSearch(faults *fault.List) {
	if !searchNames.Valid(c.Search) {
		faults.Add("config.Search", "%v is unknown", c.Search)
	}
	if c.Search != Greedy && c.Sharing == Reevaluated {
		faults.Add("config.Sharing", "is Reevaluated, but the search is %v", c.Search)
	}
	if c.Search != Exchange && c.Exchange != (ExchangeSearch{}) {
		faults.Add("config.Exchange", "is set, but the search is %v", c.Search)
	}
	if c.Exchange.MaxCandidates < 0 {
		faults.Add("config.Exchange.MaxCandidates", "%d is negative", c.Exchange.MaxCandidates)
	}
	if c.Search != Exact && c.Exact != (ExactSearch{}) {
		faults.Add("config.Exact", "is set, but the search is %v", c.Search)
	}
	if c.Exact.MaxNodes < 0 {
		faults.Add("config.Exact.MaxNodes", "%d is negative", c.Exact.MaxNodes)
	}
}

// enterSearch puts the configuration of the search into dense form.
func (c *Config) enterSearch(d *right.Request) {
	d.Better = right.Better{
		Effort:        right.Effort(c.Search),
		MaxCandidates: cmp.Or(c.Exchange.MaxCandidates, defaultMaxCandidates),
		MaxNodes:      cmp.Or(c.Exact.MaxNodes, defaultMaxNodes),
		FewestFirst:   c.Exact.FewestFirst || c.Exchange.FewestFirst,
		IgnoreCaps:    c.Exact.IgnoreCaps,
	}
}

func proofOf(p *exact.Proof, found bool) *Proof {
	out := &Proof{Optimal: p.Optimal, Nodes: p.Nodes}
	if found {
		out.Value, out.LowerBound = p.Lost, p.Bound
	}
	return out
}
