package witness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// [preemption.Decision.Victims]: "The set is irreducible", and [preemption.BestSearch]: "A set of candidates is allowed".

// judge holds victims against the rules, in one attempt of the search.
type judge struct {
	*Question
	victims   []preemption.Victim
	mayBorrow bool
	// stay: all victims leave already, and are judged by the rights that stay while others leave.
	stay bool
	// waits: where they are not enough, what terminates in the room is awaited, too.
	waits bool
	set   []*candidate
	by    []int // of which victim
	preemption.Faults
}

// Victims returns what is wrong with the victims of an answer. Any set that is allowed will do, if nothing of it can stay.
// It judges by the attempt that explains the victims best, and victims that all leave also by the rights that stay.
// Waits says that the answer awaits them: then what terminates in the room may be gone, too.
func (q *Question) Victims(victims []preemption.Victim, waits bool) (least preemption.Faults) {
	ofRules := func(v preemption.Victim) bool { return v.Reason == preemption.ConfigurablePreemption }
	if rulesAlone(q.world) || slices.ContainsFunc(victims, ofRules) {
		return q.victimsByRules(victims)
	}
	told := slices.ContainsFunc(victims, func(v preemption.Victim) bool { return !v.Leaving })
	for i, mayBorrow := range attemptsOf(q.world, q.yielding) {
		j := &judge{Question: q, victims: victims, mayBorrow: mayBorrow}
		if j.all(q.yielding, told); i == 0 || len(j.Faults) < len(least) {
			least = j.Faults
		}
	}
	if len(least) > 0 && !told {
		j := &judge{Question: q, victims: victims, mayBorrow: true, stay: true, waits: waits}
		j.all(allLeaving(q.world, q.request.Now), told)
		return j.Faults
	}
	return least
}

// all judges everything. The victims are chosen from candidates.
func (j *judge) all(from []*candidate, told bool) {
	for i := range j.victims {
		v := &j.victims[i]
		if i > 0 && v.Workload <= j.victims[i-1].Workload {
			j.Add(j.path(i)+".workload", "%q does not come after %q", v.Workload, j.victims[i-1].Workload)
			continue
		}
		j.victim(i, v, from)
	}
	j.limited()
	if c := stableKeeps(j.Question.world, j.set); c != nil {
		j.Add(j.path(j.by[slices.Index(j.set, c)]), "%q may take its place back", c.of.ID)
	}
	for _, c := range j.set {
		c.remove()
	}
	defer restore(j.set)
	j.soon = j.waits && !j.fits(j.mayBorrow)
	defer func() { j.soon = false }()
	if j.fits(j.mayBorrow) {
		j.needed(inAttempt(j.Question.world, j.mayBorrow, rechecks(j.Question.world)))
	} else {
		j.Add("decision.victims", "without them the request does not fit")
	}
	if told { // of those who leave it does not matter who borrows, nor what the strategies say
		j.ordered()
	}
}

// limited judges that all together are within each limit.
func (j *judge) limited() {
	for i, c := range j.set {
		if !withinLimits(j.Question.world, c, j.set[:i], j.request.Now) {
			j.Add(j.path(j.by[i]), "%q is over a limit", c.of.ID)
		}
	}
}

func (j *judge) path(i int) string { return fmt.Sprintf("decision.victims[%d]", i) }

// victim judges one victim by itself, and adds what yields of it to the set.
func (j *judge) victim(i int, v *preemption.Victim, from []*candidate) {
	r := j.find(v.Workload)
	if r == nil {
		j.Add(j.path(i)+".workload", "%q is not admitted", v.Workload)
		return
	}
	if !j.countsOf(i, v, r) {
		return
	}
	var parts []*candidate
	leaves := true
	for _, c := range r.parts() {
		if !c.isIn(v) {
			continue
		}
		k := slices.IndexFunc(from, c.is)
		if k < 0 {
			j.Add(j.path(i), "%s", j.whyNot(c))
			return
		}
		parts, leaves = append(parts, from[k]), leaves && c.leaving
		j.set, j.by = append(j.set, from[k]), append(j.by, i)
	}
	if len(parts) > 0 {
		j.said(i, v, parts[len(parts)-1], leaves)
	}
}

// isIn reports whether a victim names a part of its workload.
func (c *candidate) isIn(v *preemption.Victim) bool {
	return c.podSet == whole && len(v.Replicas) == 0 || c.isAmong(v.Replicas)
}

