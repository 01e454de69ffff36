package workload_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/workload"
)

func TestManualNeverGoesBack(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := workload.NewManual(start)
	for _, step := range []struct{ to, want time.Duration }{{time.Hour, time.Hour}, {time.Minute, time.Hour}, {time.Hour, time.Hour}} {
		m.Advance(start.Add(step.to))
		if got := m.Now().Sub(start); got != step.want {
			t.Errorf("moved to %v: %v, want %v", step.to, got, step.want)
		}
	}
	var clock workload.Clock = workload.System{}
	if first := clock.Now(); clock.Now().Before(first) {
		t.Error("the machine's clock goes back")
	}
}
