package place

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Fit says whether one request has a place, while groups and replicas are removed and restored.
type Fit struct {
	board Board
	base  []int64 // by node and slot: what is free without members
	free  []int64 // by slot: the same, summed up over nodes with some free
	needs []int64 // by slot: what the least number of members needs
	known bool    // the answer is known
	fits  bool

	away     map[string]bool // groups
	leaving  []*state.Pod    // pods that terminate; known with isListed
	isListed bool
	replicas replicas
}

// NewFit returns a fit for a valid request. It keeps config and r.
func NewFit(config *ask.Config, c *state.Cluster, r *ask.Request) *Fit {
	f := &Fit{away: map[string]bool{}}
	r.AwaitsAll = true
	b := &f.board
	b.Begin(config, c, r)
	f.free, f.needs, f.base = make([]int64, b.Width()), b.LeastNeeds(), make([]int64, 0, len(b.Nodes)*b.Width())
	b.Open(room.NoFloor, true)
	b.ExpectAll()
	for i := range b.Nodes {
		for slot, v := range b.FreeOn(i) {
			f.base = append(f.base, v)
			f.free[slot] = quota.Add(f.free[slot], max(0, v))
		}
	}
	return f
}

// Remove removes the running pods of a group.
func (f *Fit) Remove(group string) { f.change(group, true) }

// Restore restores the running pods of a removed group, except for replicas that are removed.
func (f *Fit) Restore(group string) { f.change(group, false) }

func (f *Fit) change(id string, gone bool) {
	if f == nil {
		return
	}
	g := f.board.Cluster.Group(id)
	if g == nil || f.away[id] == gone {
		return
	}
	f.away[id] = gone
	f.move(g.Members, gone)
	if gone {
		return
	}
	for _, set := range f.replicas.of[id] {
		f.move(set.pods[:set.removed], true)
	}
}

// move removes pods, or restores them.
func (f *Fit) move(pods []*state.Pod, gone bool) {
	b := &f.board
	sign := int64(1)
	if !gone {
		sign = -1
	}
	stands := true // the members keep their room
	for _, p := range pods {
		if b.IsRemoved(p) == gone {
			continue
		}
		b.Remove(p, gone)
		i := b.Of(p)
		if i < 0 || p.Facts.Terminating && b.Stuck(p) {
			continue
		}
		free, asked := b.FreeOn(i), b.asked[i*b.Width():]
		for _, a := range p.Takes {
			if slot := b.SlotOf(a); slot >= 0 {
				f.add(i, slot, sign*a.Value)
				free[slot] += sign * a.Value
				stands = stands && (free[slot] >= 0 || !asked[slot])
			}
		}
		f.moveClaims(i, p, gone)
	}
	switch {
	case f.fits && !gone:
		f.known = f.known && stands && !b.Request.Rules.DecidePlaces()
	case !f.fits && gone:
		f.known = false
	}
	f.known = f.known && !b.Request.Rules.HaveTrials() // more room may be worse for a set
}

// reset starts a placement in a domain.
func (f *Fit) reset(d room.Domain) {
	f.board.clear()
	for i := d.From; i < d.To; i++ {
		free := f.board.FreeOn(i)
		copy(free, f.base[i*len(free):])
	}
}

// Fits reports whether the request has a place without the removed groups.
func (f *Fit) Fits() bool {
	if f == nil {
		return false
	}
	if !f.known {
		f.known, f.fits = true, f.look()
	}
	return f.fits
}

// FitsSoon reports whether the request has a place without the removed groups once all that terminates is gone.
func (f *Fit) FitsSoon() bool {
	if f == nil || f.Fits() {
		return f != nil
	}
	if !f.isListed {
		f.isListed = true
		for p := range f.board.Cluster.Running.All {
			if p.Facts.Terminating && !f.board.Stuck(p) {
				f.leaving = append(f.leaving, p)
			}
		}
	}
	there := slices.DeleteFunc(slices.Clone(f.leaving), f.board.IsRemoved)
	if len(there) == 0 {
		return false
	}
	f.move(there, true)
	soon := f.Fits()
	f.move(there, false)
	f.known = false
	return soon
}

// look looks for a place.
func (f *Fit) look() bool {
	b := &f.board
	for slot, need := range f.needs {
		if need > f.free[slot] {
			return false
		}
	}
	for _, d := range b.Domains {
		f.reset(d)
		if b.Place(d) >= b.AtLeast {
			return true
		}
		if !b.IsPromised() {
			continue
		}
		f.reset(d)
		if b.PlacePromised(d) > 0 && b.Place(d) >= b.AtLeast {
			return true
		}
	}
	return false
}

// Where returns the numbers of the nodes of the members, -1 for a member without place; nil if the request does not
// fit.
func (f *Fit) Where() []int32 {
	if !f.Fits() {
		return nil
	}
	where := make([]int32, len(f.board.Where))
	for m, i := range f.board.Where {
		if where[m] = -1; i >= 0 {
			where[m] = f.board.Nodes[i].Number
		}
	}
	return where
}

// replicas is what a Fit knows of the pod sets of workloads; the ID of a workload is that of its group.
type replicas struct {
	podSet  func(workload.Pod) string // nil: no pod sets are known
	compare func(a, b workload.Pod) int
	of      map[string][]podSet // by workload that was asked about
}

// podSet is the running pods of a pod set, in the order in which they leave. While their workload is there, the first
// ones are removed.
type podSet struct {
	name    string
	pods    []*state.Pod
	removed int // how many
}
