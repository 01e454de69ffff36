package gate

import "time"

// asBuilt is [Orchestrate] by the rules of Kueue 0.19: the copies on connected workers, the latest state that is Open, and of the
// others that signal the earliest.
func (c *Config) asBuilt(now time.Time, replicas []Replica) Action {
	var opened time.Time
	var next *Replica
	for i := range replicas {
		r := &replicas[i]
		s, _ := r.Gates.state(c.Gate) // also of a gate that the replica does not name
		switch {
		case r.Lost:
		case s.Position == Open:
			if opened.IsZero() || s.Since.After(opened) {
				opened = s.Since
			}
		case r.Gates.Blocked.Active && (next == nil || bySignal(r, next) < 0):
			next = r
		}
	}
	free := opened.Add(c.Timeout)
	switch {
	case next == nil:
		return Action{}
	case !opened.IsZero() && free.After(now):
		return Action{WakeAt: free}
	}
	return Action{Open: next.Name, WakeAt: now.Add(c.Timeout)}
}
