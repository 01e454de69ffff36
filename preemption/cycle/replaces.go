package cycle

import (
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// stands returns the ID of the workload that stands for a head until the head is admitted: the head
// itself if it holds quota, or the one that it replaces. Empty: none. What it holds is the head's.
func (p *plan) stands(head string) string {
	if p.request.HoldsQuota[head] {
		return head
	}
	return p.request.Replaces[head]
}

// replacedLeaves reports whether the workload that a head replaces was told to stop before the cycle: its
// room is free in then.
func (p *plan) replacedLeaves(head string) bool {
	id := p.request.Replaces[head]
	if id == "" || p.request.HoldsQuota[head] {
		return false
	}
	_, runs := p.now.Find(id)
	_, stays := p.first.Find(id)
	return runs && !stays
}

// has reports whether a workload holds quota in then.
func (p *plan) has(id string) bool {
	_, is := p.then.Find(id)
	return is
}

// lost reports whether an earlier head of the cycle preempts or replaces what stands for a head.
func (p *plan) lost(head string) bool {
	id := p.stands(head)
	if _, stayed := p.first.Find(id); stayed {
		return !p.has(id)
	}
	_, leaves := p.now.Find(id)
	return id != "" && !leaves
}

// without returns now without what stands for a head: it does not count against the head.
func (p *plan) without(head string) *preemption.Snapshot {
	if id := p.stands(head); id != "" {
		if without, err := p.now.With(preemption.Remove(id)); err == nil {
			return without
		}
	}
	return p.now
}

// grows returns what a workload asks for beyond what stands for it, which is in then.
func (p *plan) grows(w *workload.Workload) []quota.Amount {
	asks := w.Usage()
	held, stands := p.then.Find(p.request.Replaces[w.ID])
	if !stands || held.Queue != w.Queue {
		return asks
	}
	has := held.Usage()
	for i := range asks {
		for _, h := range has {
			if h.FlavorResource() == asks[i].FlavorResource() {
				asks[i].Amount = quota.Sub(asks[i].Amount, h.Amount)
			}
		}
	}
	return asks
}
