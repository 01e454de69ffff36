package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// flat is a cluster of cohorts of ten queues each: the first lends all that it has,
// half of the others borrow it. Priorities are 0, 100, 200 and 300.
func flat(queues, workloads int) preemption.State {
	const members = 10
	var st preemption.State
	each := workloads / queues
	for q := range queues {
		cohort := fmt.Sprintf("cohort-%03d", q/members)
		if q%members == 0 {
			st.Cohorts = append(st.Cohorts, queue.Cohort{Name: cohort})
		}
		c := queue.Queue{Name: fmt.Sprintf("queue-%04d", q), Cohort: cohort, Preemption: reclaims}
		var total int64
		for i := range each {
			size := 500 * int64(1+i%3)
			total += size
			st.Admitted = append(st.Admitted, workload.Workload{
				ID: fmt.Sprintf("bench/w-%06d", q*each+i), Queue: c.Name, Priority: int64(100 * (i % 4)),
				ReservedAt: now.Add(-time.Duration((q*each+i)*7919%100003) * time.Second),
				PodSets:    []workload.PodSet{{Name: "main", Count: 1, Requests: milli(size)}},
			})
		}
		nominal := total
		switch {
		case q%members == 0:
			nominal = total + lent(each)
		case q%members > members/2-1:
			nominal = total - total/8
		}
		c.Quotas = []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: nominal}}
		st.Queues = append(st.Queues, c)
	}
	return st
}

// lent is what five borrowers of a cohort borrow: an eighth of what each uses.
func lent(each int) int64 {
	var total int64
	for i := range each {
		total += 500 * int64(1+i%3)
	}
	return 5 * (total / 8)
}

func milli(cpu int64) []quota.Amount {
	return []quota.Amount{{Flavor: "default", Resource: "cpu", Amount: cpu}}
}

func asks(queueName string, priority, cpu int64) preemption.Request {
	return preemption.Request{Now: now, Workload: workload.Workload{
		ID: "bench/pending", Queue: queueName, Priority: priority,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: milli(cpu)}},
	}}
}

var sizes = []struct{ queues, workloads int }{{100, 10_000}, {1000, 10_000}, {1000, 50_000}}

func BenchmarkDecide(b *testing.B) {
	for _, size := range sizes {
		s := snapshotOf(b, flat(size.queues, size.workloads))
		for _, c := range []struct {
			name    string
			request preemption.Request
			outcome preemption.Outcome
			victims int
		}{
			{"fits", asks("queue-0000", 1000, 0), preemption.Fits, 0},
			{"few-victims", asks("queue-0001", 1000, 1000), preemption.Preempt, 1},
			{"reclaim", asks("queue-0000", 1000, 2000), preemption.Preempt, 2},
			{"many-victims", asks("queue-0000", 1000, lent(size.workloads/size.queues)), preemption.Preempt, 5},
			{"impossible", asks("queue-0001", 100, 1_000_000), preemption.Impossible, 0},
			{"lowest", asks("queue-0000", 0, 1000), preemption.Impossible, 0},
		} {
			b.Run(fmt.Sprintf("%s/queues=%d/workloads=%dk", c.name, size.queues, size.workloads/1000), func(b *testing.B) {
				b.ReportAllocs()
				var d preemption.Decision
				for b.Loop() {
					d = decide(b, s, c.request)
				}
				if d.Outcome != c.outcome || c.victims > 0 && len(d.Victims) == 0 {
					b.Fatalf("%v with %d victims", d.Outcome, len(d.Victims))
				}
				b.ReportMetric(float64(len(d.Victims)), "victims")
			})
		}
	}
}

func BenchmarkWith(b *testing.B) {
	for _, size := range sizes {
		st := flat(size.queues, size.workloads)
		s := snapshotOf(b, st)
		w := st.Admitted[len(st.Admitted)/2].Clone()
		w.ID = "bench/w-new"
		b.Run(fmt.Sprintf("admit-remove/queues=%d/workloads=%dk", size.queues, size.workloads/1000), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				edit(b, s, preemption.Admit(w), preemption.Remove(w.ID))
			}
		})
	}
}

func BenchmarkNewSnapshot(b *testing.B) {
	for _, size := range sizes {
		st := flat(size.queues, size.workloads)
		b.Run(fmt.Sprintf("queues=%d/workloads=%dk", size.queues, size.workloads/1000), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				snapshotOf(b, st)
			}
		})
	}
}
