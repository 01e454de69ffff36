package lint

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// reader looks at one selector of candidates.
type reader struct {
	*Cluster
	place  string              // of the selector
	users  []*queue.Queue      // that refer to its configuration
	served []workload.Workload // by its rule
	add    add
}

// scope finds a scope in which there is no queue, a selector of queues that selects some but none in the scope, and a
// constraint on quota that never holds.
func (r *reader) scope(s *rules.CandidateSelector) {
	if len(r.users) == 0 {
		return
	}
	reaches := r.reach(s.Scope)
	if reaches == nil {
		return
	}
	of := s.ClusterQueueSelector
	own := s.Scope == rules.WithinLocalQueue || s.Scope == rules.WithinClusterQueue
	others, trees, selected, both := own || s.Scope == rules.AnyClusterQueue, false, false, of == nil
	for _, from := range r.users {
		trees = trees || len(r.peers(from)) > 0
		reached := reaches(from)
		for i := range r.State.Queues {
			to := &r.State.Queues[i]
			in := reached(to)
			others = others || in && to.Name != from.Name
			if of != nil && of.Matches(to.Labels) {
				selected, both = true, both || in
			}
		}
	}
	alone := "permits nobody"
	if s.Scope == rules.WithinParentCohort || s.Scope == rules.WithinCohortTree {
		alone = "is the own queue alone"
	}
	switch {
	case !others:
		r.add("", "%s has the scope %s, which %s: no queue that refers to it has another one there", r.place, s.Scope, alone)
	case s.Quota != "" && !trees && !own:
		r.add("", "%s asks for the quota constraint %s, which never holds: no queue that refers to it has another one in its cohort tree", r.place, s.Quota)
	}
	if selected && !both {
		r.add("", "the clusterQueueSelector of %s selects no queue in its scope %s", r.place, s.Scope)
	}
}

// reach says which queues a scope reaches from a queue, as decisions do; nil: the state does not say.
func (r *reader) reach(scope rules.Scope) func(from *queue.Queue) func(to *queue.Queue) bool {
	config := rules.Config{Name: "scope", Rules: []rules.Rule{{
		Name: "scope", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{{Scope: scope}},
	}}}
	queues := slices.Clone(r.State.Queues)
	for i := range queues {
		queues[i].Rules = config.Name
	}
	scoped, err := preemption.NewSnapshot(preemption.State{Cohorts: r.State.Cohorts, Queues: queues, Rules: []rules.Config{config}})
	if err != nil {
		return nil
	}
	return func(from *queue.Queue) func(to *queue.Queue) bool {
		verdicts, err := scoped.RuleVerdicts(rules.Always, workload.Workload{Queue: from.Name, LocalQueue: "any"})
		return func(to *queue.Queue) bool {
			return err != nil || slices.ContainsFunc(verdicts(workload.Workload{Queue: to.Name, LocalQueue: "any"}, time.Time{}, time.Time{}),
				func(v rules.Verdict) bool { return v.Refuses == "" })
		}
	}
}

// selects finds selectors of queues, labels and classes that select nobody.
func (r *reader) selects(s *rules.CandidateSelector) {
	if of := s.ClusterQueueSelector; of != nil && !slices.ContainsFunc(r.State.Queues, func(q queue.Queue) bool { return of.Matches(q.Labels) }) {
		r.add("", "the clusterQueueSelector of %s selects no queue", r.place)
	}
	r.nobody(s.LabelSelector != nil, fmt.Sprintf("the labelSelector of %s selects nobody who runs or waits", r.place), func(w *workload.Workload) bool { return s.LabelSelector.Matches(w.Labels) })
	of := &s.Priority.ClassSelector
	if contradicts(of) {
		r.add("", "%s permits nobody: each name in matchNames of its priority is in notMatchNames, too", r.place)
		return
	}
	r.nobody(!of.IsZero(), fmt.Sprintf("the priority classes of %s are those of nobody who runs or waits", r.place), func(w *workload.Workload) bool { return ofClass(of, w) })
}

// bounds finds bounds that nobody is within, and labels that nobody has.
func (r *reader) bounds(s *rules.CandidateSelector) {
	p := &s.Priority
	within := func(value int64, least, most quota.OptionalInt64) bool {
		return least.Or(math.MinInt64) <= value && value <= most.Or(math.MaxInt64)
	}
	_, least := p.MinValue.Get()
	_, most := p.MaxValue.Get()
	r.nobody(least || most, fmt.Sprintf("the bounds of priority of %s are for nobody who runs or waits", r.place), func(w *workload.Workload) bool {
		value := w.EffectivePriority()
		if p.Mode == rules.Base {
			value = w.Priority
		}
		return within(value, p.MinValue, p.MaxValue)
	})
	for i := range s.NumericLabels {
		n := &s.NumericLabels[i]
		read := func(w *workload.Workload) (int64, bool) {
			if value, err := strconv.ParseInt(w.Labels[n.Key], 10, 32); err == nil {
				return value, true
			}
			return n.Fallback.Get()
		}
		r.nobody(true, fmt.Sprintf("%s asks for a value of the label %q that nobody has who runs or waits", r.place, n.Key), func(w *workload.Workload) bool {
			value, ok := read(w)
			return ok && within(value, n.MinValue, n.MaxValue)
		})
		if n.Comparison != "" && len(r.served) > 0 && !slices.ContainsFunc(r.served, func(w workload.Workload) bool { _, ok := read(&w); return ok }) {
			r.add("none of "+workloads(len(r.served)), "%s compares the label %q, which nobody has whom the rule serves", r.place, n.Key)
		}
	}
}

