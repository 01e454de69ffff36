package queue_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/queue"
)

func TestPendingErrors(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 0, 1))
	for want, try := range map[string]func() (*queue.Pending, error){
		`workload.id: "a" waits already`:                   func() (*queue.Pending, error) { return p.Add(waits("a", "best", 0, 0, 1)) },
		`workload.queue: unknown queue "x" (workload "b")`: func() (*queue.Pending, error) { return p.Add(waits("b", "x", 0, 0, 1)) },
		`workload.id: no workload "b" waits`:               func() (*queue.Pending, error) { return p.Update(waits("b", "best", 0, 0, 1)) },
		`id: no workload "b" waits`:                        func() (*queue.Pending, error) { return p.Remove("b") },
		`head: no workload "b" waits; requeue.Reason: is not set; requeue.NotBefore: 1500-01-01 00:00:00 +0000 UTC is not within the years 1678 to 2262`: func() (*queue.Pending, error) {
			return p.Requeue(headOf(p, "b"), queue.Requeue{NotBefore: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)})
		},
		`queues: queue "best" has a waiting workload, "a"`: func() (*queue.Pending, error) { return p.Configure(nil, nil) },
		`queues[0].strategy: Strategy(7) is unknown (queue "q")`: func() (*queue.Pending, error) {
			return queue.NewPending(nil, []queue.Queue{{Name: "q", Strategy: 7}})
		},
	} {
		if _, err := try(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, p := range map[string]*queue.Pending{"a": p, "zero": new(queue.Pending), "nil": nil} {
		for move, try := range map[string]func() (*queue.Pending, error){
			"add":       func() (*queue.Pending, error) { return p.Add(waits("b", "none", 0, 0, 1)) },
			"update":    func() (*queue.Pending, error) { return p.Update(waits("b", "best", 0, 0, 1)) },
			"remove":    func() (*queue.Pending, error) { return p.Remove("b") },
			"admit":     func() (*queue.Pending, error) { return p.Admit("b") },
			"requeue":   func() (*queue.Pending, error) { return p.Requeue(queue.Head{}, queue.Requeue{}) },
			"configure": func() (*queue.Pending, error) { return p.Configure(nil, []queue.Queue{{}}) },
		} {
			if got, err := try(); err == nil || got != p {
				t.Errorf("%s: %s returns another than its receiver, or no error: %v", want, move, err)
			}
		}
		if _, _, ok := p.Find("b"); ok || p.Release("best").Len() != p.Len() || p.Advance(noon).Len() != p.Len() || len(p.Workloads()) != p.Len() || len(p.AlikeBy(nil).Heads()) != p.Len() {
			t.Errorf("%s: reading it finds what is not there", want)
		}
		if _, ok := p.NextAt(); ok {
			t.Errorf("%s: time brings somebody back", want)
		}
	}
}
