package preemption

import (
	"fmt"
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Request asks whether a pending workload fits, and if not, who must yield. The zero value is
// invalid.
type Request struct {
	// Workload is the pending workload. It must not be admitted, except with HoldsQuota. The
	// decision uses the flavors in the requests of its pod sets, and assigns a flavor to
	// requests without one. In one pod set and resource group either all requests have a
	// flavor or none has.
	Workload workload.Workload `json:"workload"`
	// NeedsPreemption lists the columns in which victims are needed: only workloads that use
	// one of them are candidates, and a queue counts as borrowing if it borrows one of them.
	// Every entry must be requested (amount 0 is allowed). Empty: the columns of the request
	// that do not fit now. It must be empty if flavors are to be assigned. To preempt no workload
	// set [workload.Workload.NeverPreempts].
	NeedsPreemption []quota.FlavorResource `json:"needsPreemption,omitempty"`
	// Continue is the assignment of an earlier decision about the workload, to go on from
	// (Kueue's last assignment): the flavors of a group are tried from the one after the last
	// that was tried; if that was the last of the group, from the first. Entries that match
	// nothing in the request are ignored. Empty: from the first.
	Continue Assignment `json:"continue,omitempty"`
	// HoldsQuota says that the workload is admitted already and asks again, as in Kueue's
	// second pass. What it holds does not count against it: the decision is the one on the
	// snapshot without it. If HoldsQuota is set, the workload must be admitted; if not, it must
	// not be. A Room must not count its pods either.
	HoldsQuota bool `json:"holdsQuota,omitzero"`
	// Replaces is the ID of an admitted workload in whose place the workload comes (Kueue's slices of
	// elastic jobs). What that one holds does not count against it, and that one is no victim: the decision is
	// the one on the snapshot without it, and Edits removes it when the workload is admitted. A Room must not
	// count its pods either. It does not go with HoldsQuota. Empty: none.
	Replaces string `json:"replaces,omitempty"`
	// MinCounts permits partial admission (Kueue's minCount of a pod set): it lists, by pod
	// set, the fewest replicas with which the workload may start, from 0 to the Count of the
	// pod set, which is then at most [workload.MaxElasticCount]. A pod set that is not listed
	// has all its replicas. See [Decision.Counts]. It must be empty with a Room. Empty: all
	// replicas or nothing.
	MinCounts []Replicas `json:"minCounts,omitempty"`
	// LocalQueueUsage orders the candidates of each queue by the usage of their local queues, the
	// highest first, before their priority (Kueue's admission fair sharing, KEP-4136, as Kueue
	// orders candidates). Workloads that are being evicted stay first, and the queues are merged by
	// their next candidates as without it. It permits no workload to yield that may not without it.
	// At most one entry for each local queue; one that is not listed has a usage of zero. Empty:
	// by priority.
	LocalQueueUsage []queue.LocalQueueUsage `json:"localQueueUsage,omitempty"`
	// TriggersSince says since when triggers of rules have been observed for the workload, without
	// a break: what [rules.Observe] made of its last decision. One that is not listed counts from
	// Now. At most one entry for each trigger.
	TriggersSince []rules.Observation `json:"triggersSince,omitempty"`
	// History holds the confirmed preemptions that [Config.Limits] count. Nil: none. It is not
	// part of the JSON form.
	History *limits.History `json:"-"`
	// Now is the time of the decision. It must be set.
	Now time.Time `json:"now"`
	// Room is asked besides the quota, so that one set of victims satisfies both. Nil: only
	// quota counts. It is not part of the JSON form.
	Room Room `json:"-"`
}

// usages returns the usage of local queues by name, without zeros.
func (r *Request) usages(faults *fault.List) map[string]float64 {
	if len(r.LocalQueueUsage) == 0 {
		return nil
	}
	by, seen := map[string]float64{}, map[string]bool{}
	for i, u := range r.LocalQueueUsage {
		path := fmt.Sprintf("request.localQueueUsage[%d]", i)
		switch {
		case u.LocalQueue == "":
			faults.Add(path+".localQueue", "is empty")
		case seen[u.LocalQueue]:
			faults.Add(path+".localQueue", "%q has an entry already", u.LocalQueue)
		case !(u.Usage >= 0 && u.Usage <= math.MaxFloat64):
			faults.Add(path+".usage", "%v is not a finite number of zero or more", u.Usage)
		case u.Usage > 0:
			by[u.LocalQueue] = u.Usage
		}
		seen[u.LocalQueue] = true
	}
	return by
}
