package preemption

import (
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Edit is a change of a snapshot, for [Snapshot.With]. The zero value changes
// nothing.
type Edit struct {
	kind     editKind
	workload workload.Workload
	queue    queue.Queue
	cohort   queue.Cohort
	name     string
}

type editKind uint8

const (
	editNothing editKind = iota
	editAdmit
	editUpdate
	editStartEviction
	editRemove
	editSetQueue
	editSetCohort
	editRemoveQueue
	editRemoveCohort
)

// Admit adds a workload that holds quota from now on. It fails when the ID is
// taken, the queue unknown or the workload malformed.
func Admit(w workload.Workload) Edit { return Edit{kind: editAdmit, workload: w.Clone()} }

// Update replaces the facts of an admitted workload, its queue and what it uses
// included. It fails when there is no workload of that ID.
func Update(w workload.Workload) Edit { return Edit{kind: editUpdate, workload: w.Clone()} }

// StartEviction marks a workload as evicted: it still holds its quota, and it is
// the first choice of later decisions. Doing so twice changes nothing. It fails
// when there is no workload of that ID.
func StartEviction(id string) Edit { return Edit{kind: editStartEviction, name: id} }

// Remove takes a workload away, with the quota it held. It fails when there is no
// workload of that ID.
func Remove(id string) Edit { return Edit{kind: editRemove, name: id} }

// SetQueue adds a queue or replaces the one of that name. The whole configuration
// is validated again. Unlike edits of workloads it costs as much as there are
// queues.
func SetQueue(q queue.Queue) Edit { return Edit{kind: editSetQueue, name: q.Name, queue: q.Clone()} }

// SetCohort adds a cohort or replaces the one of that name; see [SetQueue].
func SetCohort(c queue.Cohort) Edit {
	return Edit{kind: editSetCohort, name: c.Name, cohort: c.Clone()}
}

// RemoveQueue takes a queue away. It fails while workloads are admitted in it.
func RemoveQueue(name string) Edit { return Edit{kind: editRemoveQueue, name: name} }

// RemoveCohort takes a cohort away. It fails while it has members.
func RemoveCohort(name string) Edit { return Edit{kind: editRemoveCohort, name: name} }
