package recorded

import (
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// Departures of fair shares, by name. Here arithmetic is exact; that of KAI is float64.
const (
	// exactFractions: a part that is a whole number of units is not rounded down, and equal fractions are equal.
	exactFractions = "the fractions of fair shares are exact"
	// exactZero: a queue of which weight and past usage cancel out gets nothing over its quota. By a rounding error it may get all.
	exactZero = "a queue of which weight and past usage cancel out gets nothing over its quota"
)

// FairShares is a question about the fair shares in a tree of queues.
type FairShares struct {
	Tree fairshare.Tree `json:"tree"`
	// Answers has more than one where the other scheduler leaves its answer open. One of them is wanted.
	Answers [][]FairShare `json:"answers"`
	// FloatSensitive says that exact arithmetic gives none of the answers.
	FloatSensitive bool `json:"floatSensitive,omitempty"`
}

// FairShare is the fair share of a queue.
type FairShare struct {
	Queue     string `json:"queue"`
	Resource  string `json:"resource"`
	FairShare int64  `json:"fairShare"`
}

func (s FairShare) text() string { return fmt.Sprintf("%s %s %d", s.Queue, s.Resource, s.FairShare) }

func (q *FairShares) check(r *Report) error {
	shares, err := fairshare.Divide(q.Tree)
	if err != nil {
		return err
	}
	var list []FairShare
	for _, of := range shares {
		for _, s := range of.Shares {
			list = append(list, FairShare{of.Queue, s.Resource, s.FairShare})
		}
	}
	got := texts(list, FairShare.text)
	var want []string
	for i, answer := range q.Answers {
		if text := texts(answer, FairShare.text); i == 0 || slices.Equal(text, got) {
			want = text
		}
	}
	r.compare(q.excuse(shares, list, got), "fair shares", want, got)
	return nil
}

// excuse returns the departure that explains other shares where exact arithmetic gives none of those that are recorded.
func (q *FairShares) excuse(shares []fairshare.QueueShares, list []FairShare, got []string) excuse {
	switch {
	case !q.FloatSensitive:
		return excuse{}
	case slices.ContainsFunc(q.Answers, func(answer []FairShare) bool { return q.withinUnits(list, answer) }):
		return excuse{exactFractions, got}
	case q.cancelsOut(shares):
		return excuse{exactZero, got}
	}
	return excuse{}
}

// withinUnits is the predicate of exactFractions: no share differs by more than a unit.
func (q *FairShares) withinUnits(list, answer []FairShare) bool {
	units := map[string]int64{}
	for _, r := range q.Tree.Resources {
		units[r.Name] = max(r.Unit, 1)
	}
	return !slices.ContainsFunc(list, func(s FairShare) bool {
		at := slices.IndexFunc(answer, func(o FairShare) bool { return o.Queue == s.Queue && o.Resource == s.Resource })
		return at < 0 || max(s.FairShare-answer[at].FairShare, answer[at].FairShare-s.FairShare) > units[s.Resource]
	})
}

// cancelsOut is the predicate of exactZero: in the first round of some division the part of a queue with past usage is zero, but for
// an error of float64.
func (q *FairShares) cancelsOut(shares []fairshare.QueueShares) bool {
	type group struct {
		parent, resource string
		priority         int64
	}
	weights := map[group]float64{}
	divides := func(yield func(group, fairshare.Claim)) {
		for _, to := range q.Tree.Queues {
			at := slices.IndexFunc(shares, func(of fairshare.QueueShares) bool { return of.Queue == to.Name })
			for _, c := range to.Claims {
				i := slices.IndexFunc(shares[at].Shares, func(s fairshare.Share) bool { return s.Resource == c.Resource })
				if s := shares[at].Shares[i]; min(s.Request, c.Limit.Or(quota.Unlimited)) > s.Deserved {
					yield(group{to.Parent, c.Resource, to.Priority}, c)
				}
			}
		}
	}
	divides(func(g group, c fairshare.Claim) { weights[g] += c.OverQuotaWeight })
	zero, k := false, q.Tree.KValue.Or(1)
	divides(func(g group, c fairshare.Claim) {
		n := c.OverQuotaWeight / weights[g]
		zero = zero || c.OverQuotaWeight > 0 && math.Abs(n+k*(n-c.PastUsage)) < 1e-12
	})
	return zero
}
