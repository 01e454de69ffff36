package verify

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

func path(i int) string { return fmt.Sprintf("decision.victims[%d]", i) }

// victims judges the victims, by the attempt that explains them best. It returns them as parts: replicas and whole
// workloads.
func (j *judge) victims(faults *fault.List) (parts []reference.Candidate) {
	if len(j.d.Victims) == 0 {
		if j.d.Leaving && !j.Enough(true) {
			faults.Add("decision.leaving", "without what terminates the request does not fit")
		}
		return nil
	}
	var least fault.List
	for i, borrowing := range j.Attempts(j.Candidates()) {
		var found fault.List
		parts = j.victimsBy(&found, borrowing)
		if i == 0 || len(found) < len(least) {
			least = found
		}
	}
	if len(least) > 0 && j.allLeave {
		least, j.leave = nil, true // by the rights that stay while others leave
		parts = j.victimsBy(&least, true)
		j.leave = false
	}
	*faults = append(*faults, least...)
	if len(least) == 0 {
		j.order(faults, parts, j.Search())
	}
	return parts
}

func (j *judge) victimsBy(faults *fault.List, borrowing bool) (parts []reference.Candidate) {
	victims := j.d.Victims
	var of []int // by part: the index of the victim
	for i := range victims {
		if i > 0 && victims[i].Workload <= victims[i-1].Workload {
			faults.Add(path(i)+".workload", "%q does not come after %q", victims[i].Workload, victims[i-1].Workload)
			continue
		}
		for _, c := range j.victim(faults, path(i), &victims[i], borrowing) {
			parts, of = append(parts, c), append(of, i)
		}
	}
	for p, c := range parts {
		if j.Limited(parts[:p], c) {
			faults.Add(path(of[p]), "%q is over a limit", c.ID)
		}
	}
	j.Take(parts...)
	defer j.Return(parts...)
	if j.leave && !j.Enough(j.soon()) || !j.leave && !j.Fits(borrowing) {
		faults.Add("decision.victims", "without them the request does not fit")
	} else {
		for p, c := range parts {
			again := p > 0 && of[p] == of[p-1] && c.PodSet == parts[p-1].PodSet
			if j.leave {
				if j.isNotNeeded(c) {
					faults.Add(path(of[p]), "%q is not needed", c.ID)
				}
			} else if !again && j.CanStay(c, without(parts, p), borrowing) {
				faults.Add(path(of[p]), "%q, or a replica of it, can stay", c.ID)
			} else if c.PodSet < 0 && j.minimumCanStay(parts, p, borrowing) {
				faults.Add(path(of[p]), "%q can stay without its surplus", c.ID)
			}
		}
	}
	if j.allLeave {
		return parts // which queue borrows, and what the strategies say, does not matter
	}
	if left := j.inOrder(parts, borrowing); len(left) > 0 {
		faults.Add("decision.victims", "there is no order in which each of %s may be taken after the victims before it", names(left))
	}
	if j.fair() {
		j.shares(faults, parts, of)
	}
	return parts
}

// soon: not the victims alone make room, but also what terminates in the room. With a gate that is closed the answer
// says the same of victims that are enough.
func (j *judge) soon() bool { return j.d.Leaving && !j.Enough(false) }

// isNotNeeded reports whether the request fits without one of the victims, which all leave, and are taken.
func (j *judge) isNotNeeded(c reference.Candidate) bool {
	soon := j.soon()
	j.Return(c)
	defer j.Take(c)
	return j.Enough(soon)
}

// shares judges what fair sharing says of victims, which are taken.
func (j *judge) shares(faults *fault.List, parts []reference.Candidate, of []int) {
	if c, found := unstableOf(j.Question, parts); found {
		faults.Add("decision.victims", "with the others %q may take its place back", c.ID)
	}
	if j.Rechecks() {
		if left := j.Unjustified(parts); left != nil {
			faults.Add("decision.victims", "there is no order in which %s pass a strategy", names(left))
		}
		return
	}
	j.Return(parts...)
	defer j.Take(parts...)
	for p, c := range parts {
		if c.Reason == preemption.InCohortFairSharing && !j.passesAtBest(c) {
			faults.Add(path(of[p]), "%q: no strategy permits it, whatever else yields", c.ID)
		}
	}
}

