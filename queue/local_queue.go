package queue

import (
	"math"
	"time"
)

// LocalQueueUsage is what a local queue has used of late, as one number: the larger it is, the
// sooner its workloads yield to others of the same queue (Kueue's admission fair sharing,
// KEP-4136). The KEP is about the order of admission; that candidates follow it, and where, is
// our reading, which no recorded decision checks. A usage is a fact of an instant: between two
// of them [DecayedUsage] moves it.
type LocalQueueUsage struct {
	// LocalQueue is the name, as in workload.Workload.LocalQueue.
	LocalQueue string `json:"localQueue"`
	// Usage is the usage in a unit of the caller's, the same for all local queues of a queue:
	// zero or more, and finite. Kueue adds up the resources by weight and divides the sum by
	// the weight of the local queue.
	Usage float64 `json:"usage"`
}

// DecayedUsage returns the usage of a local queue after some time in which it held a constant
// amount: what was before loses half of its weight in each half-life, and what is held takes
// its place (KEP-4136; Kueue keeps it for each resource). With a half-life of zero there is no
// usage, as in Kueue; before any time has passed it is the usage before. The last
// bit may differ between kinds of processors.
func DecayedUsage(before, held float64, elapsed, halfLife time.Duration) float64 {
	switch {
	case halfLife <= 0:
		return 0
	case elapsed <= 0:
		return before
	}
	stays := math.Exp2(-float64(elapsed) / float64(halfLife))
	return float64(before*stays) + float64(held*(1-stays))
}
