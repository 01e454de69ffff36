package right

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Case is a request at one instant, with the victims taken so far. The zero value is ready for
// [Case.Begin]. It may be reused, by one goroutine at a time.
type Case struct {
	Cluster *cluster.Cluster
	Request *Request
	// Now is the instant that is asked about: the request's, or another one for RetryAt.
	Now int64
	// Needs says, by slot of the request, whether preemption is needed.
	Needs []bool
	// View is the usage without the victims taken so far.
	View usage.View
	// Levels are the cohorts above the queue; see [Case.CollectLevels].
	Levels []Level
	// Taken lists the victims taken so far, in the order of taking.
	Taken []Victim
	// Steps counts the workloads looked at.
	Steps int

	columns []int // of the view
	rest    []int64
	stability
	// entitledAtFirst: the preemptor needs no strategy while no victim is taken; see EnterShares.
	entitledAtFirst bool
	added           []int64 // what the request adds to usage, if known
	addedKnown      bool
}

// Begin begins with a request at its instant, with all workloads.
func (c *Case) Begin(of *cluster.Cluster, r *Request) {
	c.Cluster, c.Request, c.Now, c.Needs, c.Steps = of, r, r.Now, r.Needs, 0
	c.View.Reset(of, c.columnsOf(of, r), len(r.Columns))
	c.Taken = c.Taken[:0]
	c.stability.known, c.addedKnown = false, false
}

// End drops the references to the cluster, so that an idle case keeps none in memory.
func (c *Case) End() {
	c.Cluster, c.Request, c.Needs = nil, nil, nil
	c.View.Release()
}

// columnsOf returns the columns of the view: those of the request and, if shares are compared,
// all others of the tree, because shares count them.
func (c *Case) columnsOf(of *cluster.Cluster, r *Request) []int {
	c.columns = append(c.columns[:0], r.Columns...)
	if r.SharesDecide() || r.Rules.OfShares {
		for column := range of.Tree.EachColumn(of.Tree.Root(r.Queue)) {
			if !slices.Contains(r.Columns, column) {
				c.columns = append(c.columns, column)
			}
		}
	}
	return c.columns
}

// Policy returns the policies of the preemptor's queue.
func (c *Case) Policy() *queue.PreemptionPolicy {
	return &c.Cluster.Queue(c.Request.Queue).Preemption
}

// UsesNeeded reports whether loads name a column that needs preemption, also with amount
// zero.
func (c *Case) UsesNeeded(loads []quotatree.Load) bool {
	for slot, needs := range c.Needs {
		if needs && quotatree.HasColumn(loads, c.Request.Columns[slot]) {
			return true
		}
	}
	return false
}

// Class is the right by which the workloads of a queue may be preempted.
type Class uint8

const (
	// Hierarchical: the request fits in the quota of a subtree with the preemptor's queue but
	// without the donor's queue. In fair sharing: any other queue.
	Hierarchical Class = iota
	// Priority: it does not fit there, so the policies on borrowing decide.
	Priority
	// Own: the preemptor's own queue.
	Own
)

// Level is a cohort above the preemptor's queue. Its queues may be donors by one right,
// except those under the child above the preemptor's queue.
type Level struct {
	Cohort int
	Except int // that child
	Class  Class
	Reach  *cluster.Reach
}

// Donor is a queue in which the workloads are candidates.
type Donor struct {
	Queue int
	LCA   int // the lowest cohort above it and the preemptor's queue; -1 for the own queue
	Class Class
	guarantee
}

// guarantee says how long a donor's workloads are protected against this request, in
// nanoseconds. The later end holds.
type guarantee struct {
	// Minimum is from the reservation on: the minimum runtime or the protection; -1 for none. setBy
	// is the node that sets it; -1 for the default, SetByProtection for the protection.
	Minimum int64
	setBy   int
	// admission is the protection from the admission on.
	admission int64
}

// stability is what the rule needs to know of the cluster. It is found when it is first asked
// for, and nothing that a search takes changes it.
type stability struct {
	known bool
	// needed: without the rule there may be circles.
	needed bool
	// borrows: the request would be a borrower.
	borrows   bool
	sorted    map[int]bool // the queues of which all borrowers are known
	borrowers map[*cluster.Workload]bool
	// before and asks are the shares of the preemptor's queue without and with the request,
	// of workloads with at least its priority.
	before, asks quota.Share
	sum, gone    []quotatree.Load
	taken        []Victim
}
