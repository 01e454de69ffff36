// Package cluster is a snapshot on the inside: names are integers, running
// workloads stand in ordered persistent indexes, edits copy paths. A decision reads
// it without a string.
package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/fault"
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
	Columns *Columns
	Usage   quotatree.Usage
	running vector.Vector[*Running] // by queue, in the order of Shape.Queues
	reach   vector.Vector[*Reach]   // by cohort
	byID    trie.Map[*Workload]
	leaving trie.Map[*Workload] // those of which some replicas are leaving
}

// New validates a configuration and its admitted workloads and builds the cluster.
// The error is a [fault.List] of everything that is wrong. Nothing of the arguments
// is kept.
func New(cohorts []queue.Cohort, queues []queue.Queue, admitted []workload.Workload) (*Cluster, error) {
	faults := faultsOf(queue.Validate(cohorts, queues))
	queueNames := make(map[string]bool, len(queues))
	for i := range queues {
		queueNames[queues[i].Name] = true
	}
	for i := range admitted {
		w := &admitted[i]
		if workload.Validate("", w) != nil { // the path costs more than the check
			faults = append(faults, faultsOf(workload.Validate(fmt.Sprintf("admitted[%d]", i), w))...)
		}
		if w.Queue != "" && !queueNames[w.Queue] {
			faults.Add(fmt.Sprintf("admitted[%d].queue", i), "unknown queue %q (workload %q)", w.Queue, w.ID)
		}
	}
	if len(faults) > 0 {
		return nil, append(faults, doubles(admitted)...)
	}
	shape, columns, err := newShape(cohorts, queues, newColumns(), func(int) int { return 0 })
	if err != nil {
		if faults := doubles(admitted); len(faults) > 0 {
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

// fill adds the workloads of a new cluster all at once. The columns are its own.
func (c *Cluster) fill(admitted []workload.Workload, columns *Columns) error {
	records := make([]*Workload, len(admitted))
	queues := make([]int, len(admitted))
	direct := make([][]quotatree.Load, c.Tree.Len())
	for i := range admitted {
		w := admitted[i].Clone()
		columns = columns.with(&w)
		records[i] = newWorkload(&w, columns)
		node, _ := c.QueueNode(w.Queue)
		queues[i] = node - len(c.Cohorts)
		direct[node] = addLoads(direct[node], records[i].Loads)
	}
	c.byID = trie.Of(idOf, records)
	c.leaving = trie.New(idOf)
	for _, r := range records {
		if r.leaves() {
			c.leaving = c.leaving.Set(r)
		}
	}
	if c.byID.Len() < len(records) { // a map for them alone would cost more than all of this
		return doubles(admitted)
	}
	var err error
	if c.Usage, err = quotatree.NewUsage(c.Tree, direct); err != nil {
		return c.usageFault("admitted", columns, err)
	}
	c.Columns = columns
	running := make([]*Running, len(c.Queues))
	for q, workloads := range byQueue(records, queues, len(c.Queues)) {
		running[q] = newRunning(workloads)
	}
	c.running = vector.Of(running)
	c.reach = c.allReach()
	return nil
}

// byQueue returns the workloads of each of n queues.
func byQueue(workloads []*Workload, queues []int, n int) [][]*Workload {
	counts := make([]int, n)
	for _, q := range queues {
		counts[q]++
	}
	lists, room := make([][]*Workload, n), make([]*Workload, len(workloads))
	for q, count := range counts {
		lists[q], room = room[:0:count], room[count:]
	}
	for i, w := range workloads {
		lists[queues[i]] = append(lists[queues[i]], w)
	}
	return lists
}

// addLoads adds b to a in place; a is sorted by column and stays so. Zeros are kept.
func addLoads(a, b []quotatree.Load) []quotatree.Load {
	if len(a) == 0 {
		return append(a, b...)
	}
	i := 0
	for _, l := range b {
		for i < len(a) && a[i].Column < l.Column {
			i++
		}
		if i < len(a) && a[i].Column == l.Column {
			a[i].Amount = quota.Add(a[i].Amount, l.Amount)
		} else {
			a = slices.Insert(a, i, l)
		}
	}
	return a
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

// Running returns what runs in the queue at the node.
func (c *Cluster) Running(node int) *Running { return c.running.At(node - len(c.Cohorts)) }

// Find returns the running workload of the ID.
func (c *Cluster) Find(id string) (*Workload, bool) {
	return c.byID.Get(id)
}

// Leaving returns the workloads of which some replicas are leaving, by ID.
func (c *Cluster) Leaving() []*Workload { return sorted(c.leaving) }

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

// users counts the running workloads that name a column. It looks at no others but for a
// few, and once at each queue.
func (c *Cluster) users(column int) int {
	names := func(loads []quotatree.Load) bool {
		return slices.ContainsFunc(loads, func(l quotatree.Load) bool { return l.Column == column })
	}
	n := 0
	for i := range c.Queues {
		for lane := Active; lane <= EvictedUnreserved; lane++ {
			var cursor LaneCursor
			for cursor.First(*c.running.At(i).Lane(lane)); ; cursor.NextIn(names) {
				w, ok := cursor.Item()
				if !ok {
					break
				}
				if names(w.Loads) {
					n++
				}
			}
		}
	}
	return n
}
