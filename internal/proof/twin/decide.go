package twin

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Answer is the twin's decision without RetryAt: Wait is Impossible here; see [RetryAt].
type Answer struct {
	preemption.Decision
	// Borrowing: the attempt that found the victims let the request take its queue over its
	// nominal quota.
	Borrowing bool
}

type decision struct {
	*world
	config  preemption.Config
	request preemption.Request
	queue   node
	policy  queue.PreemptionPolicy
	asked   []quota.Amount         // amounts other than zero
	needed  []quota.FlavorResource // what needs preemption
	// missing is what is short without a set of workloads, the first of these sets without
	// which something is short: all whose priority the policies permit if the request may borrow,
	// in queues that borrow anything; those in queues that borrow what needs preemption; all
	// that may yield.
	missing []preemption.Shortage
	noRoom  bool
	// ofPermittedPriority holds the workloads whose priority the policies permit if the
	// request may borrow, whatever else protects them. inReach adds those of queues that
	// borrow only something else.
	ofPermittedPriority, inReach []candidate
	largestFirst                 bool
	mayLeaveAlone                bool // that is asked: what leaves is enough
	inOrder                      bool // only the search in order is asked
	// exhausted holds those that the attempt with borrowing took last without success, in the
	// order of taking.
	exhausted []candidate
	configs   []rules.Config
	given     []workload.Workload // as the state has them
	holding   []rules.Trigger     // the triggers that hold
}

// Decide answers a valid request about a valid state.
func Decide(c preemption.Config, st preemption.State, r preemption.Request) Answer {
	d := decide(st, r)
	d.config = c
	return d.answer()
}

// forecast answers by the search in order alone, as the assignment of flavors asks.
func forecast(c preemption.Config, st preemption.State, r preemption.Request) Answer {
	d := decide(st, r)
	d.config, d.inOrder = c, true
	return d.answer()
}

func (d *decision) answer() Answer {
	c, r := d.config, d.request
	if !d.hasRules() {
		return d.byPolicies()
	}
	answer := Answer{Decision: preemption.Decision{Outcome: preemption.Impossible}}
	if !c.RulesAlone || d.fitsNow() || r.Workload.NeverPreempts || d.inactive(d.queue) {
		answer = d.byPolicies()
	} else {
		answer.BorrowHeight = d.borrowHeight()
	}
	if answer.Outcome.Possible() || r.Workload.NeverPreempts || d.inactive(d.queue) {
		return answer
	}
	return d.byRules(answer)
}

// byPolicies answers by the policies of the queues alone.
func (d *decision) byPolicies() Answer {
	r := d.request
	if d.inactive(d.queue) {
		return Answer{Decision: preemption.Decision{Outcome: preemption.Impossible, Blockers: []preemption.Blocker{
			{Rule: preemption.RuleQueueInactive, Queue: d.queue.name},
		}}}
	}
	answer := Answer{Decision: preemption.Decision{BorrowHeight: d.borrowHeight()}}
	if d.fitsNow() {
		answer.Outcome, answer.Admitted = preemption.Fits, d.admitted()
		return answer
	}
	answer.Outcome = preemption.Impossible
	if r.Workload.NeverPreempts {
		d.needed = nil // without preemption it may borrow in any mode
		answer.Shortage = d.shortages()
		answer.NoRoom = len(answer.Shortage) == 0
		return answer
	}
	candidates := d.candidates()
	if a, ok := d.search(candidates); ok {
		return a
	}
	missing := d.missing
	if d.config.ReconsiderLarger {
		d.largestFirst = true
		if a, ok := d.search(d.bySize(candidates)); ok {
			return a
		}
	}
	if d.noRoom {
		missing = nil
	}
	answer.Shortage, answer.NoRoom = missing, d.noRoom
	answer.Blockers = d.blockers(missing)
	return answer
}

func (d *decision) inactive(n node) bool { return n.kind == "queue" && d.queues[n.name].Inactive }

