package search

// Limits are limits on the number of victims; see package limits.
type Limits interface {
	// Refuses reports whether a limit keeps a victim from being taken at an instant, after those
	// taken. Of fewer victims none is refused.
	Refuses(v Victim, taken []Victim, now int64) bool
	// Next returns the first instant after now at which fewer count; ok is false if there is
	// none.
	Next(now int64) (at int64, ok bool)
	// Explained says that those refused from now on do not explain the decision.
	Explained()
}

// Limited reports whether a limit keeps a victim from being taken. Who is being evicted already
// was counted.
func (s *Search) Limited(v *Victim) bool {
	return s.Request.Limits != nil && !v.Workload.Facts.Evicted && s.Request.Limits.Refuses(*v, s.Taken, s.Now)
}
