package reference

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Question is a valid request, in which every amount has a flavor, about a valid state. Its rules are in layers: each
// asks the layers below it and none above.
type Question struct {
	ruled // by rules of an operator
}

// usage is what is asked, what runs, and what a search has taken: the layer that all others stand on.
type usage struct {
	Config  preemption.Config
	State   preemption.State
	Request preemption.Request
	Now     time.Time // Request.Now, or a later instant that is tried
	Queue   *Node     // of the preemptor
	Running []*Running
	Asked   []Amount // amounts other than zero
	Needed  []Column // what needs preemption

	tree        *Tree
	policy      *queue.PreemptionPolicy
	localUsage  map[string]float64
	anyPriority bool // a queue of the preemptor's tree reclaims from any priority
	// EntitledAtFirst: the preemptor needs no strategy while nothing is taken.
	EntitledAtFirst bool
}

// Amount is an amount of a column.
type Amount struct {
	Column
	Amount int64
}

// New returns the question that a request asks. A workload that holds quota already counts as waiting, and the
// workload that the request replaces as gone.
func New(c preemption.Config, st preemption.State, r preemption.Request) *Question {
	q := new(Question)
	q.usage = usage{Config: c, State: st, Request: r, Now: r.Now, localUsage: map[string]float64{}}
	q.observed = r.TriggersSince
	if !r.HoldsQuota {
		q.Request.Workload.ReservedAt = time.Time{} // it means nothing
	}
	gone := func(w workload.Workload) bool {
		return r.HoldsQuota && w.ID == r.Workload.ID || r.Replaces != "" && w.ID == r.Replaces
	}
	if slices.ContainsFunc(st.Admitted, gone) {
		q.State.Admitted = slices.DeleteFunc(slices.Clone(st.Admitted), gone)
	}
	for _, u := range r.LocalQueueUsage {
		q.localUsage[u.LocalQueue] = u.Usage
	}
	q.tree = newTree(&q.State, q.columns())
	q.Queue = q.tree.Queues[r.Workload.Queue]
	q.policy = &q.Queue.Queue.Preemption
	for i := range q.State.Admitted {
		q.run(&q.State.Admitted[i])
	}
	for _, n := range q.tree.Queues {
		inTree := n.Parent != nil && n.root() == q.Queue.root()
		q.anyPriority = q.anyPriority || inTree && n.Queue.Preemption.ReclaimWithinCohort == queue.Any
	}
	for _, a := range r.Workload.Usage() {
		if a.Amount > 0 {
			q.Asked = append(q.Asked, Amount{q.tree.numbers[a.FlavorResource()], a.Amount})
		}
	}
	q.findNeeds()
	q.advantage = q.fitsBelow()
	q.EntitledAtFirst = q.Entitled()
	return q
}

// columns lists what quotas, workloads and the request name.
func (q *usage) columns() (list []quota.FlavorResource) {
	quotas := func(entries []quota.Quota) {
		for _, e := range entries {
			list = append(list, e.FlavorResource())
		}
	}
	amounts := func(entries []quota.Amount) {
		for _, a := range entries {
			list = append(list, a.FlavorResource())
		}
	}
	for i := range q.State.Queues {
		quotas(q.State.Queues[i].Quotas)
		amounts(q.State.Queues[i].Reserved)
	}
	for i := range q.State.Cohorts {
		quotas(q.State.Cohorts[i].Quotas)
		amounts(q.State.Cohorts[i].Reserved)
	}
	for i := range q.State.Admitted {
		for _, p := range q.State.Admitted[i].PodSets {
			amounts(p.Requests)
		}
	}
	for _, p := range q.Request.Workload.PodSets {
		amounts(p.Requests)
	}
	list = append(list, q.Request.NeedsPreemption...)
	slices.SortFunc(list, quota.FlavorResource.Compare)
	return slices.Compact(list)
}

