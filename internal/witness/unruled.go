package witness

import (
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// What a refusal says of rules: [preemption.Decision.Blockers] and Shortage.

// keptFromRules: "A workload that the rules of the preemptor's queue accept, and that something else keeps, comes before
// those that the policies refuse."
func (w *world) keptFromRules(n *node, short []preemption.Shortage, at time.Time) (b preemption.Blocker, kept bool) {
	if w.rules == nil || n.queue == nil || n.queue.Inactive {
		return b, false
	}
	s := byRules(w, at)
	accept := func(c *candidate, at time.Time) bool {
		c.reason = preemption.ConfigurablePreemption
		return slices.ContainsFunc(s.triggers, func(t rules.Trigger) bool { return len(s.acceptedBy(c, t, false)) > 0 })
	}
	b, kept = firstRefused(w, n, short, accept, at)
	return b, kept && stage(b.Rule) == 0
}

// reachedByRules: "By rules alone 1 and 2 are all workloads where the scope of some selector reaches, in the
// preemptor's queue and in others; 1 has all queues of the tree, and 2 is left out, if such a selector has no
// constraint on quota. 3 are the workloads that the rules accept now."
func (w *world) reachedByRules(at time.Time) [][]*candidate {
	own, others, unconstrained := reach(w)
	list := func(gives func(*node) bool) (set []*candidate) {
		for _, n := range w.own.root().under() {
			if n.queue == nil || n.queue.Inactive || n == w.own && !own || n != w.own && !(others && gives(n)) {
				continue
			}
			for _, r := range n.running {
				for _, c := range r.parts() {
					if !c.surplus() && (!r.NeverYields || c.leaving) {
						set = append(set, c)
					}
				}
			}
		}
		return set
	}
	borrows := func(columns []column) func(*node) bool {
		return func(n *node) bool { return n.borrowsBelow(meet(w.own, n), columns) }
	}
	now := byRules(w, at).victims
	if unconstrained {
		return [][]*candidate{list(func(*node) bool { return true }), now}
	}
	return [][]*candidate{list(borrows(w.allColumns())), list(borrows(w.needs)), now}
}

// reach says where the scope of some selector reaches: in the own queue, in others, and there without a constraint on
// quota, which holds in others alone.
func reach(w *world) (own, others, unconstrained bool) {
	for i := range w.rules.Rules {
		r := &w.rules.Rules[i]
		if t := r.ActivationPolicy.Trigger; !slices.Contains(rules.Triggers(), t) || len(faultsOf(w, t)) > 0 || !serves(w, r) {
			continue
		}
		for _, s := range r.CandidateSelectors {
			in := !strings.HasPrefix(string(s.Scope), "Other")
			out := s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue
			own, others = own || in && s.Quota == "" && selects(w, s.ClusterQueueSelector, w.own.name), others || out
			unconstrained = unconstrained || out && s.Quota == ""
		}
	}
	return own, others, unconstrained
}