// admitted returns the workload as it is admitted now, with its signal cleared.
func (d *decision) admitted() *workload.Workload {
	w := d.request.Workload.Clone()
	w.ReservedAt, w.AdmittedAt, w.Evicted = d.request.Now, time.Time{}, false
	if w.Gates.Blocked.Active {
		w.Gates.Blocked.Active, w.Gates.Blocked.Since = false, d.request.Now
	}
	return &w
}

// search runs the attempts.
func (d *decision) search(candidates []candidate) (Answer, bool) {
	attempts := d.attempts(candidates)
	if d.config.Sharing == preemption.Fair {
		attempts = []bool{true}
	}
	if !d.largestFirst && !d.mayLeaveAlone && !d.inOrder {
		d.mayLeaveAlone = true
		inOrder, ok := d.search(candidates)
		d.mayLeaveAlone = false
		for _, borrowing := range attempts {
			alone := !slices.ContainsFunc(inOrder.Victims, func(v preemption.Victim) bool { return !v.Leaving })
			if victims := d.leavingAlone(candidates, borrowing); victims != nil && !(ok && alone) {
				return d.found(victims, borrowing), true
			}
		}
		return inOrder, ok
	}
	for _, borrowing := range attempts {
		attempt := d.attempt
		if d.config.Sharing == preemption.Fair {
			attempt = d.fairAttempt
		}
		if victims := attempt(candidates, borrowing); victims != nil {
			return d.found(victims, borrowing), true
		}
	}
	return Answer{}, false
}

// found is the answer with victims, in the order in which they were chosen.
func (d *decision) found(victims []preemption.Victim, borrowing bool) Answer {
	d.setGone(nil)
	for _, v := range victims {
		d.remove(v)
	}
	for i := range victims {
		victims[i].Order = i + 1
	}
	slices.SortFunc(victims, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	found := preemption.Decision{Outcome: preemption.Preempt, Victims: victims, BorrowHeight: d.borrowHeight()}
	if d.gated() {
		found.Outcome = preemption.Gated
	}
	return Answer{found, borrowing}
}

// gated: some gate of the workload is not open.
func (d *decision) gated() bool {
	g := d.request.Workload.Gates
	for _, name := range g.Names {
		open := func(s gate.State) bool { return s.Name == name && s.Position == gate.Open }
		if !slices.ContainsFunc(g.States, open) {
			return true
		}
	}
	return false
}

// bySize orders candidates of other queues by how much they free, most first, separately in
// each class of evicted and other ones; in fair sharing in each queue.
func (d *decision) bySize(candidates []candidate) []candidate {
	size := func(c candidate) (total int64) {
		for _, asked := range d.asked {
			fr := asked.FlavorResource()
			amount := amountOf(&c.w, fr, nil)
			if c.podSet >= 0 {
				amount = amountOf(&workload.Workload{PodSets: []workload.PodSet{{Count: 1, Requests: c.w.PodSets[c.podSet].Requests}}}, fr, nil)
			}
			if slices.Contains(d.needed, fr) {
				total += quota.Mul(1000, min(amount, asked.Amount)) / asked.Amount
			}
		}
		return total
	}
	list := slices.Clone(candidates)
	slices.SortStableFunc(list, func(a, b candidate) int {
		switch fair := d.config.Sharing == preemption.Fair; {
		case fair && (a.class == 2) != (b.class == 2):
			return cmp.Compare(a.class, b.class)
		case a.class == 2 && b.class == 2:
			return 0
		case fair:
			return cmp.Or(compareBool(b.podSet >= 0, a.podSet >= 0), cmp.Compare(size(b), size(a)))
		case a.w.Evicted != b.w.Evicted:
			return compareBool(b.w.Evicted, a.w.Evicted)
		}
		return cmp.Or(cmp.Compare(a.class, b.class), compareBool(b.podSet >= 0, a.podSet >= 0), cmp.Compare(size(b), size(a)))
	})
	return list
}

// FitsWithout reports whether the request fits once the victims are gone; without borrowing,
// whether it also fits within its queue's nominal quota.
func FitsWithout(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim, borrowing bool) bool {
	d := decide(st, r)
	d.config = c
	for _, v := range victims {
		d.remove(v)
	}
	return d.fits(borrowing)
}

func (d *decision) remove(v preemption.Victim) {
	if len(v.Replicas) == 0 {
		d.goesWhole(v.Workload)
		return
	}
	if d.fewer[v.Workload] == nil {
		d.fewer[v.Workload] = map[string]int64{}
	}
	for _, r := range v.Replicas {
		d.fewer[v.Workload][r.PodSet] += r.Count - r.Leaving
		if r.Leaving > 0 {
			d.gone[v.Workload+leaving+r.PodSet] = true
		}
	}
}

func decide(st preemption.State, r preemption.Request) *decision {
	d := &decision{world: newWorld(st), given: st.Admitted, request: r, configs: st.Rules, queue: node{"queue", r.Workload.Queue}}
	d.policy = d.queues[r.Workload.Queue].Preemption
	if !r.HoldsQuota {
		d.request.Workload.ReservedAt = time.Time{}
	}
	d.needed = r.NeedsPreemption
	for _, fr := range named(&r.Workload) {
		a := quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: amountOf(&r.Workload, fr, nil)}
		if a.Amount == 0 {
			continue
		}
		d.asked = append(d.asked, a)
		if len(r.NeedsPreemption) == 0 && (a.Amount > d.available(d.queue, fr) || !d.roomy()) {
			d.needed = append(d.needed, fr)
		}
	}
	return d
}

