package preemption

import "github.com/cedesched/cede/internal/engine/steps"

func init() {
	steps.Of = func(preemptor, snapshot, request any) (steps.Count, error) {
		return preemptor.(*Preemptor).steps(snapshot.(*Snapshot), request.(Request))
	}
}

// steps returns what Decide costs.
func (p *Preemptor) steps(s *Snapshot, r Request) (count steps.Count, err error) {
	var sc scratch
	if s, err = sc.begin(s, &p.config, &r); err != nil {
		return count, err
	}
	count.Workloads = sc.answer(s, &p.config, &r, new(Decision))
	count.Trials, count.Nodes = sc.searcher.Work()
	return count, nil
}
