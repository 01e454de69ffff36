package nodes

import (
	"cmp"
	"slices"
)

// yielding is a running pod whose unit could be a victim that violates no budget.
type yielding struct {
	pod     *Pod
	started int64 // of its unit
}

// boundByPods looks at the pods of a node and returns a score: no victims there have a better
// one. ok is false if they cannot be better than the best so far, which violates no budget: all
// victims there violate one or have a higher priority. The outlook of the node must be known.
//
// Who is covered by a budget that allows nothing violates it. The lowest priorities must free
// what is missing; so many of the highest of these must yield as free the rest.
func (s *Searcher) boundByPods(n *node, best score) (bound score, ok bool) {
	missing := s.missingOn(n)
	victims, violations := s.pods(n, missing), int64(0)
	list := s.yielding[:0]
	for k, b := range n.briefs {
		if b.priority >= s.priority {
			continue
		}
		if best.violations == 0 && b.priority > best.highest {
			continue
		}
		p := n.pods[k]
		u := s.unitOf(p)
		switch {
		case best.violations > 0:
			if !s.exhausts(p) {
				s.release(missing, p)
			}
		case u.covered && slices.ContainsFunc(u.Pods, s.exhausts):
			continue
		}
		list = append(list, yielding{p, u.started})
	}
	s.yielding = list
	if best.violations > 0 {
		violations = s.pods(n, missing)
		missing = s.missingOn(n)
	}
	slices.SortFunc(list, func(a, b yielding) int {
		return cmp.Or(cmp.Compare(a.pod.priority, b.pod.priority), cmp.Compare(b.started, a.started))
	})
	for from := 0; from < len(list); {
		rest, to := s.pods(n, missing), from
		for ; to < len(list) && list[to].pod.priority == list[from].pod.priority; to++ {
			s.release(missing, list[to].pod)
		}
		if s.pods(n, missing) == 0 {
			high, low := int64(list[from].pod.priority)+1<<31, int64(list[0].pod.priority)+1<<31
			bound = score{violations: int(violations), highest: list[from].pod.priority, pods: int(victims)}
			bound.started, bound.sum = list[from+int(rest)-1].started, rest*high+(victims-rest)*low
			return bound, true
		}
		from = to
	}
	return score{}, false
}

// release takes what a pod frees from what is missing.
func (s *Searcher) release(missing []int64, p *Pod) {
	for _, a := range p.takes {
		if slot := s.slotOf[a.column]; slot >= 0 {
			missing[slot] -= a.value
		}
	}
}

// missingOn returns what the pod lacks on a node beside all that run, by slot.
func (s *Searcher) missingOn(n *node) []int64 {
	s.lacking = resize(s.lacking, len(s.slots))
	for slot, need := range s.members[0].needs {
		if s.lacking[slot] = 0; need > 0 {
			column := s.columns[slot]
			s.lacking[slot] = need - (n.capacity[column] - n.above[column])
		}
	}
	return s.lacking
}

// pods returns the least number of pods of a node that free what is missing.
func (s *Searcher) pods(n *node, missing []int64) (least int64) {
	for slot, amount := range missing {
		if amount > 0 {
			largest := max(1, n.largest[s.columns[slot]])
			least = max(least, (amount-1)/largest+1)
		}
	}
	return least
}

// exhausts reports whether a pod violates a budget whoever else yields.
func (s *Searcher) exhausts(p *Pod) bool {
	books := ledger{budgets: s.c.budgets}
	return slices.ContainsFunc(p.budgets, func(b int32) bool {
		return books.budgets[b].Facts.Allowed <= 0 && books.charged(b, p)
	})
}
