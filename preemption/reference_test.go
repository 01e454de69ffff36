package preemption_test

import (
	"slices"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// candidatesOf returns victims of a decision as the reference takes them.
func candidatesOf(q *reference.Question, victims []preemption.Victim) (list []reference.Candidate) {
	for _, v := range victims {
		for _, r := range q.Running {
			if r.ID != v.Workload {
				continue
			}
			whole := reference.Candidate{Running: r, PodSet: -1, Cohort: q.Common(r), Reason: v.Reason}
			if len(v.Replicas) == 0 && r.Leaving == "" {
				list = append(list, whole)
			}
			for _, few := range v.Replicas {
				if r.Leaving == few.PodSet && few.Leaving > 0 {
					list = append(list, whole)
				}
				part := whole
				part.PodSet = slices.IndexFunc(r.PodSets, func(p workload.PodSet) bool { return p.Name == few.PodSet })
				for n := few.Leaving; n < few.Count && r.Leaving == "" && part.PodSet >= 0; n++ {
					list = append(list, part)
				}
			}
		}
	}
	return list
}

// fitsWithout reports whether the request fits without the victims; without borrowing, whether it also fits within the
// nominal quota of its queue.
func fitsWithout(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim, borrowing bool) bool {
	q := reference.New(c, st, r)
	list := candidatesOf(q, victims)
	q.Take(list...)
	defer q.Return(list...)
	return q.Fits(borrowing)
}

// justified reports whether there is an order of whole victims in which each that was taken by fair sharing passes one of
// the strategies, with only the victims before it taken.
func justified(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim) bool {
	q := reference.New(c, st, r)
	list := candidatesOf(q, victims)
	q.Take(list...)
	return len(q.Unjustified(list)) == 0
}
