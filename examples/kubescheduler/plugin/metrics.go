package plugin

import (
	"sync"

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
)

// registerMetrics registers the metrics once, however many profiles have the plugin.
var registerMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(decisions, yielded, seconds) })
