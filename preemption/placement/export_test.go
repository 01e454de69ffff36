package placement

// Checks decides, and returns how many units were put back with a check.
func (p *Preemptor) Checks(snapshot *Snapshot, r Request) int {
	s, err := p.start(snapshot, &r)
	if err != nil {
		return -1
	}
	defer p.finish(s)
	s.decide()
	return s.checks
}
