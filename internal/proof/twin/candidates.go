package twin

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

type candidate struct {
	w      workload.Workload
	class  int // 0 hierarchical, 1 priority, 2 own
	tier   int // in the own queue: 0 lower, 1 expired, 2 newer
	lca    node
	reason preemption.VictimReason
	podSet int // a replica of this pod set; -1 for the whole workload
	// trigger is that of the tier of rules that took it; held are the constraints on quota that
	// held then.
	trigger rules.Trigger
	held    rules.QuotaSet
	by      []preemption.VictimRule // the rules that accept it
}

// units lists what may be taken of a workload that may yield: each surplus replica, of the
// last pod set first, then the whole if it is not protected.
func (d *decision) units(c candidate) []candidate {
	var list []candidate
	if _, guarded := d.guarded(c.w); guarded || neverYields(&c.w) || d.refuses(&c.w) {
		return nil
	}
	for i := len(c.w.PodSets) - 1; i >= 0 && !c.w.Evicted; i-- {
		p := &c.w.PodSets[i]
		uses := slices.ContainsFunc(p.Requests, func(a quota.Amount) bool { return slices.Contains(d.needed, a.FlavorResource()) })
		for range over(p) {
			if uses {
				c.podSet = i
				list = append(list, c)
			}
		}
	}
	if until, _, ok := d.guarantee(&c.w); !ok || d.request.Now.After(until) {
		c.podSet = -1
		list = append(list, c)
	}
	return list
}

// neverYields: the workload says so, and was not told to stop.
func neverYields(w *workload.Workload) bool { return w.NeverYields && !w.Evicted }

// candidates collects and sorts everybody who may be a victim in some attempt.
func (d *decision) candidates() []candidate {
	var all []candidate
	for _, r := range d.running {
		theirs, ours := importance(&r), importance(&d.request.Workload)
		equal := theirs == ours && d.policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority
		if r.Queue == d.queue.name && d.policy.WithinClusterQueue != queue.Never && (theirs < ours || equal) && !neverYields(&r) {
			d.ofPermittedPriority = append(d.ofPermittedPriority, candidate{w: r, podSet: -1})
			d.inReach = append(d.inReach, candidate{w: r, podSet: -1})
		}
		if c, ok := d.ownVerdict(r); ok && r.Queue == d.queue.name && uses(&r, d.needed) {
			all = append(all, d.units(c)...)
		}
	}
	if d.policy.ReclaimWithinCohort != queue.Never {
		all = append(all, d.cohortCandidates()...)
	}
	return d.sorted(all)
}

// sorted puts candidates in the documented order.
func (d *decision) sorted(all []candidate) []candidate {
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(
			compareBool(b.w.Evicted, a.w.Evicted),
			cmp.Compare(a.class, b.class),
			cmp.Compare(a.tier, b.tier),
			cmp.Compare(importance(&a.w), importance(&b.w)),
			compareBool(b.podSet >= 0, a.podSet >= 0),
			longestFirst(a.tier, d.reserved(&b.w).Compare(d.reserved(&a.w))),
			cmp.Compare(a.w.UID, b.w.UID),
			cmp.Compare(a.w.ID, b.w.ID),
			cmp.Compare(b.podSet, a.podSet),
		)
	})
	if len(d.request.LocalQueueUsage) > 0 {
		return d.byLocalQueue(all)
	}
	return all
}

// inAttempt lists the candidates that an attempt permits, in its order: with usage of local queues
// those that it does not permit are in no queue's way.
func (d *decision) inAttempt(candidates []candidate, borrowing bool) []candidate {
	list := slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool { return !d.permitted(c, borrowing) })
	if len(d.request.LocalQueueUsage) == 0 {
		return list
	}
	if list = d.sorted(list); d.largestFirst {
		list = d.bySize(list)
	}
	return list
}

// longestFirst turns the order by reservation round for those whose time is over.
func longestFirst(tier, laterFirst int) int {
	if tier == 1 {
		return -laterFirst
	}
	return laterFirst
}

