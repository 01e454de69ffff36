package cluster

// ReachByEdits returns what can be reached under the cohort as edits have left it, and
// ReachAnew as it is computed from nothing.
func (c *Cluster) ReachByEdits(cohort int) ([]Head, []PrioritySum) { return content(c.Reach(cohort)) }
func (c *Cluster) ReachAnew(cohort int) ([]Head, []PrioritySum) {
	return content(c.allReach().At(cohort))
}

func content(r *Reach) ([]Head, []PrioritySum) { return list(r.Heads), listOf(r.Sums) }

// LanesByEdits and LanesAnew are the lanes of which there are heads.
func (c *Cluster) LanesByEdits(cohort int) uint8 { return uint8(c.Reach(cohort).lanes) }
func (c *Cluster) LanesAnew(cohort int) uint8    { return uint8(c.allReach().At(cohort).lanes) }

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
