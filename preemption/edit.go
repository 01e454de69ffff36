package preemption

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Edit is a change of a snapshot, for [Snapshot.With]. The zero value changes
// nothing.
type Edit struct {
	kind     editKind
	name     string
	workload *workload.Workload // these are copies that do not change
	queue    *queue.Queue
	cohort   *queue.Cohort
	flavor   *queue.Flavor
	rules    *rules.Config
	usage    []quota.Amount
	replicas []cluster.Replicas
}

type editKind uint8

const (
	editNothing editKind = iota
	editAdmit
	editStartEviction
	editStartShrink
	editRemove
	editShrink
	editSetQueue
	editSetCohort
	editSetUsage
	editRemoveQueue
	editRemoveCohort
	editSetFlavor
	editRemoveFlavor
	editSetRules
	editRemoveRules
)

// Admit adds a workload that holds quota from now on, or replaces the facts of the one with its ID, its queue and usage
// included. It fails if the queue is unknown or the workload is malformed.
func Admit(w workload.Workload) Edit {
	c := w.Clone()
	return Edit{kind: editAdmit, name: c.ID, workload: &c}
}

// StartEviction marks a workload as evicted: it still holds its quota, and it is the first
// candidate of later decisions. A second time changes nothing. With replicas, as [Victim.Replicas]
// has them, it marks only these as leaving, without those that left before ([Replicas.Leaving]):
// they still hold their quota and are no longer surplus. It fails if there is no such workload or pod
// set, if a number is negative or the pod set has fewer replicas that are not leaving, and if the pod set
// has totals ([workload.PodSet.Totals]).
func StartEviction(id string, replicas ...Replicas) Edit {
	e := Edit{kind: editStartEviction, name: id}
	for _, r := range replicas {
		e.kind = editStartShrink
		e.replicas = append(e.replicas, cluster.Replicas{PodSet: r.PodSet, Count: quota.Sub(r.Count, r.Leaving)})
	}
	return e
}

// Remove removes a workload with the quota that it holds. With replicas, as [Victim.Replicas] has
// them, it removes only these: leaving replicas first. It fails as [StartEviction] does, where replicas that
// leave count, too.
func Remove(id string, replicas ...Replicas) Edit {
	e := Edit{kind: editRemove, name: id}
	for _, r := range replicas {
		e.kind = editShrink
		e.replicas = append(e.replicas, cluster.Replicas{PodSet: r.PodSet, Count: r.Count})
	}
	return e
}

// SetQueue adds a queue or replaces the one with that name. The whole configuration is
// validated again. It costs O(queues), unlike edits of workloads.
func SetQueue(q queue.Queue) Edit {
	c := q.Clone()
	return Edit{kind: editSetQueue, name: q.Name, queue: &c}
}

// SetCohort adds a cohort or replaces the one with that name; see [SetQueue].
func SetCohort(c queue.Cohort) Edit {
	copied := c.Clone()
	return Edit{kind: editSetCohort, name: c.Name, cohort: &copied}
}

// RemoveQueue removes a queue. It fails while workloads are admitted in it.
func RemoveQueue(name string) Edit { return Edit{kind: editRemoveQueue, name: name} }

// RemoveCohort removes a cohort. It fails while it has members.
func RemoveCohort(name string) Edit { return Edit{kind: editRemoveCohort, name: name} }

// With returns a snapshot with the edits applied in order. s does not change; the new
// snapshot shares what the edits do not touch. An edit of a workload costs O(log n) in the
// number of workloads. Consecutive edits of the configuration together cost O(queues). On
// failure With returns s and [Faults] with every edit that cannot be made, each judged
// as if the failed ones before it were not there. Paths begin with "edits[i]", or
// "edits[i:j]" for consecutive edits of queues and cohorts, of flavors or of rules.
func (s *Snapshot) With(edits ...Edit) (*Snapshot, error) {
	c := s.inside()
	var flavors []queue.Flavor // nil: unchanged
	var configs []rules.Config // nil: unchanged
	var faults fault.List
	for i := 0; i < len(edits); {
		run := 1
		var next *cluster.Cluster
		var err error
		if edits[i].setsFlavors() {
			for i+run < len(edits) && edits[i+run].setsFlavors() {
				run++
			}
			if flavors == nil {
				flavors = s.flavors()
			}
			next = c
			flavors, err = editFlavors(flavors, i, edits[i:i+run])
		} else if edits[i].setsRules() {
			for i+run < len(edits) && edits[i+run].setsRules() {
				run++
			}
			if configs == nil {
				configs = s.evaluator().Configs()
			}
			next = c
			configs, err = editRules(configs, i, edits[i:i+run])
		} else if edits[i].configures() {
			for i+run < len(edits) && edits[i+run].configures() {
				run++
			}
			next, err = configure(c, i, edits[i:i+run])
		} else {
			if next, err = edits[i].apply(c, ""); err != nil { // building paths costs more than a second time
				_, err = edits[i].apply(c, fmt.Sprintf("edits[%d]", i))
			}
		}
		if err != nil {
			faults = append(faults, err.(fault.List)...)
		} else {
			c = next
		}
		i += run
	}
	if err := faults.Err(); err != nil {
		return s, err
	}
	return s.with(c, flavors, configs), nil
}

