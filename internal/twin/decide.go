package twin

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Answer is the twin's decision.
type Answer struct {
	Outcome      preemption.Outcome
	Victims      []preemption.Victim // by workload ID
	BorrowHeight int
	// Borrowing: the attempt that found the victims let the request take its queue
	// over nominal.
	Borrowing bool
	// Missing is, for Impossible, what is short with everybody gone whose priority the
	// policies permit while the request may borrow, in queues that borrow anything; where
	// that would do, in queues that borrow what needs preemption; where that would do, with
	// everybody gone who may yield.
	Missing map[quota.FlavorResource]int64
}

type decision struct {
	*world
	config  preemption.Config
	request preemption.Request
	queue   node
	policy  queue.Preemption
	asked   []quota.Amount         // amounts other than zero
	needed  []quota.FlavorResource // what needs preemption
	missing map[quota.FlavorResource]int64
	// ofPermittedPriority is those whose priority the policies permit while the request
	// may borrow, whatever else keeps them; inReach also has those of queues that borrow
	// something else only.
	ofPermittedPriority, inReach []candidate
	largestFirst                 bool
}

// Decide answers a valid request about a valid state.
func Decide(c preemption.Config, st preemption.State, r preemption.Request) Answer {
	d := decide(st, r)
	d.config = c
	if d.fits(true) {
		return Answer{Outcome: preemption.Fits, BorrowHeight: d.borrowHeight()}
	}
	candidates := d.candidates()
	if r.Workload.NeverPreempts {
		candidates, d.ofPermittedPriority, d.inReach = nil, nil, nil
	}
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
	return Answer{Outcome: preemption.Impossible, BorrowHeight: d.borrowHeight(), Missing: missing}
}