// victim judges one victim by itself and returns its parts.
func (j *judge) victim(faults *fault.List, at string, v *preemption.Victim, borrowing bool) (parts []reference.Candidate) {
	r := j.running(v.Workload, "")
	if r == nil {
		faults.Add(at+".workload", "%q is not admitted", v.Workload)
		return nil
	}
	whole := r
	if units := j.leavingOnly(v); len(units) > 0 {
		r = units[0]
	}
	c, ok := j.Right(r)
	if j.leave {
		c, ok = j.RightOfLeaving(r)
	}
	if c.PodSet = -1; c.Cohort == nil {
		c.Class = reference.OwnQueue // no right: it is judged no further
	}
	if !j.leave && c.Class != reference.OwnQueue && j.fair() && !j.EntitledAtFirst {
		c.Reason = preemption.InCohortFairSharing
		if ok && v.Reason == preemption.InCohortReclamation && j.entitledAtBest() {
			c.Reason = preemption.InCohortReclamation
			if len(v.Replicas) == 0 && j.ProtectedFor(c, j.Config.Protection.Reclaim) {
				faults.Add(at, "the protection of %q against reclaims is not over", v.Workload)
			}
		}
	}
	switch cohort, queued := c.CohortName(), j.queued(c.Reason); {
	case !ok, !j.leave && !j.Permits(c, borrowing):
		faults.Add(at, "no policy permits %q to be preempted", v.Workload)
	case v.Reason != c.Reason:
		faults.Add(at+".reason", "%v of %q, want %v", v.Reason, v.Workload, c.Reason)
	case v.Cohort != cohort:
		faults.Add(at+".cohort", "%q of %q, want %q", v.Cohort, v.Workload, cohort)
	case !v.PreemptorQueued.Equal(queued):
		faults.Add(at+".preemptorQueued", "%v of %q, want %v", v.PreemptorQueued, v.Workload, queued)
	}
	if j.Unstable(r) {
		faults.Add(at, "%q may take its place back", v.Workload)
	}
	if v.Leaving != r.Evicted {
		faults.Add(at+".leaving", "%t of %q, want %t", v.Leaving, v.Workload, r.Evicted)
	}
	if v.Queue != r.At.Name {
		faults.Add(at+".queue", "%q of %q, want %q", v.Queue, v.Workload, r.At.Name)
	}
	if !j.leave && j.Guarded(r) {
		faults.Add(at, "a guard protects %q", v.Workload)
	}
	if len(v.Replicas) > 0 {
		c.Running = whole
		return j.replicas(faults, at, v, c)
	}
	if j.Protected(r) {
		faults.Add(at, "the minimum runtime of %q is not over", v.Workload)
	}
	if !j.Uses(r, -1) {
		faults.Add(at, "%q uses nothing that needs preemption", v.Workload)
	}
	return []reference.Candidate{c}
}

// replicas judges the replicas of a victim that stays, and returns them one by one, and what leaves already.
func (j *judge) replicas(faults *fault.List, at string, v *preemption.Victim, c reference.Candidate) (parts []reference.Candidate) {
	whole := c.Running
	for n, few := range v.Replicas {
		c.Running, c.PodSet = whole, slices.IndexFunc(whole.PodSets, func(p workload.PodSet) bool { return p.Name == few.PodSet })
		path := fmt.Sprintf("%s.replicas[%d]", at, n)
		surplus, part, leaving := few.Count-few.Leaving, j.running(v.Workload, few.PodSet), int64(0)
		if part != nil {
			leaving = part.PodSets[0].Count
		}
		switch {
		case c.PodSet < 0:
			faults.Add(path, "%q has no pod set %q", v.Workload, few.PodSet)
			continue
		case n > 0 && few.PodSet <= v.Replicas[n-1].PodSet:
			faults.Add(path, "%q does not come after %q", few.PodSet, v.Replicas[n-1].PodSet)
			continue
		case few.Leaving != 0 && few.Leaving != leaving:
			faults.Add(path+".leaving", "%d of %q, but %d were told to stop", few.Leaving, v.Workload, leaving)
			continue
		case surplus < 0, few.Count < 1, surplus > whole.PodSets[c.PodSet].Surplus(), whole.Evicted:
			faults.Add(path, "%d of %d replicas over the minimum of %q", surplus, whole.PodSets[c.PodSet].Surplus(), v.Workload)
			continue
		case !j.Uses(whole, c.PodSet):
			faults.Add(path, "pod set %q uses nothing that needs preemption", few.PodSet)
		}
		for range surplus {
			parts = append(parts, c)
		}
		if few.Leaving > 0 {
			c.Running, c.PodSet = part, -1
			parts = append(parts, c)
		}
	}
	return parts
}

