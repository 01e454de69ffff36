package cluster

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Each edit returns a new cluster that shares what it does not change, or fails with a
// [fault.List] with paths that begin with the given one. The cluster itself never changes.

// Admit adds a workload, or replaces the facts of the one with its ID. It keeps w, so w must be a copy.
func (c *Cluster) Admit(path string, w *workload.Workload) (*Cluster, error) {
	d, _ := c.Find(w.ID)
	return c.put(path, d, w)
}

// Remove removes a workload.
func (c *Cluster) Remove(path, id string) (*Cluster, error) {
	d, err := c.find(path, id)
	if err != nil {
		return nil, err
	}
	return c.edit(path, Change{Old: d})
}

// put puts w in the place of old, if that is not nil.
func (c *Cluster) put(path string, old *Workload, w *workload.Workload) (*Cluster, error) {
	faults := faultsOf(workload.Validate(path, w))
	if _, known := c.QueueNode(w.Queue); w.Queue != "" && !known {
		faults.Add(path+".queue", "unknown queue %q (workload %q)", w.Queue, w.ID)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return c.edit(path+".podSets", Change{Old: old, New: w})
}

func (c *Cluster) find(path, id string) (*Workload, error) {
	d, ok := c.Find(id)
	if !ok {
		return nil, fault.List{{Path: path, Problem: fmt.Sprintf("no workload %q is admitted", id)}}
	}
	return d, nil
}

// edit makes a valid change.
func (c *Cluster) edit(path string, ch Change) (*Cluster, error) {
	next, err := c.changed([]Change{ch})
	if err != nil {
		return nil, next.usageFault(path, next.Columns, err)
	}
	return next, nil
}

// Replicas is a number of replicas of a pod set.
type Replicas struct {
	PodSet string
	Count  int64
}

// StartShrink marks replicas as leaving.
func (c *Cluster) StartShrink(path, id string, leave []Replicas) (*Cluster, error) {
	return c.resize(path, id, leave, func(p *workload.PodSet, n int64) (of int64) {
		of = p.Count - p.Terminating
		p.Terminating += n
		return of
	})
}

// Shrink removes replicas, leaving ones first.
func (c *Cluster) Shrink(path, id string, gone []Replicas) (*Cluster, error) {
	return c.resize(path, id, gone, func(p *workload.PodSet, n int64) (of int64) {
		of = p.Count
		p.Count, p.Terminating = p.Count-n, max(0, p.Terminating-n)
		return of
	})
}

// resize changes numbers of replicas. change makes a change and returns how many replicas could be changed.
func (c *Cluster) resize(path, id string, parts []Replicas, change func(p *workload.PodSet, n int64) (of int64)) (*Cluster, error) {
	d, err := c.find(path, id)
	if err != nil {
		return nil, err
	}
	w := d.Clone()
	var faults fault.List
	for _, part := range parts {
		i := slices.IndexFunc(w.PodSets, func(p workload.PodSet) bool { return p.Name == part.PodSet })
		if i < 0 {
			faults.Add(path, "workload %q has no pod set %q", id, part.PodSet)
		} else if w.PodSets[i].Totals {
			faults.Add(path, "the totals of pod set %q do not say what a replica takes (workload %q)", part.PodSet, id)
		} else if of := change(&w.PodSets[i], part.Count); part.Count < 0 || part.Count > of {
			faults.Add(path, "%d of %d replicas of pod set %q (workload %q)", part.Count, of, part.PodSet, id)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return c.put(path, d, &w)
}

// StartEviction marks a workload as evicted.
func (c *Cluster) StartEviction(path, id string) (*Cluster, error) {
	d, err := c.find(path, id)
	if err != nil {
		return nil, err
	}
	if d.Facts.Evicted {
		return c, nil
	}
	evicted := d.evicted()
	node, _ := c.QueueNode(d.Facts.Queue())
	next := *c
	next.edited(1)
	next.byID = c.byID.Set(evicted)
	if d.leaves() {
		next.leaving, _ = c.leaving.Delete(id) // the whole workload leaves
	}
	q := node - len(c.Cohorts)
	changes := withParts([]change{{old: d, now: evicted}})
	next.running = c.running.Set(q, c.running.At(q).replaced(changes))
	next.leavers = c.leavers.with(node, next.running.At(q))
	var more []PrioritySum
	if !d.lane().Yields() { // now it may
		more = addedUp([]PrioritySum{{d.Priority, nonZero(d.Loads)}})
	}
	var lanes laneMask
	for _, ch := range changes {
		lanes |= ch.old.lanesMask() | ch.now.lanesMask()
	}
	next.updateReach(c, node, lanes, more)
	return &next, nil
}

// Configure replaces the whole configuration. It fails if the new one is not valid, or if a
// queue that it removes has workloads.
func (c *Cluster) Configure(path string, cohorts []queue.Cohort, queues []queue.Queue) (*Cluster, error) {
	var faults fault.List
	for _, f := range faultsOf(queue.Validate(cohorts, queues)) {
		faults = append(faults, fault.Fault{Path: path + ": " + f.Path, Problem: f.Problem})
	}
	kept := make(map[string]bool, len(queues))
	for i := range queues {
		kept[queues[i].Name] = true
	}
	for i := range c.Queues {
		if kept[c.Queues[i].Name] {
			continue // counting looks at each workload
		}
		if n := c.running.At(i).workloads(); n > 0 {
			faults.Add(path, "queue %q has %d admitted workloads", c.Queues[i].Name, n)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	shape, columns, err := newShape(cohorts, queues, c.Columns, c.users)
	if err != nil {
		return nil, fault.List{{Path: path, Problem: err.Error()}}
	}
	direct := make([][]quotatree.Load, shape.Tree.Len())
	for node, reserved := range shape.Reserved {
		direct[node] = slices.Clone(reserved)
	}
	running := make([]*Running, len(shape.Queues))
	for i := range shape.Queues {
		if old, ok := c.QueueNode(shape.Queues[i].Name); ok {
			of := &direct[len(shape.Cohorts)+i]
			*of = quotatree.AddLoads(*of, c.Usage.Row(old))
			*of = nonZero(quotatree.AddLoads(*of, negative(c.Reserved[old])))
			running[i] = c.Running(old)
		} else {
			running[i], _ = newRunning(&home{queue: shape.Queues[i].Name}, nil, nil)
		}
	}
	next := &Cluster{Shape: shape, Columns: columns, running: vector.Of(running), byID: c.byID, leaving: c.leaving, list: c.list, edits: c.edits, versions: c.versions}
	if next.Usage, err = quotatree.NewUsage(shape.Tree, direct); err != nil {
		return nil, next.usageFault(path, columns, err)
	}
	next.findLeavers()
	next.reachAll(c)
	return next, nil
}
