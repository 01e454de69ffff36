package preemption

// Work is what a decision costs, in numbers that are the same on every machine. They may change with any version.
type Work struct {
	Workloads int // looked at
	Trials    int // how often it was asked whether the request fits
	Nodes     int // of the quota tree whose usage was copied
}

// Work decides, and returns what the decision costs. It is for benchmarks and tests. It fails as [Preemptor.Decide] does.
func (p *Preemptor) Work(s *Snapshot, r Request) (w Work, err error) {
	if p == nil {
		p = &standard
	}
	var sc scratch
	if s, err = sc.begin(s, &p.config, &r); err != nil {
		return w, err
	}
	w.Workloads = sc.answer(s, &p.config, &r, new(Decision))
	w.Trials, w.Nodes = sc.searcher.Work()
	return w, nil
}