// findNeeds finds what needs preemption: what the caller says, else what does not fit, and without a place all.
func (q *usage) findNeeds() {
	for _, fr := range q.Request.NeedsPreemption {
		if c := q.tree.numbers[fr]; !slices.Contains(q.Needed, c) {
			q.Needed = append(q.Needed, c)
		}
	}
	if len(q.Request.NeedsPreemption) > 0 {
		return
	}
	roomy := q.roomy()
	for _, a := range q.Asked {
		if available, _ := q.Queue.Available(a.Column); !roomy || a.Amount > available {
			q.Needed = append(q.Needed, a.Column)
		}
	}
}

// At is the question at another instant, with what triggers were observed until then. Nothing may be taken.
func (q *Question) At(now time.Time, observed []rules.Observation) *Question {
	other := *q
	other.Now, other.Request.Now, other.observed = now, now, observed
	return &other
}

// Fits reports whether the request fits without what is taken, in an attempt with or without borrowing.
func (q *usage) Fits(borrowing bool) bool { return q.fitsQuota(borrowing) && q.roomy() }

// FitsNow reports whether the request fits if nothing is taken. Then it may borrow in any case.
func (q *usage) FitsNow() bool {
	return !slices.ContainsFunc(q.Asked, func(a Amount) bool {
		available, _ := q.Queue.Available(a.Column)
		return a.Amount > available
	}) && q.roomy()
}

// roomy reports whether the room, if there is one, has a place.
func (q *usage) roomy() bool { return q.Request.Room == nil || q.Request.Room.Fits() }

func (q *usage) fitsQuota(borrowing bool) bool {
	return !slices.ContainsFunc(q.Asked, func(a Amount) bool {
		available, _ := q.Queue.Available(a.Column)
		return a.Amount > available || q.StaysNominal(a.Column, borrowing) &&
			quota.Add(q.Queue.Used[a.Column], a.Amount) > q.Queue.Quotas[a.Column].Nominal
	})
}

// StaysNominal reports whether an attempt keeps the queue within its nominal quota of a column. KEP-83:
// "Assignments that require preemption implicitly do not borrow quota", and "A Workload could get flavor
// assignments at different steps for different resources".
func (q *usage) StaysNominal(c Column, borrowing bool) bool {
	if q.Config.Compat.PreemptWithinNominal {
		return slices.Contains(q.Needed, c)
	}
	return !borrowing
}

// BorrowHeight says how far up the tree the request borrows without what is taken.
func (q *usage) BorrowHeight() (height int) {
	for _, a := range q.Request.Workload.Usage() { // amounts of zero, too
		c, n := q.tree.numbers[a.FlavorResource()], q.Queue
		if n.Parent == nil || quota.Add(n.Used[c], a.Amount) <= n.Quotas[c].Nominal {
			continue
		}
		rest := quota.Sub(a.Amount, n.LocalLeft(c))
		for n = n.Parent; n.Parent != nil && quota.Add(n.Used[c], rest) > n.Subtree[c]; n = n.Parent {
			rest = quota.Sub(rest, n.LocalLeft(c))
		}
		height = max(height, n.height())
	}
	return height
}

// Counted calls do while the request counts in the usage.
func (q *usage) Counted(do func()) {
	type before struct {
		*int64
		value int64
	}
	var all []before
	for _, a := range q.Asked {
		amount := a.Amount
		for n := q.Queue; n != nil; n = n.Parent {
			was := n.Beyond(a.Column)
			all = append(all, before{&n.Used[a.Column], n.Used[a.Column]})
			n.Used[a.Column] = quota.Add(n.Used[a.Column], amount)
			amount = quota.Sub(n.Beyond(a.Column), was)
		}
	}
	do()
	for _, b := range all {
		*b.int64 = b.value
	}
}

// inactive reports whether a queue is inactive: nothing in it is admitted or preempted.
func inactive(n *Node) bool { return n.Queue.Inactive }

func (q *usage) priority() int64 { return q.Request.Workload.EffectivePriority() }

func (q *usage) fair() bool { return q.Config.Sharing != preemption.Classical }
