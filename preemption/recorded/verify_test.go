package recorded_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/preemption/verify"
)

// The judge finds faults in these answers of Kueue, and in no others. Kueue tests the fit only after the first removal and so
// names a victim for a request that fits already.
var found = map[string]string{
	"random-fair-0427": `decision.outcome: Preempt, but the request fits now; decision.victims[0]: "ns/w08" is not needed`,
}

// TestVerifyKueue judges what Kueue answered.
func TestVerifyKueue(t *testing.T) {
	for _, name := range []string{"random-classical", "random-fair"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, c := range casesOf(t, name) {
				if testing.Short() && i%10 != 0 {
					continue
				}
				r, err := c.Check()
				if err != nil || slices.Contains(r.Departures, "what is leaving already is enough") {
					continue // the judge wants nothing else told to stop
				}
				problem := ""
				if err := judge(t, c); err != nil {
					problem = err.Error()
				}
				if problem != found[c.ID] {
					t.Errorf("%s: %s\nwant %s", c.ID, problem, found[c.ID])
				}
			}
		})
	}
}

// judge judges the recorded victims. The order is not recorded, and whether time helps is not known. How far up the request
// borrows is completed: it is not recorded either.
func judge(t *testing.T, c *recorded.Case) error {
	t.Helper()
	config, st, r := question(c)
	config.MaxRetrySteps = -1
	p, err := preemption.New(config)
	if err != nil {
		t.Fatal(err)
	}
	d, left := preemption.Decision{Outcome: preemption.Preempt}, st
	left.Admitted = nil
	for _, w := range st.Admitted {
		at := slices.IndexFunc(c.Quota[0].Want.Victims, func(v recorded.Victim) bool { return v.Workload == w.ID })
		if at < 0 {
			left.Admitted = append(left.Admitted, w)
			continue
		}
		d.Victims = append(d.Victims, preemption.Victim{
			Workload: w.ID, Queue: w.Queue, Cohort: commonCohort(&st, r.Workload.Queue, w.Queue),
			Leaving: w.Evicted, Reason: c.Quota[0].Want.Victims[at].Reason,
		})
	}
	slices.SortFunc(d.Victims, func(a, b preemption.Victim) int { return strings.Compare(a.Workload, b.Workload) })
	without := ask(t, p, left, nil, r)
	d.BorrowHeight = without.BorrowHeight
	switch {
	case len(d.Victims) == 0 && without.Outcome == preemption.Fits:
		d.Outcome, d.Admitted = preemption.Fits, without.Admitted
	case len(d.Victims) == 0:
		d.Outcome = preemption.Wait // Kueue does not say whether time helps
	}
	return verify.Decision(st, r, config, d)
}

// commonCohort returns the lowest cohort above two queues; empty for the same queue.
func commonCohort(st *preemption.State, queue, other string) string {
	above := func(queue string) (names []string) {
		name := ""
		for _, q := range st.Queues {
			if q.Name == queue {
				name = q.Cohort
			}
		}
		for name != "" {
			names = append(names, name)
			parent := ""
			for _, co := range st.Cohorts {
				if co.Name == name {
					parent = co.Parent
				}
			}
			name = parent
		}
		return names
	}
	ours := above(queue)
	for _, name := range above(other) {
		if slices.Contains(ours, name) && queue != other {
			return name
		}
	}
	return ""
}

// TestVerifyKubeGroups: the judge and the witness decide about groups as kube-scheduler does.
func TestVerifyKubeGroups(t *testing.T) {
	for i, c := range casesOf(t, "kube-groups") {
		if testing.Short() && i%10 != 0 {
			continue
		}
		q := c.Nodes[0]
		d := nodes.Decide(q.Config(), q.State, q.Request)
		var victims []string
		for _, v := range d.Victims {
			victims = append(victims, v.Pods...)
		}
		slices.Sort(victims)
		if !slices.Equal(victims, q.Want.Victims) || d.Violations != *q.Want.Violations {
			t.Errorf("%s: %v with %d violations, want %v with %d", c.ID, victims, d.Violations, q.Want.Victims, *q.Want.Violations)
		}
		if err := verify.Placement(q.State, q.Request, q.Config(), d); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
}
