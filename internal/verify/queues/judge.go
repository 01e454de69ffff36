package queues

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// judge holds a question with its quota tree.
type judge struct {
	*Question
	now     time.Time // Question.Now, or a later instant that is tried
	queue   *node
	policy  *queue.PreemptionPolicy
	running []*running
	byID    map[string]*running
	leaving map[podSetOf]*running
	nodes   map[string]*node // of the queues
	asked   []quota.Amount   // amounts other than zero
	needed  []column         // what needs preemption
	added   map[column]int64
	// With nobody gone: the nodes in whose quota the request fits, and the first workload
	// under each cohort.
	advantage  map[*node]bool
	firstUnder map[*node]*running
	// entitledAtFirst: the preemptor needs no strategy.
	entitledAtFirst bool
	// observed says since when triggers have been observed; holding lists those that held in the
	// last search by rules.
	observed []rules.Observation
	holding  []rules.Trigger
}

func newJudge(q *Question) *judge {
	j := &judge{Question: q, now: q.Now, observed: q.TriggersSince, byID: map[string]*running{}, leaving: map[podSetOf]*running{}, added: map[column]int64{}}
	cohorts, queues := map[string]*node{}, map[string]*node{}
	j.nodes = queues
	for i := range q.Cohorts {
		c := &q.Cohorts[i]
		cohorts[c.Name] = newNode(c.Name, false, c.Quotas, c.FairWeight, c.MinRuntime)
	}
	join := func(n *node, parent string) {
		if n.parent = cohorts[parent]; n.parent != nil {
			n.parent.children = append(n.parent.children, n)
		}
	}
	for i := range q.Queues {
		c := &q.Queues[i]
		n := newNode(c.Name, true, c.Quotas, c.FairWeight, c.MinRuntime)
		queues[c.Name] = n
		join(n, c.Cohort)
		if c.Name == q.Workload.Queue {
			j.queue, j.policy = n, &c.Preemption
		}
	}
	for i := range q.Cohorts {
		join(cohorts[q.Cohorts[i].Name], q.Cohorts[i].Parent)
	}
	reserve := func(n *node, list []quota.Amount) {
		for _, a := range list {
			n.move(a.FlavorResource(), a.Amount)
		}
	}
	for i := range q.Cohorts {
		reserve(cohorts[q.Cohorts[i].Name], q.Cohorts[i].Reserved)
	}
	for i := range q.Queues {
		reserve(queues[q.Queues[i].Name], q.Queues[i].Reserved)
	}
	for i := range q.Admitted {
		w := &q.Admitted[i]
		n := queues[w.Queue]
		j.byID[w.ID] = newRunning(w, n)
		j.running = append(j.running, j.byID[w.ID])
		for _, part := range j.byID[w.ID].leavingParts() {
			j.running = append(j.running, part)
			j.leaving[podSetOf{w.ID, part.leaving}] = part
		}
	}
	for _, a := range q.Workload.Usage() {
		if a.Amount > 0 {
			j.asked = append(j.asked, a)
		}
	}
	if j.needed = q.Needs; len(j.needed) == 0 {
		roomy := q.Room == nil || q.Room.Fits()
		for _, a := range j.asked {
			if !roomy || a.Amount > j.queue.available(a.FlavorResource()) {
				j.needed = append(j.needed, a.FlavorResource())
			}
		}
	}
	j.advantage = j.advantages()
	j.entitledAtFirst = j.entitled()
	return j
}

// fits reports whether the request fits without those gone; without borrowing, also within
// the nominal quota of its queue.
func (j *judge) fits(borrowing bool) bool {
	return j.fitsQuota(borrowing) && (j.Room == nil || j.Room.Fits())
}

// fitsQuota is fits without the room.
func (j *judge) fitsQuota(borrowing bool) bool {
	return !slices.ContainsFunc(j.asked, func(a quota.Amount) bool {
		c := a.FlavorResource()
		return a.Amount > j.queue.available(c) || j.staysNominal(c, borrowing) && quota.Add(j.queue.used[c], a.Amount) > j.queue.quotas[c].Nominal
	})
}

// staysNominal reports whether a request that needs preemption must stay within the nominal quota of its
// queue in a column. KEP-83: "Assignments that require preemption implicitly do not borrow quota", and
// "A Workload could get flavor assignments at different steps for different resources".
func (j *judge) staysNominal(c column, borrowing bool) bool {
	if j.PreemptWithinNominal {
		return slices.Contains(j.needed, c)
	}
	return !borrowing
}

// fitsNow reports whether the request fits with nobody gone; it may borrow.
func (j *judge) fitsNow() bool {
	return !slices.ContainsFunc(j.asked, func(a quota.Amount) bool { return a.Amount > j.queue.available(a.FlavorResource()) }) &&
		(j.Room == nil || j.Room.Fits())
}

