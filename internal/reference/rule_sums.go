package reference

import "github.com/cedesched/cede/queue/rules"

// reachOfRules reports whether the selectors of the rules may accept workloads of the own queue, of others, and of
// others by a selector without a constraint on quota, by their scope alone.
func (q *ruled) reachOfRules() (own, others, anywhere bool) {
	for _, trigger := range rules.Triggers() {
		if len(q.BadSelectors(trigger)) > 0 {
			continue
		}
		for _, rule := range q.RulesOf().Rules {
			if rule.ActivationPolicy.Trigger != trigger || !q.isFor(&rule) {
				continue
			}
			for i := range rule.CandidateSelectors {
				s := &rule.CandidateSelectors[i]
				free := s.Quota == ""
				if q.hasScope(s.Scope, q.Queue) && ofLabels(s.ClusterQueueSelector, q.Queue.Queue.Labels) {
					own = own || free
				}
				if s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue {
					others, anywhere = true, anywhere || free
				}
			}
		}
	}
	return own, others, anywhere
}

// sumByRules lists the workloads that may yield where some selector of the rules may accept any, whatever protects them:
// in the own queue, and in queues that are reached; in all queues if some selector for others has no constraint on quota.
func (q *ruled) sumByRules(reaches func(n, cohort *Node) bool) (gone []Candidate) {
	own, others, anywhere := q.reachOfRules()
	for _, r := range q.Running {
		cohort, within := common(q.Queue, r.At), false
		if r.At == q.Queue {
			within = own
		} else if cohort != nil && others && !inactive(r.At) {
			within = anywhere || reaches(r.At, cohort)
		}
		if within && !neverYields(r) {
			gone = append(gone, Candidate{Running: r, PodSet: -1})
		}
	}
	return gone
}
