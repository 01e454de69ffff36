package twin

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Answer is the twin's decision.
type Answer struct {
	Outcome      preemption.Outcome
	Victims      []preemption.Victim // by workload ID
	BorrowHeight int
	// Borrowing: the attempt that found the victims let the request take its queue
	// over nominal.
	Borrowing bool
	// Missing is, for Impossible, what is short with everybody gone who may yield
	// while the request may borrow.
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
}

type candidate struct {
	w      workload.Workload
	class  int // 0 hierarchical, 1 priority, 2 own
	tier   int // in the own queue: 0 lower, 1 expired, 2 newer
	lca    node
	reason preemption.Reason
	podSet int // a replica of this pod set; -1 for the whole workload
}

// units lists what may be taken of a workload that may yield: each surplus replica, of the
// last pod set first, then the whole if it is not protected.
func (d *decision) units(c candidate) []candidate {
	var list []candidate
	for _, g := range d.config.Guards {
		v := g.Verdict(c.w, d.request)
		if until, timed := v.Until(); v.Never() || timed && !d.request.Now.After(until) {
			return nil
		}
	}
	for i := len(c.w.PodSets) - 1; i >= 0 && !c.w.Evicted; i-- {
		p := &c.w.PodSets[i]
		uses := slices.ContainsFunc(p.Requests, func(a quota.Amount) bool { return slices.Contains(d.needed, a.FlavorResource()) })
		for range p.Surplus() {
			if uses {
				c.podSet = i
				list = append(list, c)
			}
		}
	}
	if c.podSet = -1; !d.protected(&c.w) {
		list = append(list, c)
	}
	return list
}

