package reference_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue/rules"
)

// drawTaken draws a question and a few workloads of its tree, with a reason for each.
func drawTaken(t *rapid.T, reason func(q *reference.Question, c *reference.Candidate)) (q *reference.Question, taken []reference.Candidate) {
	record := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	config.Sharing = preemption.Fair
	q = reference.New(config, record.State, *record.Request)
	for _, r := range q.Running {
		c := reference.Candidate{Running: r, PodSet: -1, Cohort: q.Common(r)}
		inTree := c.Cohort != nil || r.At == q.Queue
		if inTree && r.Leaving == "" && len(r.Parts) == 0 && len(taken) < 5 && rapid.Bool().Draw(t, "taken") {
			reason(q, &c)
			taken = append(taken, c)
		}
	}
	return q, taken
}

// asked asks the quick way about victims, which are all taken for it.
func asked(q *reference.Question, taken []reference.Candidate, quick func([]reference.Candidate) []reference.Candidate) bool {
	q.Take(taken...)
	defer q.Return(taken...)
	return len(quick(taken)) == 0
}

// inSomeOrder reports whether candidates can be taken one after the other so that each passes. It tries every order.
func inSomeOrder(q *reference.Question, list []reference.Candidate, passes func(reference.Candidate) bool) bool {
	for i, c := range list {
		if !passes(c) {
			continue
		}
		q.Take(c)
		ok := inSomeOrder(q, slices.Delete(slices.Clone(list), i, i+1), passes)
		q.Return(c)
		if ok {
			return true
		}
	}
	return len(list) == 0
}

// To judge each side by the victim that goes last is to try every order.
func TestUnjustifiedIsNoOrder(t *testing.T) {
	seen := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		q, taken := drawTaken(t, func(q *reference.Question, c *reference.Candidate) {
			if c.Reason = preemption.InCohortFairSharing; c.At == q.Queue {
				c.Reason = preemption.InClusterQueue
			}
		})
		slow := inSomeOrder(q, taken, func(c reference.Candidate) bool { return c.Reason != preemption.InCohortFairSharing || q.Passes(c) })
		if quick := asked(q, taken, func(all []reference.Candidate) []reference.Candidate { return q.Unjustified(all) }); quick != slow {
			t.Fatalf("justified: %v, in some order: %v", quick, slow)
		}
		if len(taken) > 1 {
			seen[slow]++
		}
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("several victims justified and not: %v", seen)
	}
}

// To put last what may be last, on each side, is to try every order.
func TestNotAcceptedIsNoOrder(t *testing.T) {
	seen := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		q, taken := drawTaken(t, func(q *reference.Question, c *reference.Candidate) {
			c.Reason = preemption.ConfigurablePreemption
			if c.ByRule.Free = c.Cohort == nil || rapid.IntRange(0, 3).Draw(t, "free") == 0; !c.ByRule.Free {
				c.ByRule.Bound = reference.Parts(rapid.SampledFrom(rules.QuotaConstraints()).Draw(t, "constraint"))
			}
		})
		slow := inSomeOrder(q, taken, func(c reference.Candidate) bool { return !c.IsConstrained() || q.HoldsStill(c) })
		if quick := asked(q, taken, q.NotAccepted); quick != slow {
			t.Fatalf("accepted: %v, in some order: %v", quick, slow)
		}
		if len(taken) > 1 {
			seen[slow]++
		}
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("several victims accepted and not: %v", seen)
	}
}
