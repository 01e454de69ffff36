package nodes

import "github.com/cedesched/cede/quota"

// Fit says whether one request has a place, while groups and replicas are removed and restored.
type Fit struct {
	s     *Searcher
	at    span    // of the current placement
	base  []int64 // what is free without members
	free  []int64 // by slot: the same, summed up over nodes with some free
	needs []int64 // by slot: what the least number of members needs
	known bool    // the answer is known
	fits  bool

	away     map[string]bool // groups
	replicas replicas
}

// NewFit returns a fit for a valid request. It keeps config and r.
func NewFit(config *Config, c *Cluster, r *Request) *Fit {
	s := new(Searcher)
	s.begin(config, c, r)
	s.taken = map[*Pod]bool{}
	f := &Fit{s: s, away: map[string]bool{}, free: make([]int64, len(s.slots)), needs: s.leastNeeds()}
	f.base = make([]int64, len(s.free))
	s.open(nobody, false)
	for i := range s.nodes {
		s.freeOn(i)
	}
	copy(f.base, s.free)
	for i, v := range f.base {
		f.free[i%len(s.slots)] = quota.Add(f.free[i%len(s.slots)], max(0, v))
	}
	return f
}

// Remove removes the running pods of a group.
func (f *Fit) Remove(group string) { f.change(group, true) }

// Restore restores the running pods of a removed group, except for replicas that are removed.
func (f *Fit) Restore(group string) { f.change(group, false) }

func (f *Fit) change(id string, taken bool) {
	if f == nil {
		return
	}
	g := f.s.c.group(id)
	if g == nil || f.away[id] == taken {
		return
	}
	f.away[id] = taken
	f.move(g.members, taken)
	if taken {
		return
	}
	for _, set := range f.replicas.of[id] {
		f.move(set.pods[:set.removed], true)
	}
}

// move removes pods, or restores them.
func (f *Fit) move(pods []*Pod, taken bool) {
	s := f.s
	sign, width := int64(1), len(s.slots)
	if !taken {
		sign = -1
	}
	stands := true
	for _, p := range pods {
		if s.taken[p] == taken {
			continue
		}
		if s.taken[p] = true; !taken {
			delete(s.taken, p)
		}
		i := int(s.local[p.node])
		if i < 0 || p.Facts.Terminating && (!s.asBuilt || s.stuck(p)) {
			continue
		}
		for _, a := range p.takes {
			if slot := s.slotOf[a.column]; slot >= 0 {
				cell := i*width + int(slot)
				before := max(0, f.base[cell])
				f.base[cell] += sign * a.value
				f.free[slot] = quota.Add(f.free[slot], max(0, f.base[cell])-before)
				s.free[cell] += sign * a.value
				stands = stands && (s.free[cell] >= 0 || !s.asked[cell])
			}
		}
	}
	switch {
	case f.fits && !taken:
		f.known = f.known && stands && !s.r.filtered()
	case !f.fits && taken:
		f.known = false
	}
	f.known = f.known && !s.r.hasTrials() // more room may be worse for a set
}

// reset starts a placement in a domain.
func (f *Fit) reset(d span) {
	width := len(f.s.slots)
	f.s.unplace()
	f.s.floor, f.s.now = nobody, false
	copy(f.s.free[d.from*width:d.to*width], f.base[d.from*width:d.to*width])
}

// Fits reports whether the request has a place without the removed groups.
func (f *Fit) Fits() bool {
	if f == nil {
		return false
	}
	if f.known {
		return f.fits
	}
	f.known, f.fits = true, false
	for slot, need := range f.needs {
		if need > f.free[slot] {
			return false
		}
	}
	for _, d := range f.s.ranges {
		f.reset(d)
		if f.s.place(d) >= f.s.atLeast {
			f.fits, f.at = true, d
			break
		}
		if !f.s.promised {
			continue
		}
		f.reset(d)
		if kept := f.s.placePromised(d); kept+f.s.place(d) >= f.s.atLeast {
			f.fits, f.at = true, d
			break
		}
	}
	return f.fits
}

// Where returns the numbers of the nodes of the members, -1 for a member without place; nil
// if the request does not fit.
func (f *Fit) Where() []int32 {
	if !f.Fits() {
		return nil
	}
	where := make([]int32, len(f.s.where))
	for m, at := range f.s.where {
		if where[m] = -1; at >= 0 {
			where[m] = f.s.nodes[at].number
		}
	}
	return where
}
