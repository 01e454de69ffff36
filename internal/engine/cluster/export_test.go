package cluster

// ReachAnew is [Cluster.Reach] as it is computed from nothing.
func (c *Cluster) ReachAnew(cohort int) *Reach {
	next := *c
	next.reachAll(nil)
	return next.Reach(cohort)
}

// Content returns the heads and the sums.
func (r *Reach) Content() ([]Head, []PrioritySum) { return list(r.Heads), appendList(nil, r.Sums) }

// Lanes are those of which there are heads.
func (r *Reach) Lanes() uint8 { return uint8(r.lanes) }

func list(heads Heads) []Head {
	var all []Head
	var cursor HeadCursor
	for cursor.First(heads); ; cursor.Next() {
		h, ok := cursor.Item()
		if !ok {
			return all
		}
		all = append(all, h)
	}
}

// LeavingParts returns the records of the workload's leaving replicas.
func (w *Workload) LeavingParts() []*Workload { return w.parts() }
