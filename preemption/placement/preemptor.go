package placement

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cedesched/cede/fault"
)

// Mode is which version of the algorithm decides. The zero value is Design.
type Mode uint8

const (
	// Design is KEP-5710 as first written, with a binary search over priorities; see the
	// package documentation.
	Design Mode = iota
	// InPlace is as built in v1.37: the preemptor is placed once, blind to who runs there,
	// and units are put back around it.
	InPlace
	// Replace is as built in v1.36: the preemptor is placed anew for every unit that is put
	// back. It looks at every unit, and takes as long.
	Replace
)

// Order is the built-in order in which placement tries nodes. The zero value is FirstFit.
type Order uint8

const (
	// FirstFit takes the first node with room.
	FirstFit Order = iota
	// BestFit takes the node of which, with the pod, the least is left: the smallest sum
	// over the requested resources of the part of the capacity that is free.
	BestFit
	// RoundRobin takes the first node with room after the one that was taken last.
	RoundRobin
)

// BudgetRule is how disruption budgets are kept. The zero value is Soft.
type BudgetRule uint8

const (
	// Soft: units whose eviction would violate a budget are put back first (KEP-5710,
	// Preemption algorithm). A budget is violated when that is not enough.
	Soft BudgetRule = iota
	// Hard: a budget is never violated. Where the soft answer violates one, the decision
	// is made again with the allowance of each budget given to the least important of its
	// units, and the others kept. So it may say Budgets where another way of giving
	// the allowance would help; it never violates one.
	Hard
)

// Config configures a [Preemptor]. The zero value is valid.
type Config struct {
	Mode    Mode
	Order   Order
	Budgets BudgetRule
	// MaxCandidates bounds the domains among which that of a single pod is chosen. Zero:
	// all. With a bound the nodes are tried from FirstNode on, round and round, until so
	// many candidates were found and one of them violates no budget; of those that do, so
	// many are looked at (as kube-scheduler samples). Negative is an error.
	MaxCandidates int
	// FirstNode is where the sampling starts, modulo the number of nodes that can be
	// domains. Negative is an error.
	FirstNode int
	// Filters are the caller's own rules on where pods may run. Nil entries are an error.
	Filters []Filter
	// Guards are the caller's own rules on who may yield. Nil entries are an error.
	Guards []Guard
	// Importance, if set, compares units in place of the built-in order, which then breaks
	// ties: negative when a is more important. It must be a strict weak order that depends
	// on its arguments alone.
	Importance func(a, b Unit) int
}

// Preemptor decides about requests. It holds no state of any decision: any number of
// goroutines may use one. Make it with [New].
type Preemptor struct {
	config Config
	wide   bool      // a filter reaches beyond the node
	pool   sync.Pool // of *search
}

// New returns a preemptor. It fails with [fault.List] when the configuration is not valid.
func New(c Config) (*Preemptor, error) {
	var faults fault.List
	p := &Preemptor{config: c}
	if !modeNames.Valid(c.Mode) {
		faults.Add("config.Mode", "%v is unknown", c.Mode)
	}
	if !orderNames.Valid(c.Order) {
		faults.Add("config.Order", "%v is unknown", c.Order)
	}
	if !budgetNames.Valid(c.Budgets) {
		faults.Add("config.Budgets", "%v is unknown", c.Budgets)
	}
	if c.MaxCandidates < 0 {
		faults.Add("config.MaxCandidates", "%d is negative", c.MaxCandidates)
	}
	if c.FirstNode < 0 {
		faults.Add("config.FirstNode", "%d is negative", c.FirstNode)
	}
	for i, f := range c.Filters {
		if f == nil {
			faults.Add(fmt.Sprintf("config.Filters[%d]", i), "is nil")
			continue
		}
		reach := f.Reach()
		if !reachNames.Valid(reach) {
			faults.Add(fmt.Sprintf("config.Filters[%d].Reach", i), "%v is unknown", reach)
		}
		p.wide = p.wide || reach == Cluster
	}
	for i, g := range c.Guards {
		if g == nil {
			faults.Add(fmt.Sprintf("config.Guards[%d]", i), "is nil")
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p.config.Filters, p.config.Guards = slices.Clone(c.Filters), slices.Clone(c.Guards)
	return p, nil
}
