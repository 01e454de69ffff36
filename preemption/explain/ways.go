package explain

import (
	"slices"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// maxFlavors is how many flavors of a group are tried.
const maxFlavors = 64

// finder tries changes of a question that is answered with no. Each try is a decision.
type finder struct {
	// try returns the way with its outcome; ok is false if the request does not succeed.
	try  func(Way) (tried Way, ok bool)
	list []Way
}

// add adds a way that is found.
func (f *finder) add(w Way, ok bool) {
	if ok {
		f.list = append(f.list, w)
	}
}

// smallest returns the way with the smallest step that succeeds, and the step.
func (f *finder) smallest(most int64, step func(int64) Way) (w Way, at int64, ok bool) {
	type found struct {
		way Way
		at  int64
	}
	best, ok := least.Step(most, func(n int64) (found, bool) {
		w, ok := f.try(step(n))
		return found{w, n}, ok
	})
	return best.way, best.at, ok
}

// addSmallest adds the way with the smallest step that succeeds.
func (f *finder) addSmallest(most int64, step func(int64) Way) {
	w, _, ok := f.smallest(most, step)
	f.add(w, ok)
}

// addPriority adds the smallest of these priorities above one with which the request succeeds.
func (f *finder) addPriority(above int64, priorities []int64) {
	slices.Sort(priorities)
	priorities = slices.DeleteFunc(slices.Compact(priorities), func(p int64) bool { return p <= above })
	f.addSmallest(int64(len(priorities)), func(n int64) Way { return Way{Kind: WayPriority, Priority: priorities[n-1]} })
}

// maxPasses is how often the amounts of a way are lowered in turn. The second pass lowers what
// only became too much by the first one; more passes are rare. The number bounds the decisions
// for one question; if it is too small, the way is left out.
const maxPasses = 8

// more lowers one amount after the other as long as the request succeeds, until no amount can
// be lowered by one.
func (f *finder) more(amounts []quota.Amount, way func([]quota.Amount) Way) (w Way, ok bool) {
	if w, ok = f.try(way(amounts)); !ok {
		return w, false
	}
	for range maxPasses {
		before := slices.Clone(amounts)
		for i := range amounts {
			if w, ok = f.lower(w, amounts, i, way); !ok {
				return w, false // what succeeded a moment ago: code of the caller breaks its laws
			}
		}
		if len(amounts) == 1 || slices.Equal(before, amounts) {
			return w, true
		}
	}
	return w, false
}

// lower lowers one of the amounts, which make a way that succeeds.
func (f *finder) lower(w Way, amounts []quota.Amount, i int, way func([]quota.Amount) Way) (lowered Way, ok bool) {
	most := amounts[i].Amount
	with := func(n int64) Way {
		amounts[i].Amount = n
		return way(amounts)
	}
	if len(amounts) > 1 {
		if most == 0 {
			return w, true
		}
		if none, ok := f.try(with(0)); ok {
			return none, true
		}
	}
	lowered, amounts[i].Amount, ok = f.smallest(most, with)
	return lowered, ok
}

// quotaFinder finds ways for a request of quota.
type quotaFinder struct {
	finder
	*explainer
}

// ways returns the changes that make the request succeed.
func (x *explainer) ways() []Way {
	quick := *x.config
	quick.MaxBlockers, quick.MaxRetrySteps = -1, -1
	p, err := preemption.New(quick)
	if err != nil {
		return nil // the configuration was valid
	}
	f := quotaFinder{explainer: x}
	f.try = func(w Way) (Way, bool) {
		s, r, err := w.Apply(x.whole, *x.r)
		if err != nil {
			return w, false
		}
		d, err := p.Decide(s, r)
		if w.Outcome, w.Victims = d.Outcome, len(d.Victims); w.Victims == 1 {
			w.Victim = d.Victims[0].Workload
		}
		return w, err == nil && d.Outcome.Succeeds()
	}
	f.add(f.try(Way{Kind: WayGates}))
	f.add(f.try(Way{Kind: WayMayPreempt}))
	if at := x.d.RetryAt; !at.IsZero() {
		f.add(f.try(Way{Kind: WayTime, At: at}))
	}
	f.addPriority(x.r.Workload.Priority, f.priorities())
	for i := range x.r.Workload.PodSets {
		if p := &x.r.Workload.PodSets[i]; !p.Totals {
			f.addSmallest(p.Count-1, func(n int64) Way { return Way{Kind: WayReplicas, PodSet: p.Name, Replicas: p.Count - n} })
		}
	}
	f.flavors()
	f.nominal()
	f.borrowing()
	f.policies()
	return f.list
}

// priorities lists where the answer may change: the priorities of running workloads of the tree, and just
// above each; by rules, of any tree, also those without boost.
func (f *quotaFinder) priorities() (list []int64) {
	of := &f.r.Workload
	byRules := f.whole.HasRules(of.Queue)
	tree := treeOf(f.whole, of.Queue)
	for w := range f.whole.Workloads() {
		if !byRules && treeOf(f.whole, w.Queue) != tree {
			continue
		}
		p := quota.Sub(w.EffectivePriority(), of.PriorityBoost)
		if list = append(list, p, quota.Add(p, 1)); byRules {
			list = append(list, w.Priority, quota.Add(w.Priority, 1))
		}
	}
	return list
}

// treeOf names the tree that a queue stands in: its root cohort, or the queue.
func treeOf(s *preemption.Snapshot, name string) string {
	q, _ := s.Queue(name)
	if q.Cohort == "" {
		return "queue " + name
	}
	for at := q.Cohort; ; {
		c, _ := s.Cohort(at)
		if c.Parent == "" {
			return "cohort " + at
		}
		at = c.Parent
	}
}

// flavors finds the other flavors in which the requests of a resource group succeed.
func (f *quotaFinder) flavors() {
	for _, g := range f.recorder.Names.Groups(maxFlavors) {
		for _, flavor := range g.Flavors {
			w := Way{Kind: WayFlavor, Flavor: flavor, Resources: slices.Clone(g.Resources)}
			if w.changesFlavor(f.r, f.d.Assignment) {
				f.add(f.try(w))
			}
		}
	}
}

// nominal finds the smallest addition to the nominal quota of the queue in what is short.
func (f *quotaFinder) nominal() {
	way := func(amounts []quota.Amount) Way {
		return Way{Kind: WayNominal, Queue: f.r.Workload.Queue, Nominal: some(amounts)}
	}
	if !f.raise(way, func(quota.FlavorResource) bool { return true }) {
		f.nominalOfAll(way)
	}
}

// borrowing finds the smallest addition to the borrowing limits that the queue has in what is short.
func (f *quotaFinder) borrowing() {
	q, _ := f.whole.Queue(f.r.Workload.Queue)
	f.raise(func(amounts []quota.Amount) Way {
		return Way{Kind: WayBorrowing, Queue: q.Name, Borrowing: some(amounts)}
	}, func(of quota.FlavorResource) bool {
		return slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool {
			_, set := e.BorrowingLimit.Get()
			return set && e.FlavorResource() == of
		})
	})
}

