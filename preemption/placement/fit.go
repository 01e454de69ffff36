package placement

import (
	"slices"

	"github.com/cedesched/cede/quota"
)

// Fit answers for one request whether it has a place, while groups are taken away and given
// back: the room side of a decision whose victims somebody else chooses (by quota, say, with
// the ID of a workload as that of its pods' group). Priorities, disruption modes and budgets
// do not count. It starts with everything that runs: in [Design] without what terminates and
// is waited for, in the other modes, where that counts as running, with it.
//
// Its laws, for a search that takes until it fits and then gives back what it can:
//
//  1. An answer of true has a placement behind it, [Fit.Nominations].
//  2. After true, taking more leaves it true. After false, giving back leaves it false,
//     but for gangs of unequal pods: nodes may be filled in a better way with less room.
//  3. Taking what was taken, or giving back what was not, changes nothing; nor does a group
//     without pods.
//
// Taking and giving back cost as much as the group has pods; an answer as much as placing
// the request, unless it follows from the one before. A Fit may be used by one goroutine at
// a time. Make it with [Preemptor.Fit]; the zero value never fits.
type Fit struct {
	s     *search
	at    span    // of the placement that stands
	base  []int64 // what is free with no member placed
	free  []int64 // by slot: the same, summed up over nodes that have some
	needs []int64 // by slot: of as many members as must have a place
	known bool    // whether it fits
	fits  bool
}

// Fit returns a fit for a request. Errors are those of [Preemptor.Decide].
func (p *Preemptor) Fit(snapshot *Snapshot, r Request) (*Fit, error) {
	own := r
	own.Pods = make([]Pod, len(r.Pods))
	for i := range r.Pods {
		own.Pods[i] = r.Pods[i].Clone()
	}
	own.Domains, own.Prefer = slices.Clone(r.Domains), slices.Clone(r.Prefer)
	s, err := p.start(snapshot, &own)
	if err != nil {
		return nil, err
	}
	s.taken = map[string]bool{}
	f := &Fit{s: s, free: make([]int64, len(s.slots)), needs: s.leastNeeds()}
	f.base = make([]int64, len(s.free))
	for _, d := range s.ranges {
		s.open(d, nobody, false)
	}
	copy(f.base, s.free)
	for i, v := range f.base {
		f.free[i%len(s.slots)] = quota.Add(f.free[i%len(s.slots)], max(0, v))
	}
	return f, nil
}

// Remove takes the running pods of a group away.
func (f *Fit) Remove(group string) { f.change(group, true) }

// Restore puts the running pods of a removed group back.
func (f *Fit) Restore(group string) { f.change(group, false) }

func (f *Fit) change(id string, taken bool) {
	if f == nil || f.s == nil {
		return
	}
	s := f.s
	g := s.c.group(id)
	if g == nil || s.taken[id] == taken {
		return
	}
	s.taken[id] = taken
	sign, width := int64(1), len(s.slots)
	if !taken {
		sign = -1
	}
	stands := true
	for _, p := range g.members {
		i := int(s.local[p.node])
		if i < 0 || p.facts.Terminating && (!s.asBuilt || s.stuck(p)) {
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
		f.known = f.known && stands && len(s.config.Filters) == 0
	case !f.fits && taken:
		f.known = false
	}
}

// reset starts a placement in a domain.
func (f *Fit) reset(d span) {
	width := len(f.s.slots)
	f.s.takeBack()
	f.s.floor, f.s.now = nobody, false
	copy(f.s.free[d.from*width:d.to*width], f.base[d.from*width:d.to*width])
}

// Fits reports whether the request has a place without the groups that are taken.
func (f *Fit) Fits() bool {
	if f == nil || f.s == nil {
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

// Nominations returns where the pods have their place; none if it does not fit.
func (f *Fit) Nominations() []Nomination {
	if !f.Fits() {
		return nil
	}
	return f.s.nominations(f.s.where)
}
