package cluster

import "github.com/cedesched/cede/internal/engine/quotatree"

// FirstUser returns the first workload of a lane that can be reached under a cohort and names something
// that it uses; nil if there is none. It looks past a head only if that names nothing.
func (c *Cluster) FirstUser(cohort int, lane Lane) (first *Workload) {
	var cursor HeadCursor
	for SeekLane(&cursor, c.Heads(cohort), lane); ; cursor.Next() {
		h, ok := cursor.Item()
		if !ok || h.Lane != lane || first != nil && compareInLane(first, h.Workload) < 0 {
			return first
		}
		w := h.Workload
		if len(w.Loads) == 0 {
			w = c.firstUserUnder(int(h.Node), lane)
		}
		if w != nil && (first == nil || compareInLane(w, first) < 0) {
			first = w
		}
	}
}

func (c *Cluster) firstUserUnder(node int, lane Lane) *Workload {
	if !c.IsQueue(node) {
		return c.FirstUser(node, lane)
	}
	var cursor LaneCursor
	for cursor.First(*c.Running(node).Lane(lane)); ; cursor.NextIn(func(sum []quotatree.Load) bool { return len(sum) > 0 }) {
		if w, ok := cursor.Item(); !ok || len(w.Loads) > 0 {
			return w
		}
	}
}
