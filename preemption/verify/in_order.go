package verify

import (
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
)

// InOrder judges whether the victims of a decision come in the order that the designs prescribe, besides what [Decision]
// judges, which leaves the choice among permitted victims free. It returns nil, or [preemption.Faults].
//
//   - KEP-83, Preemption, step 3: lower priority first; of one priority those that were admitted last first.
//   - KEP-8522, Preemption order, in the own queue: lower priority; then equals whose time is over, the longest running
//     first; then newer equals, most recently admitted first.
//
// A victim is wrong if a workload of its queue comes before it, may yield too, frees at least as much of what is asked for
// (in fair sharing the same of everything), and stays. By the steps of KEP-83 that cannot be: who comes first is taken
// first, and put back last. Workloads that differ only in their names may come in any order. Nothing is judged where
// another order is asked for: with another search than [preemption.Greedy], with limits, with a Room, with
// usage of local queues, for victims of rules, for replicas, and for what leaves already. The decision must be one that Decision accepts.
func InOrder(st preemption.State, r preemption.Request, c preemption.Config, d preemption.Decision) error {
	if c.Search != preemption.Greedy || len(c.Limits) > 0 || r.Room != nil || len(r.LocalQueueUsage) > 0 || byRules(&d) || len(d.Victims) == 0 {
		return nil
	}
	w := r.Workload
	if err := judgeCounts(&r, &w, &d); err != nil {
		return err
	}
	r.Workload = d.Assignment.Pin(w)
	j := judge{Question: reference.New(c, st, r), d: &d}
	candidates := slices.DeleteFunc(j.Candidates(), func(c reference.Candidate) bool { return c.Evicted || c.Partial() })
	named := func(id string) bool {
		return slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Workload == id })
	}
	var faults fault.List
	for i := range d.Victims {
		v := &d.Victims[i]
		at := slices.IndexFunc(candidates, func(c reference.Candidate) bool { return c.ID == v.Workload })
		if at < 0 || len(v.Replicas) > 0 {
			continue
		}
		for _, first := range candidates {
			if first.At == candidates[at].At && !named(first.ID) && j.ComesBefore(first, candidates[at]) && j.freesAsMuch(first, candidates[at]) {
				faults.Add(path(i), "%q yields, and %q, which comes before it and frees as much, stays", v.Workload, first.ID)
				break
			}
		}
	}
	return faults.Err()
}

// freesAsMuch reports whether one candidate frees at least as much of what is asked for as another; in fair sharing the
// same of everything.
func (j *judge) freesAsMuch(a, b reference.Candidate) bool {
	for _, c := range j.AllColumns() {
		if j.fair() && a.Frees(c) != b.Frees(c) {
			return false
		}
	}
	return !slices.ContainsFunc(j.Asked, func(of reference.Amount) bool { return a.Frees(of.Column) < b.Frees(of.Column) })
}
