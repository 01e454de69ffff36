package slurm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/audit"
)

// amounts are CPUs and GPUs in thousandths, and memory in MiB.
type amounts [3]int64

func (a amounts) plus(b amounts, sign int64) amounts {
	for i := range a {
		a[i] += sign * b[i]
	}
	return a
}

func (a amounts) within(b amounts) bool { return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2] }

func (n *node) amounts() amounts { return amounts{n.cpu, n.gpu, n.memory} }

func (r *run) amounts() amounts { return amounts{r.CPU, r.GPU, r.Memory} }

// share bounds what a run takes of one of its nodes: sacct has the sum of all.
func (h *History) share(r *run, name string) (least, most amounts) {
	least, most = r.amounts(), r.amounts()
	if len(r.nodes) < 2 {
		return least, most
	}
	most[0] -= int64(len(r.nodes)-1) * 1000 // a CPU is on each
	n := h.nodes[name]
	if n == nil || r.all == nil {
		return amounts{1000}, most
	}
	for i, has := range n.amounts() {
		least[i], most[i] = max(0, least[i]-r.all[i]+has), min(most[i], has)
	}
	least[0] = max(1000, least[0])
	return least, most
}

// runs is a set of runs.
type runs map[*run]bool

// need says whether a preemption was needed: the verdict Fitted, TooMany or Right; or what leaves it open.
func (h *History) need(p *Preemption) (v audit.Verdict, open string) {
	victims := runs{}
	for i := range p.Victims {
		victims[p.Victims[i].run] = true
	}
	if !p.concluded {
		all := h.fits(p, victims, victims) == ""
		for i := range p.Victims {
			if one := &p.Victims[i]; all || h.fits(p, victims, runs{one.run: true}) == "" {
				one.Stays, v = true, audit.TooMany
			}
		}
		if all {
			v = audit.Fitted
		}
	}
	switch {
	case v != 0:
		return v, ""
	case h.nodes == nil:
		return 0, "whether it was needed hangs on the nodes: scontrol show nodes --json prints them"
	}
	if h.perhaps(p, victims, nil) == "" {
		return 0, "even without the victims it does not fit, as far as the rows say"
	}
	for i := range p.Victims {
		if open := h.perhaps(p, victims, p.Victims[i].run); open != "" {
			return 0, open
		}
	}
	return audit.Right, ""
}

// holds reports whether a run may have held its nodes at some instant of a time, and whether it held them during all of it.
func (h *History) holds(r *run, from, until int64) (perhaps, surely bool) {
	perhaps = r.Start > 0 && r.Start <= until && (r.End == 0 || r.End >= from)
	goesOn := r.State == "RUNNING" || r.State == "COMPLETING" || r.State == "CONFIGURING"
	surely = perhaps && r.Start < from && (r.End == 0 && goesOn || r.End > until)
	return perhaps, surely
}

// settles is how many seconds what has ended may still keep its room: Slurm cleans up behind it.
const settles = 300

// fits says why a preemptor would perhaps not have fit on the nodes that it got while some victims stay and the others
// leave; empty: it would have. It started soon after, and nothing else made room on its nodes since.
func (h *History) fits(p *Preemption, victims, stay runs) string {
	last := p.hi
	for v := range victims {
		last = max(last, v.End)
	}
	switch {
	case p.Started == 0 || len(p.by.nodes) == 0:
		return "it has not started, or it is not known where"
	case p.Started > last+soon:
		return "it started much later"
	case strings.Contains(h.setting("PreemptParameters"), "reclaim_licenses"):
		return "licences may have been what it needed"
	}
	for r := range stay {
		if strings.Contains(p.Preemptor+r.ID, "+") {
			return "parts of a heterogeneous job start and stop together"
		}
	}
	for _, name := range p.by.nodes {
		if why := h.fitsOn(name, p, victims, stay); why != "" {
			return why
		}
	}
	return ""
}

