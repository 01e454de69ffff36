package foreign

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/quota/fairshare"
)

// yielding is a job of which tasks yield: each of its surplus, then the rest.
type yielding struct {
	*sessionJob
	tasks []string // that are left
}

// surplus is how many tasks yield one by one.
func (y *yielding) surplus() int { return max(0, len(y.tasks)-y.Groups.PodSets[0].MinAvailable) }

// compareYielding is the order in which the jobs of a queue yield.
func compareYielding(a, b *yielding) int {
	return cmp.Or(
		cmp.Compare(a.Priority, b.Priority), cmp.Compare(min(1, b.surplus()), min(1, a.surplus())),
		cmp.Compare(a.AgeMinutes, b.AgeMinutes), cmp.Compare(b.Name, a.Name))
}

// checkOrder asks in which order the candidates of a job are gathered.
func (s *session) checkOrder(rules *fairshare.Reclaim, want *sessionRules, r *recorded.Report) error {
	queues := map[string][]*yielding{}
	for _, name := range want.Candidates {
		y := &yielding{sessionJob: s.job(name)}
		for _, task := range y.Tasks {
			if task.State == "Running" {
				y.tasks = append(y.tasks, task.Name)
			}
		}
		queues[y.Queue] = append(queues[y.Queue], y)
	}
	var gone []fairshare.Unit
	var got [][]string
	for {
		var next []fairshare.Unit
		var first []*yielding
		for _, q := range s.Input.Queues {
			if len(queues[q.Name]) == 0 {
				continue
			}
			y := slices.MinFunc(queues[q.Name], compareYielding)
			first = append(first, y)
			next = append(next, fairshare.Unit{Queue: q.Name, Usage: y.amounts(len(y.tasks))})
		}
		at, err := rules.YieldsNext(gone, next)
		if at < 0 || err != nil {
			if !slices.EqualFunc(got, want.Order, slices.Equal[[]string]) {
				r.Differences = append(r.Differences, recorded.Difference{What: "the order of candidates of " + want.Preemptor, Want: lines(want.Order), Got: lines(got)})
			}
			return err
		}
		y := first[at]
		gone = append(gone, next[at]) // with each part all that is left of its job counts as gone
		from := 0
		if y.surplus() > 0 {
			from = len(y.tasks) - 1
		}
		got = append(got, y.tasks[from:])
		if y.tasks = y.tasks[:from]; from == 0 {
			queues[y.Queue] = slices.DeleteFunc(queues[y.Queue], func(o *yielding) bool { return o == y })
		}
	}
}

func lines(batches [][]string) (list []string) {
	for i, b := range batches {
		list = append(list, fmt.Sprint(i+1, ": ", b))
	}
	return list
}
