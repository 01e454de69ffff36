package loop

import (
	"container/heap"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// patient says that victims may go on to their checkpoints for a head: it is not of the highest
// priority.
func (l *Loop) patient(h queue.Head) bool {
	return l.policy.wait > 0 && h.Workload.Priority < l.highest
}

// seen is the snapshot that a cycle sees. For heads that are not patient those who go on to a
// checkpoint still run: their room comes too late, and they may be told to stop at once.
func (l *Loop) seen(r *round) (*preemption.Snapshot, error) {
	l.goingOn = slices.DeleteFunc(l.goingOn, func(i int) bool { return l.jobs[i].state != leaving || l.jobs[i].stops <= l.now })
	if r.patient || len(l.goingOn) == 0 {
		return l.snapshot, nil
	}
	var edits []preemption.Edit
	for _, i := range l.goingOn {
		w, _ := l.snapshot.Find(l.jobs[i].ID)
		w.Evicted = false
		edits = append(edits, preemption.Update(w))
	}
	return l.snapshot.With(edits...)
}

// hurry stops a job at once that goes on to a checkpoint.
func (l *Loop) hurry(j *job) {
	if j.stops > l.now {
		j.stops = l.now
		j.turn++
		heap.Push(&l.events, event{l.now + l.world.Grace, leaves, l.index[j.ID], j.turn})
	}
}
