package preemption

import "github.com/cedesched/cede/internal/steps"

func init() {
	steps.Of = func(preemptor, snapshot, request any) (int, error) {
		return preemptor.(*Preemptor).steps(snapshot.(*Snapshot), request.(Request))
	}
}

// steps returns how many workloads Decide looks at.
func (p *Preemptor) steps(s *Snapshot, r Request) (int, error) {
	var sc scratch
	c := s.inside()
	if err := sc.enter(c, &p.config, &r); err != nil {
		return 0, err
	}
	return sc.searcher.Search(c, &sc.request, p.config.MaxBlockers).Steps, nil
}
