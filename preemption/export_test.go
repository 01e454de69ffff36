package preemption

// Work is what a decision costs, in numbers that are the same on every machine.
type Work struct {
	Workloads int // looked at
	Trials    int // how often it was asked whether the request fits; in an Exchange search it may depend on decisions before
	Nodes     int // of the quota tree whose usage was copied
}

// Work is [Preemptor.DecideCounting] with all that tests count.
func (p *Preemptor) Work(s *Snapshot, r Request) (d Decision, w Work, err error) {
	sc := p.scratch.Take()
	defer p.release(sc)
	if s, err = sc.begin(s, &p.config, &r); err != nil {
		return d, w, err
	}
	trials, nodes := sc.searcher.Work()
	w.Workloads = sc.answer(s, &p.config, &r, &d)
	w.Trials, w.Nodes = sc.searcher.Work()
	w.Trials, w.Nodes = w.Trials-trials, w.Nodes-nodes
	return d, w, nil
}
