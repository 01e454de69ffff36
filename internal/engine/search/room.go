package search

import "github.com/cedesched/cede/internal/engine/right"

// room is what a search removed from the request's room.
type room struct {
	replicas right.ReplicaRoom    // nil: the room cannot free replicas
	removed  map[replicasOf]int64 // replicas removed, and not with their workload
	leaving  right.LeavingRoom    // nil: the room does not know what terminates
	soon     bool                 // what terminates in the room counts as gone
}

// replicasOf names the replicas of a pod set, leaving or not: a room has one order for both.
type replicasOf struct{ workload, podSet string }

// begin finds out whether the room can free replicas. None are removed.
func (r *room) begin(of right.Room) {
	clear(r.removed)
	r.soon = false
	r.leaving, _ = of.(right.LeavingRoom)
	if r.replicas, _ = of.(right.ReplicaRoom); r.replicas != nil && r.removed == nil {
		r.removed = map[replicasOf]int64{}
	}
}

// move removes a victim from the room (times -1) or restores it (1). A room that cannot free
// replicas keeps them.
func (r *room) move(of right.Room, v *right.Victim, times int64) {
	id := v.Workload.Facts.ID
	switch {
	case v.Partial():
		if r.replicas != nil {
			of := replicasOf{id, v.PodSet()}
			count, _ := v.Replicas()
			r.removed[of] -= times * count
			r.replicas.SetRemoved(id, of.podSet, r.removed[of])
		}
	case times < 0:
		of.Remove(id)
	default:
		of.Restore(id)
	}
}

// hasRoom reports whether the room, if there is one, has a place.
func (s *Search) hasRoom() bool {
	return s.Request.Room == nil || s.Request.Room.Fits() || s.room.soon && s.room.leaving.FitsSoon()
}
