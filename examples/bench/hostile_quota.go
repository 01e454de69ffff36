package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest/asrules"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// question is a state of quota with a request.
type question struct {
	state    preemption.State
	config   preemption.Config // what belongs to the shape
	request  preemption.Request
	snapshot *preemption.Snapshot // nil: not made yet
}

// longest is how long any workload of a shape has run at most.
const longest = 1_000_003 * time.Second

// quotaWays are the ways to decide about quota, with what each sets. Those that wait ask about workloads that are all protected, each
// until an instant of its own: for RetryAt, and for all blockers.
var quotaWays = []struct {
	name     string
	set      func(c *preemption.Config)
	explains string
}{
	{"classical", func(c *preemption.Config) {}, ""},
	{"fair", func(c *preemption.Config) { c.Sharing = preemption.Fair }, ""},
	{"reevaluated", func(c *preemption.Config) { c.Sharing = preemption.Reevaluated }, ""},
	{"stable", func(c *preemption.Config) { c.Sharing = preemption.Stable }, ""},
	{"best", func(c *preemption.Config) { c.Search, c.Cost = preemption.Best, preemption.CostByAge{} }, ""},
	{"best-fair", func(c *preemption.Config) {
		c.Sharing, c.Search, c.Cost = preemption.Fair, preemption.Best, preemption.CostByAge{}
	}, ""},
	{"exchange", func(c *preemption.Config) {
		c.Search, c.Cost, c.Best.Steps = preemption.Best, preemption.CostByAge{}, -1
	}, ""},
	{"exchange-fair", func(c *preemption.Config) {
		c.Sharing, c.Search, c.Cost, c.Best.Steps = preemption.Fair, preemption.Best, preemption.CostByAge{}, -1
	}, ""},
	{"rules", func(c *preemption.Config) {}, ""},
	{"rules-fair", func(c *preemption.Config) { c.Sharing = preemption.Fair }, ""},
	{"wait", protectAll, ""},
	{"wait-fair", func(c *preemption.Config) { c.Sharing = preemption.Fair; protectAll(c) }, ""},
	{"wait-rules", protectAll, ""},
	{"explain", func(c *preemption.Config) {}, "classical"},
	{"explain-fair", func(c *preemption.Config) { c.Sharing = preemption.Fair }, "fair"},
	{"explain-wait", protectAll, "wait"},
}

func protectAll(c *preemption.Config) {
	c.MinRuntime = minruntime.Defaults{Preempt: quota.Some(longest), Reclaim: quota.Some(longest)}
	c.MaxBlockers = 1 << 20
}

func (q *question) ways() (list []way) {
	for _, w := range quotaWays {
		list = append(list, way{w.name, w.explains})
	}
	return list
}

// decider implements asked. By rules the queues have rules in the place of policies, unless they have their own.
func (q *question) decider(way string) (func() (answer, error), error) {
	c := q.config
	for _, w := range quotaWays {
		if w.name == way {
			w.set(&c)
		}
	}
	s, err := q.snapshot, error(nil)
	switch byRules := strings.Contains(way, "rules"); {
	case byRules && len(q.state.Rules) == 0:
		st, ruled := asrules.Of(q.state, c)
		c = ruled
		s, err = preemption.NewSnapshot(st)
	case byRules:
		c.Compat.RulesAlone = true
		fallthrough
	case s == nil:
		s, err = preemption.NewSnapshot(q.state)
		q.snapshot = s
	}
	if err != nil {
		return nil, err
	}
	p, err := preemption.New(c)
	if strings.HasPrefix(way, "explain") {
		return func() (answer, error) {
			e, err := explain.Explain(p, s, q.request)
			return answer{e.Decision.Outcome.String(), len(e.Decision.Victims), 0}, err
		}, err
	}
	return func() (answer, error) {
		d, steps, err := p.DecideCounting(s, q.request)
		return answer{d.Outcome.String(), len(d.Victims), steps}, err
	}, err
}

