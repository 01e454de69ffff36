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
//
// If the room has no place but for what terminates there, "the decision is Wait": soon.
func orLeaving(w *world, victims []*candidate, at time.Time) (chosen []*candidate, soon bool) {
	told := !slices.ContainsFunc(victims, func(c *candidate) bool { return !c.leaving })
	if len(victims) > 0 && told {
		return victims, false
	}
	if leaving, soon := awaited(w, at); leaving != nil || soon {
		return leaving, soon
	}
	return victims, false
}

// awaited returns what is leaving, if it is enough: alone, or with what terminates in the room.
func awaited(w *world, at time.Time) (leaving []*candidate, soon bool) {
	if leaving = leavingIsEnough(w, at); leaving != nil {
		return leaving, false
	}
	w.soon = true
	defer func() { w.soon = false }()
	if w.fits(true) {
		return nil, true
	}
	leaving = leavingIsEnough(w, at)
	return leaving, leaving != nil
}

// leavingIsEnough returns what is leaving and needed, if the request fits without all of it.
func leavingIsEnough(w *world, at time.Time) (leaving []*candidate) {
	for _, c := range w.inOrder(allLeaving(w, at), at) {
		c.remove()
		leaving = append(leaving, c)
	}
	fits := func([]*candidate) bool { return w.fits(true) }
	if len(leaving) == 0 || !fits(leaving) {
		restore(leaving)
		return nil
	}
	leaving = minimal(w, leaving, fits)
	restore(leaving)
	return leaving
}

// allLeaving lists what was told to leave, "if the policies permit" it: also in queues that borrow
// nothing any more, because others that were told have left; also in queues that are inactive, and
// where a guard protects, for it leaves anyway.
func allLeaving(w *world, at time.Time) (list []*candidate) {
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
