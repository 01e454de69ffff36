package scenario

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Mode is how a decision is made.
type Mode string

const (
	Classical Mode = "classical"
	Fair      Mode = "fair"
)

// Scenario is a request with what is known about its answer.
type Scenario struct {
	Name    string
	Request preemption.Request
	// Outcome is the same in every mode.
	Outcome preemption.Outcome
	// Victims lists the IDs of the workloads that must yield, sorted, if the definition of the scenario
	// determines them; Defined lists the modes in which it does.
	Victims []string
	Defined []Mode
	// ClassicalOnly: it is not asked in fair mode.
	ClassicalOnly bool
	// Kueue is what Kueue answered, by mode; nil where it was not asked.
	Kueue map[Mode]*Answer
}

var (
	either    = []Mode{Classical, Fair}
	classical = []Mode{Classical}
)

// Request is a pending workload of the given queue, priority and size, in need of both
// resources.
func Request(queueName string, priority int64, size Size) preemption.Request {
	return preemption.Request{
		Workload: workload.Workload{
			ID: "bench/incoming", UID: "uid-incoming", Queue: queueName, Priority: priority,
			Created: Now, Queued: Now, PodSets: size.podSets(flavor),
		},
		NeedsPreemption: []quota.FlavorResource{
			{Flavor: flavor, Resource: "cpu"}, {Flavor: flavor, Resource: "memory"},
		},
		Now: Now,
	}
}

// asker collects scenarios.
type asker struct {
	world World
	list  []Scenario
}

// preempts asks for the size from a queue. The given victims are the answer in the modes of defined.
func (a *asker) preempts(name string, q int, priority int64, size Size, victims []running, defined []Mode) *Scenario {
	s := a.add(name, q, priority, size, preemption.Preempt)
	if s.Defined = defined; defined != nil {
		for _, r := range victims {
			s.Victims = append(s.Victims, idOf(r.i))
		}
		slices.Sort(s.Victims)
	}
	return s
}

// fails makes a request that no victims can satisfy.
func (a *asker) fails(name string, q int, priority int64, size Size, outcome preemption.Outcome) *Scenario {
	s := a.add(name, q, priority, size, outcome)
	s.Defined = either
	return s
}

func (a *asker) add(name string, q int, priority int64, size Size, outcome preemption.Outcome) *Scenario {
	a.list = append(a.list, Scenario{
		Name: name, Request: Request(nameOfQueue(q), priority, size), Outcome: outcome, Kueue: a.world.kueue(name),
	})
	return &a.list[len(a.list)-1]
}

// Scenarios returns all scenarios of the world. The preemptors are in the first group of
// queues.
func (w World) Scenarios() []Scenario {
	a := &asker{world: w}
	flat := w.Leaves == 0
	ifFlat := classical // where the tree decides who yields, the definition does not
	if !flat {
		ifFlat = nil
	}
	own, mixed, borrowers := w.of(1), w.of(2), w.borrowers()
	for k := 1; k <= 4; k++ {
		a.preempts(fmt.Sprintf("within-k%d", k), 1, 1000, total(own[:k]), own[:k], either)
	}
	for k := 1; k <= 4; k++ {
		a.preempts(fmt.Sprintf("reclaim-k%d", k), 0, 1000, total(borrowers[:k]), borrowers[:k], classical)
	}
	hundred := w.reclaim(borrowers, func(taken []running) bool { return len(taken) == 100 })
	a.preempts("reclaim-k100", 0, 1000, total(hundred), hundred, ifFlat)
	most := total(hundred).times(97, 100)
	taken := w.reclaim(borrowers, func(taken []running) bool { return total(taken).covers(most) })
	a.preempts("reclaim-k100-fillback", 0, 1000, most, putBack(taken, most), ifFlat)
	for _, k := range []int{2, 10} {
		a.preempts(fmt.Sprintf("mixed-k%d", k), 2, 1000, total(mixed[:k]), mixed[:k], ifFlat)
	}
	a.fails("infeasible-reclaim", 0, 100, w.lent(), preemption.Impossible)
	a.fails("infeasible-within", 1, 100, w.each().times(1, 2), preemption.Impossible)
	a.fails("lowest", 0, 0, total(borrowers[:1]), preemption.Impossible)
	if flat {
		// The first four are of a priority under the threshold.
		a.preempts("borrow-k4", 3, 1000, total(borrowers[:4]), borrowers[:4], classical).ClassicalOnly = true
		// By shares the protected workloads may yield later. In a classical decision none may.
		a.fails("infeasible-borrow", 2, 100, w.each(), preemption.Impossible).ClassicalOnly = w.Guarantee > 0
	} else {
		a.preempts("lca-double", 2, 100, w.each(), nil, nil)
	}
	if w.Guarantee > 0 {
		// Of equals with their time over, the workloads that ran longest yield; and a request for more than
		// unprotected workloads use has to wait.
		lowest := slices.IndexFunc(mixed, func(r running) bool { return r.priority > 0 })
		oldest := mixed[lowest-4 : lowest]
		a.preempts("equals-k4", 2, 0, total(oldest), oldest, either)
		a.fails("wait-within", 1, 1000, w.each().times(3, 4), preemption.Wait)
	}
	return a.list
}

// lent is what the first group has lent to its borrowers; in a tree, all groups.
func (w World) lent() Size {
	var sum Size
	for q := range w.Queues {
		if w.Leaves > 0 || q < w.Group {
			sum = sum.plus(w.borrowed(q))
		}
	}
	return sum
}
