package witness

import (
	"maps"
	"time"

	"github.com/cedesched/cede/preemption"
)

// KEP-83, Preemption, step 2: "Obtain a list of candidate Workloads to be preempted."

// whole is in place of a pod set: the candidate is the whole workload.
const whole = -1

// class says which quota a candidate is reclaimed from. "Workloads reclaimed by hierarchical
// advantage, then those of other queues, then those of the preemptor's own queue."
type class int

const (
	byAdvantage class = iota
	ofOthers
	ofOwn
)

// candidate is what may yield as one: a workload, a replica over the minimum, or the replicas that
// were told to leave.
type candidate struct {
	of       *running
	podSet   int // or whole
	replicas int64
	nth      int64 // of the replicas over the minimum
	leaving  bool  // it was told to leave before
	class    class
	meet     *node // the lowest cohort above the candidate's queue and the preemptor's
	reason   preemption.VictimReason
	expired  bool                    // an equal of the own queue whose time is over
	notWhile bool                    // it may not be reclaimed while the preemptor's queue borrows
	byRules  []preemption.VictimRule // that accepted it when it was taken
}

// parts lists what may yield of a workload. "Surplus replicas of elastic workloads one by one";
// replicas that are leaving "yield together"; "the minimum itself leaves only with the whole
// workload".
func (r *running) parts() []*candidate {
	everything := &candidate{of: r, podSet: whole, leaving: r.Evicted}
	if r.Evicted {
		return []*candidate{everything}
	}
	var list []*candidate
	for i := range r.PodSets {
		p := &r.PodSets[i]
		if p.Terminating > 0 {
			list = append(list, &candidate{of: r, podSet: i, replicas: p.Terminating, leaving: true})
		}
		for nth := range p.Surplus() {
			list = append(list, &candidate{of: r, podSet: i, replicas: 1, nth: nth})
		}
	}
	return append(list, everything)
}

// surplus reports whether the candidate is a replica over the minimum. Replicas that were told to leave
// "are as an evicted workload".
func (c *candidate) surplus() bool { return c.podSet != whole && !c.leaving }

// is reports whether two candidates, of two lists, are the same.
func (c *candidate) is(o *candidate) bool {
	return c.of == o.of && c.podSet == o.podSet && c.nth == o.nth && c.leaving == o.leaving
}

// remove takes the candidate out of the state; putBack puts it back.
func (c *candidate) remove() {
	if c.podSet == whole {
		c.of.gone = true
	} else {
		c.of.left[c.podSet] += c.replicas
	}
}

func (c *candidate) putBack() {
	if c.podSet == whole {
		c.of.gone = false
	} else {
		c.of.left[c.podSet] -= c.replicas
	}
}

// uses: KEP-83, Preemption, step 2: "We filter out the Workloads that are not using the flavors that
// were selected for the incoming Workload." A use of zero counts, as in Kueue.
func (c *candidate) uses(columns []column) bool {
	for i := range c.of.PodSets {
		if c.podSet != whole && c.podSet != i {
			continue
		}
		for _, a := range c.of.PodSets[i].Requests {
			for _, fr := range columns {
				if a.FlavorResource() == fr {
					return true
				}
			}
		}
	}
	return false
}

// candidatesIn lists what may yield now in a queue. "Nobody preempts from an inactive queue."
func candidatesIn(w *world, n *node, k class, at time.Time) (list []*candidate) {
	if n.queue.Inactive {
		return nil
	}
	for _, r := range n.running {
		for _, c := range r.parts() {
			c.class, c.meet = k, meet(w.own, n)
			if c.uses(w.needs) && w.policyPermits(c, at) && w.mayYield(c, at) {
				list = append(list, c)
			}
		}
	}
	return list
}

// ownCandidates: KEP-83, Preemption, step 2.2: "In the ClusterQueue, we only select Workloads with
// lower priority than the pending Workload."
func (w *world) ownCandidates(at time.Time) []*candidate { return candidatesIn(w, w.own, ofOwn, at) }

// cohortCandidates: KEP-83, Preemption, step 2.1: "In the cohort, we only consider ClusterQueues that
// are currently borrowing quota." "The other queue, or a cohort above it, uses no more than its quota:
// there is nothing to reclaim."
func (w *world) cohortCandidates(at time.Time) (list []*candidate) {
	classes := w.classes()
	for _, n := range w.queues {
		k, in := classes[n]
		if in && n != w.own && mayReclaimFrom(w, n, w.needs) {
			list = append(list, candidatesIn(w, n, k, at)...)
		}
	}
	return list
}

// mayReclaimFrom reports whether another queue borrows in some of the columns; in classical sharing so does
// each cohort between it and the lowest common one.
func mayReclaimFrom(w *world, n *node, columns []column) bool {
	if w.config.Sharing != preemption.Classical {
		return n.borrowsAny(columns)
	}
	return n.borrowsBelow(meet(w.own, n), columns)
}

// borrowsBelow reports whether a queue, and each cohort above it that is below another, borrows in some
// of the columns.
func (n *node) borrowsBelow(top *node, columns []column) bool {
	return n == top || n.borrowsAny(columns) && n.parent.borrowsBelow(top, columns)
}

// classes gives the queues of the tree with the class of their candidates. Hierarchical
// cohorts, as built in Kueue: going up from the queue, once the request fits in the quota of a
// subtree, all that borrow outside of it are reclaimed "by hierarchical advantage". Of the request a
// level takes what is idle there; the levels above have to hold the rest. In fair sharing "the shares
// decide who of other queues yields, not the classes".
func (w *world) classes() map[*node]class {
	of, k, rest := map[*node]class{w.own: ofOwn}, ofOthers, maps.Clone(w.asked)
	for below := w.own; below.parent != nil; below = below.parent {
		if w.config.Sharing == preemption.Classical && below.holds(rest) {
			k = byAdvantage
		}
		for fr, amount := range rest {
			rest[fr] = max(0, minus(amount, below.idle(fr)))
		}
		for _, n := range below.parent.under() {
			if n.queue != nil && !below.above(n) {
				of[n] = k
			}
		}
	}
	return of
}

// holds reports whether the quota of a subtree has room for amounts beside what is used there.
func (n *node) holds(amounts map[column]int64) bool {
	for fr, amount := range amounts {
		if plus(n.usage(fr), amount) > n.subtreeQuota(fr) {
			return false
		}
	}
	return true
}
