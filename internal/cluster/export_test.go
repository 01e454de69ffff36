package cluster

// HeadsByEdits returns the heads of the cohort as edits have left them, and HeadsAnew
// as they are computed from nothing.
func (c *Cluster) HeadsByEdits(cohort int) []Head { return list(c.Heads(cohort)) }
func (c *Cluster) HeadsAnew(cohort int) []Head    { return list(c.allHeads().At(cohort)) }

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
