package preemption

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/trace"
)

// Record makes the decision of [Preemptor.Decide] and records its steps. It is for packages of this
// module: a recorder cannot be made elsewhere. The names turn the integers of the record into names.
func (p *Preemptor) Record(s *Snapshot, r Request, to *trace.Recorder) (Decision, trace.Names, error) {
	if p == nil {
		p = &standard
	}
	var sc scratch
	s, err := sc.begin(s, &p.config, &r)
	if err != nil {
		return Decision{}, trace.Names{}, err
	}
	sc.request.Trace = to
	var d Decision
	sc.answer(s, &p.config, &r, &d)
	c, slots := s.inside(), slices.Clone(sc.names)
	return d, trace.Names{
		Node: c.NodeName,
		Slot: func(slot int) (flavor, resource string) { return slots[slot].Flavor, slots[slot].Resource },
		PodSet: func(id string, podSet int) string {
			w, _ := s.Find(id)
			return w.PodSets[podSet].Name
		},
	}, nil
}
