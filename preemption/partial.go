package preemption

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/workload"
)

// begin checks a request and enters it. It returns the snapshot that the decision is about:
// without the workload, if that holds quota, and without the one that it replaces.
func (sc *scratch) begin(s *Snapshot, config *Config, r *Request) (*Snapshot, error) {
	if !r.HoldsQuota && r.Replaces == "" && len(r.MinCounts) == 0 {
		return s, sc.enter(s, config, r)
	}
	var faults fault.List
	if r.Replaces != "" {
		without, err := s.With(Remove(r.Replaces))
		switch {
		case r.HoldsQuota:
			faults.Add("request.replaces", "%q, and holdsQuota is set: want one of them", r.Replaces)
		case err != nil:
			faults.Add("request.replaces", "no workload %q is admitted", r.Replaces)
		default:
			s = without
		}
	}
	if r.HoldsQuota {
		without, err := s.With(Remove(r.Workload.ID))
		if err != nil {
			faults.Add("request.holdsQuota", "is set, but no workload %q is admitted", r.Workload.ID)
		}
		s = without
	}
	r.validateMinCounts(&faults)
	err := sc.enter(s, config, r)
	others, _ := err.(fault.List)
	return s, append(faults, others...).Err()
}

// answer decides about a request after begin, on the snapshot that begin returned. steps is
// the number of workloads looked at, those for fewer replicas left out. The decision, which is
// large, is written where it belongs.
func (sc *scratch) answer(s *Snapshot, config *Config, r *Request, d *Decision) (steps int) {
	steps = sc.decide(s, config, r, d)
	if len(r.MinCounts) > 0 && !d.Possible() {
		*d = sc.fewer(s, config, r, *d)
	}
	d.Replaced = r.Replaces
	return steps
}

// validateMinCounts adds what is wrong with MinCounts to the faults.
func (r *Request) validateMinCounts(faults *fault.List) {
	for i, m := range r.MinCounts {
		at := slices.IndexFunc(r.Workload.PodSets, func(p workload.PodSet) bool { return p.Name == m.PodSet })
		path := fmt.Sprintf("request.minCounts[%d]", i)
		switch {
		case at < 0:
			faults.Add(path+".podSet", "the workload has no pod set %q", m.PodSet)
		case slices.ContainsFunc(r.MinCounts[:i], func(o Replicas) bool { return o.PodSet == m.PodSet }):
			faults.Add(path+".podSet", "%q has an entry already", m.PodSet)
		case r.Workload.PodSets[at].Totals:
			faults.Add(path+".podSet", "the totals of pod set %q do not say what a replica takes", m.PodSet)
		case r.Workload.PodSets[at].Count > workload.MaxElasticCount:
			faults.Add(path+".count", "pod set %q has %d replicas: more than %d", m.PodSet, r.Workload.PodSets[at].Count, workload.MaxElasticCount)
		case m.Count < 0 || m.Count > r.Workload.PodSets[at].Count:
			faults.Add(path+".count", "%d is not within 0 and %d, the replicas of pod set %q", m.Count, r.Workload.PodSets[at].Count, m.PodSet)
		}
	}
	if len(r.MinCounts) > 0 && r.Room != nil {
		faults.Add("request.minCounts", "%d entries, and a Room, which asks about all replicas", len(r.MinCounts))
	}
}

// fewer looks for a number of replicas with which a request succeeds that does not with all;
// see [Decision.Counts]. all is the decision with all.
func (sc *scratch) fewer(s *Snapshot, config *Config, r *Request, all Decision) Decision {
	defer sc.aside()()
	spare, total := make([]int64, len(r.Workload.PodSets)), int64(0) // replicas that may be left out
	for i := range r.Workload.PodSets {
		p := &r.Workload.PodSets[i]
		for _, m := range r.MinCounts {
			if m.PodSet == p.Name {
				spare[i] = p.Count - m.Count
				total += spare[i]
			}
		}
	}
	part, found, fewest := *r, Decision{}, Decision{}
	part.MinCounts = nil
	for from, to := int64(0), total+1; from < to; {
		step := from + (to-from)/2
		if step == 0 { // all replicas: known
			from = 1
			continue
		}
		part.Workload = reduced(&r.Workload, spare, step, total)
		if sc.enter(s, config, &part) != nil {
			return all // it was entered before
		}
		var d Decision
		sc.decide(s, config, &part, &d)
		if d.Possible() {
			found, to = d, step
			found.Counts = countsOf(&part.Workload)
		} else {
			fewest, from = d, step+1
		}
	}
	switch {
	case found.Possible():
		return found
	case fewest.Outcome == Wait && (all.Outcome != Wait || fewest.RetryAt.Before(all.RetryAt)):
		all.Outcome, all.RetryAt = Wait, fewest.RetryAt
	}
	return all
}

// reduced returns the workload at a step of the search, of a total of steps.
func reduced(w *workload.Workload, spare []int64, step, total int64) workload.Workload {
	part := w.Clone()
	for i := range part.PodSets {
		part.PodSets[i].Count -= spare[i] * step / total // below 2^50: see validateMinCounts
	}
	return part
}

func countsOf(w *workload.Workload) []Replicas {
	counts := make([]Replicas, len(w.PodSets))
	for i := range w.PodSets {
		counts[i] = Replicas{PodSet: w.PodSets[i].Name, Count: w.PodSets[i].Count}
	}
	return counts
}
