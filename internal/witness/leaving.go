package witness

import (
	"slices"
	"time"
)

// Rulings: "Leaving is leaving, for workloads, replicas and pods alike: its quota and room count as
// on their way."

// orLeaving returns the victims, or what is leaving if that is enough: "What is leaving already, if it
// is enough, is awaited, in whatever order it leaves; nobody else is told to stop." Where the search
// finds nobody else, its own victims stay.
func (w *world) orLeaving(victims []*candidate, at time.Time) []*candidate {
	told := !slices.ContainsFunc(victims, func(c *candidate) bool { return !c.leaving })
	if len(victims) > 0 && told {
		return victims
	}
	if leaving := w.leavingIsEnough(at); leaving != nil {
		return leaving
	}
	return victims
}

// leavingIsEnough returns what is leaving and needed, if the request fits without all of it.
func (w *world) leavingIsEnough(at time.Time) (leaving []*candidate) {
	for _, c := range w.inOrder(w.allLeaving(at), at) {
		c.remove()
		leaving = append(leaving, c)
	}
	fits := func() bool { return w.fits(true) }
	if len(leaving) == 0 || !fits() {
		restore(leaving)
		return nil
	}
	leaving = w.minimal(leaving, fits)
	restore(leaving)
	return leaving
}

// allLeaving lists what was told to leave, "if the policies permit" it: also in queues that borrow
// nothing any more, because others that were told have left; also in queues that are inactive, and
// where a guard protects, for it leaves anyway.
func (w *world) allLeaving(at time.Time) (list []*candidate) {
	classes := w.classes()
	for _, n := range w.queues {
		k, in := classes[n]
		if !in {
			continue
		}
		for _, r := range n.running {
			for _, c := range r.parts() {
				c.class, c.meet = k, meet(w.own, n)
				if c.leaving && c.uses(w.needs) && w.policyPermits(c, at) {
					list = append(list, c)
				}
			}
		}
	}
	return list
}
