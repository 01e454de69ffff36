package placement

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/verify/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/workload"
)

// Verify judges a decision, of this package or of another scheduler, from the state, the
// request and the configuration alone; see [preemption.Verify]. It returns nil, or a
// [fault.List] of everything that is wrong. A state, request or configuration that is not
// valid is an error, as it is for Decide.
//
//   - Fits, Preempt: enough pods are nominated, to nodes of one domain, where they may run and
//     have room without the victims.
//   - Preempt: the victims are whole units of lower priority with a pod in the domain, which
//     nothing protects at Now. None of them can be put back where it runs (not judged for
//     [ModeReplace]). Their violations of budgets and their numbers are right; [Hard] budgets
//     hold. The request does not fit now.
//   - Proof, of the [Exact] search: the score is that of the victims, the bound is no worse, and
//     Optimal says that both are equal. In a small domain (at most 12 units that may yield, 6
//     pods and 6 nodes) all answers are tried: none is better than the bound.
//   - Wait, Impossible: in no domain is there room without all that may yield; RetryAt is the
//     first instant at which there is (not judged for Hard budgets, and with a placer; with the
//     [Exact] search, which finds room that others do not, RetryAt may be earlier).
//
// Any such domain and victims will do. With [Request.SkipFit], by which the caller says that
// the pods fit nowhere now, only nominations and victims are judged. For several pods of a
// Basic group only the victims are. Blockers, Shortage, Placeable and Withdrawn are not
// judged. Verify calls the filters, set filters, guards and the placer of the configuration
// and the request; it begins a trial for each question. With set filters or a placer, whose
// answers need not be monotone, it does not judge whether a victim could stay; with a placer,
// nor whether nominations that have room now are found.
func Verify(st State, r Request, c Config, d Decision) error {
	s, err := NewSnapshot(st)
	if err != nil {
		return err
	}
	p, err := New(c)
	if err != nil {
		return err
	}
	asked := r
	asked.Policy, p.config.SkipBlockers = PreemptNever, true
	if _, err := p.Decide(s, asked); err != nil { // it is malformed
		return err
	}
	q := &nodes.Question{
		Nodes: st.Nodes, Pods: st.Pods, Nominated: st.Nominated, Groups: st.Groups, Budgets: st.Budgets,
		Single: r.Group == "", Priority: r.Priority, NeverPreempts: r.Policy == PreemptNever, MinCount: r.MinCount,
		Prefer: r.Prefer, SkipFit: r.SkipFit, Now: r.Now, Timeout: r.TerminationTimeout,
		Design: c.Mode == ModeDesign, Replace: c.Mode == ModeReplace && c.Search != Exact, Exact: c.Search == Exact, BestFit: c.Order == BestFit, Round: c.Order == RoundRobin,
		HardBudgets: c.Budgets == Hard, FirstViolated: c.toFirstViolated(), OwnImportance: c.Importance != nil, SkipRetryAt: c.SkipRetryAt,
		RetryAtIsBound: c.MaxRetrySteps > 0, MinRuntime: c.MinRuntime, ReclaimMinRuntime: c.ReclaimMinRuntime, Queue: r.Queue,
	}
	q.Each = slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == r.Group && g.Basic })
	for _, m := range r.Pods {
		if m.Priority, m.Queue = r.Priority, r.Queue; r.Group != "" {
			m.Group = r.Group
		}
		q.Members = append(q.Members, m)
	}
	for _, domain := range r.Domains {
		q.Domains = append(q.Domains, domain.Nodes)
	}
	verifySets(q, &st, &r, slices.Concat(c.SetFilters, r.SetFilters))
	for _, f := range slices.Concat(c.Filters, r.Filters) {
		q.Filters = append(q.Filters, nodes.Filter{Rule: f, Wide: f.Reach() == ReachCluster})
	}
	if len(c.Guards) > 0 {
		q.Guard = func(group string, pods []workload.Pod, priority int32) (until time.Time, never bool) {
			for _, g := range c.Guards {
				v := g.Verdict(Unit{Group: group, Pods: pods, Priority: priority}, r)
				at, timed := v.Until()
				if never = never || v.Never(); timed && at.After(until) {
					until = at
				}
			}
			return until, never
		}
	}
	a := &nodes.Answer{Outcome: nodes.Outcome(d.Outcome), NoBudget: d.Reason == ReasonBudgets, RetryAt: d.RetryAt, Violations: d.Violations}
	for _, n := range d.Nominations {
		a.Nominations = append(a.Nominations, [2]string{n.Pod, n.Node})
	}
	for _, v := range d.Victims {
		a.Victims = append(a.Victims, nodes.Victim(v))
	}
	if p := d.Proof; p != nil {
		a.Proof = &nodes.Proof{Optimal: p.Optimal, Value: nodes.Score(p.Value), LowerBound: nodes.Score(p.LowerBound)}
	}
	if d.Outcome == preemption.Gated {
		return fault.List{{Path: "decision.outcome", Problem: "Gated is no outcome on nodes"}}
	}
	return nodes.Judge(q, a)
}

// verifySets lets the judge ask the set filters and the placer, about exactly the pods that it
// names.
func verifySets(q *nodes.Question, st *State, r *Request, sets []SetFilter) {
	beside := func(pods []workload.Pod) *Snapshot {
		s, err := NewSnapshot(State{Nodes: st.Nodes, Groups: st.Groups, Pods: pods})
		if err != nil {
			return nil // a node holds more than there can be
		}
		return s
	}
	if len(sets) > 0 || r.Placer != nil {
		q.Allows = func(p workload.Pod, n workload.Node, pods []workload.Pod) bool {
			s := beside(pods)
			return s != nil && !slices.ContainsFunc(sets, func(f SetFilter) bool { return !f.Begin(s, *r).Allows(p, n) }) &&
				(r.Placer == nil || r.Placer.Begin(s, *r).Allows(p, n))
		}
	}
	if r.Placer != nil {
		q.Place = func(waiting []workload.Pod, names []string, pods []workload.Pod) []string {
			s := beside(pods)
			if s == nil {
				return nil
			}
			return r.Placer.Begin(s, *r).Place(waiting, names)
		}
	}
}
