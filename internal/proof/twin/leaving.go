package twin

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Leaving is leaving: replicas that were told to stop are an evicted workload of their own, one
// for each pod set, and what stays is the workload. The ID of the leaving replicas comes right
// after that of their workload.
const leaving = "\x00"

// apart lists what stays of workloads and what leaves of them.
func apart(admitted []workload.Workload) (list []workload.Workload) {
	for _, w := range admitted {
		stays := w
		stays.PodSets = nil
		var parts []workload.Workload
		for _, p := range w.PodSets {
			if p.Terminating > 0 && !w.Evicted {
				part := w
				part.ID += leaving + p.Name
				part.Evicted, part.NeverYields = true, false
				of := p
				of.Count, of.Terminating, of.MinCount = p.Terminating, 0, quota.OptionalInt64{}
				part.PodSets = []workload.PodSet{of}
				parts = append(parts, part)
				p.Count, p.Terminating = p.Count-p.Terminating, 0
			}
			stays.PodSets = append(stays.PodSets, p)
		}
		list = append(append(list, stays), parts...)
	}
	return list
}

// idOf returns the ID of the workload that something belongs to.
func idOf(id string) string {
	name, _, _ := strings.Cut(id, leaving)
	return name
}

// leaves reports whether something is leaving replicas.
func leaves(id string) bool { return strings.Contains(id, leaving) }

// goesWhole removes a workload with what leaves of it; or what leaves alone.
func (w *world) goesWhole(id string) {
	w.gone[id] = true
	for i := range w.running {
		if of := w.running[i].ID; idOf(of) == id {
			w.gone[of] = true
		}
	}
}

// partOf reports whether a candidate is replicas of a workload that is in a list as a whole.
func partOf(list []candidate, c candidate) bool {
	return (c.podSet >= 0 || leaves(c.w.ID)) &&
		slices.ContainsFunc(list, func(o candidate) bool { return o.w.ID == idOf(c.w.ID) && o.podSet < 0 })
}

// asGiven returns a workload as a caller's function is given it: with its own ID, and what stays
// with the replicas that leave.
func (d *decision) asGiven(w workload.Workload) workload.Workload {
	for _, given := range d.given {
		if given.ID == w.ID {
			return given
		}
	}
	w.ID = idOf(w.ID)
	return w
}

// addReplicas adds replicas that yield to those of a victim.
func addReplicas(list []preemption.Replicas, more preemption.Replicas) []preemption.Replicas {
	for i := range list {
		if list[i].PodSet == more.PodSet {
			list[i].Count += more.Count
			list[i].Leaving += more.Leaving
			return list
		}
	}
	return append(list, more)
}

// leavingAlone takes candidates that were told to stop before, in order, until the request fits, and puts
// back, latest first, those that are not needed. Nobody else is then told to stop.
func (d *decision) leavingAlone(candidates []candidate, borrowing bool) []preemption.Victim {
	d.setGone(nil)
	defer d.setGone(nil)
	var all, taken []candidate
	for _, c := range d.inAttempt(candidates, borrowing) {
		if c.w.Evicted {
			if c.class != 2 && d.config.Sharing == preemption.Fair && !d.entitledAtFirst() {
				c.reason = preemption.InCohortFairSharing
			}
			all = append(all, c)
		}
	}
	for _, c := range all {
		taken = append(taken, c)
		if d.setGone(taken); !d.fits(borrowing) {
			continue
		}
		for i := len(taken) - 2; i >= 0; i-- {
			without := slices.Delete(slices.Clone(taken), i, i+1)
			if d.setGone(without); d.fits(borrowing) {
				taken = without
			}
		}
		return d.victims(taken)
	}
	return nil
}

// count counts a replica that goes.
func count(fewer map[string]map[string]int64, c *candidate) {
	if fewer[c.w.ID] == nil {
		fewer[c.w.ID] = map[string]int64{}
	}
	fewer[c.w.ID][c.w.PodSets[c.podSet].Name]++
}

// roomyWithout reports whether the room, if there is one, has a place without those gone. A room that can
// free replicas has one order for those of a pod set, in which those that leave come first.
func (d *decision) roomyWithout(gone map[string]bool, fewer map[string]map[string]int64) bool {
	room := d.request.Room
	if room == nil {
		return true
	}
	replicas := map[[2]string]int64{}
	for _, w := range d.running {
		switch {
		case leaves(w.ID) && gone[w.ID]:
			replicas[[2]string{idOf(w.ID), w.PodSets[0].Name}] += w.PodSets[0].Count
		case gone[w.ID]:
			room.Remove(w.ID)
			defer room.Restore(w.ID)
		}
		for podSet, n := range fewer[w.ID] {
			replicas[[2]string{w.ID, podSet}] += n
		}
	}
	if frees, ok := room.(preemption.ReplicaRoom); ok {
		for of, n := range replicas {
			frees.SetRemoved(of[0], of[1], n)
			defer frees.SetRemoved(of[0], of[1], 0)
		}
	}
	return room.Fits()
}
