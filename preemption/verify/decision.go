package verify

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Decision judges a decision of package preemption or of another scheduler, from the state, the
// request and the configuration alone. It shares no code with what decides: it judges
// by a slow model that was written from the designs alone. It returns nil, or [preemption.Faults] of
// everything that is wrong.
//
//   - Fits: the request fits with no victim gone, and Admitted is its workload.
//
//   - Preempt, Gated: the request does not fit now and does without the victims. The rules
//     permit each of them at Now, by the reason given: policies, minimum runtimes, guards,
//     elastic minimums. There is an order in which each may be taken when only the victims
//     before it are gone; in [preemption.Stable] sharing, and in fair sharing with another search than [preemption.Greedy], one in which each passes
//     a strategy, otherwise in fair sharing each passes one whatever else yields. None of them can stay (see
//     [preemption.Decision.Victims]). Any such set will do: it need not be the one that Decide chooses.
//
//   - Wait, Impossible: the documented search, by policies and rules and within the limits, finds
//     no victims now; for Wait none at an instant before RetryAt and some at RetryAt, for
//     Impossible none at any later instant. If flavors are assigned, only the answer for now is
//     judged.
//
//   - BorrowHeight is right; so is each [preemption.Victim.Order], if it is given and the victims are
//     the victims that the documented search finds.
//
//   - Lost is what [preemption.Config.Cost] says, 0 without one.
//
//   - With [preemption.Best], unless exchanges are alone, Proof is set where it has to be and agrees with the victims. If it says
//     Optimal, no allowed set is better, by a look at all sets of at most 14 candidates, replicas counted one by one.
//
//   - Blockers, Shortage, NoRoom and RuleFaults of a refusal are right, if it gives any and the words say what they are: not
//     under limits, and blockers only where one flavor and resource is asked for.
//
//   - With rules (ConfigurablePreemption): the victims make room, none of them can stay, and the
//     rules named, and no others, accept each (what only a constraint on quota accepts may be missing);
//     victims of the policies among them are judged one by one. Triggers are the triggers that hold in the
//     documented search.
//
//   - With [preemption.Config.Limits] all victims together are within each limit.
//
//   - In [preemption.KAI] sharing: of other queues those that the shares permit, who may yield together in some order; of
//     a refusal only that no workload by itself would make room. Height, numbers and reasons are not judged.
//
// With [preemption.Request.MinCounts] a refusal is not judged, and of Counts only whether they are in
// range. Of the flavors assigned each must be eligible; that no other comes first is not judged. With
// [preemption.Config.MaxRetrySteps] set a RetryAt that is too early is not a fault. A state, request or
// configuration that is not valid is a fault. Decision is made for tests and audits: it sorts
// all candidates, at each instant at which a protection ends. It calls Request.Room
// and the guards as Decide does.
func Decision(st preemption.State, r preemption.Request, c preemption.Config, d preemption.Decision) error {
	var faults fault.List
	add := func(err error) {
		list, _ := err.(fault.List)
		faults = append(faults, list...)
	}
	snapshot, err := preemption.NewSnapshot(st)
	add(err)
	preemptor, err := preemption.New(c)
	add(err)
	if len(faults) > 0 {
		return faults
	}
	asked := r
	asked.Workload.NeverPreempts = true // of the request alone what is malformed is wanted
	_, err = preemptor.Decide(snapshot, asked)
	add(err)
	w := r.Workload
	add(judgeCounts(&r, &w, &d))
	if len(faults) > 0 {
		return faults
	}
	w = d.Assignment.Pin(w)
	if len(r.MinCounts) > 0 && !d.Possible() {
		return nil // not judged
	}
	if fails(d.Assignment, &w) {
		if d.Possible() {
			faults.Add("decision.assignment", "some request has no flavor")
		}
		return faults.Err()
	}
	faults = append(faults, judgeFlavors(&st, &w, &d)...)
	faults = append(faults, judgeProof(&c, &d)...)
	r.Workload = w
	j := judge{Question: witness.Ask(c, st, r), d: &d, config: c, state: st, request: r}
	defer j.Done()
	faults = append(faults, j.judge()...)
	return faults.Err()
}

