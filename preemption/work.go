package preemption

// DecideCounting is [Preemptor.Decide], and returns how many workloads it looked at: for a caller that asks about
// many workloads and stops at a bound that is the same on every machine. The number may change with any version.
func (p *Preemptor) DecideCounting(s *Snapshot, r Request) (d Decision, looked int, err error) {
	if p == nil {
		p = &standard
	}
	if p.trace != nil {
		return p.record(s, r, p.trace)
	}
	sc := p.scratch.Take()
	defer p.release(sc)
	if s, err = sc.begin(s, &p.config, &r); err != nil {
		return d, 0, err
	}
	looked = sc.answer(s, &p.config, &r, &d)
	return d, looked, nil
}
