package preemption

import (
	"time"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Request asks whether a pending workload fits, and who yields if not.
type Request struct {
	// Workload is the pending one. The flavors in its pod sets' requests are the
	// assignment to decide about; those without are assigned one. Of one pod set and one
	// resource group all have a flavor or none has. It must not be among the admitted.
	Workload workload.Workload `json:"workload"`
	// NeedsPreemption is the flavor-resources for which room is to be made: only
	// workloads that use one of them are candidates, and a queue counts as
	// borrowing when it borrows one of them. Empty: those of the request that do not
	// fit now; where flavors are to be assigned it must be empty. Every entry must be
	// requested; an amount of zero will do. That nobody may be preempted is said by
	// [workload.Workload.NeverPreempts].
	NeedsPreemption []quota.FlavorResource `json:"needsPreemption,omitempty"`
	// Continue is the assignment of an earlier decision about the workload, of which the
	// trials go on (Kueue's last assignment): the flavors of a group are tried from the
	// one after the last that was tried, from the first when that was the group's last.
	// What of it matches nothing of the request is passed over. Empty: from the first.
	Continue Assignment `json:"continue,omitempty"`
	// Now is the time of the decision. It must be set.
	Now time.Time `json:"now"`
	// Room is asked besides the quota, so that one set of victims satisfies both. Nil: the
	// quota is all. It is no part of the JSON form.
	Room Room `json:"-"`
}

// Room says whether the pending workload has a place, on nodes say, with some of the
// admitted workloads away; [*placement.Fit] is one. A decision removes and restores
// workloads, calls Fits once the quota suffices, and restores all before it returns. Nobody
// may be removed when it begins. Its laws, which preemptiontest.CheckRoom checks:
//
//  1. The answer depends on who is removed alone. (As an exception it may be false where
//     another sequence of calls has found a place, if placing is not exact.)
//  2. After true, removing more leaves it true.
//  3. Removing who is removed, restoring who is not, and names that it does not know
//     change nothing.
//
// Where there is no room as things stand, everything that is requested needs preemption,
// unless [Request.NeedsPreemption] says otherwise: candidates are taken by the same rights
// until there is room too. Replicas of a surplus yield quota and, as it is not known
// which pods leave, no room. Flavors are assigned by quota alone.
//
// [*placement.Fit]: https://pkg.go.dev/github.com/cedesched/cede/preemption/placement#Fit
type Room interface {
	Remove(workload string)
	Restore(workload string)
	Fits() bool
}
