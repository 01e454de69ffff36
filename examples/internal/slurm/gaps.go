package slurm

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// gap says that rows are missing: who, and since when it may have held something.
type gap struct {
	since int64
	what  string
}

const (
	// soon is how many seconds after a job was stopped Slurm lets another start on its nodes, or takes it back into the queue: it
	// waits for an epilog.
	soon = 600
	// apart is how many seconds a job goes on after its grace time: Slurm looks at limits now and then.
	apart = 60
	// near is how many seconds the log and sacct are apart about one stop, beside the skew.
	near = 2
)

// finish orders what was read, and finds what is missing.
func (h *History) finish() {
	order := func(a, b *run) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID))
	}
	slices.SortFunc(h.runs, order)
	for _, lists := range []map[string][]*run{h.byJob, h.tasks} {
		for _, list := range lists {
			slices.SortFunc(list, order)
		}
	}
	for _, r := range h.runs {
		h.GPUs, h.reserved = h.GPUs || r.GPU > 0, h.reserved || r.Reserve != ""
		for _, at := range []int64{r.Start, r.End} {
			if at > 0 {
				h.Last = max(h.Last, at)
				if h.First == 0 || at < h.First {
					h.First = at
				}
			}
		}
		if r.Start > 0 {
			r.all = new(amounts)
			for _, name := range r.nodes {
				h.byNode[name] = append(h.byNode[name], hold{run: r})
				if n := h.nodes[name]; n == nil {
					r.all = nil
				} else if r.all != nil {
					*r.all = r.all.plus(n.amounts(), 1)
				}
			}
		}
	}
	for _, list := range h.byNode {
		slices.SortStableFunc(list, func(a, b hold) int { return cmp.Compare(a.Start, b.Start) })
		last := int64(0)
		for i := range list {
			if last = max(last, list[i].End); list[i].End == 0 {
				last = math.MaxInt64
			}
			list[i].last = last
		}
	}
	slices.SortFunc(h.signs, func(a, b sign) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.victim, b.victim), strings.Compare(a.by, b.by), cmp.Compare(b.grace, a.grace))
	})
	h.tell()
	h.findGaps()
	h.Notes = append(h.Notes, "the times of Slurm have no zone: they are taken as UTC")
	if h.config == nil && h.qos != nil {
		h.Notes = append(h.Notes, "PreemptType is taken as preempt/qos: scontrol show config says it")
	}
	if h.partitions == nil {
		h.Notes = append(h.Notes, "partitions are taken to have no QOS of their own: scontrol show partitions --json says it")
	}
}

// tell finds for each preempted run the line of the log that tells it to stop: the first one.
func (h *History) tell() {
	used, byVictim := make([]bool, len(h.signs)), map[string][]int{}
	for i, s := range h.signs {
		byVictim[s.victim] = append(byVictim[s.victim], i)
	}
	for _, r := range h.runs {
		if r.Preempted == 0 || r.End == 0 {
			continue
		}
		once := true
		for _, other := range h.byJob[r.ID] {
			once = once && (other == r || other.Preempted == 0)
		}
		several := false
		for _, i := range byVictim[r.ID] {
			s := &h.signs[i]
			late := near + h.skew
			if s.grace > 0 {
				late += s.grace + apart
			}
			if (s.at != 0 || !once) && (s.at < r.Start-h.skew || s.at > r.End+near+h.skew || s.at < r.End-late) {
				continue
			}
			if used[i] = true; r.told == nil {
				r.told = s
			}
			several = several || r.told.by != s.by
		}
		if several {
			r.told = nil
		}
	}
	for i, s := range h.signs {
		since := int64(0)
		if list := h.byJob[s.victim]; len(list) > 0 {
			since = list[0].Submit
		}
		if !used[i] && s.at >= h.First && s.at <= h.Last {
			h.gaps = append(h.gaps, gap{since, "a run of job " + s.victim + ", which the log says was preempted, is not among the rows"})
		}
	}
}

// findGaps finds what shows that rows are missing. Slurm numbers jobs as they come, but tasks of arrays as they start, and gives a run that
// follows another the time of that one's end as its submission.
func (h *History) findGaps() {
	first, tasks, ends, raw := map[int64]int64{}, map[int64]bool{}, int64(0), true
	for _, r := range h.runs {
		id := number(cmp.Or(r.Raw, r.ID))
		tasks[id] = tasks[id] || strings.Contains(r.ID, "_")
		raw = raw && (r.Raw != "" || !tasks[id])
		if at, has := first[id]; !has || r.Submit < at {
			first[id] = r.Submit
		}
		if r.End > 0 && (ends == 0 || r.End < ends) {
			ends = r.End
		}
	}
	if !raw {
		h.gaps = append(h.gaps, gap{0, "the rows have tasks of arrays and no column JobIDRaw, so that what is missing does not show"})
	}
	var ids []int64
	for id := range first {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	least := int64(0) // the first submission of those with higher numbers
	for i := len(ids) - 1; i >= 0; i-- {
		id, at := ids[i], first[ids[i]]
		if i+1 < len(ids) && raw && ids[i+1] > id+1 && at >= ends { // before, it may have ended before the rows begin
			h.gaps = append(h.gaps, gap{at, fmt.Sprintf("job %d is not among the rows", id+1)})
		}
		switch {
		case tasks[id]:
		case least > 0 && at > least:
			h.gaps = append(h.gaps, gap{least, fmt.Sprintf("a run of job %d is not among the rows", id)})
		default:
			least = at
		}
	}
	for id, list := range h.byJob {
		for i, r := range list {
			switch last := i+1 == len(list); {
			case last && r.told != nil && r.told.requeued, !last && r.End > 0 && list[i+1].Submit > r.End+soon, !last && r.End == 0:
				h.gaps = append(h.gaps, gap{cmp.Or(r.End, r.Submit), "a run of job " + id + " is not among the rows"})
			}
		}
	}
	slices.SortFunc(h.gaps, func(a, b gap) int { return cmp.Or(cmp.Compare(a.since, b.since), strings.Compare(a.what, b.what)) })
}

// lacks says why the rows may not have all that held something until an instant; empty: nothing shows that.
func (h *History) lacks(until int64) string {
	switch {
	case h.lost > 0:
		return "odd rows were left out"
	case len(h.gaps) > 0 && h.gaps[0].since <= until:
		return h.gaps[0].what
	case len(h.runs) == 0 || h.runs[len(h.runs)-1].Submit <= until:
		return "no job came later, so that the rows may be cut off before"
	}
	return ""
}