// borrowHeight says how far up the tree the request borrows without those gone.
func (j *judge) borrowHeight() (height int) {
	for _, a := range j.Workload.Usage() {
		c, n := a.FlavorResource(), j.queue
		if n.parent == nil || quota.Add(n.used[c], a.Amount) <= n.quotas[c].Nominal {
			continue
		}
		rest := quota.Sub(a.Amount, n.localLeft(c))
		for n = n.parent; n.parent != nil && quota.Add(n.used[c], rest) > n.subtree(c); n = n.parent {
			rest = quota.Sub(rest, n.localLeft(c))
		}
		height = max(height, n.height())
	}
	return height
}

// Judge returns everything that is wrong with an answer, as a [fault.List], or nil.
func Judge(q *Question, a *Answer) error {
	var faults fault.List
	j := newJudge(q)
	wrong := func(field, problem string, args ...any) { faults.Add("decision."+field, problem, args...) }
	if a.Outcome < Fits || a.Outcome > Impossible {
		wrong("outcome", "%d is unknown", a.Outcome)
		return faults.Err()
	}
	if j.inactive(q.Workload.Queue) {
		if a.Outcome != Impossible || a.BorrowHeight != 0 || len(a.Victims) > 0 || a.Admitted != nil {
			wrong("outcome", "%v, but nothing in queue %q is admitted: it is inactive", a.Outcome, q.Workload.Queue)
		}
		return faults.Err()
	}
	preempts := a.Outcome == Preempt || a.Outcome == Gated
	switch fits := j.fitsNow(); {
	case fits && a.Outcome != Fits:
		wrong("outcome", "%v, but the request fits now", a.Outcome)
	case !fits && a.Outcome == Fits:
		wrong("outcome", "Fits, but the request does not fit now")
	case preempts && q.Workload.NeverPreempts:
		wrong("outcome", "%v, but the workload never preempts", a.Outcome)
	case a.Outcome == Preempt && q.Workload.Gates.AnyClosed():
		wrong("outcome", "Preempt, but a gate is closed")
	case a.Outcome == Gated && !q.Workload.Gates.AnyClosed():
		wrong("outcome", "Gated, but no gate is closed")
	}
	switch {
	case preempts && len(a.Victims) == 0:
		wrong("victims", "%v without victims", a.Outcome)
	case !preempts && len(a.Victims) > 0:
		wrong("victims", "%v with victims", a.Outcome)
	}
	if a.Outcome != Wait && !a.RetryAt.IsZero() {
		wrong("retryAt", "%v is set for %v", a.RetryAt, a.Outcome)
	}
	j.admitted(&faults, a)
	var parts []candidate
	if j.hasRules() && len(a.Victims) > 0 && (byRules(a) || q.RulesAlone) {
		parts = j.victimsByRules(&faults, a)
	} else {
		parts = j.victims(&faults, a)
	}
	j.takeAll(parts, 1)
	if height := j.borrowHeight(); a.BorrowHeight != height {
		wrong("borrowHeight", "%d, want %d", a.BorrowHeight, height)
	}
	j.takeAll(parts, -1)
	refused := a.Outcome == Wait || a.Outcome == Impossible
	var chosen []candidate
	if refused || byRules(a) {
		chosen = j.searchAt(j.Now)
	}
	if !slices.Equal(a.Triggers, j.holding) {
		wrong("triggers", "%v, want %v", a.Triggers, j.holding)
	}
	switch {
	case refused:
		j.refusal(&faults, a, chosen)
	case byRules(a) && len(faults) == 0:
		j.order(&faults, a, parts, chosen)
	}
	return faults.Err()
}

// admitted judges the workload that is admitted.
func (j *judge) admitted(faults *fault.List, a *Answer) {
	switch w := a.Admitted; {
	case w == nil && a.Outcome == Fits:
		faults.Add("decision.admitted", "is not set, but the request fits")
	case w != nil && a.Outcome != Fits:
		faults.Add("decision.admitted", "is set for %v", a.Outcome)
	case w == nil:
	case w.ID != j.Workload.ID, w.Queue != j.Workload.Queue, w.EffectivePriority() != j.Workload.EffectivePriority(),
		w.Evicted, !w.ReservedAt.Equal(j.Now), !w.AdmittedAt.IsZero(), !slices.Equal(w.Usage(), j.Workload.Usage()):
		faults.Add("decision.admitted", "is not the request's workload, reserved now: %q, %v", w.ID, w.Usage())
	}
}

