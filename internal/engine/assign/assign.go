package assign

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/rules"
	"github.com/cedesched/cede/internal/engine/why"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Request is a workload with requests that have no flavor.
type Request struct {
	// Base is the part that all searches share; its slots are not read.
	Base *right.Request
	// Rules has the rules of the queue; nil: there are none.
	Rules       *rules.Taker
	Fungibility queue.FlavorFungibility
	// NeverPreempts: no workload may yield for this one.
	NeverPreempts bool
	// PreemptsWhileBorrowing: the queue may preempt for a request that takes it over its
	// nominal quota.
	PreemptsWhileBorrowing bool
	// Given is the usage of the requests that came with a flavor.
	Given []quotatree.Load
	// Choices are made in order: by pod set, then by group. No two choices of a pod set have
	// the same group.
	Choices []Choice
}

// Choice is a resource group of a pod set. Taken and Tried are the result; the other fields
// are input.
type Choice struct {
	PodSet int
	// Group is nil for resources without quota in the queue.
	Group *Group
	// Constraints are the node constraints of the pod set; nil: none.
	Constraints *workload.NodeConstraints
	Items       []Item
	// First is the index of the first flavor to try.
	First int
	// Taken is the index of the assigned flavor in the group; -1: none.
	Taken int
	Tried []Tried
}

// Item is one requested resource.
type Item struct {
	Request  int // its index in the pod set
	Group    int // the index of its group in the plan; -1: none
	Resource int // its index in the group
	Amount   int64
	Verdict  Verdict // in the assigned flavor
}

// Assigner assigns flavors. Make it with the searcher that it should use. It may be reused,
// by one goroutine at a time.
type Assigner struct {
	Searcher *decide.Searcher
	// Steps counts the workloads that the trials of the last Assign looked at.
	Steps int

	cluster  *cluster.Cluster
	request  *Request
	taken    []quotatree.Load // the usage of earlier choices and of given requests
	verdicts []Verdict
	tried    []Tried
	asked    []asked
	one      right.Request
	column   [1]int
	amount   [1]int64
	needs    [1]bool
}

// Assign makes the choices of a request, up to the first without a flavor, and returns the
// number of choices made. The result is valid until its next use.
func (a *Assigner) Assign(c *cluster.Cluster, r *Request) (made int, ok bool) {
	a.cluster, a.request, a.Steps = c, r, 0
	a.taken, a.tried, a.asked = a.taken[:0], a.tried[:0], a.asked[:0]
	for _, l := range r.Given {
		a.take(l.Column, l.Amount)
	}
	for i := range r.Choices {
		ch := &r.Choices[i]
		a.choose(ch)
		if t := r.Base.Trace; t != nil {
			t.Add(chosen(ch))
		}
		if ch.Taken < 0 {
			return i + 1, false
		}
		for _, item := range ch.Items {
			a.take(ch.Group.Column(ch.Taken, item.Resource), item.Amount)
		}
	}
	return len(r.Choices), true
}

// Release drops the references to the cluster, so that it does not stay in memory.
func (a *Assigner) Release() {
	a.cluster, a.request, a.one = nil, nil, right.Request{}
}

// choose tries the flavors of a group in order. It assigns the flavor that stops the search;
// if none does, the best, of equals the first.
func (a *Assigner) choose(ch *Choice) {
	ch.Taken = -1
	if ch.Group == nil {
		return
	}
	first := len(a.tried)
	best := Verdict{}
	for flavor := ch.First; flavor < len(ch.Group.Flavors); flavor++ {
		tried := a.try(ch, flavor)
		a.tried = append(a.tried, tried)
		if t := a.request.Base.Trace; t != nil {
			t.Add(stepOf(ch, &tried))
		}
		if tried.Passed == Stopped || tried.better(best, a.request.Fungibility.Preference) {
			best, ch.Taken = tried.Verdict, flavor
			for i := range ch.Items {
				ch.Items[i].Verdict = a.verdicts[i]
			}
		}
		if tried.Passed == Stopped {
			break
		}
	}
	ch.Tried = a.tried[first:len(a.tried):len(a.tried)]
}

// used returns the amount of earlier choices in a column.
func (a *Assigner) used(column int) int64 {
	for _, l := range a.taken {
		if l.Column == column {
			return l.Amount
		}
	}
	return 0
}

func (a *Assigner) take(column int, amount int64) {
	for i := range a.taken {
		if l := &a.taken[i]; l.Column == column {
			l.Amount = quota.Add(l.Amount, amount)
			return
		}
	}
	a.taken = append(a.taken, quotatree.Load{Column: column, Amount: amount})
}

// ChangesAt returns the first instant, after that of the last Assign, at which time alone may
// change its result: a search without victims finds some, or the candidates or their order
// change in one with victims. ok is false if there is none.
func (a *Assigner) ChangesAt() (at int64, ok bool) {
	sooner := func(change int64) {
		if !ok || change < at {
			at, ok = change, true
		}
	}
	for _, q := range a.asked {
		if !q.found {
			if q.waits {
				sooner(q.at)
			}
			continue
		}
		if change, changes := a.Searcher.NextChange(a.cluster, a.about(q.column, q.amount), a.request.Rules); changes {
			sooner(change)
		}
	}
	return at, ok
}

// Blockers returns the blockers of preemption for an amount of one column, no more than most.
// The result belongs to the searcher.
func (a *Assigner) Blockers(column int, amount int64, most int) []why.Blocker {
	return a.search(column, amount, most).Blockers
}

// search decides about one column alone.
func (a *Assigner) search(column int, amount int64, maxBlockers int) decide.Result {
	found := a.Searcher.Search(a.cluster, a.about(column, amount), a.request.Rules, maxBlockers)
	a.Steps += found.Steps
	return found
}

// about returns the request for one column alone.
func (a *Assigner) about(column int, amount int64) *right.Request {
	a.column[0], a.amount[0], a.needs[0] = column, amount, true
	a.one = *a.request.Base
	a.one.Room = nil // the room is for the whole request
	a.one.Trace = nil
	a.one.FindNeeds, a.one.Forecast = false, true
	a.one.Columns, a.one.Amounts, a.one.Needs = a.column[:], a.amount[:], a.needs[:]
	return &a.one
}
