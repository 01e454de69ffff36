package best

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/quota"
)

// mostCells limits what is asked of the candidates of a search, so that a decision takes about a second at most: the
// more is asked of each, quota in each cohort above and caps, the fewer they are.
const mostCells = 1 << 18

// mostCandidates returns how many candidates a search has at most. Where there are more, the first ones are searched, and
// nothing is proven.
func (x *Solver) mostCandidates() int {
	s := x.problem.s
	return mostCells / (len(s.Request.Columns)*(len(s.Levels)+1) + len(x.caps) + int(objectives))
}

// isTooMuch reports whether the victims alone are so many that no others are looked for.
func (x *Solver) isTooMuch() bool {
	s, units := x.problem.s, int64(0)
	for i := range s.Taken {
		units += s.Taken[i].Count
	}
	x.caps = x.capsOf(s.Taken)
	return 2*units > int64(x.mostCandidates())
}

// unproven says what the victims lose, and nothing of others.
func (x *Solver) unproven() (p Proof) {
	better := &x.problem.s.Request.Better
	whole := map[string]bool{} // the workloads of which a part may yield: whether all of it does
	for _, v := range x.problem.s.Taken {
		if v.Workload.Divides() {
			whole[v.Workload.Facts.ID] = whole[v.Workload.Facts.ID] || !v.Partial()
		}
	}
	for _, v := range x.problem.s.Taken {
		all, divides := whole[v.Workload.Facts.ID]
		switch {
		case better.Cost != nil && !better.FewestFirst:
			if !all || !v.Partial() {
				p.Lost = quota.Add(p.Lost, quota.Mul(v.Count, better.Cost(v.Workload, v.Set)))
			}
		case !divides:
			p.Lost++
		}
	}
	if better.Cost == nil || better.FewestFirst {
		p.Lost += int64(len(whole))
	}
	return p
}

// replicaByReplica returns the victims with each replica alone: in a set each is a unit.
func replicaByReplica(taken []right.Victim) (list []right.Victim) {
	if !slices.ContainsFunc(taken, func(v right.Victim) bool { return v.Count > 1 }) {
		return taken
	}
	for _, v := range taken {
		one := v
		one.Count = 1
		list = append(list, slices.Repeat([]right.Victim{one}, int(v.Count))...)
	}
	return list
}