// nobody adds a problem if asked holds and no workload is known for which something holds, of any.
func (r *reader) nobody(asked bool, problem string, holds func(*workload.Workload) bool) {
	known := r.known()
	if asked && len(known) > 0 && !slices.ContainsFunc(known, func(w workload.Workload) bool { return holds(&w) }) {
		r.add("none of "+workloads(len(known)), "%s", problem)
	}
}

// covered finds a rule that permits nobody whom another one of its tier, or of the tier Always before it, does not: all
// these are gone when the later tier is reached.
func (c *Cluster) covered(config *rules.Config, at int, add add) {
	a := &config.Rules[at]
	trigger := a.ActivationPolicy.Trigger
	for i := range config.Rules {
		since := a.ActivationPolicy.MinTriggerRequiredDuration.Or(0)
		b := &config.Rules[i]
		same := b.ActivationPolicy.Trigger == trigger
		before := !same && b.ActivationPolicy.Trigger == rules.Always && len(c.Config.Limits) == 0 // a limit may pass a workload over
		if before {
			since = 0
		}
		wider := i != at && (same || before) && len(a.CandidateSelectors) > 0 && b.ActivationPolicy.MinTriggerRequiredDuration.Or(0) <= since && serves(b, a)
		for _, s := range a.CandidateSelectors {
			wider = wider && slices.ContainsFunc(b.CandidateSelectors, func(o rules.CandidateSelector) bool { return (same || o.Quota == "") && covers(&o, &s) })
		}
		switch {
		case !wider || same && i > at && reflect.DeepEqual(ruleWithoutName(a), ruleWithoutName(b)): // then it is said of the other
		case same:
			add("", "rule %q permits nobody whom rule %q does not", a.Name, b.Name)
			return
		default:
			add(fmt.Sprintf("whom it permits is gone when the tier of %s is looked at", trigger),
				"rule %q permits nobody whom rule %q of the trigger Always does not", a.Name, b.Name)
			return
		}
	}
}

// serves reports whether a rule serves all whom another one serves.
func serves(wide, r *rules.Rule) bool {
	return (wide.PreemptorSelector == nil || reflect.DeepEqual(r.PreemptorSelector, wide.PreemptorSelector)) &&
		(wide.PreemptorPriorityClass.IsZero() || reflect.DeepEqual(r.PreemptorPriorityClass, wide.PreemptorPriorityClass))
}

func ruleWithoutName(r *rules.Rule) rules.Rule {
	c := *r
	c.Name = ""
	return c
}

// covers reports whether a selector accepts all whom another one accepts: each of its parts is absent or
// the same, and its scope is the same or wider.
func covers(wide, s *rules.CandidateSelector) bool {
	numbers := !slices.ContainsFunc(wide.NumericLabels, func(n rules.NumericLabel) bool { return !slices.Contains(s.NumericLabels, n) })
	return scopeCovers(wide.Scope, s.Scope) && numbers &&
		(wide.ClusterQueueSelector == nil || reflect.DeepEqual(wide.ClusterQueueSelector, s.ClusterQueueSelector)) &&
		(wide.LabelSelector == nil || reflect.DeepEqual(wide.LabelSelector, s.LabelSelector)) &&
		(wide.Priority.IsZero() || reflect.DeepEqual(wide.Priority, s.Priority)) &&
		(wide.Time.IsZero() || wide.Time == s.Time) && (wide.Quota == "" || wide.Quota == s.Quota)
}

// scopeCovers reports whether each queue of a scope is one of a wider scope.
func scopeCovers(wide, s rules.Scope) bool {
	within := []rules.Scope{rules.WithinLocalQueue, rules.WithinClusterQueue, rules.WithinParentCohort, rules.WithinCohortTree, rules.AnyClusterQueue}
	others := []rules.Scope{rules.OtherInParentCohort, rules.OtherInCohortTree, rules.OtherClusterQueue}
	if i := slices.Index(others, s); i >= 0 {
		return slices.Index(others, wide) >= i || slices.Index(within, wide) >= i+2
	}
	i := slices.Index(within, s)
	return i >= 0 && slices.Index(within, wide) >= i
}
