package reference

import (
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Replicas that were told to stop count as an evicted workload of their own, one for each pod set. What stays is the
// workload.

// Running is what stays of an admitted workload, or the replicas of one of its pod sets that leave.
type Running struct {
	*workload.Workload
	At      *Node  // its queue
	Leaving string // the pod set of which replicas leave; empty: this is what stays
	// Given is the workload as the state has it, with the replicas that leave; for these, themselves.
	Given  *workload.Workload
	Parts  []*Running // of what stays: what leaves
	partOf *Running

	takes   []int64 // by column: the whole
	names   []bool  // by column: a request names it, if only with zero
	whole   bool    // a search has taken it as a whole
	fewer   []int64 // by pod set: the replicas that a search has taken
	counted []int64 // by column: what counts in the usage
}

func (q *usage) run(w *workload.Workload) {
	stays := *w
	stays.PodSets = nil
	var parts []*workload.Workload
	var leaving []string
	for _, p := range w.PodSets {
		if p.Terminating > 0 && !w.Evicted {
			part, of := *w, p
			of.Count, of.Terminating, of.MinCount = p.Terminating, 0, quota.OptionalInt64{}
			part.Evicted, part.NeverYields, part.PodSets = true, false, []workload.PodSet{of}
			parts, leaving = append(parts, &part), append(leaving, p.Name)
			p.Count, p.Terminating = p.Count-p.Terminating, 0
		}
		stays.PodSets = append(stays.PodSets, p)
	}
	all := q.running(&stays, w, "")
	for i, part := range parts {
		of := q.running(part, part, leaving[i])
		of.partOf = all
		all.Parts = append(all.Parts, of)
	}
}

func (q *usage) running(w, given *workload.Workload, leaving string) *Running {
	width := len(q.tree.Columns)
	r := &Running{
		Workload: w, Given: given, At: q.tree.Queues[w.Queue], Leaving: leaving,
		takes: make([]int64, width), names: make([]bool, width), fewer: make([]int64, len(w.PodSets)), counted: make([]int64, width),
	}
	for _, a := range w.Usage() {
		c := q.tree.numbers[a.FlavorResource()]
		r.takes[c], r.names[c] = a.Amount, true
	}
	r.settle()
	q.Running = append(q.Running, r)
	return r
}

// settle brings the usage in line with what a search has taken.
func (r *Running) settle() {
	now := make([]int64, len(r.takes))
	if !r.whole && !r.goesAlong() {
		copy(now, r.takes)
		for i, n := range r.fewer {
			for _, a := range r.PodSets[i].Requests {
				now[r.At.tree.numbers[a.FlavorResource()]] -= n * a.Amount
			}
		}
	}
	for c, amount := range now {
		r.At.move(Column(c), amount-r.counted[c])
	}
	r.counted = now
}

// goesAlong reports whether it is what leaves of a workload that goes as a whole.
func (r *Running) goesAlong() bool { return r.partOf != nil && r.partOf.whole }

// set says whether it is taken as a whole.
func (r *Running) set(whole bool) {
	r.whole = whole
	r.settle()
	for _, part := range r.Parts {
		part.settle()
	}
}

// tell tells the room what is taken of the workload. The replicas that leave and the surplus that yields are
// replicas of one pod set, which the room orders. A room that does not know replicas keeps them all.
func (r *Running) tell(room preemption.Room) {
	if r.partOf != nil {
		r = r.partOf
	}
	if r.whole {
		room.Remove(r.ID)
	} else {
		room.Restore(r.ID)
	}
	frees, ok := room.(preemption.ReplicaRoom)
	for i := range r.PodSets {
		p, gone, told := &r.PodSets[i], r.fewer[i], r.PodSets[i].Surplus() > 0
		for _, part := range r.Parts {
			if part.Leaving == p.Name {
				told = true
				if part.whole {
					gone += part.PodSets[0].Count
				}
			}
		}
		if ok && told {
			frees.SetRemoved(r.ID, p.Name, gone)
		}
	}
}

// Uses reports whether a pod set, or any for -1, names something that needs preemption.
func (q *usage) Uses(r *Running, set int) bool {
	for _, c := range q.Needed {
		if set < 0 && r.names[c] {
			return true
		}
		for i := range r.PodSets {
			for _, a := range r.PodSets[i].Requests {
				if set == i && q.tree.numbers[a.FlavorResource()] == c {
					return true
				}
			}
		}
	}
	return false
}
