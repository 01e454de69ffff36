package cycle_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A limit counts across the heads of a cycle, and with the history that the caller keeps.
func TestLimitsCountAcrossHeads(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	one := func(id, in string, priority int64) workload.Workload {
		return workload.Workload{ID: id, Queue: in, Priority: priority, PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 1}}}}}
	}
	st := preemption.State{}
	var heads []queue.Head
	for _, name := range []string{"a", "b", "c"} {
		st.Queues = append(st.Queues, queue.Queue{
			Name: name, Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 1}}, Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		})
		st.Admitted = append(st.Admitted, one("old-"+name, name, 0))
		heads = append(heads, queue.Head{Workload: one("new-"+name, name, 1)})
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	config := cycle.Config{Preemption: preemption.Config{Limits: []limits.Limit{{Name: "two", Scope: limits.Global, Limit: 2, Window: quota.Some(time.Hour)}}}}
	preempting := func(h *limits.History) (list []string, r cycle.Result) {
		r = runRequest(t, config, s, cycle.Request{Heads: heads, Now: now, History: h})
		for _, v := range r.Heads {
			if v.Outcome == cycle.Preempt {
				list = append(list, v.Head.Workload.ID)
			}
		}
		return list, r
	}
	for _, config.Preemption.Best.Steps = range []int{0, -1} {
		config.Preemption.Search = preemption.Best
		list, r := preempting(nil)
		if events := r.Events(s, now); len(list) != 2 || len(events) != 2 || events[0].Victim != "old-a" || events[1].Preemptor != "new-b" || !events[1].At.Equal(now) {
			t.Fatalf("%q preempt, %+v", list, events)
		}
		earlier, err := limits.NewHistory(r.Events(s, now.Add(-30*time.Minute))[:1])
		if err != nil {
			t.Fatal(err)
		}
		if list, _ = preempting(earlier); len(list) != 1 || earlier.Len() != 1 {
			t.Errorf("after an earlier preemption %q preempt; the history has %d", list, earlier.Len())
		}
		if _, r = preempting(earlier); r.Heads[len(r.Heads)-1].Outcome == cycle.Preempt {
			t.Errorf("%+v", r)
		}
	}
}
