package twin

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// sumByRules lists all whose priority some selector of the rules may accept, whatever else protects them:
// in the own queue, and in queues that are reached, or in all if some selector has no constraint on quota.
func (d *decision) sumByRules(e *rules.Evaluator, reaches func(n, lca, passed node) bool) (gone []candidate) {
	var own, others rules.Reach
	for _, trigger := range triggers {
		tier, err := e.Tier(trigger, &d.request.Workload)
		if err != nil {
			continue
		}
		of := tier.Reaches()
		own.Add(of.Of(d.queue.name))
		others.Add(of.Elsewhere())
		for trait, number := range e.Traits() {
			for q := range d.queues {
				has := func(w workload.Workload) bool { return w.Queue == q && hasTrait(&w, trait) }
				if !slices.ContainsFunc(d.running, has) {
					continue
				}
				if r := of.OfTrait(int(number), q); q == d.queue.name {
					own.Add(r)
				} else {
					others.Add(r)
				}
			}
		}
	}
	if others.Free {
		reaches = func(n, lca, passed node) bool {
			above := append(d.ancestors(n), n)
			return slices.Contains(above, lca) && !slices.Contains(above, passed)
		}
	}
	d.setGone(nil)
	at := map[node]level{}
	for _, l := range d.levels() {
		at[l.lca] = l
	}
	add := func(of node, any bool, most int64) {
		for _, w := range d.running {
			q := node{"queue", w.Queue}
			if !any || int64(importance(&w)) > most || neverYields(&w) {
				continue
			}
			if of == d.queue && q == of || of != d.queue && !d.inactive(q) && reaches(q, of, at[of].passed) {
				gone = append(gone, candidate{w: w, podSet: -1})
			}
		}
	}
	add(d.queue, own.Free, own.Most)
	for _, cohort := range d.ancestors(d.queue) {
		d.setGone(gone)
		classical := *d // in fair sharing every level has the advantage
		classical.config.Sharing = preemption.Classical
		advantage := false
		for _, l := range classical.levels() {
			advantage = advantage || l.lca == cohort && l.advantage
		}
		d.setGone(nil)
		if advantage {
			add(cohort, others.Any, others.Most)
		} else {
			add(cohort, others.Others, others.MostOthers)
		}
	}
	return gone
}

// hasTrait reports whether a workload has a label, or the priority class.
func hasTrait(w *workload.Workload, t rules.Trait) bool {
	if t.Key == "" {
		return w.PriorityClass == t.Value
	}
	value, ok := w.Labels[t.Key]
	return ok && value == t.Value
}
