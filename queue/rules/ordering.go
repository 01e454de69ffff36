package rules

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
)

// Ordering is a key of an order of candidates, with its direction. The zero value is not valid.
// (KEP-13396, future work.) The keys about shares of queues change while victims are taken: the next
// candidate is the first by the keys as they are then.
type Ordering struct {
	Key OrderingKey `json:"key"`
	// Direction is Ascending or Descending. Empty: Ascending.
	Direction Direction `json:"direction,omitempty"`
}

// OrderingKey is what is compared of two candidates. The empty value is not valid.
type OrderingKey string

const (
	// ByPriority: the effective priority.
	ByPriority OrderingKey = "Priority"
	// ByAdmission: the time of the reservation. One that is not known is the latest.
	ByAdmission OrderingKey = "AdmissionTimestamp"
	// ByOtherQueue: 0 in the preemptor's queue, 1 in others.
	ByOtherQueue OrderingKey = "IsOtherCQ"
	// ByOtherCohort: 0 if the queue is a member of the cohort of the preemptor's queue, or is that
	// queue; else 1.
	ByOtherCohort OrderingKey = "IsOtherCohort"
	// ByLocalQueue: the usage of the local queue, as preemption.Request.LocalQueueUsage says.
	ByLocalQueue OrderingKey = "LocalQueueDRS"
	// ByQueueShare: the dominant share of the candidate's queue, over its weight, without those
	// taken before; that of the preemptor's queue is with the request. A queue of another tree
	// has 0.
	ByQueueShare OrderingKey = "ClusterQueueDRS"
	// ByInitialShare: 1 if the constraint [DRSLessThanInitialShare] holds, else 0.
	ByInitialShare OrderingKey = "IsDRSLessThanInitialShare"
	// ByFinalShare: 1 if the constraint [DRSLessThanOrEqualToFinalShare] holds, else 0.
	ByFinalShare OrderingKey = "IsDRSLessThanOrEqualToFinalShare"
	// ByCost: what the candidate loses, as preemption.Config.Cost says; 0 without it. (Ours.)
	ByCost OrderingKey = "Cost"
)

// OrderingKeys returns all keys.
func OrderingKeys() []OrderingKey {
	return []OrderingKey{ByPriority, ByAdmission, ByOtherQueue, ByOtherCohort, ByLocalQueue, ByQueueShare, ByInitialShare, ByFinalShare, ByCost}
}

// OfShares reports whether a key changes while victims are taken, because it compares shares.
func (k OrderingKey) OfShares() bool {
	return k == ByQueueShare || k == ByInitialShare || k == ByFinalShare
}

// Direction is that of a key.
type Direction string

const (
	Ascending  Direction = "Ascending"
	Descending Direction = "Descending"
)

func validateOrdering(faults *fault.List, path string, list []Ordering) {
	var seen []OrderingKey // known ones
	for i, o := range list {
		path := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case !slices.Contains(OrderingKeys(), o.Key):
			faults.Add(path+".key", "%q is none of %q", o.Key, OrderingKeys())
		case slices.Contains(seen, o.Key):
			faults.Add(path+".key", "%q is there already", o.Key)
		default:
			seen = append(seen, o.Key)
		}
		if o.Direction != "" && o.Direction != Ascending && o.Direction != Descending {
			faults.Add(path+".direction", "%q is none of %q", o.Direction, []Direction{Ascending, Descending})
		}
	}
}
