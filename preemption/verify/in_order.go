package verify

import (
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/witness"
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
	q := witness.Ask(c, st, r)
	defer q.Done()
	first := q.OutOfTurn(d.Victims)
	var faults fault.List
	for i, v := range d.Victims {
		if other := first[v.Workload]; other != "" && len(v.Replicas) == 0 {
			faults.Add(path(i), "%q yields, and %q, which comes before it and frees as much, stays", v.Workload, other)
		}
	}
	return faults.Err()
}

// byRules reports whether rules took some victim.
func byRules(d *preemption.Decision) bool {
	return slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Reason == preemption.ConfigurablePreemption })
}
