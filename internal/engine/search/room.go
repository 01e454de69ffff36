package search

// Room says whether the request has a place on nodes without some workloads; see
// preemption.Room.
type Room interface {
	Remove(workload string)
	Restore(workload string)
	Fits() bool
}

// ReplicaRoom is a Room that can free replicas; see preemption.ReplicaRoom.
type ReplicaRoom interface {
	Room
	SetRemoved(workload, podSet string, replicas int64)
}

// replicasOf names the replicas of a pod set, leaving or not: a room has one order for both.
type replicasOf struct{ workload, podSet string }

// beginRoom finds out whether the room can free replicas. None are removed.
func (s *Search) beginRoom() {
	clear(s.removed)
	if s.replicas, _ = s.Request.Room.(ReplicaRoom); s.replicas != nil && s.removed == nil {
		s.removed = map[replicasOf]int64{}
	}
}

// moveRoom removes a victim from the room (times -1) or restores it (1). A room that cannot free replicas
// keeps them.
func (s *Search) moveRoom(v *Victim, times int64) {
	id := v.Workload.Facts.ID
	switch {
	case v.Partial():
		if s.replicas != nil {
			of := replicasOf{id, v.PodSet()}
			count, _ := v.Replicas()
			s.removed[of] -= times * count
			s.replicas.SetRemoved(id, of.podSet, s.removed[of])
		}
	case times < 0:
		s.Request.Room.Remove(id)
	default:
		s.Request.Room.Restore(id)
	}
}

// PutRoomBack puts the victims back on their nodes; their quota stays removed.
func (s *Search) PutRoomBack() {
	for i := range s.Taken {
		if s.Request.Room != nil {
			s.moveRoom(&s.Taken[i], 1)
		}
	}
}