// victims judges the victims, by the attempt that explains them best. It returns them as
// parts: replicas and whole workloads.
func (j *judge) victims(faults *fault.List, a *Answer) (parts []candidate) {
	if len(a.Victims) == 0 {
		return nil
	}
	var least fault.List
	for i, borrowing := range j.attempts(j.candidates()) {
		var found fault.List
		parts = j.victimsBy(&found, a, borrowing)
		if i == 0 || len(found) < len(least) {
			least = found
		}
	}
	*faults = append(*faults, least...)
	if len(least) == 0 {
		j.order(faults, a, parts, j.search())
	}
	return parts
}

func (j *judge) victimsBy(faults *fault.List, a *Answer, borrowing bool) (parts []candidate) {
	at := func(i int) string { return fmt.Sprintf("decision.victims[%d]", i) }
	var of []int // by part: the index of the victim
	for i := range a.Victims {
		v := &a.Victims[i]
		if i > 0 && v.Workload <= a.Victims[i-1].Workload {
			faults.Add(at(i)+".workload", "%q does not come after %q", v.Workload, a.Victims[i-1].Workload)
			continue
		}
		for _, c := range j.victim(faults, at(i), v, borrowing) {
			parts, of = append(parts, c), append(of, i)
		}
	}
	for p, c := range parts {
		if j.limited(parts[:p], c) {
			faults.Add(at(of[p]), "%q is over a limit", c.ID)
		}
	}
	j.takeAll(parts, 1)
	defer j.takeAll(parts, -1)
	if !j.fits(borrowing) {
		faults.Add("decision.victims", "without them the request does not fit")
	} else {
		for p := range parts {
			if (p == 0 || of[p] != of[p-1] || parts[p].set != parts[p-1].set) && j.canStay(parts, p, borrowing) {
				faults.Add(at(of[p]), "%q, or a replica of it, can stay", parts[p].ID)
			} else if parts[p].set < 0 && j.minimumCanStay(parts, p, borrowing) {
				faults.Add(at(of[p]), "%q can stay without its surplus", parts[p].ID)
			}
		}
	}
	if allLeave(parts) {
		return parts // which queue borrows, and what the strategies say, does not matter
	}
	if left := j.inOrder(parts, borrowing); len(left) > 0 {
		faults.Add("decision.victims", "there is no order in which each of %s may be taken after those before it", names(left))
	}
	if !j.Fair {
		return parts
	}
	if c, found := j.unstableOf(parts); found {
		faults.Add("decision.victims", "with the others %q may take its place back", c.ID)
	}
	if j.RecheckShares {
		if left := j.unjustified(parts); left != nil {
			faults.Add("decision.victims", "there is no order in which %s pass a strategy", names(left))
		}
		return parts
	}
	j.takeAll(parts, -1)
	defer j.takeAll(parts, 1)
	for p, c := range parts {
		if c.reason == InCohortFairSharing && !j.passesAtBest(c) {
			faults.Add(at(of[p]), "%q: no strategy permits it, whoever else yields", c.ID)
		}
	}
	return parts
}