// fits reports whether there is quota and, if a room is asked, a place, without the removed
// workloads.
func (d *decision) fits(borrowing bool) bool { return d.fitsQuota(borrowing) && d.roomy() }

// roomy reports whether the room, if there is one, has a place.
func (d *decision) roomy() bool { return d.roomyWithout(d.gone, d.fewer) }

func (d *decision) fitsQuota(borrowing bool) bool {
	for _, a := range d.asked {
		fr := a.FlavorResource()
		if a.Amount > d.available(d.queue, fr) ||
			d.withinNominal(fr, borrowing) && quota.Add(d.usage(d.queue, fr), a.Amount) > d.entry(d.queue, fr).Nominal {
			return false
		}
	}
	return true
}

// withinNominal: an attempt without borrowing keeps the queue within its nominal quota. With
// PreemptWithinNominal every attempt does, in what needs preemption.
func (d *decision) withinNominal(fr quota.FlavorResource, borrowing bool) bool {
	if d.config.PreemptWithinNominal {
		return slices.Contains(d.needed, fr)
	}
	return !borrowing
}

// fitsNow: it fits with nobody gone, whether or not its queue borrows.
func (d *decision) fitsNow() bool {
	for _, a := range d.asked {
		if a.Amount > d.available(d.queue, a.FlavorResource()) {
			return false
		}
	}
	return d.roomy()
}

func (d *decision) borrowHeight() int {
	height := 0
	above := d.ancestors(d.queue)
	for _, fr := range named(&d.request.Workload) { // zero amounts too
		amount := amountOf(&d.request.Workload, fr, nil)
		if len(above) == 0 || quota.Add(d.usage(d.queue, fr), amount) <= d.entry(d.queue, fr).Nominal {
			continue
		}
		rest := quota.Sub(amount, d.localAvailable(d.queue, fr))
		found := above[len(above)-1]
		for _, n := range above {
			if quota.Add(d.usage(n, fr), rest) <= d.subtreeQuota(n, fr) {
				found = n
				break
			}
			rest = quota.Sub(rest, d.localAvailable(n, fr))
		}
		height = max(height, d.world.height(found))
	}
	return height
}

func (d *decision) attempts(candidates []candidate) []bool {
	has := func(class int) bool {
		return slices.ContainsFunc(candidates, func(c candidate) bool { return c.class == class })
	}
	forbidden := d.policy.BorrowWithinCohort.Policy == queue.Never
	under := true
	for _, fr := range d.needed {
		under = under && d.usage(d.queue, fr) < d.entry(d.queue, fr).Nominal
	}
	switch {
	case d.config.PreemptWithinNominal:
		return []bool{false}
	case !has(0) && !has(1), forbidden && !under:
		return []bool{true}
	case forbidden && !has(0):
		return []bool{false, true}
	}
	return []bool{true, false}
}

