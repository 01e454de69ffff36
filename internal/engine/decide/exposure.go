package decide

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// Keeps returns the verdict on a workload of a queue for a request, while no victim is taken. Where the whole
// workload is protected longer than its surplus, it is the verdict on the surplus. In fair sharing it permits what shares may permit.
func (s *Searcher) Keeps(c *cluster.Cluster, r *right.Request, queue int, w *cluster.Workload) right.Verdict {
	core, asked := &s.search, *r
	if r = &asked; r.Fair.Enabled() {
		r.Fair.Stable = false
		r.Protection.Reclaim = min(r.Protection.Reclaim, r.Protection.FairSharing)
		r.Protection.FairSharing = r.Protection.Reclaim
	}
	s.begin(c, r, nil)
	defer core.End()
	core.FitsAtFirst()
	core.CollectLevels()
	d, ok := search.DonorOf(core, queue)
	switch {
	case c.Queue(queue).Inactive:
		return right.Verdict{Rule: trace.QueueInactive, Until: math.MaxInt64, SetBy: queue}
	case !ok && queue == r.Queue:
		return right.Verdict{Rule: trace.WithinClusterQueue, Until: math.MaxInt64, SetBy: -1}
	case !ok:
		return right.Verdict{Rule: trace.ReclaimWithinCohort, Until: math.MaxInt64, SetBy: -1}
	}
	idle := -1
	for n := queue; d.Class != right.Own && n != d.LCA && idle < 0; n = c.Tree.Parent(n) {
		if !core.Gives(n) {
			idle = n
		}
	}
	v := core.VerdictOfAll(&d, w, idle)
	if v.Rule == trace.BorrowWithinCohort && search.OthersHoldNominal(core, 0) {
		v = core.Verdict(&d, w)
	}
	if len(w.Surplus) > 0 && v.Rule == trace.MinRuntime {
		v = core.VerdictOfSurplus(&d, w)
	}
	if !v.MayYield() && v.Rule != trace.MinRuntime && v.Rule != trace.Guarded && v.Rule != trace.WithinClusterQueue {
		v.Until = math.MaxInt64
	}
	return v
}

// EachTurn tells of the candidates of a request, whatever it asks for of its columns, with the least amounts at which the request fits once
// they are taken, as the last; nil: there are none, but it may be taken before others. Some come several times.
func (s *Searcher) EachTurn(c *cluster.Cluster, r *right.Request, t *search.Telling) {
	core := &s.search
	s.begin(c, r, nil)
	defer core.End()
	asked := r.Amounts
	defer func() { r.Amounts = asked }()
	boxes := boxesOf(core)
	each := make([]int, len(asked)) // which box of each slot
	box := search.Box{Low: make([]int64, len(asked)), High: make([]int64, len(asked))}
	for {
		for slot, of := range each {
			if of == len(boxes[slot]) {
				return
			}
			box.Low[slot], box.High[slot] = boxes[slot][of].low, boxes[slot][of].high
		}
		r.Amounts = box.Low // up to High, the rights are the same
		if !core.FitsAtFirst() {
			core.CollectLevels()
			var earlier []int64
			for _, borrowing := range core.Attempts() {
				fits, more := search.EachTurn(core, source.Mode{Borrowing: borrowing}, box, earlier, t)
				if !more {
					return
				}
				earlier = fits
			}
		}
		slot := 0
		for each[slot]++; each[slot] == len(boxes[slot]) && slot < len(each)-1; each[slot]++ {
			each[slot] = 0
			slot++
		}
	}
}

// EachReached yields what a request could ever take of another queue, if it needs preemption in everything that it names; branch: of all
// queues that are with it below a cohort, but not below one that is above the request.
func (s *Searcher) EachReached(c *cluster.Cluster, r *right.Request, queue int, branch bool, yield func(*right.Victim)) {
	core := &s.search
	s.begin(c, r, nil)
	defer core.End()
	core.FitsAtFirst()
	core.CollectLevels()
	common := core.Common(queue)
	for i := range core.Levels {
		if l := &core.Levels[i]; l.Cohort == common && !c.Queue(queue).Inactive {
			if branch {
				queue = core.Below(common, queue)
			}
			search.EachReached(core, l, queue, yield)
			return
		}
	}
}

type interval struct{ low, high int64 }

// boxesOf returns, by slot, the amounts between which the rights of a request change. Of several slots, amounts that change
// nothing beside the others are left out.
func boxesOf(core *search.Search) (list [][]interval) {
	r := core.Request
	for slot := range r.Columns {
		available, _ := core.View.Available(usage.Victims, r.Queue, slot)
		most, low := core.View.Potential(r.Queue, slot), int64(1)
		ends, all := search.RightEnds(core, slot)
		if available = max(0, available); len(r.Columns) == 1 {
			low = quota.Add(available, 1)
		}
		ends = append(ends, available, most)
		slices.Sort(ends)
		var of []interval
		for i, end := range ends {
			if high := min(end, most); high >= low {
				if i > 0 || !all || len(r.Columns) == 1 || high > available {
					of = append(of, interval{low, high})
				}
				low = quota.Add(high, 1)
			}
		}
		list = append(list, of)
	}
	return list
}

// AnyLeaving reports whether something was told to leave, which is taken before all others, whoever permits it.
func AnyLeaving(c *cluster.Cluster) bool {
	for range c.EachLeaving {
		return true
	}
	return false
}

// AppendAmounts appends, in any order, amounts of the first column of a request at which the answer about a
// workload may change: where the right of its queue ends, where its turn comes, and where the turn of others after it ends. It
// appends none if its turn never comes. The other columns stay as they are requested.
func (s *Searcher) AppendAmounts(list []int64, c *cluster.Cluster, r *right.Request, w *cluster.Workload) []int64 {
	core := &s.search
	s.begin(c, r, nil)
	defer core.End()
	asked := r.Amounts[0]
	defer func() { r.Amounts[0] = asked }()
	available, _ := core.View.Available(usage.Victims, r.Queue, 0)
	least, most := quota.Add(max(0, available), 1), core.View.Potential(r.Queue, 0)
	begins, _ := search.RightEnds(core, 0)
	begins = append(begins, least-1)
	found := false
	for _, end := range begins {
		if r.Amounts[0] = quota.Add(end, 1); r.Amounts[0] < least || r.Amounts[0] > most {
			continue
		}
		core.FitsAtFirst()
		core.CollectLevels()
		for _, borrowing := range [...]bool{true, false} {
			var reached bool
			list, reached = search.Turns(core, list, source.Mode{Borrowing: borrowing}, w)
			found = found || reached
		}
	}
	if !found {
		return list[:0]
	}
	for _, end := range begins {
		list = append(list, end, quota.Add(end, 1))
	}
	return append(list, most)
}
