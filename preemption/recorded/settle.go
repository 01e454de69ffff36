package recorded

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Departures of answers about usage over what is allowed, by name.
const (
	excessUncapped = "the excess is all that is over, not what other quotas leave of it"
	neverIsNever   = "a workload that never yields does not, also where it is taken first as built"
	ownQuotaStays  = "no queue comes below its own quota"
	atLeastExcess  = "at least the excess leaves"
	orderOfQueues  = "several queues give in order, not in proportion"
	newestFirst    = "workloads of equal priority yield newest first, to the nanosecond"
)

// Settling is a question about who has to leave because usage is over what is allowed.
type Settling struct {
	Config  preemption.Config `json:"config,omitzero"`
	State   preemption.State  `json:"state"`
	Request settle.Request    `json:"request"`
	Want    Settled           `json:"want"`
}

// Settled is the answer. Nil: it is not recorded.
type Settled struct {
	Excess  []preemption.Excess `json:"excess,omitzero"`
	Victims []string            `json:"victims,omitzero"`
}

func (q *Settling) check(r *Report) error {
	s, err := preemption.NewSnapshot(q.State)
	if err != nil {
		return err
	}
	p, err := preemption.New(q.Config)
	if err != nil {
		return err
	}
	a, err := settle.Decide(p, s, q.Request)
	if err != nil {
		return err
	}
	var wrong []string
	if err := verify.Settlement(q.State, q.Request, q.Config, a); err != nil {
		wrong = append(wrong, err.Error())
	}
	r.compare(excuse{}, "what the judge finds wrong", nil, wrong)
	if q.Want.Excess != nil {
		got := texts(a.Excess, excessText)
		r.compare(q.excessExcuse(&a, got), "excess", texts(q.Want.Excess, excessText), got)
	}
	if q.Want.Victims != nil {
		got := []string{}
		for _, v := range a.Victims {
			got = append(got, v.Workload)
		}
		r.compare(q.victimsExcuse(got), "victims", slices.Sorted(slices.Values(q.Want.Victims)), got)
	}
	return nil
}

func excessText(e preemption.Excess) string {
	return fmt.Sprintf("%v: %d of %v", settle.Node{Queue: e.Queue, Cohort: e.Cohort}, e.Amount, e.FlavorResource)
}

// excessExcuse excuses an amount that quotas on the way capped: it is smaller, and some node below the root has a nominal quota.
func (q *Settling) excessExcuse(a *settle.Answer, got []string) excuse {
	some := func(e quota.Quota) bool { return e.Nominal > 0 }
	capped := slices.ContainsFunc(q.State.Queues, func(q queue.Queue) bool { return slices.ContainsFunc(q.Quotas, some) }) ||
		slices.ContainsFunc(q.State.Cohorts, func(c queue.Cohort) bool { return c.Parent != "" && slices.ContainsFunc(c.Quotas, some) })
	for _, want := range q.Want.Excess {
		i := slices.IndexFunc(a.Excess, func(e preemption.Excess) bool { return e.FlavorResource == want.FlavorResource })
		capped = capped && i >= 0 && want.Amount <= a.Excess[i].Amount
	}
	if !capped {
		return excuse{}
	}
	return excuse{excessUncapped, got}
}

// victimsExcuse excuses victims that the other scheduler chose by a rule that is not followed.
func (q *Settling) victimsExcuse(got []string) excuse {
	at := map[string]*workload.Workload{}
	for i := range q.State.Admitted {
		at[q.State.Admitted[i].ID] = &q.State.Admitted[i]
	}
	differ, equals := map[string]bool{}, false // differ: the queues of which other workloads yield
	for i := range q.State.Admitted {
		w := &q.State.Admitted[i]
		if slices.Contains(q.Want.Victims, w.ID) != slices.Contains(got, w.ID) {
			differ[w.Queue] = true
		}
		for _, o := range q.State.Admitted[:i] {
			equals = equals || o.Queue == w.Queue && o.Priority == w.Priority
		}
	}
	switch {
	case slices.ContainsFunc(q.Want.Victims, func(id string) bool { return at[id] != nil && at[id].NeverYields }):
		return excuse{neverIsNever, got}
	case q.belowOwnQuota():
		return excuse{ownQuotaStays, got}
	case q.staysOver():
		return excuse{atLeastExcess, got}
	case len(differ) > 1:
		return excuse{orderOfQueues, got}
	case equals:
		return excuse{newestFirst, got}
	}
	return excuse{}
}

// withoutVictims returns the snapshot, without what is leaving, and the same without the recorded victims; nil if they can't be had.
func (q *Settling) withoutVictims() (s, after *preemption.Snapshot) {
	s, err := preemption.NewSnapshot(q.State)
	if err == nil {
		s, err = s.With(s.Removals()...)
	}
	if err != nil {
		return nil, nil
	}
	var edits []preemption.Edit
	for _, id := range q.Want.Victims {
		if _, runs := s.Find(id); runs {
			edits = append(edits, preemption.Remove(id))
		}
	}
	after, _ = s.With(edits...)
	return s, after
}

// staysOver reports whether a node that is asked about is over without the recorded victims, too.
func (q *Settling) staysOver() bool {
	_, after := q.withoutVictims()
	return after != nil && slices.ContainsFunc(after.Excess(), func(e preemption.Excess) bool {
		return len(q.Request.Nodes) == 0 || slices.Contains(q.Request.Nodes, settle.Node{Queue: e.Queue, Cohort: e.Cohort})
	})
}

// belowOwnQuota reports whether the recorded victims take a queue below its nominal quota.
func (q *Settling) belowOwnQuota() bool {
	s, after := q.withoutVictims()
	if after == nil {
		return false
	}
	for _, of := range q.State.Queues {
		was, _ := s.QueueStatus(of.Name)
		is, _ := after.QueueStatus(of.Name)
		for i := range is {
			if is[i].Usage < is[i].Nominal && slices.ContainsFunc(was, func(r preemption.QuotaStatus) bool {
				return r.FlavorResource == is[i].FlavorResource && r.Usage > is[i].Usage
			}) {
				return true
			}
		}
	}
	return false
}