// countsOf judges the replicas of a victim that stays: "It is at most what the pod set has over its minimum. Leaving are
// those that were told before."
func (j *judge) countsOf(i int, v *preemption.Victim, r *running) bool {
	ok := true
	for n, few := range v.Replicas {
		at := fmt.Sprintf("%s.replicas[%d]", j.path(i), n)
		k := slices.IndexFunc(r.PodSets, func(p workload.PodSet) bool { return p.Name == few.PodSet })
		wrong := func(path, problem string, args ...any) {
			j.Add(path, problem, args...)
			ok = false
		}
		switch surplus := few.Count - few.Leaving; {
		case k < 0:
			wrong(at, "%q has no pod set %q", v.Workload, few.PodSet)
		case n > 0 && few.PodSet <= v.Replicas[n-1].PodSet:
			wrong(at, "%q does not come after %q", few.PodSet, v.Replicas[n-1].PodSet)
		case few.Leaving != 0 && few.Leaving != r.PodSets[k].Terminating:
			wrong(at+".leaving", "%d of %q, but %d were told to stop", few.Leaving, v.Workload, r.PodSets[k].Terminating)
		case surplus < 0, few.Count < 1, surplus > r.PodSets[k].Surplus(), r.Evicted:
			wrong(at, "%d of %d replicas over the minimum of %q", surplus, r.PodSets[k].Surplus(), v.Workload)
		}
	}
	return ok
}

// whyNot says why a part of a workload may not yield by the policies.
func (j *judge) whyNot(c *candidate) string {
	k, in := j.classes()[c.of.home]
	c.class, c.meet = k, meet(j.own, c.of.home)
	return j.kept(c, in && j.policyPermits(c, j.request.Now))
}

// kept says what keeps a part of a workload that policies or rules permit, or not, to be preempted.
func (j *judge) kept(c *candidate, permitted bool) string {
	switch b, _ := refuses(j.Question.world, c, permitted, j.request.Now); {
	case b.Rule == preemption.RuleNeverYields:
		return fmt.Sprintf("%q never yields", c.of.ID)
	case b.Rule == preemption.RuleMinRuntime:
		return fmt.Sprintf("the minimum runtime of %q is not over", c.of.ID)
	case b.Rule == preemption.RuleGuarded:
		return fmt.Sprintf("a guard protects %q", c.of.ID)
	case permitted && !c.uses(j.needs):
		return fmt.Sprintf("%q uses nothing that needs preemption", c.of.ID)
	}
	return fmt.Sprintf("no policy permits %q to be preempted", c.of.ID)
}

// said judges what is said of a victim.
func (j *judge) said(i int, v *preemption.Victim, c *candidate, leaves bool) {
	if v.Reason == preemption.InCohortReclamation && c.reason == preemption.InCohortFairSharing && j.entitledAtBest() {
		c.reason = v.Reason
		if !j.mayYield(c, j.request.Now) {
			j.Add(j.path(i), "the protection of %q against reclaims is not over", v.Workload)
		}
	}
	want, queued := victim(j.world, c, v.Order), time.Time{}
	if c.reason == preemption.InClusterQueueTimeBased {
		queued = j.request.Workload.Queued
	}
	switch at := j.path(i); {
	case v.Reason != want.Reason:
		j.Add(at+".reason", "%v of %q, want %v", v.Reason, v.Workload, want.Reason)
	case v.Cohort != want.Cohort:
		j.Add(at+".cohort", "%q of %q, want %q", v.Cohort, v.Workload, want.Cohort)
	case v.Queue != want.Queue:
		j.Add(at+".queue", "%q of %q, want %q", v.Queue, v.Workload, want.Queue)
	case !v.PreemptorQueued.Equal(queued):
		j.Add(at+".preemptorQueued", "%v of %q, want %v", v.PreemptorQueued, v.Workload, queued)
	case v.Leaving != leaves:
		j.Add(at+".leaving", "%t of %q, want %t", v.Leaving, v.Workload, leaves)
	}
}

// entitledAtBest reports whether the preemptor needs no strategy once all candidates of its own queue are gone: then
// the first strategy may have run again.
func (j *judge) entitledAtBest() bool {
	if j.config.Sharing != preemption.Reevaluated {
		return false
	}
	own := j.ownCandidates(j.request.Now)
	for _, c := range own {
		c.remove()
	}
	defer restore(own)
	j.own.asking = j.asked
	defer func() { j.own.asking = nil }()
	return (&fairSearch{world: j.world}).withinNominal()
}

