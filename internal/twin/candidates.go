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

// candidates collects and sorts everybody who may be a victim in some attempt.
func (d *decision) candidates() []candidate {
	var all []candidate
	for _, r := range d.running {
		theirs, ours := r.EffectivePriority(), d.request.Workload.EffectivePriority()
		equal := theirs == ours && d.policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority
		if r.Queue == d.queue.name && d.policy.WithinClusterQueue != queue.Never && (theirs < ours || equal) {
			d.ofPermittedPriority = append(d.ofPermittedPriority, candidate{w: r, podSet: -1})
			d.inReach = append(d.inReach, candidate{w: r, podSet: -1})
		}
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
	fair := d.config.Sharing == preemption.Fair
	advantage := fair || restFits(d.queue)
	reduce(d.queue)
	var all []candidate
	passed := d.queue
	for _, lca := range d.ancestors(d.queue) {
		for _, r := range d.running {
			if q := (node{"queue", r.Queue}); d.ofPriority(d.policy.ReclaimWithinCohort, &r) && d.reachesAnything(q, lca, passed) {
				c := candidate{r, 1, 0, lca, preemption.InCohortReclamation, -1}
				if advantage {
					c.class = 0
				} else if d.policy.BorrowWithinCohort.Policy != queue.Never &&
					r.EffectivePriority() < d.request.Workload.EffectivePriority() &&
					d.policy.BorrowWithinCohort.MaxPriorityThreshold.Admits(r.EffectivePriority()) {
					c.reason = preemption.InCohortReclaimWhileBorrowing
				}
				permitted := advantage || c.reason == preemption.InCohortReclaimWhileBorrowing
				if permitted {
					d.inReach = append(d.inReach, c)
				}
				if !d.reaches(q, lca, passed) {
					continue
				}
				if permitted {
					d.ofPermittedPriority = append(d.ofPermittedPriority, c)
				}
				if uses(&r, d.needed) {
					all = append(all, d.units(c)...)
				}
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

// reaches reports whether candidates of a queue come through the cohort. In fair sharing
// the queue must borrow what is needed and the cohorts between anything.
func (d *decision) reaches(n, lca, passed node) bool {
	if d.config.Sharing != preemption.Fair {
		return d.borrowsUpTo(n, lca, passed)
	}
	return n != passed && !d.within(n, d.needed) && d.reachesAnything(n, lca, passed)
}

// reachesAnything reports whether a queue is under the cohort but not under the child
// passed already, and it and every cohort between borrow anything.
func (d *decision) reachesAnything(n, lca, passed node) bool {
	for ; n != lca; n = d.parent(n) {
		if n == (node{}) || n == passed || !d.borrowsAnything(n) {
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

func (d *decision) ofPriority(p queue.Policy, r *workload.Workload) bool {
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

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