// victim judges one victim by itself and returns its parts.
func (j *judge) victim(faults *fault.List, at string, v *Victim, borrowing bool) (parts []candidate) {
	r := j.byID[v.Workload]
	if r == nil {
		faults.Add(at+".workload", "%q is not admitted", v.Workload)
		return nil
	}
	whole := r
	if units := j.leavingOnly(v); len(units) > 0 {
		r = units[0]
	}
	c, ok := j.right(r)
	if c.set = -1; c.cohort == nil {
		c.class = ownQueue // no right: it is judged no further
	}
	if c.class != ownQueue && j.Fair && !j.entitled() {
		c.reason = InCohortFairSharing
		if ok && v.Reason == InCohortReclamation && j.entitledAtBest() {
			c.reason = InCohortReclamation
			if len(v.Replicas) == 0 && j.protectedFor(c, j.Protection.Reclaim) {
				faults.Add(at, "the protection of %q against reclaims is not over", v.Workload)
			}
		}
	}
	cohort, queued := "", time.Time{}
	if c.cohort != nil {
		cohort = c.cohort.name
	}
	if c.reason == InClusterQueueTimeBased {
		queued = j.Workload.Queued
	}
	switch {
	case !ok, c.class == byPriority && borrowing && !j.PreemptWithinNominal && c.reason == InCohortReclamation:
		faults.Add(at, "no policy permits %q to be preempted", v.Workload)
	case v.Reason != c.reason:
		faults.Add(at+".reason", "%v of %q, want %v", v.Reason, v.Workload, c.reason)
	case v.Cohort != cohort:
		faults.Add(at+".cohort", "%q of %q, want %q", v.Cohort, v.Workload, cohort)
	case !v.PreemptorQueued.Equal(queued):
		faults.Add(at+".preemptorQueued", "%v of %q, want %v", v.PreemptorQueued, v.Workload, queued)
	}
	if j.unstable(r) {
		faults.Add(at, "%q may take its place back", v.Workload)
	}
	if v.Leaving != r.Evicted {
		faults.Add(at+".leaving", "%t of %q, want %t", v.Leaving, v.Workload, r.Evicted)
	}
	if v.Queue != r.Queue {
		faults.Add(at+".queue", "%q of %q, want %q", v.Queue, v.Workload, r.Queue)
	}
	if j.guarded(r) {
		faults.Add(at, "a guard protects %q", v.Workload)
	}
	if len(v.Replicas) == 0 {
		if j.protected(r) {
			faults.Add(at, "the minimum runtime of %q is not over", v.Workload)
		}
		if !j.uses(r, -1) {
			faults.Add(at, "%q uses nothing that needs preemption", v.Workload)
		}
		return []candidate{c}
	}
	for n, few := range v.Replicas {
		c.running, c.set = whole, slices.IndexFunc(whole.PodSets, func(p workload.PodSet) bool { return p.Name == few.PodSet })
		path := fmt.Sprintf("%s.replicas[%d]", at, n)
		surplus := few.Count - few.Leaving
		switch part := j.leaving[podSetOf{v.Workload, few.PodSet}]; {
		case c.set < 0:
			faults.Add(path, "%q has no pod set %q", v.Workload, few.PodSet)
			continue
		case n > 0 && few.PodSet <= v.Replicas[n-1].PodSet:
			faults.Add(path, "%q does not come after %q", few.PodSet, v.Replicas[n-1].PodSet)
			continue
		case few.Leaving != 0 && (part == nil || few.Leaving != part.PodSets[0].Count):
			faults.Add(path+".leaving", "%d of %q, but %d were told to stop", few.Leaving, v.Workload, whole.PodSets[c.set].Terminating)
			continue
		case surplus < 0, few.Count < 1, surplus > whole.PodSets[c.set].Surplus(), whole.Evicted:
			faults.Add(path, "%d of %d replicas over the minimum of %q", surplus, whole.PodSets[c.set].Surplus(), v.Workload)
			continue
		case !j.uses(whole, c.set):
			faults.Add(path, "pod set %q uses nothing that needs preemption", few.PodSet)
		}
		for range surplus {
			parts = append(parts, c)
		}
		if few.Leaving > 0 {
			c.running, c.set = j.leaving[podSetOf{v.Workload, few.PodSet}], -1
			parts = append(parts, c)
		}
	}
	return parts
}

// entitledAtBest reports whether the first strategy may have run again for a preemptor that
// needs none then, when all who may yield of its own queue are gone.
func (j *judge) entitledAtBest() bool {
	if !j.Reevaluate {
		return false
	}
	own := slices.DeleteFunc(j.candidates(), func(c candidate) bool { return c.class != ownQueue })
	j.takeAll(own, 1)
	defer j.takeAll(own, -1)
	return j.entitled()
}

// minimumCanStay reports whether it is enough that of a victim that goes whole only what was told to stop
// goes, and then surplus. The last pod set gives first.
func (j *judge) minimumCanStay(parts []candidate, i int, borrowing bool) bool {
	return j.partIsEnough(parts, i, func(rest []candidate) bool {
		return j.fits(borrowing) && len(j.inOrder(rest, borrowing)) == 0 && !(j.Fair && j.RecheckShares && j.unjustified(rest) != nil)
	})
}

// inOrder looks for an order in which each victim may be taken when only those before it are
// gone. All are gone when it begins and when it ends. Whoever may be taken last is put last
// and stays for the others: fewer gone never forbids anybody. It returns who is left.
func (j *judge) inOrder(victims []candidate, borrowing bool) []candidate {
	left := slices.Clone(victims)
	last := func(c candidate) bool {
		j.take(c, -1)
		if j.mayBeTaken(c, borrowing) {
			return true
		}
		j.take(c, 1)
		return false
	}
	for before := -1; before != len(left); {
		before = len(left)
		left = slices.DeleteFunc(left, last)
	}
	for _, c := range victims {
		if !slices.ContainsFunc(left, func(o candidate) bool { return o.running == c.running }) {
			j.take(c, 1)
		}
	}
	return left
}

// passesAtBest reports whether a strategy permits a victim when everybody who may yield on
// the preemptor's side is gone and nobody else. Without RecheckShares others may have been
// gone when the victim was taken.
func (j *judge) passesAtBest(c candidate) bool {
	ours, _ := j.sides(c)
	beside := slices.DeleteFunc(j.candidates(), func(o candidate) bool { return !o.queue.isUnder(ours) })
	j.takeAll(beside, 1)
	defer j.takeAll(beside, -1)
	return j.passes(c, j.Strategies)
}