// running returns what stays of a workload, or what leaves of a pod set; nil if there is nothing.
func (j *judge) running(id, leaving string) *reference.Running {
	for _, r := range j.Running {
		if r.ID == id && r.Leaving == leaving {
			return r
		}
	}
	return nil
}

// leavingOnly returns what leaves of a victim if all its replicas were told to stop; else nil.
func (j *judge) leavingOnly(v *preemption.Victim) (units []*reference.Running) {
	for _, few := range v.Replicas {
		part := j.running(v.Workload, few.PodSet)
		if part == nil || few.PodSet == "" || few.Count != few.Leaving || few.Count != part.PodSets[0].Count {
			return nil
		}
		units = append(units, part)
	}
	return units
}

func (j *judge) fair() bool { return j.Config.Sharing != preemption.Classical }

// entitledAtBest reports whether the preemptor needs no strategy once all candidates of its own queue are taken: then
// the first strategy may have run again.
func (j *judge) entitledAtBest() bool {
	if j.Config.Sharing != preemption.Reevaluated {
		return false
	}
	own := slices.DeleteFunc(j.Candidates(), func(c reference.Candidate) bool { return c.Class != reference.OwnQueue })
	j.Take(own...)
	defer j.Return(own...)
	return j.Entitled()
}

// minimumCanStay reports whether a victim that goes whole could keep its minimum: its leaving replicas, and then its
// surplus, are enough.
func (j *judge) minimumCanStay(parts []reference.Candidate, i int, borrowing bool) bool {
	return j.partIsEnough(parts, i, func(rest []reference.Candidate) bool {
		return j.Fits(borrowing) && len(j.inOrder(rest, borrowing)) == 0 && !(j.fair() && j.Rechecks() && j.Unjustified(rest) != nil)
	})
}

// partIsEnough reports whether a part of a victim that goes whole is enough: its leaving replicas, and then its
// surplus, the last pod set first. It asks suffices while the victims are taken.
func (j *judge) partIsEnough(taken []reference.Candidate, i int, suffices func(rest []reference.Candidate) bool) (enough bool) {
	whole, rest := taken[i], without(taken, i)
	j.Return(whole)
	var more []reference.Candidate
	for _, part := range whole.Parts {
		c := whole
		c.Running = part
		more = append(more, c)
	}
	for n, c := range append(more, j.Units(whole, false)...) {
		j.Take(c)
		rest = append(rest[:len(taken)-1+n:len(taken)-1+n], c)
		enough = enough || suffices(rest)
	}
	j.Return(rest[len(taken)-1:]...)
	j.Take(whole)
	return enough
}

func without(list []reference.Candidate, i int) []reference.Candidate {
	return slices.Delete(slices.Clone(list), i, i+1)
}

// inOrder looks for an order in which each victim may be taken after the victims before it. All victims are taken. It
// returns the victims that have no place in the order.
func (j *judge) inOrder(victims []reference.Candidate, borrowing bool) []reference.Candidate {
	return j.OutOfOrder(victims, func(c reference.Candidate) bool { return j.MayBeTaken(c, borrowing) })
}

// passesAtBest reports whether a strategy permits a victim in the best case: all candidates on the preemptor's side
// are taken, and no others. Unless shares are asked again, more than the victims may have been taken when the victim was.
func (j *judge) passesAtBest(c reference.Candidate) bool {
	ours, _ := j.Sides(c)
	beside := slices.DeleteFunc(j.Candidates(), func(o reference.Candidate) bool { return !o.At.IsUnder(ours) })
	j.Take(beside...)
	defer j.Return(beside...)
	return j.Passes(c)
}

// unstableOf returns the first victim that stable fair sharing does not let go with the others.
func unstableOf(q *reference.Question, victims []reference.Candidate) (c reference.Candidate, found bool) {
	for i, c := range victims {
		if !q.KeepsShares(without(victims, i), c) {
			return c, true
		}
	}
	return c, false
}
