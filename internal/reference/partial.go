package reference

import (
	"sort"

	"github.com/cedesched/cede/preemption"
)

// Counts returns the replicas of every pod set with which a request is possible; nil if there
// are none. It makes Kueue's search (its reducer of pod sets, as built): a binary search over
// the number of pods left out. The pod sets share it by what each may leave out, rounded down.
func Counts(r preemption.Request, possible func(preemption.Request) bool) []preemption.Replicas {
	minimum := map[string]int64{}
	total := 0
	for _, m := range r.MinCounts {
		minimum[m.PodSet] = m.Count
	}
	for _, p := range r.Workload.PodSets {
		if least, listed := minimum[p.Name]; listed {
			total += int(p.Count - least)
		}
	}
	at := func(leftOut int) preemption.Request {
		part := r
		part.MinCounts, part.Workload = nil, r.Workload.Clone()
		for i := range part.Workload.PodSets {
			p := &part.Workload.PodSets[i]
			if least, listed := minimum[p.Name]; listed && total > 0 {
				p.Count -= (p.Count - least) * int64(leftOut) / int64(total)
			}
		}
		return part
	}
	step := sort.Search(total+1, func(leftOut int) bool { return possible(at(leftOut)) })
	if step > total {
		return nil
	}
	var counts []preemption.Replicas
	for _, p := range at(step).Workload.PodSets {
		counts = append(counts, preemption.Replicas{PodSet: p.Name, Count: p.Count})
	}
	return counts
}
