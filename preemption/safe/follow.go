package safe

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
)

// Until when the workloads of a tree are safe is asked of all together, instant by instant, and at each by the queue of the requests: so the
// turns among its candidates are found once.

// mostRights is how many rights over workloads are kept at a time.
const mostRights = 1 << 20

// followAll answers for workloads, each in its place in a list of answers, tree by tree.
func (a *Asker) followAll(all []*open, answers []Answer) {
	trees := map[string][]int{} // places
	for i, o := range all {
		root := a.where.trees[o.Queue]
		trees[root] = append(trees[root], i)
	}
	for _, root := range slices.Sorted(maps.Keys(trees)) {
		var open []*course
		rights := 0
		for _, i := range trees[root] {
			c := a.courseOf(&all[i].Workload, all[i])
			if c.place = i; c.answer.Outcome != 0 {
				answers[i] = c.answer
				continue
			}
			open = append(open, c)
			if rights += len(c.rights.of); rights > mostRights {
				a.follow(a.queuesOf(root), open, answers)
				open, rights = nil, 0
			}
		}
		a.follow(a.queuesOf(root), open, answers)
	}
}

// follow answers for workloads of a tree.
func (a *Asker) follow(queues []*asking, open []*course, answers []Answer) {
	before := func(c, d **course) bool {
		return cmp.Or(cmp.Compare((*c).at, (*d).at), cmp.Compare((*c).place, (*d).place)) < 0
	}
	heap.Init(open, before)
	for len(open) > 0 {
		at, due := open[0].at, []*course(nil)
		for ; len(open) > 0 && open[0].at == at; open = heap.Drop(open, before) {
			due = append(due, open[0])
		}
		if at != instant.Of(a.options.Now) { // what is asked now was asked
			a.askAt(queues, due, at)
		}
		for _, c := range due {
			a.goOn(c, c.found)
			if answers[c.place] = c.answer; c.answer.Outcome == 0 {
				open = heap.Push(open, c, before)
			}
		}
	}
	clear(a.reaches)
}

// askAt asks the requests of the queues of a tree at an instant, those for fewer resources first.
func (a *Asker) askAt(queues []*asking, due []*course, at int64) {
	for size := 1; len(due) > 0; size++ {
		for _, c := range due {
			c.next, c.more = 0, false
		}
		for _, q := range queues {
			a.forget()
			for _, c := range due {
				if of := c.rightsOf(q); len(of) > 0 && c.found == nil {
					a.tried = c.tried
					found, more := a.askEach(c.Workload, of, at, size)
					c.tried, c.found, c.more = a.tried, found, c.more || more
				}
			}
		}
		due = slices.DeleteFunc(slices.Clone(due), func(c *course) bool { return c.found != nil || !c.more })
	}
	a.forget()
}

// rightsOf returns the rights of the next queue, if it has any.
func (c *course) rightsOf(q *asking) []exposure {
	from := c.next
	for c.next < len(c.rights.of) && c.rights.of[c.next].queue == q {
		c.next++
	}
	return c.rights.of[from:c.next]
}
