package preemption

import (
	"fmt"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Edit is a change of a snapshot, for [Snapshot.With]. The zero value changes
// nothing.
type Edit struct {
	name string // of what it is about
	// to is what it becomes, a copy that does not change: a *workload.Workload, *queue.Queue, *queue.Cohort,
	// *queue.Flavor, *rules.Config, *fairshare.Tree or *fairshare.Queue, where nil removes what has the name; a leave; a usage.
	to       any
	replicas []cluster.Replicas // that leave; empty: all
}

// leave says how a workload leaves.
type leave uint8

const (
	leaveStart leave = iota
	leaveEnd
)

// Admit adds a workload that holds quota from now on, or replaces the facts of the one with its ID, its queue and usage
// included. It fails if the queue is unknown or the workload is malformed.
func Admit(w workload.Workload) Edit {
	c := w.Clone()
	return Edit{name: c.ID, to: &c}
}

// StartEviction marks a workload as evicted: it still holds its quota, and it is the first
// candidate of later decisions. A second time changes nothing. With replicas, as [Victim.Replicas]
// has them, it marks only these as leaving, without those that left before ([Replicas.Leaving]):
// they still hold their quota and are no longer surplus. It fails if there is no such workload or pod
// set, if a number is negative or the pod set has fewer replicas that are not leaving, and if the pod set
// has totals ([workload.PodSet.Totals]).
func StartEviction(id string, replicas ...Replicas) Edit {
	e := Edit{name: id, to: leaveStart}
	for _, r := range replicas {
		e.replicas = append(e.replicas, cluster.Replicas{PodSet: r.PodSet, Count: quota.Sub(r.Count, r.Leaving)})
	}
	return e
}

// Remove removes a workload with the quota that it holds. With replicas, as [Victim.Replicas] has
// them, it removes only these: leaving replicas first. It fails as [StartEviction] does, where replicas that
// leave count, too.
func Remove(id string, replicas ...Replicas) Edit {
	e := Edit{name: id, to: leaveEnd}
	for _, r := range replicas {
		e.replicas = append(e.replicas, cluster.Replicas{PodSet: r.PodSet, Count: r.Count})
	}
	return e
}

// apply applies an edit of a workload.
func (e *Edit) apply(c *cluster.Cluster, path string) (*cluster.Cluster, error) {
	if w, ok := e.to.(*workload.Workload); ok {
		return c.Admit(path, w)
	}
	switch whole := len(e.replicas) == 0; {
	case e.to == leaveStart && whole:
		return c.StartEviction(path, e.name)
	case e.to == leaveStart:
		return c.StartShrink(path, e.name, e.replicas)
	case whole:
		return c.Remove(path, e.name)
	}
	return c.Shrink(path, e.name, e.replicas)
}

// With returns a snapshot with the edits applied in order. s does not change; the new
// snapshot shares what the edits do not touch. An edit of a workload costs O(log n) in the
// number of workloads. Consecutive edits of the configuration together cost O(queues). On
// failure With returns s and [Faults] with every edit that cannot be made, each judged
// as if the failed ones before it were not there. Paths begin with "edits[i]", or
// "edits[i:j]" for what consecutive edits of the configuration make together.
func (s *Snapshot) With(edits ...Edit) (*Snapshot, error) {
	d := s.draft()
	var faults fault.List
	for i := 0; i < len(edits); {
		row := 1
		var err error
		if e := &edits[i]; e.configures() {
			for i+row < len(edits) && edits[i+row].configures() {
				row++
			}
			err = d.configure(i, edits[i:i+row])
		} else if e.to != nil {
			var next *cluster.Cluster
			if next, err = e.apply(d.cluster, ""); err != nil { // building paths costs more than a second time
				_, err = e.apply(d.cluster, fmt.Sprintf("edits[%d]", i))
			} else {
				d.cluster = next
			}
		}
		if err != nil {
			faults = append(faults, err.(fault.List)...)
		}
		i += row
	}
	if err := faults.Err(); err != nil {
		return s, err
	}
	next := s.with(d.cluster, d.flavors.changedList(), d.rules.changedList())
	of, err := d.sharesAfter(s)
	if err != nil {
		return s, err
	}
	next.shares = of
	return next, nil
}
