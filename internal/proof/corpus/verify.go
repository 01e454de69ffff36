package corpus

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
)

// Verify judges Kueue's recorded answer by [verify.Decision]. Order is not recorded, and
// whether time helps is not known. The height to which the request borrows is completed: it
// is not recorded either.
func (c *Case) Verify() error {
	config, err := c.Config()
	if err != nil {
		return err
	}
	config.SkipRetryAt = true
	st, r := c.State(), c.Request()
	d := preemption.Decision{Outcome: preemption.Preempt}
	left := st
	left.Admitted = nil
	for _, w := range st.Admitted {
		i := slices.IndexFunc(c.Want.Victims, func(v Victim) bool { return v.Name == w.ID })
		if i < 0 {
			left.Admitted = append(left.Admitted, w)
			continue
		}
		v := preemption.Victim{Workload: w.ID, Queue: w.Queue, Cohort: c.commonCohort(w.Queue), Leaving: w.Evicted}
		if err := v.Reason.UnmarshalText([]byte(c.Want.Victims[i].Reason)); err != nil {
			return err
		}
		d.Victims = append(d.Victims, v)
	}
	slices.SortFunc(d.Victims, func(a, b preemption.Victim) int {
		if a.Workload < b.Workload {
			return -1
		}
		return 1
	})
	s, err := preemption.NewSnapshot(left)
	if err != nil {
		return err
	}
	p, err := preemption.New(config)
	if err != nil {
		return err
	}
	without, err := p.Decide(s, r)
	if err != nil {
		return err
	}
	d.BorrowHeight = without.BorrowHeight
	switch {
	case len(d.Victims) == 0 && without.Outcome == preemption.Fits:
		d.Outcome, d.Admitted = preemption.Fits, without.Admitted
	case len(d.Victims) == 0:
		d.Outcome = preemption.Wait // Kueue does not say whether time helps
	}
	return verify.Decision(st, r, config, d)
}

// commonCohort returns the lowest cohort above a queue and that of the incoming workload;
// empty for the same queue.
func (c *Case) commonCohort(queue string) string {
	if queue == c.Incoming.ClusterQueue {
		return ""
	}
	above := func(queue string) (names []string) {
		i := slices.IndexFunc(c.ClusterQueues, func(q ClusterQueue) bool { return q.Name == queue })
		for name := c.ClusterQueues[i].Cohort; name != ""; {
			names = append(names, name)
			i := slices.IndexFunc(c.Cohorts, func(co Cohort) bool { return co.Name == name })
			if name = ""; i >= 0 {
				name = c.Cohorts[i].Parent
			}
		}
		return names
	}
	ours := above(c.Incoming.ClusterQueue)
	for _, name := range above(queue) {
		if slices.Contains(ours, name) {
			return name
		}
	}
	return ""
}

// Verify judges the recorded victims of a single pod by [verify.Placement]; asked is false for
// other cases, and with budgets: which victim violates one is not recorded.
func (c *NodeCase) Verify() (asked bool, err error) {
	if c.Preemptor == nil || !c.Expect.has["victims"] || len(c.Expect.Victims) == 0 || c.Expect.Node == "" {
		return false, nil
	}
	st, r := c.state(), c.request()
	if len(r.Pods) != 1 || r.Group != "" || len(st.Budgets) > 0 {
		return false, nil
	}
	s, err := placement.NewSnapshot(st)
	if err != nil {
		return false, err
	}
	d := placement.Decision{Outcome: preemption.Preempt}
	d.Domain = c.Expect.Node
	d.Nominations = []placement.Nomination{{Pod: r.Pods[0].ID, Node: c.Expect.Node}}
	for _, u := range s.Units() {
		names := ids(u.Pods)
		if slices.ContainsFunc(names, func(id string) bool { return slices.Contains(c.Expect.Victims, id) }) {
			d.Victims = append(d.Victims, placement.Victim{Group: u.Group, Pods: names, Priority: u.Priority})
		}
	}
	slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return strings.Compare(a.Pods[0], b.Pods[0]) })
	return true, verify.Placement(st, r, c.config(), d)
}