// permitted reports whether an attempt permits a candidate: one that may take the queue over its nominal quota
// reclaims from other queues of the tree only by borrowWithinCohort. With PreemptWithinNominal none may.
func (d *decision) permitted(c candidate, borrowing bool) bool {
	return c.class != 1 || !borrowing || d.config.PreemptWithinNominal || c.reason != preemption.InCohortReclamation
}

func (d *decision) attempt(candidates []candidate, borrowing bool) []preemption.Victim {
	d.setGone(nil)
	defer d.setGone(nil)
	var taken []candidate
	for _, c := range d.inAttempt(candidates, borrowing) {
		if c.class != 2 && !d.borrowsUpTo(node{"queue", c.w.Queue}, c.lca, node{}) {
			continue
		}
		if d.limited(taken, c) {
			continue
		}
		taken = append(taken, c)
		d.setGone(taken)
		if !d.fits(borrowing) {
			continue
		}
		for i := len(taken) - 2; i >= 0; i-- {
			without := slices.Delete(slices.Clone(taken), i, i+1)
			if d.setGone(without); !partOf(without, taken[i]) && d.fits(borrowing) {
				taken = without
			}
		}
		return d.victims(taken)
	}
	d.noteMissing(taken, borrowing)
	return nil
}

// noteMissing records what is short if no victims were found.
func (d *decision) noteMissing(taken []candidate, borrowing bool) {
	d.setGone(taken)
	d.noRoom = d.noRoom || d.fitsQuota(borrowing) // then the room has no place
	if !borrowing && !d.config.PreemptWithinNominal {
		return
	}
	d.exhausted = slices.Clone(taken)
	for _, gone := range [][]candidate{d.inReach, d.ofPermittedPriority, taken} {
		if d.setGone(gone); !d.fitsQuota(true) {
			break
		}
	}
	d.missing = d.shortages()
}

// setGone removes exactly the taken ones.
func (d *decision) setGone(taken []candidate) {
	d.gone, d.fewer = map[string]bool{}, map[string]map[string]int64{}
	for _, c := range taken {
		if c.podSet < 0 {
			d.goesWhole(c.w.ID)
			continue
		}
		count(d.fewer, &c)
	}
}

// victims adds up the replicas of workloads that do not yield as a whole.
func (d *decision) victims(taken []candidate) []preemption.Victim {
	var list []preemption.Victim
	for _, c := range taken {
		v := preemption.Victim{Workload: idOf(c.w.ID), Queue: c.w.Queue, Reason: c.reason, Cohort: c.lca.name, Leaving: c.w.Evicted}
		if c.reason == preemption.InClusterQueueTimeBased {
			v.PreemptorQueued = d.request.Workload.Queued
		}
		whole := slices.ContainsFunc(taken, func(o candidate) bool { return o.w.ID == v.Workload && o.podSet < 0 })
		i := slices.IndexFunc(list, func(o preemption.Victim) bool { return o.Workload == v.Workload })
		if i < 0 {
			i, list = len(list), append(list, v)
		}
		list[i].Leaving = list[i].Leaving && c.w.Evicted
		if c.reason == preemption.InCohortReclamation && list[i].Reason == preemption.InCohortFairSharing {
			list[i].Reason = c.reason // of a part that no strategy took
		}
		if whole {
			continue
		}
		few := preemption.Replicas{PodSet: c.w.PodSets[max(0, c.podSet)].Name, Count: 1}
		if c.podSet < 0 { // the leaving ones
			few.Count = c.w.PodSets[0].Count
			few.Leaving = few.Count
		}
		list[i].Replicas = addReplicas(list[i].Replicas, few)
	}
	for i := range list {
		slices.SortFunc(list[i].Replicas, func(a, b preemption.Replicas) int { return cmp.Compare(a.PodSet, b.PodSet) })
	}
	return list
}
