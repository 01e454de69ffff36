package witness

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
)

// [preemption.Request.Room]: "asked besides the quota, so that one set of victims satisfies both".

// hasRoom asks the room without those who are removed. "Replicas that yield, of a surplus or leaving already,
// free room only if the room is a ReplicaRoom."
//
// [preemption.LeavingRoom]: "FitsSoon reports whether there is a place once what terminates, and what is removed, is gone."
func (w *world) hasRoom() bool {
	tell(w)
	leaving, knows := w.request.Room.(preemption.LeavingRoom)
	switch {
	case w.soon:
		return knows && leaving.FitsSoon()
	case w.request.Room == nil:
		return true
	}
	return w.request.Room.Fits()
}

// tell says to the room who is removed.
func tell(w *world) {
	room := w.request.Room
	if room == nil {
		return
	}
	replicas, byReplica := room.(preemption.ReplicaRoom)
	for _, n := range w.queues {
		for _, r := range n.running {
			if r.gone {
				room.Remove(r.ID)
			} else {
				room.Restore(r.ID)
			}
			for i := range r.PodSets {
				if byReplica {
					replicas.SetRemoved(r.ID, r.PodSets[i].Name, r.left[i])
				}
			}
		}
	}
}

// noRoom: "without all workloads that may yield now the quota suffices, but Request.Room has no place".
func noRoom(w *world, at time.Time) bool {
	if w.request.Room == nil || w.own.queue.Inactive || noFlavor(w) {
		return false
	}
	attempts := []bool{true}
	if w.config.Sharing == preemption.Classical {
		attempts = w.attempts(append(w.cohortCandidates(at), w.ownCandidates(at)...))
	}
	return slices.ContainsFunc(attempts, func(mayBorrow bool) bool {
		yielding := w.yieldingNow(mayBorrow, at)
		if rulesAlone(w) { // else it is about the policies, as blockers and shortages are
			yielding = byRules(w, at).victims
		}
		for _, c := range yielding {
			c.remove()
		}
		defer restore(yielding)
		return quotaFits(w, mayBorrow) && !w.hasRoom()
	})
}