// search runs the attempts.
func (d *decision) search(candidates []candidate) (Answer, bool) {
	attempts := d.attempts(candidates)
	if d.config.Sharing == preemption.Fair {
		attempts = []bool{true}
	}
	for _, borrowing := range attempts {
		attempt := d.attempt
		if d.config.Sharing == preemption.Fair {
			attempt = d.fairAttempt
		}
		if victims := attempt(candidates, borrowing); victims != nil {
			d.setGone(nil)
			for _, v := range victims {
				d.remove(v)
			}
			slices.SortFunc(victims, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
			outcome := preemption.Preempt
			if d.request.Workload.Gates.AnyClosed() {
				outcome = preemption.Gated
			}
			return Answer{outcome, victims, d.borrowHeight(), borrowing, nil}, true
		}
	}
	return Answer{}, false
}

// bySize puts, of the candidates of other queues, those first that free most: of each
// class among those evicted or those not; in fair sharing of each queue.
func (d *decision) bySize(candidates []candidate) []candidate {
	size := func(c candidate) (total int64) {
		requests := c.w.Usage()
		if c.podSet >= 0 {
			requests = c.w.PodSets[c.podSet].Requests
		}
		for _, asked := range d.asked {
			for _, r := range requests {
				if r.FlavorResource() == asked.FlavorResource() && slices.Contains(d.needed, r.FlavorResource()) {
					total += quota.Mul(1000, min(r.Amount, asked.Amount)) / asked.Amount
				}
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

// FitsWithout reports whether the request fits once the victims are gone; without borrowing, whether also within its queue's nominal quota.
func FitsWithout(st preemption.State, r preemption.Request, victims []preemption.Victim, borrowing bool) bool {
	d := decide(st, r)
	for _, v := range victims {
		d.remove(v)
	}
	return d.fits(borrowing)
}

func (d *decision) remove(v preemption.Victim) {
	if len(v.Replicas) == 0 {
		d.gone[v.Workload] = true
		return
	}
	if d.fewer[v.Workload] == nil {
		d.fewer[v.Workload] = map[string]int64{}
	}
	for _, r := range v.Replicas {
		d.fewer[v.Workload][r.PodSet] += r.Count
	}
}

func decide(st preemption.State, r preemption.Request) *decision {
	d := &decision{world: newWorld(st), request: r, queue: node{"queue", r.Workload.Queue}}
	d.policy = d.queues[r.Workload.Queue].Preemption
	d.needed = r.NeedsPreemption
	for _, a := range r.Workload.Usage() {
		if a.Amount == 0 {
			continue
		}
		d.asked = append(d.asked, a)
		if len(r.NeedsPreemption) == 0 && a.Amount > d.available(d.queue, a.FlavorResource()) {
			d.needed = append(d.needed, a.FlavorResource())
		}
	}
	return d
}

func (d *decision) fits(borrowing bool) bool {
	for _, a := range d.asked {
		fr := a.FlavorResource()
		if a.Amount > d.available(d.queue, fr) ||
			!borrowing && quota.Add(d.usage(d.queue, fr), a.Amount) > d.entry(d.queue, fr).Nominal {
			return false
		}
	}
	return true
}

func (d *decision) borrowHeight() int {
	height := 0
	above := d.ancestors(d.queue)
	for _, a := range d.request.Workload.Usage() { // zero amounts too
		fr := a.FlavorResource()
		if len(above) == 0 || quota.Add(d.usage(d.queue, fr), a.Amount) <= d.entry(d.queue, fr).Nominal {
			continue
		}
		rest := a.Amount - d.localAvailable(d.queue, fr)
		found := above[len(above)-1]
		for _, n := range above {
			if quota.Add(d.usage(n, fr), rest) <= d.subtreeQuota(n, fr) {
				found = n
				break
			}
			rest -= d.localAvailable(n, fr)
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
	case !has(0) && !has(1), forbidden && !under:
		return []bool{true}
	case forbidden && !has(0):
		return []bool{false, true}
	}
	return []bool{true, false}
}

func (d *decision) attempt(candidates []candidate, borrowing bool) []preemption.Victim {
	d.setGone(nil)
	defer d.setGone(nil)
	var taken []candidate
	for _, c := range candidates {
		if c.class == 1 && borrowing && c.reason == preemption.InCohortReclamation {
			continue
		}
		if c.class != 2 && !d.borrowsUpTo(node{"queue", c.w.Queue}, c.lca, node{}) {
			continue
		}
		taken = append(taken, c)
		d.setGone(taken)
		if !d.fits(borrowing) {
			continue
		}
		for i := len(taken) - 2; i >= 0; i-- {
			without := slices.Delete(slices.Clone(taken), i, i+1)
			whole := slices.ContainsFunc(without, func(c candidate) bool { return c.w.ID == taken[i].w.ID && c.podSet < 0 })
			if d.setGone(without); !(whole && taken[i].podSet >= 0) && d.fits(borrowing) {
				taken = without
			}
		}
		return d.victims(taken)
	}
	if borrowing {
		d.noteMissing(taken)
	}
	return nil
}

// noteMissing notes what is short when nobody was found.
func (d *decision) noteMissing(taken []candidate) {
	for _, gone := range [][]candidate{d.inReach, d.ofPermittedPriority, taken} {
		if d.setGone(gone); !d.fits(true) {
			break
		}
	}
	d.missing = map[quota.FlavorResource]int64{}
	for _, a := range d.asked {
		if short := quota.Sub(a.Amount, d.available(d.queue, a.FlavorResource())); short > 0 {
			d.missing[a.FlavorResource()] = short
		}
	}
}

// setGone makes exactly the taken ones gone.
func (d *decision) setGone(taken []candidate) {
	d.gone, d.fewer = map[string]bool{}, map[string]map[string]int64{}
	for _, c := range taken {
		if c.podSet < 0 {
			d.gone[c.w.ID] = true
			continue
		}
		if d.fewer[c.w.ID] == nil {
			d.fewer[c.w.ID] = map[string]int64{}
		}
		d.fewer[c.w.ID][c.w.PodSets[c.podSet].Name]++
	}
}

// victims adds the replicas up, of workloads that do not yield whole.
func (d *decision) victims(taken []candidate) []preemption.Victim {
	var list []preemption.Victim
	for _, c := range taken {
		v := preemption.Victim{Workload: c.w.ID, Queue: c.w.Queue, Reason: c.reason, Cohort: c.lca.name}
		if c.reason == preemption.InClusterQueueTimeBased {
			v.PreemptorQueued = d.request.Workload.Queued
		}
		whole := slices.ContainsFunc(taken, func(o candidate) bool { return o.w.ID == c.w.ID && o.podSet < 0 })
		i := slices.IndexFunc(list, func(o preemption.Victim) bool { return o.Workload == c.w.ID })
		if i < 0 {
			i, list = len(list), append(list, v)
		}
		if whole {
			continue
		}
		name := c.w.PodSets[c.podSet].Name
		j := slices.IndexFunc(list[i].Replicas, func(r preemption.Replicas) bool { return r.PodSet == name })
		if j < 0 {
			j, list[i].Replicas = len(list[i].Replicas), append(list[i].Replicas, preemption.Replicas{PodSet: name})
		}
		list[i].Replicas[j].Count++
	}
	for i := range list {
		slices.SortFunc(list[i].Replicas, func(a, b preemption.Replicas) int { return cmp.Compare(a.PodSet, b.PodSet) })
	}
	return list
}
