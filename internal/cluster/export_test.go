package cluster

// ReachByEdits returns what can be reached under the cohort as edits have left it, and
// ReachAnew as it is computed from nothing.
func (c *Cluster) ReachByEdits(cohort int) ([]Head, []PrioritySum) { return content(c.Reach(cohort)) }
func (c *Cluster) ReachAnew(cohort int) ([]Head, []PrioritySum) {
	return content(c.allReach().At(cohort))
}

func content(r *Reach) ([]Head, []PrioritySum) { return list(r.Heads), listOf(r.Sums) }

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
