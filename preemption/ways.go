package preemption

import (
	"slices"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// maxFlavors is how many flavors of a group are tried.
const maxFlavors = 64

// finder tries changes of a question that is answered with no. Each try is a decision.
type finder struct {
	p *Preemptor
	s *Snapshot
	r Request
	e *Explanation
}

// ways returns the changes that make a request succeed.
func (p *Preemptor) ways(s *Snapshot, r Request, e *Explanation) []Way {
	config := p.config
	config.SkipBlockers, config.SkipRetryAt = true, true
	quick, err := New(config)
	if err != nil {
		return nil // the configuration was valid
	}
	f := finder{quick, s, r, e}
	var list []Way
	list = f.add(list, Way{Kind: WayGates, Least: true})
	list = f.add(list, Way{Kind: WayMayPreempt, Least: true})
	if at := e.Decision.RetryAt; !at.IsZero() {
		list = f.add(list, Way{Kind: WayTime, At: at, Least: true})
	}
	list = append(list, f.priority()...)
	for i := range r.Workload.PodSets {
		list = append(list, f.replicas(&r.Workload.PodSets[i])...)
	}
	list = append(list, f.flavors()...)
	list = append(list, f.nominal()...)
	return append(list, f.policies()...)
}

// try returns the way with its outcome; ok is false if the request does not succeed.
func (f *finder) try(w Way) (tried Way, ok bool) {
	s, r, err := w.Apply(f.s, f.r)
	if err != nil {
		return w, false
	}
	d, err := f.p.Decide(s, r)
	w.Outcome, w.Victims = d.Outcome, len(d.Victims)
	return w, err == nil && d.Outcome.Succeeds()
}

func (f *finder) add(list []Way, w Way) []Way {
	if tried, ok := f.try(w); ok {
		return append(list, tried)
	}
	return list
}

// smallest returns the way with the smallest step that succeeds.
func (f *finder) smallest(most int64, step func(int64) Way) (w Way, ok bool) {
	w, exact, ok := least.Step(most, func(n int64) (Way, bool) { return f.try(step(n)) })
	w.Least = exact
	return w, ok
}

// priority finds the smallest higher priority. The answer changes only at the priorities of
// running workloads, and just above each: by rules, in any tree, also at those without boost.
func (f *finder) priority() []Way {
	c, of := f.s.inside(), &f.r.Workload
	node, _ := c.QueueNode(of.Queue)
	byRules := f.s.HasRules(of.Queue)
	found := map[int64]bool{}
	note := func(q int) bool {
		for w := range c.Running(q).Workloads {
			found[quota.Sub(w.Priority, of.PriorityBoost)] = true
			if byRules {
				base, _ := w.BasePriority()
				found[base] = true
			}
		}
		return true
	}
	switch root := c.Tree.Root(node); {
	case byRules:
		for q := range c.Queues {
			note(len(c.Cohorts) + q)
		}
	case c.IsQueue(root):
		note(root)
	default:
		c.EachQueueUnder(root, -1, func(int) bool { return true }, note)
	}
	var at []int64
	for p := range found {
		at = append(at, p, quota.Add(p, 1))
	}
	slices.Sort(at)
	at = slices.DeleteFunc(slices.Compact(at), func(p int64) bool { return p <= of.Priority })
	w, ok := f.smallest(int64(len(at)), func(n int64) Way { return Way{Kind: WayPriority, Priority: at[n-1]} })
	return one(w, ok)
}

func one(w Way, ok bool) []Way {
	if !ok {
		return nil
	}
	return []Way{w}
}

// replicas finds the largest number of replicas of a pod set that fits.
func (f *finder) replicas(p *workload.PodSet) []Way {
	if p.Totals {
		return nil
	}
	w, ok := f.smallest(p.Count-1, func(n int64) Way {
		return Way{Kind: WayReplicas, PodSet: p.Name, Replicas: p.Count - n}
	})
	return one(w, ok)
}

// flavors finds the other flavors in which the requests of a resource group succeed.
func (f *finder) flavors() (list []Way) {
	c := f.s.inside()
	node, _ := c.QueueNode(f.r.Workload.Queue)
	for _, g := range f.s.plans.Of(c, node).Groups {
		for i, flavor := range g.Flavors {
			if i == maxFlavors {
				break
			}
			w := Way{Kind: WayFlavor, Flavor: flavor, Resources: slices.Clone(g.Resources), Least: true}
			if !w.changesFlavor(&f.r, f.e.Decision.Assignment) {
				continue
			}
			eligible := true
			for j := range f.r.Workload.PodSets {
				m := g.Mismatch(i, f.r.Workload.PodSets[j].NodeConstraints)
				eligible = eligible && m.None()
			}
			if eligible {
				list = f.add(list, w)
			}
		}
	}
	return list
}

// nominal finds the smallest addition to the nominal quota of the queue in what is short. If
// no flavor was found, one flavor after the other is tried.
func (f *finder) nominal() []Way {
	var short []quota.Amount
	for _, n := range f.e.Question.Needs {
		if n.Missing > 0 {
			short = append(short, quota.Amount{Flavor: n.Flavor, Resource: n.Resource, Amount: n.Missing})
		}
	}
	if len(short) > 0 {
		return one(f.more(short))
	}
	for _, s := range f.e.Decision.Shortage {
		if w, ok := f.more([]quota.Amount{{Flavor: s.Flavor, Resource: s.Resource, Amount: s.Missing}}); ok && s.Flavor != "" {
			return one(w, ok)
		}
	}
	return nil
}

// maxPasses is how often the amounts of a way are lowered in turn. The second pass lowers what
// only became too much by the first one; more passes are rare. The number bounds the decisions
// for one question; if it is too small, the way is left out.
const maxPasses = 8

// more lowers one amount after the other as long as the request succeeds, until no amount can
// be lowered by one.
func (f *finder) more(amounts []quota.Amount) (w Way, ok bool) {
	w, ok = f.try(Way{Kind: WayNominal, Queue: f.r.Workload.Queue, Nominal: amounts})
	if !ok {
		return w, false
	}
	for range maxPasses {
		before := w.Nominal
		for i := range amounts {
			if w, ok = f.lower(w, i); !ok {
				return w, false // what succeeded a moment ago: a guard or a room breaks its laws
			}
		}
		if len(amounts) == 1 || slices.Equal(before, w.Nominal) {
			w.Least = w.Least && len(amounts) == 1 // another split of several may be less
			w.Nominal = slices.DeleteFunc(w.Nominal, func(a quota.Amount) bool { return a.Amount == 0 })
			return w, true
		}
	}
	return w, false
}

// lower lowers one of the amounts.
func (f *finder) lower(w Way, i int) (lowered Way, ok bool) {
	with := func(n int64) Way {
		next := w
		next.Nominal = slices.Clone(w.Nominal)
		next.Nominal[i].Amount = n
		return next
	}
	if len(w.Nominal) > 1 {
		if w.Nominal[i].Amount == 0 {
			return w, true
		}
		if none, ok := f.try(with(0)); ok {
			return none, true
		}
	}
	return f.smallest(w.Nominal[i].Amount, with)
}

// policies finds, for each policy of the queue, the first more permissive value that helps.
func (f *finder) policies() (list []Way) {
	q, _ := f.s.Queue(f.r.Workload.Queue)
	now := q.Preemption
	for _, p := range [...]struct {
		name   PolicyName
		is     queue.VictimPolicy
		values []queue.VictimPolicy
	}{
		{PolicyWithinClusterQueue, now.WithinClusterQueue, []queue.VictimPolicy{queue.LowerPriority, queue.LowerOrNewerEqualPriority}},
		{PolicyReclaimWithinCohort, now.ReclaimWithinCohort, []queue.VictimPolicy{queue.LowerPriority, queue.Any}},
		{PolicyBorrowWithinCohort, now.BorrowWithinCohort.Policy, []queue.VictimPolicy{queue.LowerPriority}},
	} {
		for _, value := range p.values[slices.Index(p.values, p.is)+1:] {
			if w, ok := f.try(Way{Kind: WayPolicy, Queue: q.Name, Policy: p.name, Value: value, Least: true}); ok {
				list = append(list, w)
				break
			}
		}
	}
	return list
}
