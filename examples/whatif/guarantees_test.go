package main

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/cedesched/cede/internal/proof/seed"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// No decision contradicts a guarantee: each victim that the policies permit is one that the guarantee of its queue names.
func TestGuaranteesHold(t *testing.T) {
	reasons, others := map[preemption.VictimReason]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		st, c := preemptiontest.States().Draw(t, "state"), preemption.Config{}
		if rapid.Bool().Draw(t, "configured") {
			c = preemptiontest.Configs().Draw(t, "config")
		}
		request := preemptiontest.Requests(st).Draw(t, "request")
		if c.Sharing == preemption.KAI {
			return
		}
		p, err := preemption.New(c)
		if err != nil {
			t.Fatal(err)
		}
		s, err := preemption.NewSnapshot(st)
		if err != nil {
			t.Fatal(err)
		}
		g, err := guaranteesOf(st, c, "")
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Decide(s, request)
		if err != nil || d.Outcome != preemption.Preempt {
			return
		}
		for _, v := range d.Victims {
			w, _ := s.Find(v.Workload)
			if v.Leaving || w.Evicted || len(v.Rules) > 0 {
				continue
			}
			reasons[v.Reason]++
			of := g.Queues[slices.IndexFunc(g.Queues, func(of guarantee) bool { return of.Queue == w.Queue })]
			by := of.Own
			if w.Queue != request.Workload.Queue {
				others++
				i := slices.IndexFunc(of.Others, func(t taker) bool { return t.Queue == request.Workload.Queue })
				if i < 0 && !usesQuota(st, &w) {
					continue // what its queue has no quota for, any more, is no part of a guarantee
				}
				if i < 0 {
					t.Fatalf("%s is taken by %s, which cannot take anything: %+v", v.Workload, request.Workload.Queue, of)
				}
				by = of.Others[i]
			}
			if !by.permits(&request, &w, &v) {
				t.Fatalf("%s is taken by %s at %v: %+v, but %+v", v.Workload, request.Workload.Queue, request.Now, v, by)
			}
		}
	})
	t.Log(reasons)
	if len(reasons) < 3 && !testing.Short() || others == 0 {
		t.Errorf("only %v were drawn", reasons)
	}
}

// permits reports whether a guarantee leaves a victim to a request.
func (t *taker) permits(r *preemption.Request, w *workload.Workload, v *preemption.Victim) bool {
	held := r.Now.Sub(w.ReservedAt)
	if since := r.Now.Sub(w.AdmittedAt); !w.AdmittedAt.IsZero() && since < held {
		held = since
	}
	own, asks := w.EffectivePriority(), r.Workload.EffectivePriority()
	if len(v.Replicas) == 0 && !w.ReservedAt.IsZero() && t.After > 0 && held < t.After {
		return false
	}
	if t.UpTo != nil && own > *t.UpTo {
		return false
	}
	switch t.Who {
	case anybody:
		return true
	case higher:
		return own < asks
	case older:
		waited := w.Queued.IsZero() && !r.Workload.Queued.IsZero() || r.Workload.Queued.Before(w.Queued) && !r.Workload.Queued.IsZero()
		return own < asks || own == asks && (waited || t.EqualsAfter > 0 && held >= t.EqualsAfter)
	}
	return false
}

// usesQuota reports whether the queue of a workload has quota for all that it uses.
func usesQuota(st preemption.State, w *workload.Workload) bool {
	q := st.Queues[slices.IndexFunc(st.Queues, func(q queue.Queue) bool { return q.Name == w.Queue })]
	for _, u := range w.Usage() {
		if !slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool { return e.Flavor == u.Flavor && e.Resource == u.Resource }) {
			return false
		}
	}
	return true
}