// Decide answers a valid request about a valid state.
func Decide(c preemption.Config, st preemption.State, r preemption.Request) Answer {
	d := decide(st, r)
	d.config = c
	if d.fits(true) {
		return Answer{Outcome: preemption.Fits, BorrowHeight: d.borrowHeight()}
	}
	candidates := d.candidates()
	for _, borrowing := range d.attempts(candidates) {
		if victims := d.attempt(candidates, borrowing); victims != nil {
			d.setGone(nil)
			for _, v := range victims {
				d.remove(v)
			}
			slices.SortFunc(victims, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
			return Answer{preemption.Preempt, victims, d.borrowHeight(), borrowing, nil}
		}
	}
	return Answer{Outcome: preemption.Impossible, BorrowHeight: d.borrowHeight(), Missing: d.missing}
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
		if r.NeedsPreemption == nil && a.Amount > d.available(d.queue, a.FlavorResource()) {
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

// candidates collects and sorts everybody who may be a victim in some attempt.
func (d *decision) candidates() []candidate {
	var all []candidate
	for _, r := range d.running {
		if c, ok := d.ownCandidate(r); ok {
			all = append(all, d.units(c)...)
		}
	}
	if d.policy.ReclaimWithinCohort != queue.Never {
		all = append(all, d.cohortCandidates()...)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(
			compareBool(b.w.Evicted, a.w.Evicted),
			cmp.Compare(a.class, b.class),
			cmp.Compare(a.tier, b.tier),
			cmp.Compare(a.w.EffectivePriority(), b.w.EffectivePriority()),
			compareBool(b.podSet >= 0, a.podSet >= 0),
			longestFirst(a.tier, d.reserved(&b.w).Compare(d.reserved(&a.w))),
			cmp.Compare(a.w.UID, b.w.UID),
			cmp.Compare(a.w.ID, b.w.ID),
			cmp.Compare(b.podSet, a.podSet),
		)
	})
	return all
}

// longestFirst turns the order by reservation round for those whose time is over.
func longestFirst(tier, laterFirst int) int {
	if tier == 1 {
		return -laterFirst
	}
	return laterFirst
}

// ownCandidate is the verdict on a workload of the preemptor's queue.
func (d *decision) ownCandidate(r workload.Workload) (candidate, bool) {
	if r.Queue != d.queue.name || d.policy.WithinClusterQueue == queue.Never || !uses(&r, d.needed) {
		return candidate{}, false
	}
	theirs, ours := r.EffectivePriority(), d.request.Workload.EffectivePriority()
	if theirs != ours || d.policy.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
		return candidate{r, 2, 0, node{}, preemption.InClusterQueue, -1}, theirs < ours
	}
	newer := r.Queued.After(d.request.Workload.Queued)
	if d.config.NewerByReservation {
		newer = d.reserved(&r).After(d.request.Workload.Created)
	}
	least, timed := d.policy.MinAdmitDuration.Get()
	switch timed = timed && !d.config.IgnoreMinAdmitDuration; {
	case timed && d.request.Now.Sub(d.reserved(&r)) > least && newer:
		return candidate{r, 2, 1, node{}, preemption.InClusterQueue, -1}, true
	case timed && d.request.Now.Sub(d.reserved(&r)) > least:
		return candidate{r, 2, 1, node{}, preemption.InClusterQueueTimeBased, -1}, true
	}
	return candidate{r, 2, 2, node{}, preemption.InClusterQueue, -1}, newer
}

func (d *decision) cohortCandidates() []candidate {
	rest := map[quota.FlavorResource]int64{}
	for _, a := range d.asked {
		rest[a.FlavorResource()] = a.Amount
	}
	restFits := func(n node) bool {
		fits := true
		for fr, amount := range rest {
			fits = fits && quota.Add(d.usage(n, fr), amount) <= d.subtreeQuota(n, fr)
		}
		return fits
	}
	reduce := func(n node) {
		for fr, amount := range rest {
			rest[fr] = max(0, amount-d.localAvailable(n, fr))
		}
	}
	advantage := restFits(d.queue)
	reduce(d.queue)
	var all []candidate
	passed := d.queue
	for _, lca := range d.ancestors(d.queue) {
		for _, r := range d.running {
			if d.permitted(d.policy.ReclaimWithinCohort, &r) && d.borrowsUpTo(node{"queue", r.Queue}, lca, passed) {
				c := candidate{r, 1, 0, lca, preemption.InCohortReclamation, -1}
				if advantage {
					c.class = 0
				} else if d.policy.BorrowWithinCohort.Policy != queue.Never &&
					r.EffectivePriority() < d.request.Workload.EffectivePriority() &&
					d.policy.BorrowWithinCohort.MaxPriorityThreshold.Admits(r.EffectivePriority()) {
					c.reason = preemption.InCohortReclaimWhileBorrowing
				}
				all = append(all, d.units(c)...)
			}
		}
		advantage = restFits(lca) || advantage
		reduce(lca)
		passed = lca
	}
	return all
}

// borrowsUpTo reports whether a queue is under the cohort but not under the child
// passed already, and it and every cohort between borrow what is needed.
func (d *decision) borrowsUpTo(n, lca, passed node) bool {
	for ; n != lca; n = d.parent(n) {
		if n == (node{}) || n == passed || d.within(n, d.needed) {
			return false
		}
	}
	return true
}

// protected reports whether a workload has not run its minimum runtime yet: that against
// preemption when it runs in the preemptor's queue, else that against reclaim, looked for
// by the configured method.
func (d *decision) protected(r *workload.Workload) bool {
	victim := node{"queue", r.Queue}
	of, minimum := func(s minruntime.Settings) minruntime.Setting { return s.Preempt }, d.config.MinRuntime.Preempt
	from := victim
	if victim != d.queue {
		of, minimum = func(s minruntime.Settings) minruntime.Setting { return s.Reclaim }, d.config.MinRuntime.Reclaim
		above := append(d.ancestors(d.queue), node{})
		for d.config.ReclaimMethod == minruntime.LCA && !slices.Contains(above, d.parent(from)) {
			from = d.parent(from)
		}
	}
	for ; from != (node{}); from = d.parent(from) {
		settings := d.queues[from.name].MinRuntime
		if from.kind == "cohort" {
			settings = d.cohorts[from.name].MinRuntime
		}
		if !of(settings).IsZero() {
			minimum = of(settings)
			break
		}
	}
	least, _ := minimum.Get()
	return least > 0 && !r.Evicted && !r.ReservedAt.IsZero() && !d.request.Now.After(r.ReservedAt.Add(least))
}

func (d *decision) permitted(p queue.Policy, r *workload.Workload) bool {
	if !uses(r, d.needed) {
		return false
	}
	theirs, ours := r.EffectivePriority(), d.request.Workload.EffectivePriority()
	switch p {
	case queue.Any:
		return true
	case queue.LowerPriority:
		return theirs < ours
	}
	return false
}

func (d *decision) reserved(r *workload.Workload) time.Time {
	if r.ReservedAt.IsZero() {
		return d.request.Now
	}
	return r.ReservedAt
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
		return victims(taken)
	}
	d.setGone(taken)
	if borrowing {
		d.missing = map[quota.FlavorResource]int64{}
		for _, a := range d.asked {
			if short := quota.Sub(a.Amount, d.available(d.queue, a.FlavorResource())); short > 0 {
				d.missing[a.FlavorResource()] = short
			}
		}
	}
	return nil
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
func victims(taken []candidate) []preemption.Victim {
	var list []preemption.Victim
	for _, c := range taken {
		v := preemption.Victim{Workload: c.w.ID, Queue: c.w.Queue, Reason: c.reason, Cohort: c.lca.name}
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

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
