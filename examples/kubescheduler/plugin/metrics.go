package plugin

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// The plugin's own metrics, beside those of the scheduler.
var (
	decisions = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: "cede", Name: "decisions_total", StabilityLevel: metrics.ALPHA,
		Help: "Preemption decisions by outcome: preempt, wait, impossible, or refused if kube-scheduler's own preemption decided.",
	}, []string{"outcome"})
	yielded = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: "cede", Name: "victims_total", StabilityLevel: metrics.ALPHA, Help: "Pods chosen to yield.",
	})
	seconds = metrics.NewHistogram(&metrics.HistogramOpts{
		Subsystem: "cede", Name: "decision_seconds", StabilityLevel: metrics.ALPHA,
		Help: "Time of a decision, with bringing the snapshot up to date.", Buckets: metrics.ExponentialBuckets(0.0001, 2, 16),
	})
	age = metrics.NewGaugeFunc(&metrics.GaugeOpts{
		Subsystem: "cede", Name: "snapshot_age_seconds", StabilityLevel: metrics.ALPHA,
		Help: "Time since a snapshot was last brought up to date, in any profile; 0 before the first decision.",
	}, func() float64 {
		if at := followed.Load(); at != nil {
			return time.Since(*at).Seconds()
		}
		return 0
	})
)

// followed is when a snapshot was last brought up to date.
var followed atomic.Pointer[time.Time]

// registerMetrics registers the metrics once, however many profiles have the plugin.
var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(decisions, yielded, seconds)
	legacyregistry.RawMustRegister(age)
})
