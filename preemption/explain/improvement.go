package explain

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
)

// ExplainedImprovement says what the [preemption.Best] search made of the victims that
// the search in order took (those of Greedy).
type ExplainedImprovement struct {
	Search preemption.Search `json:"search"`
	// ByCost: what the victims lose counts first, not their number.
	ByCost bool `json:"byCost,omitempty"`
	// Before lists the first candidates that the search in order took, and
	// BeforeCount counts all, replicas one by one. Victims counts the workloads, and Lost is what
	// they lose by [preemption.Config.Cost].
	Before      []TakenStep `json:"before,omitempty"`
	BeforeCount int64       `json:"beforeCount,omitempty"`
	Victims     int64       `json:"victims,omitempty"`
	Lost        int64       `json:"lost,omitempty"`
	// Exchanges lists the first exchanges, in order; ExchangeCount counts all. Unless exchanges are alone it has
	// at most one, with all candidates in which its victims differ.
	Exchanges     []ExplainedExchange `json:"exchanges,omitempty"`
	ExchangeCount int64               `json:"exchangeCount,omitempty"`
}

// ExplainedExchange is an exchange of victims.
type ExplainedExchange struct {
	// Taken and PutBack list the first candidates that are taken and put back; TakenCount and PutBackCount
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
	b, d := x.recorder.Names.Better(), &x.e.Decision
	if b == nil || len(x.r.MinCounts) > 0 && (len(d.Counts) > 0 || !d.Possible()) {
		return // what is known is about another number of replicas
	}
	c := x.config
	out := &ExplainedImprovement{
		Search: c.Search, ByCost: c.Cost != nil && !c.Best.FewestFirst,
		Before: takenSteps(b.Before), BeforeCount: int64(len(b.Before)), Victims: b.Victims, Lost: b.Lost,
	}
	for _, c := range b.Changes {
		if out.ExchangeCount++; len(out.Exchanges) == maxTaken {
			continue
		}
		out.Exchanges = append(out.Exchanges, ExplainedExchange{
			Taken: takenSteps(c.Taken), TakenCount: int64(len(c.Taken)),
			PutBack: takenSteps(c.PutBack), PutBackCount: int64(len(c.PutBack)), Victims: c.Victims, Lost: c.Lost,
		})
	}
	x.e.Improved = out
}

// takenSteps lists the first units, the replicas of one pod set together.
func takenSteps(units []trace.Unit) (list []TakenStep) {
	for _, u := range units {
		at := slices.IndexFunc(list, func(o TakenStep) bool { return o.Workload == u.Workload && o.PodSet == u.PodSet })
		switch {
		case at >= 0:
			list[at].Replicas += u.Replicas
		case len(list) < maxTaken:
			list = append(list, TakenStep{Workload: u.Workload, Queue: u.Queue, PodSet: u.PodSet, Replicas: u.Replicas, Leaving: u.Leaving})
		}
	}
	return list
}
