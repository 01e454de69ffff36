package witness

import (
	"sort"

	"github.com/cedesched/cede/preemption"
)

// [preemption.Decision.Counts]: partial admission, as built in Kueue.

// partial: "If the workload neither fits nor may preempt with all replicas, all pod sets are reduced in
// proportion. If it finds none, the other fields are about all replicas, and RetryAt is the earlier one of all
// replicas and of the fewest."
func partial(c preemption.Config, st preemption.State, r preemption.Request, all preemption.Decision) preemption.Decision {
	n := leftOut(r)
	decide := func(step int64) preemption.Decision { return decideWhole(c, st, reduced(r, step, n)) }
	// "A binary search finds a step with which the workload fits or may preempt: it takes for granted that a
	// step fails if a later one does."
	step := int64(sort.Search(int(n)+1, func(i int) bool { return decide(int64(i)).Possible() }))
	if step <= n {
		d := decide(step)
		for _, p := range reduced(r, step, n).Workload.PodSets {
			d.Counts = append(d.Counts, preemption.Replicas{PodSet: p.Name, Count: p.Count})
		}
		return d
	}
	fewest := decide(n)
	if fewest.Outcome == preemption.Wait && (all.Outcome != preemption.Wait || fewest.RetryAt.Before(all.RetryAt)) {
		all.Outcome, all.RetryAt = preemption.Wait, fewest.RetryAt
	}
	return all
}

// mayLeaveOut is how many replicas a pod set may leave out: "A pod set that is not listed has all its replicas."
func mayLeaveOut(r preemption.Request, podSet string, count int64) int64 {
	for _, m := range r.MinCounts {
		if m.PodSet == podSet {
			return count - m.Count
		}
	}
	return 0
}

// leftOut is how many "replicas in all may be left out".
func leftOut(r preemption.Request) (n int64) {
	for _, p := range r.Workload.PodSets {
		n += mayLeaveOut(r, p.Name, p.Count)
	}
	return n
}

// reduced: "If n replicas in all may be left out, step i leaves out i/n of those that each pod set may leave
// out, rounded down."
func reduced(r preemption.Request, i, n int64) preemption.Request {
	r.Workload = r.Workload.Clone()
	for k := range r.Workload.PodSets {
		if p := &r.Workload.PodSets[k]; n > 0 {
			p.Count -= mayLeaveOut(r, p.Name, p.Count) * i / n
		}
	}
	return r
}
