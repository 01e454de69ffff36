package queue_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// minAdmit validates a queue with this policy in its own queue and this duration.
func minAdmit(within queue.VictimPolicy, d quota.OptionalDuration) error {
	return queue.Validate(nil, []queue.Queue{{
		Name: "q", Quotas: []quota.Quota{cpu(4)},
		Preemption: queue.PreemptionPolicy{WithinClusterQueue: within, MinAdmitDuration: d},
	}})
}

// KEP-8522, Webhook Validation: "Values less than 1 minute (including explicit 0s and negative
// values) are rejected with an error".
func TestMinAdmitDurationIsAMinuteOrMore(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:    `queues[0].preemption.minAdmitDuration: -1s is less than 1m0s (queue "q")`,
		0:               `queues[0].preemption.minAdmitDuration: 0s is less than 1m0s (queue "q")`,
		time.Minute - 1: `queues[0].preemption.minAdmitDuration: 59.999999999s is less than 1m0s (queue "q")`,
		time.Minute:     "",
		time.Hour:       "",
	} {
		err := minAdmit(queue.LowerOrNewerEqualPriority, quota.Some(d))
		if got := text(err); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// The same, 3: "withinClusterQueueConfig is only valid when withinClusterQueue is
// LowerOrNewerEqualPriority." Without a duration each policy is valid.
func TestMinAdmitDurationNeedsItsPolicy(t *testing.T) {
	for _, within := range []queue.VictimPolicy{queue.Never, queue.LowerPriority} {
		want := `queues[0].preemption.minAdmitDuration: 1h0m0s needs withinClusterQueue LowerOrNewerEqualPriority, not ` +
			within.String() + ` (queue "q")`
		if got := text(minAdmit(within, quota.Some(time.Hour))); got != want {
			t.Errorf("%v: %q, want %q", within, got, want)
		}
	}
	for _, within := range []queue.VictimPolicy{queue.Never, queue.LowerPriority, queue.LowerOrNewerEqualPriority} {
		if err := minAdmit(within, quota.OptionalDuration{}); err != nil {
			t.Errorf("%v without a duration: %v", within, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