// ownVerdict returns the verdict of the policies on a workload of the preemptor's queue, and
// the right by which it would be taken.
func (d *decision) ownVerdict(r workload.Workload) (candidate, bool) {
	theirs, ours := importance(&r), importance(&d.request.Workload)
	if theirs != ours || d.policy.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
		return candidate{r, 2, 0, node{}, preemption.InClusterQueue, -1, "", 0, nil}, theirs < ours && d.policy.WithinClusterQueue != queue.Never
	}
	newer := later(r.Queued, d.request.Workload.Queued)
	if d.config.NewerByReservation {
		newer = later(d.reserved(&r), d.request.Workload.Created)
	}
	least, timed := d.minAdmit()
	switch over := timed && d.request.Now.Sub(d.reserved(&r)) > least; {
	case over && newer:
		return candidate{r, 2, 1, node{}, preemption.InClusterQueue, -1, "", 0, nil}, true
	case over:
		return candidate{r, 2, 1, node{}, preemption.InClusterQueueTimeBased, -1, "", 0, nil}, true
	}
	return candidate{r, 2, 2, node{}, preemption.InClusterQueue, -1, "", 0, nil}, newer
}

// level is a cohort above the preemptor's queue, and its child that the queue is in.
// At a level of advantage the request stays within the quota of a node below, so whoever
// borrows at the level yields.
type level struct {
	lca, passed node
	advantage   bool
}

// levels returns the levels, the lowest first, with nobody gone.
func (d *decision) levels() (list []level) {
	rest := map[quota.FlavorResource]int64{}
	for _, a := range d.asked {
		rest[a.FlavorResource()] = a.Amount
	}
	restFits := func(n node) bool {
		fits := true
		for fr, amount := range rest {
			fits = fits && quota.Add(d.usage(n, fr), amount) <= d.subtreeQuota(n, fr)
			rest[fr] = max(0, quota.Sub(amount, d.localAvailable(n, fr)))
		}
		return fits
	}
	l := level{passed: d.queue, advantage: restFits(d.queue) || d.config.Sharing == preemption.Fair}
	for _, l.lca = range d.ancestors(d.queue) {
		list = append(list, l)
		l.advantage = restFits(l.lca) || l.advantage
		l.passed = l.lca
	}
	return list
}