// some are the amounts of which there is something.
func some(amounts []quota.Amount) []quota.Amount {
	return slices.DeleteFunc(slices.Clone(amounts), func(a quota.Amount) bool { return a.Amount == 0 })
}

// raise finds the smallest addition to what is short, where it may be raised; if no flavor was found, in one flavor after the other. It
// reports whether it knows what is short.
func (f *quotaFinder) raise(way func([]quota.Amount) Way, may func(quota.FlavorResource) bool) bool {
	var short []quota.Amount
	for _, n := range f.needs {
		if n.Missing > 0 && may(n.FlavorResource) {
			short = append(short, quota.Amount{Flavor: n.Flavor, Resource: n.Resource, Amount: n.Missing})
		}
	}
	if len(short) > 0 {
		f.add(f.more(short, way))
		return true
	}
	for _, s := range f.d.Shortage {
		if s.Flavor == "" || !may(s.FlavorResource) {
			continue
		}
		one := []quota.Amount{{Flavor: s.Flavor, Resource: s.Resource, Amount: s.Missing}}
		if w, ok := f.more(one, way); ok {
			f.add(w, ok)
			return true
		}
	}
	return false
}

// nominalOfAll finds an addition in one flavor to all that the request asks for there, where one resource alone does not help:
// the queue has none of several of them.
func (f *quotaFinder) nominalOfAll(way func([]quota.Amount) Way) {
	asks := map[string]int64{}
	for _, u := range f.r.Workload.Usage() {
		asks[u.Resource] = quota.Add(asks[u.Resource], u.Amount)
	}
	for _, g := range f.recorder.Names.Groups(maxFlavors) {
		for _, flavor := range g.Flavors {
			var all []quota.Amount
			for _, resource := range g.Resources {
				if asks[resource] > 0 {
					all = append(all, quota.Amount{Flavor: flavor, Resource: resource, Amount: asks[resource]})
				}
			}
			if w, ok := f.more(all, way); ok && len(all) > 1 {
				f.add(w, ok)
				return
			}
		}
	}
}

// policies finds, for each policy of the queue, the first more permissive value that helps. A request that would borrow needs both
// policies on other queues, where it has neither (KEP-83, borrowWithinCohort).
func (f *quotaFinder) policies() {
	reclaims := f.policy.ReclaimWithinCohort != queue.Never
	for _, p := range [...]struct {
		name   string
		is     queue.VictimPolicy
		values []queue.VictimPolicy
	}{
		{withinClusterQueue, f.policy.WithinClusterQueue, []queue.VictimPolicy{queue.LowerPriority, queue.LowerOrNewerEqualPriority}},
		{reclaimWithinCohort, f.policy.ReclaimWithinCohort, []queue.VictimPolicy{queue.LowerPriority, queue.Any}},
		{borrowWithinCohort, f.policy.BorrowWithinCohort.Policy, []queue.VictimPolicy{queue.LowerPriority}},
	} {
		for _, value := range p.values[slices.Index(p.values, p.is)+1:] {
			if w, ok := f.try(Way{Kind: WayPolicy, Queue: f.r.Workload.Queue, Policy: p.name, Value: value}); ok {
				f.add(w, ok)
				reclaims = reclaims || p.name == reclaimWithinCohort
				break
			}
		}
	}
	if !reclaims {
		f.add(f.try(Way{Kind: WayPolicy, Queue: f.r.Workload.Queue, Policy: whileBorrowing, Value: queue.LowerPriority}))
	}
}
