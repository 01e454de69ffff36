package safe

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// In sharing as in KAI what a queue requests decides what it is entitled to. A request that is made now counts there, too. One that waits already
// is among what its queue requests, if that is as much.

// readShares reads what the queues request.
func (a *Asker) readShares(c preemption.Config) {
	if c.Sharing == preemption.KAI {
		a.shares = a.snapshot.State().FairShares.Queues
		a.holds = a.snapshot.FairShares()
	}
}

// asked returns the snapshot in which a request is made; nil: that is no other one.
func (a *Asker) asked(r *preemption.Request) *preemption.Snapshot {
	at := slices.IndexFunc(a.shares, func(q fairshare.Queue) bool { return q.Name == r.Workload.Queue })
	if at < 0 {
		return nil
	}
	q := a.shares[at]
	q.Claims = slices.Clone(q.Claims)
	for _, ask := range r.Workload.Usage() {
		for i := range q.Claims {
			if c := &q.Claims[i]; c.Resource == ask.Resource {
				c.Request = min(quota.Add(c.Request, ask.Amount), quota.MaxUsage)
			}
		}
	}
	with, err := a.snapshot.With(preemption.SetFairShareQueue(q))
	if err != nil {
		return nil
	}
	return with
}

// exposure asks for the rights of a request, made now or waiting.
func (a *Asker) exposure(r preemption.Request, running string) (preemption.Exposure, error) {
	if with := a.asked(&r); with != nil {
		if e, err := a.bare.Exposure(with, r, running); err != nil || e.MayYield {
			return e, err
		}
	}
	return a.bare.Exposure(a.snapshot, r, running)
}

// mayWait reports whether a request may be among those that wait already. In other sharing it does not matter.
func (a *Asker) mayWait(r *preemption.Request) bool {
	at := slices.IndexFunc(a.holds, func(q fairshare.QueueShares) bool { return q.Queue == r.Workload.Queue })
	if at < 0 {
		return true
	}
	return a.options.Since.IsZero() && !slices.ContainsFunc(r.Workload.Usage(), func(ask quota.Amount) bool {
		of := slices.IndexFunc(a.holds[at].Shares, func(s fairshare.Share) bool { return s.Resource == ask.Resource })
		return of < 0 || a.holds[at].Shares[of].Request-a.holds[at].Shares[of].Usage < ask.Amount
	})
}
