package placement

// Checks decides, and returns how many units were put back with a check.
func (p *Preemptor) Checks(snapshot *Snapshot, r Request) int {
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return -1
	}
	sc.searcher.Search(&p.inside, c, &sc.request)
	return sc.searcher.Checks
}