func (d *decision) cohortCandidates() []candidate {
	var all []candidate
	for _, l := range d.levels() {
		for _, r := range d.running {
			q := node{"queue", r.Queue}
			if d.inactive(q) || !d.ofPriority(d.policy.ReclaimWithinCohort, &r) || !d.reachesAnything(q, l.lca, l.passed) {
				continue
			}
			c := candidate{r, 1, 0, l.lca, preemption.InCohortReclamation, -1, "", 0, nil}
			if l.advantage {
				c.class = 0
			} else if d.permittedWhileBorrowing(&r) {
				c.reason = preemption.InCohortReclaimWhileBorrowing
			}
			permitted := (c.class == 0 || c.reason == preemption.InCohortReclaimWhileBorrowing || d.config.PreemptWithinNominal) && !neverYields(&r)
			if permitted {
				d.inReach = append(d.inReach, c)
			}
			if !d.reaches(q, l.lca, l.passed) {
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

// guarantee returns the last instant of a workload's minimum runtime or protection, and whose
// setting it is. The later one holds.
func (d *decision) guarantee(r *workload.Workload) (until time.Time, setBy string, ok bool) {
	until, setBy, ok = d.minRuntime(r)
	p := &d.config.Protection
	kind := p.Preempt
	if r.Queue != d.queue.name {
		if kind = p.Reclaim; d.config.Sharing == preemption.Fair && !d.entitledAtFirst() {
			kind = p.FairSharing
		}
	}
	if last, protects := d.protection(r, kind); protects && (!ok || last.After(until)) {
		until, setBy, ok = last, "protection", true
	}
	return until, setBy, ok
}

// protection returns the last instant at which a workload is protected for a duration.
func (d *decision) protection(r *workload.Workload, kind time.Duration) (last time.Time, ok bool) {
	start := r.AdmittedAt
	if d.config.Protection.From == minruntime.Reservation {
		start = r.ReservedAt
	}
	return start.Add(kind - 1), kind > 0 && !start.IsZero() && !r.Evicted
}

// protectedFor reports whether a candidate, if it is no replica, is protected for a duration.
func (d *decision) protectedFor(c *candidate, kind time.Duration) bool {
	last, ok := d.protection(&c.w, kind)
	return ok && c.podSet < 0 && !d.request.Now.After(last)
}

// minRuntime returns the last instant of a workload's minimum runtime, and whose setting it is:
// the one against preemption if it runs in the preemptor's queue, else the one against reclaim,
// found by the configured method.
func (d *decision) minRuntime(r *workload.Workload) (until time.Time, setBy string, ok bool) {
	victim := node{"queue", r.Queue}
	of, minimum, setBy := func(s minruntime.Settings) quota.OptionalDuration { return s.Preempt }, d.config.MinRuntime.Preempt, "default"
	from := victim
	if victim != d.queue {
		of, minimum = func(s minruntime.Settings) quota.OptionalDuration { return s.Reclaim }, d.config.MinRuntime.Reclaim
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
		if _, set := of(settings).Get(); set {
			minimum, setBy = of(settings), nameOf(from)
			break
		}
	}
	least, _ := minimum.Get()
	return r.ReservedAt.Add(least), setBy, least > 0 && !r.Evicted && !r.ReservedAt.IsZero()
}

// entitledAtFirst is entitled, with nobody gone.
func (d *decision) entitledAtFirst() bool {
	gone, fewer := d.gone, d.fewer
	d.setGone(nil)
	defer func() { d.gone, d.fewer = gone, fewer }()
	return d.entitled()
}

// permittedWhileBorrowing: borrowWithinCohort permits workloads of lower priority, at most the
// threshold.
func (d *decision) permittedWhileBorrowing(r *workload.Workload) bool {
	borrow := d.policy.BorrowWithinCohort
	threshold, limited := borrow.MaxPriorityThreshold.Get()
	return borrow.Policy != queue.Never && !d.config.PreemptWithinNominal && importance(r) < importance(&d.request.Workload) && (!limited || importance(r) <= threshold)
}

func (d *decision) ofPriority(p queue.VictimPolicy, r *workload.Workload) bool {
	theirs, ours := importance(r), importance(&d.request.Workload)
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

// later reports whether a is later than b; a time that is not known is later than all others.
func later(a, b time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() && !b.IsZero()
	}
	return a.After(b)
}

// byLocalQueue puts candidates in the order by the usage of their local queues. Of those of one
// class, being evicted or not, each queue's are sorted by it, most first; and the queues are merged:
// of their next candidates the one that is first in the usual order comes first.
func (d *decision) byLocalQueue(usual []candidate) (list []candidate) {
	alike := func(a, b candidate) bool { return a.w.Evicted == b.w.Evicted && a.class == b.class }
	for len(usual) > 0 {
		n := 1
		for n < len(usual) && alike(usual[0], usual[n]) {
			n++
		}
		list = append(list, d.mergedByUsage(usual[:n])...)
		usual = usual[n:]
	}
	return list
}

func (d *decision) mergedByUsage(usual []candidate) (list []candidate) {
	left := make([]bool, len(usual))
	for i := range left {
		left[i] = true
	}
	// next is the next candidate of the queue of another.
	next := func(of candidate) (best int) {
		best = -1
		for i, c := range usual {
			if left[i] && c.w.Queue == of.w.Queue && (best < 0 || d.used(c) > d.used(usual[best])) {
				best = i
			}
		}
		return best
	}
	for range usual {
		first := -1
		for _, c := range usual {
			if i := next(c); i >= 0 && (first < 0 || i < first) {
				first = i
			}
		}
		left[first] = false
		list = append(list, usual[first])
	}
	return list
}

func (d *decision) used(c candidate) (usage float64) {
	for _, u := range d.request.LocalQueueUsage {
		if u.LocalQueue == c.w.LocalQueue {
			usage = u.Usage
		}
	}
	return usage
}
