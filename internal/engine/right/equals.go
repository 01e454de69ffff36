package right

import (
	"math"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
)

// A workload of the own queue with the preemptor's priority yields if it is newer or if its time
// is over (KEP-8522, Preemption Eligibility).

// Equal reports whether a workload of the own queue is an equal that the policy may permit.
func (c *Case) Equal(w *cluster.Workload) bool {
	return w.Priority == c.Request.Priority && c.EqualsMayYield()
}

// Newer reports whether an equal may yield as the newer one: it was queued strictly after the
// preemptor.
func (c *Case) Newer(w *cluster.Workload) bool {
	return instant.Rank(w.Queued) > instant.Rank(c.Request.Queued)
}

// Expired reports whether an equal may yield because its time is over: it has held its quota
// strictly longer than minAdmitDuration.
func (c *Case) Expired(w *cluster.Workload) bool {
	return c.Request.MinAdmit > 0 && c.ReservedAt(w) < c.expiredBefore()
}

// expiredBefore returns the reservation time before which the time of a workload is over.
func (c *Case) expiredBefore() int64 {
	if c.Now < math.MinInt64+c.Request.MinAdmit {
		return math.MinInt64
	}
	return c.Now - c.Request.MinAdmit
}

// ReservedAt returns the workload's reservation time; a missing one counts as now.
func (c *Case) ReservedAt(w *cluster.Workload) int64 {
	if w.Reserved == instant.Unset {
		return c.Now
	}
	return w.Reserved
}

// HeldUntil returns the last instant at which the time of an equal is not over; ends is false if
// time changes nothing.
func (r *Request) HeldUntil(w *cluster.Workload) (until int64, ends bool) {
	ends = r.MinAdmit > 0 && w.Priority == r.Priority && w.Reserved != instant.Unset && w.Reserved < math.MaxInt64-r.MinAdmit
	return w.Reserved + r.MinAdmit, ends
}

// RefusedUntil returns the last instant at which the policies refuse a workload of a donor: the
// lowest int64 if they permit it at any time, the highest if never.
func (c *Case) RefusedUntil(d *Donor, p Permission, w *cluster.Workload) int64 {
	switch {
	case p.Permits(w):
		return math.MinInt64
	case d.Class != Own || !c.Equal(w):
		return math.MaxInt64
	case c.Newer(w):
		return math.MinInt64
	}
	if until, ends := c.Request.HeldUntil(w); ends {
		return until
	}
	return math.MaxInt64
}
