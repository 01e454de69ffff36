package reference

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// Class says by which right a workload may yield. Candidates of a lower class come first.
type Class int

const (
	Hierarchical Class = iota // the request fits in the quota of a node that the candidate is not under
	ByPriority                // else other queues give by the policies on borrowing
	OwnQueue
)

// Candidate is a workload that may yield, or one replica of its surplus, or what of it leaves already.
type Candidate struct {
	*Running
	PodSet int // a replica of this pod set; -1: all
	Class  Class
	tier   int   // in the own queue: 0 of lower priority, 1 its time is over, 2 newer
	Cohort *Node // the lowest above both queues; nil in the own queue, and in another tree
	Reason preemption.VictimReason
	ByRule Acceptance // if rules took it
}

// Partial reports whether it is not the whole workload.
func (c *Candidate) Partial() bool { return c.PodSet >= 0 || c.Leaving != "" }

// OfRules reports whether rules took it.
func (c *Candidate) OfRules() bool { return c.Reason == preemption.ConfigurablePreemption }

// GoesWhole reports whether it is a part of a workload that is in a list as a whole.
func (c *Candidate) GoesWhole(list []Candidate) bool {
	return c.Partial() && slices.ContainsFunc(list, func(o Candidate) bool { return o.ID == c.ID && !o.Partial() })
}

// CohortName names the cohort through which it is reclaimed; empty in the own queue.
func (c *Candidate) CohortName() string {
	if c.Cohort == nil {
		return ""
	}
	return c.Cohort.Name
}

// Same reports whether two candidates are alike: the same whole, or replicas of one pod set.
func (c *Candidate) Same(o Candidate) bool { return c.Running == o.Running && c.PodSet == o.PodSet }

// PodSetName names the pod set of a part; empty for a whole workload.
func (c Candidate) PodSetName() string {
	if c.PodSet < 0 {
		return c.Leaving
	}
	return c.PodSets[c.PodSet].Name
}

// Frees returns what a candidate takes of a column.
func (c Candidate) Frees(of Column) (amount int64) {
	if c.PodSet < 0 {
		return c.takes[of]
	}
	for _, a := range c.PodSets[c.PodSet].Requests {
		if c.At.tree.numbers[a.FlavorResource()] == of {
			amount = quota.Add(amount, a.Amount)
		}
	}
	return amount
}

// Acceptance is how rules took a candidate: the tier and the constraints on quota that held then.
type Acceptance struct {
	Trigger rules.Trigger
	Config  string
	Names   []string // of the rules of the tier that accept it
	// Held are the constraints that held. Bound are the constraints among them by which a selector of the tier accepted it; a
	// selector without a constraint makes it Free.
	Held, Bound []rules.QuotaConstraint
	Free        bool
}

// Lost returns what a candidate loses by the cost of the configuration; 0 without one.
func (q *usage) Lost(c Candidate) int64 {
	if c.PodSet >= 0 {
		return q.LostBy(c.Running, c.PodSets[c.PodSet].Name)
	}
	return q.LostBy(c.Running, "")
}

// LostBy returns what a workload loses as a whole, or with a replica of a pod set.
func (q *usage) LostBy(r *Running, podSet string) int64 {
	if q.Config.Cost == nil {
		return 0
	}
	return max(0, q.Config.Cost.Lost(r.Given.Clone(), podSet, q.Now))
}

// Take takes candidates.
func (q *usage) Take(list ...Candidate) { q.move(list, 1) }

// Return puts candidates back.
func (q *usage) Return(list ...Candidate) { q.move(list, -1) }

func (q *usage) move(list []Candidate, times int64) {
	for _, c := range list {
		if c.PodSet < 0 {
			c.Running.set(times > 0)
		} else {
			c.fewer[c.PodSet] += times
			c.settle()
		}
		if q.Request.Room != nil {
			c.tell(q.Request.Room)
		}
	}
}

// OutOfOrder looks for an order in which each victim may be taken when only the victims before it are taken. All are
// taken when it begins and when it ends. A victim that may be taken last is put last and stays for the others: a
// victim that may be taken stays so with fewer taken. It returns the victims that have no place in the order.
func (q *usage) OutOfOrder(victims []Candidate, mayBeTaken func(Candidate) bool) []Candidate {
	left, last := slices.Clone(victims), []Candidate(nil)
	for before := -1; before != len(left); {
		before = len(left)
		left = slices.DeleteFunc(left, func(c Candidate) bool {
			q.Return(c)
			if mayBeTaken(c) {
				last = append(last, c)
				return true
			}
			q.Take(c)
			return false
		})
	}
	q.Take(last...)
	return left
}