// needed judges that nobody can stay, neither as a whole nor a replica, so that the others are still permitted. All are gone.
func (j *judge) needed(permitted func(*candidate) bool) {
	for i, c := range j.set {
		if i > 0 && c.surplus() && j.set[i-1].of == c.of && j.set[i-1].podSet == c.podSet {
			continue // replicas are alike
		}
		c.putBack()
		rest := without(j.set, i)
		asks := rechecks(j.Question.world) || c.ofRules() || slices.ContainsFunc(rest, (*candidate).ofRules)
		switch enough := j.fits(j.mayBorrow); {
		case enough && j.stay:
			j.Add(j.path(j.by[i]), "%q is not needed", c.of.ID)
		case enough && !(asks && len(j.outOfOrder(rest, permitted)) > 0):
			j.Add(j.path(j.by[i]), "%q, or a replica of it, can stay", c.of.ID)
		case c.podSet == whole && !j.stay && !c.ofRules() && j.partIsEnough(c, rest, permitted):
			j.Add(j.path(j.by[i]), "%q can stay without its surplus", c.of.ID)
		}
		c.remove()
	}
}

// partIsEnough reports whether a workload that goes whole could keep its minimum: its leaving replicas, and then its surplus, the
// last pod set first, are enough. It is back, the rest is gone.
func (j *judge) partIsEnough(c *candidate, rest []*candidate, permitted func(*candidate) bool) (enough bool) {
	var parts []*candidate
	for _, leaving := range []bool{true, false} {
		for _, p := range slices.Backward(c.of.parts()) {
			if k := slices.IndexFunc(j.yielding, p.is); k >= 0 && p.podSet != whole && p.leaving == leaving {
				parts = append(parts, j.yielding[k])
			}
		}
	}
	gone := 0
	defer func() { restore(parts[:gone]) }()
	for _, p := range parts {
		p.remove()
		gone++
		rest = append(slices.Clip(rest), p)
		if j.fits(j.mayBorrow) && len(j.outOfOrder(rest, permitted)) == 0 {
			return true
		}
	}
	return false
}

// ordered judges that there is an order in which each may be taken after those before it. All are gone. Where the strategies are
// not asked again, more than the victims may have been gone when a victim was taken: then one must hold at best.
func (j *judge) ordered() {
	if left := j.outOfOrder(j.set, inAttempt(j.Question.world, j.mayBorrow, false)); len(left) > 0 {
		j.Add("decision.victims", "there is no order in which each of %s may be taken after the victims before it", names(left))
	}
	if j.config.Sharing == preemption.Classical {
		return
	}
	if rechecks(j.Question.world) {
		if left := j.outOfOrder(j.set, inAttempt(j.Question.world, j.mayBorrow, true)); len(left) > 0 {
			j.Add("decision.victims", "there is no order in which %s pass a strategy", names(left))
		}
		return
	}
	restore(j.set)
	for i, c := range j.set {
		if c.reason == preemption.InCohortFairSharing && !j.justifiedAtBest(c) {
			j.Add(j.path(j.by[i]), "%q: no strategy permits it, whatever else yields", c.of.ID)
		}
	}
	for _, c := range j.set {
		c.remove()
	}
}

// justifiedAtBest: all candidates on the preemptor's side are gone, and no others.
func (j *judge) justifiedAtBest(c *candidate) bool {
	ours := childAbove(j.own, c.meet)
	var beside []*candidate
	for _, o := range j.yielding {
		if ours.above(o.of.home) {
			beside = append(beside, o)
			o.remove()
		}
	}
	defer restore(beside)
	return justified(j.Question.world, c)
}

// names lists parts of workloads for a message.
func names(list []*candidate) string {
	var out []string
	for _, c := range list {
		text := fmt.Sprintf("%q", c.of.ID)
		switch {
		case c.podSet != whole && c.leaving:
			text += fmt.Sprintf(" (what leaves of %q)", c.of.PodSets[c.podSet].Name)
		case c.podSet != whole:
			text += fmt.Sprintf(" (a replica of %q)", c.of.PodSets[c.podSet].Name)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
