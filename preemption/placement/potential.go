package placement

// Potential is a unit that a preemptor of some priority could take, anywhere in the
// cluster.
type Potential struct {
	Unit
	// Violations is how many of its pods would be evicted against a budget, if all that
	// are more important were evicted too.
	Violations int `json:"violations,omitempty"`
}

// PotentialVictims returns the units of lower priority in the order in which they are put
// back: those first that violate a budget, and of both kinds the most important first.
// Pods that terminate count as they run.
func (s *Snapshot) PotentialVictims(priority int32) []Potential {
	c := s.cluster()
	books := c.ledger(nil)
	var violating, others []Potential
	for _, u := range c.units() {
		if u.priority >= priority {
			continue
		}
		if n := books.spend(u); n > 0 {
			violating = append(violating, Potential{u.public(), n})
		} else {
			others = append(others, Potential{u.public(), 0})
		}
	}
	return append(violating, others...)
}