// numbers implements asked.
func (q *question) numbers() string {
	replicas, columns := int64(0), map[quota.FlavorResource]bool{}
	for i := range q.state.Admitted {
		for _, s := range q.state.Admitted[i].PodSets {
			replicas += s.Count
			for _, a := range s.Requests {
				columns[a.FlavorResource()] = true
			}
		}
	}
	asks := map[string]int64{}
	for _, s := range q.request.Workload.PodSets {
		for _, a := range s.Requests {
			asks[a.Flavor+"/"+a.Resource] += s.Total(a.Amount)
		}
	}
	most := int64(0)
	for _, n := range asks {
		most = max(most, n)
	}
	return fmt.Sprintf("%d cohorts, %d queues, %d workloads, %d replicas, %d columns in use; asks with priority %d in %s for %d columns, at most %d",
		len(q.state.Cohorts), len(q.state.Queues), len(q.state.Admitted), replicas, len(columns),
		q.request.Workload.Priority, q.request.Workload.Queue, len(asks), most)
}

// Words of all shapes.

const first = "q000000" // the queue that asks

var anyone = queue.PreemptionPolicy{
	WithinClusterQueue: queue.LowerOrNewerEqualPriority, ReclaimWithinCohort: queue.Any,
	BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority},
}

func numbered(kind string, i int) string { return fmt.Sprintf("%s%06d", kind, i) }

func gpus(n int) []quota.Quota {
	return []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: int64(n)}}
}

func podSets(count, amount int64) []workload.PodSet {
	return []workload.PodSet{{Name: "main", Count: count, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: amount}}}}
}

// shared returns a cohort with n GPUs of its own, n workloads of one each in all queues but the first, and a request of half of them in
// the first, which has neither quota nor workloads.
func shared(queues, n int) *question {
	queues = max(queues, 1)
	q := &question{state: preemption.State{Cohorts: []queue.Cohort{{Name: "c", Quotas: gpus(n)}}}}
	for i := range queues + 1 {
		q.state.Queues = append(q.state.Queues, queue.Queue{Name: numbered("q", i), Cohort: "c", Preemption: anyone, Quotas: gpus(0)})
	}
	for i := range n {
		at := scenario.Now.Add(-time.Duration(int64(i)*7919%1_000_003) * time.Second)
		q.state.Admitted = append(q.state.Admitted, workload.Workload{
			ID: numbered("w", i), Queue: numbered("q", 1+i%queues), Created: at, Queued: at, ReservedAt: at, PodSets: podSets(1, 1),
		})
	}
	q.request = preemption.Request{Now: scenario.Now, Workload: workload.Workload{
		ID: "asks", Queue: first, Priority: 9, Created: scenario.Now, Queued: scenario.Now,
	}}
	return q.ask(n / 2)
}

// lent is shared, but the quota is that of the first queue.
func lent(queues, n int) *question {
	q := shared(queues, n)
	q.state.Cohorts[0].Quotas, q.state.Queues[0].Quotas = nil, gpus(n)
	return q
}

// alone returns n workloads of one GPU each in one queue that has n.
func alone(n int) *question {
	q := lent(1, n)
	q.state.Cohorts, q.state.Queues = nil, q.state.Queues[:1]
	q.state.Queues[0].Cohort = ""
	return q.each(func(_ int, w *workload.Workload) { w.Queue = first })
}

// ask requests so many GPUs.
func (q *question) ask(n int) *question {
	q.request.Workload.PodSets = podSets(1, int64(n))
	return q
}

func (q *question) each(change func(i int, w *workload.Workload)) *question {
	for i := range q.state.Admitted {
		change(i, &q.state.Admitted[i])
	}
	return q
}

func (q *question) queues(change func(i int, of *queue.Queue)) *question {
	for i := range q.state.Queues {
		change(i, &q.state.Queues[i])
	}
	return q
}

// with changes anything else.
func (q *question) with(change func(q *question)) *question {
	change(q)
	return q
}

// filled gives what runs as quota to the first queue, or to the cohort.
func (q *question) filled() *question {
	var used int64
	for i := range q.state.Admitted {
		for _, a := range q.state.Admitted[i].Usage() {
			used = quota.Add(used, a.Amount)
		}
	}
	if len(q.state.Cohorts) > 0 && len(q.state.Cohorts[0].Quotas) > 0 {
		q.state.Cohorts[0].Quotas = gpus(int(used))
	} else {
		q.state.Queues[0].Quotas = gpus(int(used))
	}
	return q.ask(int(used / 2))
}
