package preemption

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/exact"
)

// ExplainedImprovement says what the [Exchange] or the [Exact] search made of the victims that
// the search in order took, which are Greedy's.
type ExplainedImprovement struct {
	Search Search `json:"search"`
	// ByCost: what the victims lose counts first, not their number.
	ByCost bool `json:"byCost,omitempty"`
	// Before lists the first of those whom the search in order took, as they were taken, and
	// BeforeCount counts all, replicas one by one. Victims counts the workloads, and Lost is what
	// they lose by [Config.Cost].
	Before      []TakenStep `json:"before,omitempty"`
	BeforeCount int64       `json:"beforeCount,omitempty"`
	Victims     int64       `json:"victims,omitempty"`
	Lost        int64       `json:"lost,omitempty"`
	// Exchanges lists the first exchanges, in order; ExchangeCount counts all. Exact has at most
	// one, with everybody in whom its victims differ.
	Exchanges     []ExplainedExchange `json:"exchanges,omitempty"`
	ExchangeCount int64               `json:"exchangeCount,omitempty"`
	// Certificate is, for Exact, why no allowed set is better, or why none is allowed. Nil: it
	// would be too large, or nothing is proven. It is here even if [ExactSearch.Certificate] does
	// not ask for it.
	Certificate *Certificate `json:"certificate,omitempty"`
}

// ExplainedExchange is an exchange of victims.
type ExplainedExchange struct {
	// Taken and PutBack list the first who are taken and put back; TakenCount and PutBackCount
	// count all, replicas one by one.
	Taken        []TakenStep `json:"taken,omitempty"`
	TakenCount   int64       `json:"takenCount,omitempty"`
	PutBack      []TakenStep `json:"putBack,omitempty"`
	PutBackCount int64       `json:"putBackCount,omitempty"`
	// Victims and Lost are what the victims come to then.
	Victims int64 `json:"victims"`
	Lost    int64 `json:"lost,omitempty"`
}

// improved says how better victims were found.
func (x *explainer) improved() {
	h := x.sc.history
	if h == nil || len(x.r.MinCounts) > 0 && (len(x.e.Decision.Counts) > 0 || !x.e.Decision.Outcome.Possible()) {
		return // what is known is about another number of replicas
	}
	d := &x.sc.request
	out := &ExplainedImprovement{
		Search: Search(d.Better.Effort), ByCost: d.Better.Cost != nil && !d.Better.FewestFirst,
		Before: takenSteps(h.Before), BeforeCount: int64(len(h.Before)), Victims: h.Victims, Lost: h.Lost,
	}
	for _, c := range h.Changes {
		if out.ExchangeCount++; len(out.Exchanges) == explainedTaken {
			continue
		}
		out.Exchanges = append(out.Exchanges, ExplainedExchange{
			Taken: takenSteps(c.Taken), TakenCount: int64(len(c.Taken)),
			PutBack: takenSteps(c.PutBack), PutBackCount: int64(len(c.PutBack)), Victims: c.Victims, Lost: c.Lost,
		})
	}
	out.Certificate = x.sc.certificateOf(x.c, x.sc.certificate, len(x.e.Decision.Victims) > 0)
	x.e.Improved = out
}

// takenSteps lists the first units, the replicas of one pod set together.
func takenSteps(units []exact.Unit) (list []TakenStep) {
	for _, u := range units {
		t := TakenStep{Workload: u.Workload.Facts.ID, Queue: u.Workload.Facts.Queue(), PodSet: u.PodSet(), Replicas: u.Replicas(), Leaving: u.Workload.Facts.Evicted}
		at := slices.IndexFunc(list, func(o TakenStep) bool { return o.Workload == t.Workload && o.PodSet == t.PodSet })
		switch {
		case at >= 0:
			list[at].Replicas += t.Replicas
		case len(list) < explainedTaken:
			list = append(list, t)
		}
	}
	return list
}
