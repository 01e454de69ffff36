package fair

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
)

// firstUsers keeps, for one search, the first workloads under cohorts: what is taken does not change them, and cohorts
// with equal shares are compared by them each time that one of the two moves.
type firstUsers struct {
	known search.Marks
	at    []int32 // by node: the index in list
	list  []*cluster.Workload
}

func (u *firstUsers) begin(nodes int) {
	u.known.Next(nodes)
	if nodes > len(u.at) {
		u.at = make([]int32, nodes)
	}
}

// end drops the references to the cluster.
func (u *firstUsers) end() {
	clear(u.list)
	u.list = u.list[:0]
}

// of returns the first workload that the cluster has under a cohort; nil: there is none.
func (u *firstUsers) of(s *search.Search, cohort int) *cluster.Workload {
	if u.known.Add(cohort) {
		u.at[cohort] = int32(len(u.list))
		u.list = append(u.list, source.FirstWhole(&s.Case, func(lane cluster.Lane) *cluster.Workload { return s.Cluster.FirstUser(cohort, lane) }))
	}
	return u.list[u.at[cohort]]
}
