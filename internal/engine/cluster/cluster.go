// Package cluster is the inside of a snapshot: names are integers, running workloads are in
// ordered persistent indexes, edits copy paths. A decision reads it without strings.
package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Cluster is an immutable cluster.
type Cluster struct {
	*Shape
	Columns  *Columns
	Usage    quotatree.Usage
	running  vector.Vector[*Running] // by queue, in the order of Shape.Queues
	reach    vector.Vector[*Reach]   // by cohort
	byID     trie.Map[*Workload]
	leaving  trie.Map[*Workload] // workloads with leaving replicas
	leavers  leavers
	list     *List // the workloads in the order of the last list that a caller compared; nil: not known
	edits    int   // since then
	versions any   // under which a caller described the workloads of the list; see Known
}

// New validates a configuration and its admitted workloads and builds the cluster. It fails
// with a [fault.List] of everything that is wrong. It keeps no reference to its arguments.
func New(cohorts []queue.Cohort, queues []queue.Queue, admitted []workload.Workload) (*Cluster, error) {
	if faults := faultsOf(queue.Validate(cohorts, queues)); len(faults) > 0 {
		return nil, append(faults, faultsOfAll(queues, admitted)...)
	}
	shape, columns, err := newShape(cohorts, queues, newColumns(), func(int) int { return 0 })
	if err != nil {
		if faults := faultsOfAll(queues, admitted); len(faults) > 0 {
			return nil, faults
		}
		return nil, fault.List{{Path: "state", Problem: err.Error()}}
	}
	c := &Cluster{Shape: shape}
	if err := c.fill(admitted, columns); err != nil {
		return nil, err
	}
	return c, nil
}

// faultsOfAll returns what is wrong with workloads of a configuration that is not valid.
func faultsOfAll(queues []queue.Queue, admitted []workload.Workload) (faults fault.List) {
	known := make(map[string]bool, len(queues))
	for i := range queues {
		known[queues[i].Name] = true
	}
	for i := range admitted {
		faults = append(faults, faultsOfOne(i, &admitted[i], known[admitted[i].Queue])...)
	}
	return append(faults, doubles(admitted)...)
}

// faultsOfOne returns what is wrong with a workload of a state, by path.
func faultsOfOne(i int, w *workload.Workload, knownQueue bool) fault.List {
	if knownQueue && workload.Validate("", w) == nil { // building paths costs more than the check
		return nil
	}
	path := fmt.Sprintf("admitted[%d]", i)
	faults := faultsOf(workload.Validate(path, w))
	if w.Queue != "" && !knownQueue {
		faults.Add(path+".queue", "unknown queue %q (workload %q)", w.Queue, w.ID)
	}
	return faults
}

// doubles returns a fault for each workload with the ID of an earlier one.
func doubles(admitted []workload.Workload) (faults fault.List) {
	first := make(map[string]int, len(admitted))
	for i := range admitted {
		id := admitted[i].ID
		if at, taken := first[id]; taken && id != "" {
			faults.Add(fmt.Sprintf("admitted[%d].id", i), "%q is also the ID of admitted[%d]", id, at)
			continue
		}
		first[id] = i
	}
	return faults
}

// usageFault names the node and column of a usage that is out of bounds.
func (c *Cluster) usageFault(path string, columns *Columns, err error) error {
	var faults fault.List
	if u, ok := err.(*quotatree.UsageError); ok {
		faults.Add(path, "the usage of %v in %s passes %d", columns.Name(u.Column), c.NodeName(u.Node), quota.MaxUsage)
	} else {
		faults.Add(path, "%v", err)
	}
	return faults
}

func faultsOf(err error) fault.List {
	faults, _ := err.(fault.List)
	return faults
}

// Running returns the workloads that run in the queue at the node.
func (c *Cluster) Running(node int) *Running { return c.running.At(node - len(c.Cohorts)) }

// Find returns the running workload with the ID.
func (c *Cluster) Find(id string) (*Workload, bool) {
	return c.byID.Get(id)
}

// Terminating returns the workloads with leaving replicas, by ID.
func (c *Cluster) Terminating() []*Workload { return sorted(c.leaving) }

// Len returns the number of running workloads.
func (c *Cluster) Len() int { return c.byID.Len() }

// All returns the running workloads, by ID.
func (c *Cluster) All() []*Workload { return sorted(c.byID) }

func sorted(set trie.Map[*Workload]) []*Workload {
	all := make([]*Workload, 0, set.Len())
	for w := range set.All {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *Workload) int { return cmp.Compare(a.Facts.ID, b.Facts.ID) })
	return all
}

// users counts the running workloads that name a column. It looks once at each queue, and at
// few workloads that do not name it.
func (c *Cluster) users(column int) int {
	names := func(loads []quotatree.Load) bool {
		return slices.ContainsFunc(loads, func(l quotatree.Load) bool { return l.Column == column })
	}
	n := 0
	for i := range c.Queues {
		for lane := range WholeLanes {
			var cursor LaneCursor
			for cursor.First(*c.running.At(i).Lane(lane)); ; cursor.NextIn(names) {
				w, ok := cursor.Item()
				if !ok {
					break
				}
				if names(w.Loads) && w.Leaving == 0 {
					n++
				}
			}
		}
	}
	return n
}