func (e *Edit) configures() bool { return e.kind >= editSetQueue && e.kind <= editRemoveCohort }

func (e *Edit) apply(c *cluster.Cluster, path string) (*cluster.Cluster, error) {
	switch e.kind {
	case editAdmit:
		return c.Admit(path, e.workload)
	case editStartEviction:
		return c.StartEviction(path, e.name)
	case editStartShrink:
		return c.StartShrink(path, e.name, e.replicas)
	case editShrink:
		return c.Shrink(path, e.name, e.replicas)
	case editRemove:
		return c.Remove(path, e.name)
	}
	return c, nil
}

// configure applies consecutive edits of the configuration, the first being number first, and
// validates the result.
func configure(c *cluster.Cluster, first int, edits []Edit) (*cluster.Cluster, error) {
	queues, cohorts := slices.Clone(c.Queues), slices.Clone(c.Cohorts)
	var faults fault.List
	changes := false
	for i := range edits {
		e := &edits[i]
		queueAt, known := c.QueueNode(e.name)
		if queueAt -= len(c.Cohorts); !known || queueAt >= len(queues) || queues[queueAt].Name != e.name { // an edit moved it
			queueAt = slices.IndexFunc(queues, func(q queue.Queue) bool { return q.Name == e.name })
		}
		cohortAt := slices.IndexFunc(cohorts, func(c queue.Cohort) bool { return c.Name == e.name })
		changes = changes || e.kind != editSetUsage
		switch {
		case e.kind == editSetUsage && queueAt >= 0:
			sets, wrong := e.setUsage(c, &queues[queueAt], fmt.Sprintf("edits[%d]", first+i))
			changes, faults = changes || sets, append(faults, wrong...)
		case e.kind == editSetQueue && queueAt >= 0:
			queues[queueAt] = *e.queue
		case e.kind == editSetQueue:
			queues = append(queues, *e.queue)
		case e.kind == editSetCohort && cohortAt >= 0:
			cohorts[cohortAt] = *e.cohort
		case e.kind == editSetCohort:
			cohorts = append(cohorts, *e.cohort)
		case e.kind == editRemoveQueue && queueAt >= 0:
			queues = slices.Delete(queues, queueAt, queueAt+1)
		case e.kind == editRemoveQueue, e.kind == editSetUsage:
			faults.Add(fmt.Sprintf("edits[%d]", first+i), "no queue %q", e.name)
		case e.kind == editRemoveCohort && cohortAt >= 0:
			cohorts = slices.Delete(cohorts, cohortAt, cohortAt+1)
		case e.kind == editRemoveCohort:
			faults.Add(fmt.Sprintf("edits[%d]", first+i), "no cohort %q", e.name)
		}
	}
	if !changes {
		return c, faults.Err()
	}
	path := fmt.Sprintf("edits[%d]", first)
	if len(edits) > 1 {
		path = fmt.Sprintf("edits[%d:%d]", first, first+len(edits))
	}
	next, err := c.Configure(path, cohorts, queues)
	if err != nil {
		faults = append(faults, err.(fault.List)...)
	}
	return next, faults.Err()
}

// editNamed applies edits to a list of things with names, which it copies: set adds one or replaces
// that of its name; if it returns nil, the one of that name is removed. The first edit is number
// first. It finds removals of what is not there. The result is not nil.
func editNamed[T any](list []T, first int, edits []Edit, what string, name func(*T) string, set func(*Edit) *T) (next []T, faults fault.List) {
	next = append(make([]T, 0, len(list)+len(edits)), list...)
	for i := range edits {
		e := &edits[i]
		at := slices.IndexFunc(next, func(one T) bool { return name(&one) == e.name })
		switch one := set(e); {
		case one != nil && at >= 0:
			next[at] = *one
		case one != nil:
			next = append(next, *one)
		case at >= 0:
			next = slices.Delete(next, at, at+1)
		default:
			faults.Add(fmt.Sprintf("edits[%d]", first+i), "no %s %q", what, e.name)
		}
	}
	return next, faults
}
