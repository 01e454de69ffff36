package placement

import (
	"cmp"
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/best/packing"
	"github.com/cedesched/cede/internal/engine/nodes/search"
	"github.com/cedesched/cede/preemption/fault"
)

// Search says how far victims are looked for. The zero value is [Greedy].
type Search uint8

const (
	// Greedy takes the steps in the comment of the package.
	Greedy Search = iota
	// Exact finds the best victims and places by branch and bound; see [ExactSearch].
	Exact
)

// ExactSearch configures [Exact]. The zero value is valid.
//
// The steps in the comment of the package come first. Then, in each domain in which some unit may yield, the best of
// all answers is looked for, in place of what steps 2 to 7 found there. An answer is a set of potential victims (step
// 1) and a node for each pod of the request that gets a place. It is allowed if
//
//   - at least MinCount pods have a place; in the modes as built no fewer than in step 2;
//   - each of them may run on its node, and has room there without the victims, beside all
//     others that run or are nominated ahead of it;
//   - with [Hard] budgets, the victims together violate none.
//
// [Config.Order] does not matter: the pods may be on any nodes of the domain. So a group may have room although the
// steps find none. The best answer has the best [Score]: what step 8 compares domains by, and so it is never worse
// than that of the steps. If theirs is among the best, it stays. No victim can be put back where it runs. Pods that
// are left get a place where there is room besides.
//
// The search takes nodes, not time, as its limit, so the same question has the same answer on every machine. Other
// work counts as so many nodes as take that long. When the nodes are used up, what was begun still ends; the answer
// is the best so far, never worse than that of the steps, and [Decision.Proof] says how far it may be from the best.
//
// With [Hard] budgets step 2 is that of the decision that is made again, if there is one.
//
// Set filters, and conflicts of filters of reach Cluster between pods on different nodes if one may yield, are asked
// about the answer in the end. If they refuse it, that of the steps stays, and the proof says what bound is known.
// More than about a dozen pods that all differ are too many to spread over the nodes: then they stay where the steps
// place them, and the bound is that of pods as small as the smallest. A [Placer] and Exact exclude each other.
//
// Whether the request fits now, or once terminating pods are gone, is asked as always.
type ExactSearch struct {
	// MaxNodes limits the nodes of a decision over all its domains, and of each trial of another instant. Zero is
	// 200,000; negative is an error.
	MaxNodes int
}

const defaultMaxNodes = 200_000

// Score rates the victims of a domain (step 8 in the comment of the package). The first field in which two scores
// differ decides.
type Score struct {
	// Violations is the number of pods evicted against a budget. Fewer are better.
	Violations int64 `json:"violations,omitzero"`
	// Highest is the highest priority of a victim; the lowest of all, if there is none. Lower is better.
	Highest int32 `json:"highest,omitzero"`
	// Sum is the sum, over the pods of the victims, of their priority and 2^31. Smaller is better.
	Sum int64 `json:"sum,omitzero"`
	// Pods is the number of pods of the victims. Fewer are better.
	Pods int64 `json:"pods,omitzero"`
	// Started is the earliest start of a victim of the highest priority. Later is better. Zero: it is not known,
	// which is better than any.
	Started time.Time `json:"started,omitzero"`
}

// Compare returns a negative number if a is better than b, and zero if they are equal.
func (a Score) Compare(b Score) int {
	return a.inside().Compare(b.inside())
}

func (a Score) inside() packing.Score {
	out := packing.Score{Violations: a.Violations, Highest: a.Highest, Sum: a.Sum, Pods: a.Pods, Started: math.MaxInt64}
	if !a.Started.IsZero() {
		out.Started = instant.Of(a.Started)
	}
	return out
}

// Proof says how good a decision by the [Exact] search is.
type Proof struct {
	// Optimal: no allowed answer in any domain that was looked at is better (see [Request.MaxDomains]). If the
	// outcome is Impossible, or Wait without nominations: there is none.
	Optimal bool `json:"optimal,omitzero"`
	// Value is the score of the decision, and no allowed answer has a better one than LowerBound. Where nothing is
	// known of a field, LowerBound has the best that there may be. Both are zero if there is no answer, and for
	// several pods of a Basic group, of which each is placed alone.
	Value      Score `json:"value,omitzero"`
	LowerBound Score `json:"lowerBound,omitzero"`
	// Nodes is the number of nodes that were looked at.
	Nodes int `json:"nodes,omitzero"`
}

func (c *Config) validateSearch(faults *fault.List) {
	if !searchNames.Valid(c.Search) {
		faults.Add("config.Search", "%v is unknown", c.Search)
	}
	if c.Search != Exact && c.Exact != (ExactSearch{}) {
		faults.Add("config.Exact", "is set, but the search is %v", c.Search)
	}
	if c.Exact.MaxNodes < 0 {
		faults.Add("config.Exact.MaxNodes", "%d is negative", c.Exact.MaxNodes)
	}
}

func (c *Config) maxNodes() int { return cmp.Or(c.Exact.MaxNodes, defaultMaxNodes) }

func proofOf(p *search.Proof) *Proof {
	if p == nil {
		return nil
	}
	return &Proof{Optimal: p.Optimal, Value: scoreOf(p.Value), LowerBound: scoreOf(p.Bound), Nodes: p.Nodes}
}

func scoreOf(s packing.Score) Score {
	out := Score{Violations: s.Violations, Highest: s.Highest, Sum: s.Sum, Pods: s.Pods}
	if s.Started != math.MaxInt64 {
		out.Started = instant.Time(s.Started)
	}
	return out
}

// join adds the proof for another pod of a Basic group.
func (p *Proof) join(one *Proof) *Proof {
	if p == nil || one == nil {
		return cmp.Or(p, one)
	}
	return &Proof{Optimal: p.Optimal && one.Optimal, Nodes: p.Nodes + one.Nodes}
}