// fitsOn is fits for one of the nodes that the preemptor got.
func (h *History) fitsOn(name string, p *Preemption, victims, stay runs) string {
	var left amounts
	held, doubt := false, ""
	for _, r := range h.on(name, p.lo-settles, p.Started) {
		perhaps, surely := h.holds(r.run, p.lo-settles, p.Started)
		switch {
		case r.run == p.by || !perhaps:
		case stay[r.run]:
			doubt = r.ID + " held some of " + name
		case victims[r.run], h.already(r.run, name, p):
			least, _ := h.share(r.run, name)
			if r.Flavor != p.by.Flavor {
				least[1] = 0
			}
			held, left = true, left.plus(least, 1)
		case surely:
			held = true
		case r.Start <= p.hi:
			doubt = r.ID + " ended on " + name + " in between"
		}
	}
	_, need := h.share(p.by, name)
	switch {
	case need.within(left): // whatever else was there
		return ""
	case doubt != "":
		return doubt
	case !held:
		return name + " was idle, and perhaps could not be used"
	}
	return h.lacks(p.Started)
}

// already reports whether a run was leaving for the preemptor before, and nobody else took its room.
func (h *History) already(r *run, name string, p *Preemption) bool {
	if r.told == nil || r.told.by != p.Preemptor || r.End > p.Started || h.lacks(p.Started) != "" || r.End > p.lo && (r.told.grace == 0 || r.told.at > p.lo) {
		return false
	}
	return !slices.ContainsFunc(h.on(name, r.End, p.Started), func(x hold) bool { return x.run != p.by && x.Start >= r.End })
}

// inPartition reports whether a node is in one of some partitions, as far as is said.
func (h *History) inPartition(n *node, partitions string) bool {
	if len(n.partitions) == 0 || partitions == "" {
		return true
	}
	for name := range strings.SplitSeq(partitions, ",") {
		if slices.Contains(n.partitions, name) {
			return true
		}
	}
	return false
}

// perhaps says where a preemptor may have fit while one victim stays, or none does, with as many nodes as it has; empty: nowhere.
func (h *History) perhaps(p *Preemption, victims runs, stay *run) string {
	by, free := p.by, map[string]amounts{}
	if by.Count == 0 {
		return "how many nodes the preemptor asked for is not known"
	}
	for name, n := range h.nodes {
		if !h.inPartition(n, by.Partition) || n.away && len(h.byNode[name]) == 0 {
			continue
		}
		room := n.amounts()
		for _, r := range h.on(name, p.lo-soon, p.hi+soon) {
			_, surely := h.holds(r.run, p.lo, p.hi)
			leaves := victims[r.run] || r.Preempted > 0 && r.End-h.grace(r.run)-apart <= p.hi // for another, whose room it may not be
			if r.run == stay || surely && !leaves || h.before(r.run, p) || h.next(r.run, name, p) {
				least, _ := h.share(r.run, name)
				room = room.plus(least, -1)
			}
		}
		if room[0] >= 1000 {
			free[name] = room
		}
	}
	need := by.amounts()
	if !strings.Contains(strings.ToUpper(h.setting("SelectTypeParameters")), "MEMORY") {
		need[2] = 0 // nobody may count it
	}
	if by.Count == 1 {
		maps.DeleteFunc(free, func(_ string, a amounts) bool { return need[0] > a[0] || need[1] > a[1] || need[2] > max(a[2], 0) })
	}
	if int64(len(free)) < by.Count {
		return ""
	}
	for i := range need {
		var most []int64
		for _, a := range free {
			most = append(most, a[i])
		}
		slices.Sort(most)
		sum := int64(0)
		for _, n := range most[len(most)-int(by.Count):] {
			sum += max(n, 0)
		}
		if sum < need[i] {
			return ""
		}
	}
	names := slices.Sorted(maps.Keys(free))
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("and %d more", len(names)-3))
	}
	if stay == nil {
		return "it may have fit"
	}
	return fmt.Sprintf("it may have fit while %s stayed, with room on %s: sacct does not say where it could run", stay.ID, strings.Join(names, ", "))
}

// before reports whether a run started as a preemptor preempted, and came first: Slurm takes them by their priorities.
func (h *History) before(x *run, p *Preemption) bool {
	return x != p.by && x.Start >= p.lo && x.Start <= p.hi && x.Partition == p.by.Partition && x.Priority > p.by.Priority
}

// next reports whether a run is that of another preemptor, for which a node was being made free.
func (h *History) next(x *run, name string, p *Preemption) bool {
	if x == p.by || x.Start < p.lo || x.Start > p.hi+soon {
		return false
	}
	return slices.ContainsFunc(h.on(name, p.lo-soon, x.Start), func(r hold) bool {
		if r.told == nil || r.told.by != x.ID || r.End < p.lo-soon || r.End > x.Start {
			return false
		}
		return r.End <= p.hi || r.told.grace > 0 && r.told.at <= p.hi
	})
}
