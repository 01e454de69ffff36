package preemption

import "github.com/cedesched/cede/internal/engine/steps"

func init() {
	steps.Of = func(preemptor, snapshot, request any) (int, error) {
		return preemptor.(*Preemptor).steps(snapshot.(*Snapshot), request.(Request))
	}
}

// steps returns the number of workloads that Decide looks at.
func (p *Preemptor) steps(s *Snapshot, r Request) (int, error) {
	var sc scratch
	if err := sc.enter(s, &p.config, &r); err != nil {
		return 0, err
	}
	_, steps := sc.decide(s, &p.config, &r)
	return steps, nil
}
