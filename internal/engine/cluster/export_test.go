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

// ShareHeadsByEdits and ShareHeadsAnew are the share heads, and the lowest priorities of all: those not being
// evicted, ascending and descending, then the others.
func (c *Cluster) ShareHeadsByEdits(cohort int) [][]ShareHead { return c.Reach(cohort).shareHeads() }
func (c *Cluster) ShareHeadsAnew(cohort int) [][]ShareHead {
	return c.allReach().At(cohort).shareHeads()
}

func (r *Reach) shareHeads() (lists [][]ShareHead) {
	if r.shares == nil {
		return nil
	}
	for pair := range pairs {
		for order := range r.shares {
			list, least := []ShareHead(nil), LeastPriority{}
			var cursor ShareCursor
			for cursor.First(r.shares[order][pair]); ; cursor.Next() {
				h, ok := cursor.Item()
				if !ok {
					break
				}
				list = append(list, h)
			}
			if len(list) > 0 {
				r.shares[order][pair].Total(&least)
				list = append(list, ShareHead{Least: least.least})
			}
			lists = append(lists, list)
		}
	}
	return lists
}
