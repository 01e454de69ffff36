package assign

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Request is what is to be assigned.
type Request struct {
	// Base is what all searches have in common; its slots are not read.
	Base        *search.Request
	Fungibility queue.FlavorFungibility
	// NeverPreempts: the workload may make nobody yield.
	NeverPreempts bool
	// PreemptsWhileBorrowing: the queue may preempt for what takes it over its nominal
	// quota.
	PreemptsWhileBorrowing bool
	// Given is what of the workload has its flavor already.
	Given []quotatree.Load
	// Choices are made in order: by pod set, then by group. Of one pod set no two are of
	// the same group.
	Choices []Choice
}

// Choice is a resource group of a pod set. Taken and Tried are the answer; the rest is
// given.
type Choice struct {
	PodSet int
	// Group is nil for resources of which the queue has no quota.
	Group *Group
	// Constraints are those of the pod set; nil for none.
	Constraints *workload.NodeConstraints
	Items       []Item
	// First is the index of the first flavor to try.
	First int
	// Taken is the index of the flavor in the group; -1 when there is none.
	Taken int
	Tried []Tried
}

// Item is one requested resource.
type Item struct {
	Request  int // its index in the pod set
	Group    int // the index of its group in the plan; -1 without
	Resource int // its index in the group
	Amount   int64
	Verdict  Verdict // in the flavor taken
}

// Assigner assigns. Make it with the searcher to use; it may be used again, by one
// goroutine at a time.
type Assigner struct {
	Searcher *decide.Searcher
	// Steps counts the workloads that the trials of the last Assign looked at.
	Steps int

	cluster  *cluster.Cluster
	request  *Request
	taken    []quotatree.Load // what earlier choices and the given requests take
	verdicts []Verdict
	tried    []Tried
	asked    []asked
	one      search.Request
	column   [1]int
	amount   [1]int64
	needs    [1]bool
}

// Assign makes the choices of a request, up to the first that has no flavor, and returns
// how many it made. The answers are good until its next use.
func (a *Assigner) Assign(c *cluster.Cluster, r *Request) (made int, ok bool) {
	a.cluster, a.request, a.Steps = c, r, 0
	a.taken, a.tried, a.asked = a.taken[:0], a.tried[:0], a.asked[:0]
	for _, l := range r.Given {
		a.take(l.Column, l.Amount)
	}
	for i := range r.Choices {
		ch := &r.Choices[i]
		a.choose(ch)
		if ch.Taken < 0 {
			return i + 1, false
		}
		for _, item := range ch.Items {
			a.take(ch.Group.Column(ch.Taken, item.Resource), item.Amount)
		}
	}
	return len(r.Choices), true
}

// Release forgets the cluster, so that it is not kept in memory.
func (a *Assigner) Release() {
	a.cluster, a.request, a.one = nil, nil, search.Request{}
}

// choose tries the flavors of a group in order until one stops the trial; else the best
// is taken, of equals the first.
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

// used is what earlier choices take of a column.
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

// ChangesAt returns the first instant after that of the last Assign at which time alone
// may make it come out otherwise: a search that found nobody finds somebody, or who may
// yield, or the order in which, changes in one that did. ok is false when there is none.
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
		if change, changes := a.Searcher.NextChange(a.cluster, a.about(q.column, q.amount)); changes {
			sooner(change)
		}
	}
	return at, ok
}

// Blockers returns who stands in the way of preemption for an amount of one column, most
// at most. The result belongs to the searcher.
func (a *Assigner) Blockers(column int, amount int64, most int) []search.Blocker {
	return a.search(column, amount, most).Blockers
}

// search asks about one column by itself.
func (a *Assigner) search(column int, amount int64, maxBlockers int) decide.Result {
	found := a.Searcher.Search(a.cluster, a.about(column, amount), maxBlockers)
	a.Steps += found.Steps
	return found
}

// about is the request for one column by itself.
func (a *Assigner) about(column int, amount int64) *search.Request {
	a.column[0], a.amount[0], a.needs[0] = column, amount, true
	a.one = *a.request.Base
	a.one.Room = nil // that is for the whole request
	a.one.FindNeeds = false
	a.one.Columns, a.one.Amounts, a.one.Needs = a.column[:], a.amount[:], a.needs[:]
	return &a.one
}