// judgeProof judges what a proof says of itself.
func judgeProof(c *preemption.Config, d *preemption.Decision) (faults fault.List) {
	p, byCost, proves := d.Proof, c.Cost != nil && !c.Best.FewestFirst, c.Search == preemption.Best && c.Best.Steps >= 0
	switch {
	case p != nil && (!proves || d.Outcome == preemption.Fits):
		faults.Add("decision.proof", "is set for %v by the %v search", d.Outcome, c.Search)
	case p == nil && proves && byRules(d):
	case p != nil && allLeaving(d.Victims):
		faults.Add("decision.proof", "is set for victims that are leaving already")
	case p == nil && proves && len(d.Victims) > 0 && !allLeaving(d.Victims):
		faults.Add("decision.proof", "is not set")
	case p == nil:
	case p.Steps < 0, p.LowerBound < 0, p.LowerBound > p.Value, p.Optimal && p.LowerBound < p.Value:
		faults.Add("decision.proof", "%+v contradicts itself", *p)
	case byCost && p.Value != d.Lost, !byCost && p.Value != int64(len(d.Victims)):
		faults.Add("decision.proof", "its value is %d for %d victims that lose %d", p.Value, len(d.Victims), d.Lost)
	}
	return faults
}

// judgeFlavors judges whether each pod set may have the flavor that it was assigned.
func judgeFlavors(st *preemption.State, w *workload.Workload, d *preemption.Decision) (faults fault.List) {
	at := slices.IndexFunc(st.Queues, func(q queue.Queue) bool { return q.Name == w.Queue })
	for i, c := range d.Assignment {
		for j := range w.PodSets {
			if p := &w.PodSets[j]; p.Name == c.PodSet {
				if m := witness.Mismatch(st.Flavors, &st.Queues[at], c.Flavor, p.NodeConstraints); m != nil {
					faults.Add(fmt.Sprintf("decision.assignment[%d].flavor", i), "%q is not for pod set %q: %s", c.Flavor, p.Name, why(m))
				}
			}
		}
	}
	return faults
}

// lost judges what the victims lose.
func (j *judge) lost() (faults fault.List) {
	known := func(v preemption.Victim) bool {
		return slices.ContainsFunc(j.state.Admitted, func(w workload.Workload) bool { return w.ID == v.Workload })
	}
	sum := int64(0)
	for i, v := range j.d.Victims {
		lost := int64(0)
		if known(v) {
			lost = j.Value([]preemption.Victim{v}).Lost
		}
		if v.Lost != lost {
			faults.Add(fmt.Sprintf("decision.victims[%d].lost", i), "%d, want %d", v.Lost, lost)
		}
		sum = quota.Add(sum, lost)
	}
	if j.d.Lost != sum {
		faults.Add("decision.lost", "%d, want %d", j.d.Lost, sum)
	}
	return faults
}

// judgeCounts judges the counts of partial admission, and gives them to the workload.
func judgeCounts(r *preemption.Request, w *workload.Workload, d *preemption.Decision) error {
	var faults fault.List
	if len(d.Counts) == 0 {
		return nil
	}
	*w = w.Clone()
	for i := range w.PodSets {
		p := &w.PodSets[i]
		least := p.Count
		for _, m := range r.MinCounts {
			if m.PodSet == p.Name {
				least = m.Count
			}
		}
		at := slices.IndexFunc(d.Counts, func(c preemption.Replicas) bool { return c.PodSet == p.Name })
		if at < 0 || d.Counts[at].Count < least || d.Counts[at].Count > p.Count {
			faults.Add("decision.counts", "pod set %q has none within %d and %d", p.Name, least, p.Count)
			continue
		}
		p.Count = d.Counts[at].Count
	}
	return faults.Err()
}

// fails reports whether some request has no flavor.
func fails(a preemption.Assignment, pinned *workload.Workload) bool {
	return slices.ContainsFunc(a, func(c preemption.FlavorChoice) bool { return c.Flavor == "" }) ||
		slices.ContainsFunc(pinned.Usage(), func(a quota.Amount) bool { return a.Flavor == "" })
}

// why says why the pods may not run on the nodes of a flavor.
func why(m *preemption.Mismatch) string {
	switch {
	case m.Taint != nil:
		return fmt.Sprintf("its taint %s is not tolerated", m.Taint.Key)
	case m.Requirement != nil:
		return fmt.Sprintf("its label %s is %q, which does not match", m.Requirement.Key, m.Label)
	case m.Level != "":
		return fmt.Sprintf("its topology has no level %s", m.Level)
	case m.Topology == preemption.NoTopology:
		return "it has no topology"
	}
	return "it is for pods that ask for a topology, unlike others of the queue"
}
