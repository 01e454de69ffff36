package queue_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/queue"
)

func TestBackoff(t *testing.T) {
	b := queue.Backoff{Base: time.Minute, Max: 5 * time.Minute, Attempts: 4}
	for i, want := range []time.Duration{0, 1, 2, 4, 5, -1} {
		delay, again := b.After(i)
		if i > 0 && (again != (want >= 0) || again && delay != want*time.Minute) {
			t.Errorf("after %d: %v, %v", i, delay, again)
		}
	}
	if delay, again := (queue.Backoff{Base: time.Hour}).After(1000); !again || delay < 290*365*24*time.Hour {
		t.Errorf("unbounded: %v, %v", delay, again)
	}
	if delay, again := (queue.Backoff{}).After(3); !again || delay != 0 {
		t.Errorf("zero: %v, %v", delay, again)
	}
	for attempts, want := range map[int]bool{1: true, 2: false} {
		if _, again := (queue.Backoff{Attempts: 1}).After(attempts); again != want {
			t.Errorf("once, after %d: %v", attempts, again)
		}
	}
}
