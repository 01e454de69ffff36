package preemption

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/exact"
	"github.com/cedesched/cede/quota"
)

// Certificate shows the lower bound of a [Proof], or that no set is allowed, so that it can be
// checked without a search: package verify does, with exact arithmetic of its own. It is about
// [Proof.Value] alone. That no set of the same value is better by a later point of
// [ExactSearch] rests on the search.
//
// In each attempt, the bound follows from multipliers. Let S be an allowed set. Each row is an
// amount that S has to free, and each cap a number of victims that S must not exceed. With
// multipliers that are not negative, S costs at least
//
//	Σ rows multiplier − Σ caps multiplier × limit + Σ min(0, reduced cost)
//
// with the last sum over the candidates. A workload yields as a whole or gives replicas: only the smaller of its two
// sums counts. The reduced cost of a candidate is its cost, less for
// each row multiplier × min(1, what it frees / what is missing), plus the multipliers of the
// caps that count it. A replica has that part of the cost and of a count which it is of all
// replicas that its workload may give, except if the cost is what is lost.
//
// If that is not enough, a tree divides the sets: those in which one more candidate of a kind
// yields, and those in which no other of that kind does. Candidates are of one kind if nothing
// that counts tells them apart. At the end of each branch it is clear that no set of the branch
// is better: by the bound with what is taken and what is left, or because what is taken is
// never allowed, or too little and no candidate is left.
type Certificate struct {
	// Bound is what it shows: LowerBound. It is less if a tree would have more than 20,000
	// entries: it is then the bound by the multipliers, and the rest rests on the search. Zero
	// if there are no victims: it then shows that no set is allowed at Now. With limits it shows that
	// of the number of victims: more are needed than may yield. (If that takes a larger tree, there
	// is no certificate.)
	Bound int64 `json:"bound,omitzero"`
	// Attempts is one for each attempt that the policies permit, in their order.
	Attempts []CertifiedAttempt `json:"attempts,omitempty"`
}

// CertifiedAttempt is the part of a [Certificate] about one attempt. Without multipliers and
// tree all candidates together are not enough.
type CertifiedAttempt struct {
	// WithinNominal: the request may not take its queue over its nominal quota.
	WithinNominal bool `json:"withinNominal,omitempty"`
	// Bound is the bound by the multipliers, before it is rounded up.
	Bound float64 `json:"bound,omitzero"`
	// Rows and Caps have the multipliers that are not zero.
	Rows []CertifiedRow `json:"rows,omitempty"`
	Caps []CertifiedCap `json:"caps,omitempty"`
	// Candidates are those that the tree names by their index. One stands for all of its kind.
	Candidates []CertifiedCandidate `json:"candidates,omitempty"`
	// Tree is written from the left: the candidate, of whose kind one more yields; the tree of
	// those sets; the tree of the sets in which no other of that kind yields. -1 ends a branch.
	// Empty: -1.
	Tree []int `json:"tree,omitempty"`
}

// CertifiedRow is an amount of a resource that has to be freed for the request to fit: by
// workloads under a cohort, or in the own queue.
type CertifiedRow struct {
	quota.FlavorResource
	// Cohort is the cohort; empty: the preemptor's queue.
	Cohort string `json:"cohort,omitempty"`
	// Nominal: so that the queue stays within its nominal quota. Else so that what may pass the
	// queue or cohort is enough.
	Nominal bool `json:"nominal,omitempty"`
	// Multiplier is the cost that the whole amount is worth.
	Multiplier float64 `json:"multiplier"`
}

// CertifiedCap is a cap of [ExactSearch]: no more victims by a right than Greedy's; or one of
// [Config.Limits]: no more victims than it leaves.
type CertifiedCap struct {
	// Limit is the name of a limit; Queue is the queue whose workloads it counts together, if it
	// counts them by queue. Empty: the cap is Greedy's, as Reason, AnyPriority and Above say.
	Limit string `json:"limit,omitempty"`
	Queue string `json:"queue,omitempty"`
	// Reason is the right of the victims.
	Reason VictimReason `json:"reason,omitzero"`
	// AnyPriority: of any priority. Else of those above Above.
	AnyPriority bool  `json:"anyPriority,omitempty"`
	Above       int64 `json:"above,omitzero"`
	// Multiplier is the cost that one victim more is worth.
	Multiplier float64 `json:"multiplier"`
}

// CertifiedCandidate is a workload, or one replica of a pod set.
type CertifiedCandidate struct {
	Workload string `json:"workload"`
	// PodSet is the pod set of the replica; empty: the whole workload.
	PodSet string `json:"podSet,omitempty"`
	// Leaving says that it is all replicas of the pod set that were told to stop before.
	Leaving bool `json:"leaving,omitzero"`
}

// certificateOf turns a certificate of the engine into a public one.
func (sc *scratch) certificateOf(c *cluster.Cluster, of *exact.Certificate, found bool) *Certificate {
	if of == nil {
		return nil
	}
	out := &Certificate{}
	if found {
		out.Bound = of.Bound
	}
	for i := range of.Attempts {
		in := &of.Attempts[i]
		a := CertifiedAttempt{WithinNominal: !in.Borrowing, Bound: in.Bound, Tree: in.Tree}
		for _, r := range in.Rows {
			row := CertifiedRow{FlavorResource: sc.names[r.Slot], Nominal: r.Nominal, Multiplier: r.Multiplier}
			if !c.IsQueue(r.Node) {
				row.Cohort = c.Cohorts[r.Node].Name
			}
			a.Rows = append(a.Rows, row)
		}
		for _, l := range in.Caps {
			a.Caps = append(a.Caps, sc.capOf(c, &l))
		}
		for _, u := range in.Units {
			a.Candidates = append(a.Candidates, CertifiedCandidate{Workload: u.Workload.Facts.ID, PodSet: u.PodSet(), Leaving: u.Workload.Leaving > 0})
		}
		out.Attempts = append(out.Attempts, a)
	}
	return out
}

func (sc *scratch) capOf(c *cluster.Cluster, of *exact.CertifiedCap) CertifiedCap {
	l := sc.request.Limits
	if l == nil || of.Group == 0 {
		return CertifiedCap{Reason: VictimReason(of.Right), AnyPriority: of.All, Above: of.Above, Multiplier: of.Multiplier}
	}
	out := CertifiedCap{Multiplier: of.Multiplier}
	var queue int
	if out.Limit, queue = l.Group(of.Group); queue >= 0 {
		out.Queue = c.Queue(queue).Name
	}
	return out
}
