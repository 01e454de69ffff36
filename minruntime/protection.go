package minruntime

import (
	"time"

	"github.com/cedesched/cede/internal/base/fault"
)

// Protection protects every workload for some time after its admission, by the kind of reason
// for which it would be preempted. A workload is protected while it runs for strictly less than
// the duration; one that is being evicted never is. Protection is asked after all other
// criteria, beside the [Settings] of the queues: the one that ends later holds. As with these,
// surplus replicas are not protected.
//
// Zero durations protect no workload, so does the zero value; negative ones are errors where they
// are used (preemption.New).
//
// Source of the rules: KEP-9876, Preemption protection, which has the durations Reclaim and
// FairSharing and counts from the admission.
type Protection struct {
	// Preempt is against preemption in the workload's own queue.
	Preempt time.Duration
	// Reclaim is against reclaim by another queue, also while that borrows.
	Reclaim time.Duration
	// FairSharing is against preemption by the strategies of fair sharing. A preemptor that
	// stays within its nominal quota needs no strategy: it reclaims.
	FairSharing time.Duration
	// From says where the durations begin. The zero value is Admission.
	From Start
}

// Start is where a protection begins. The zero value is Admission.
type Start uint8

const (
	// Admission: workload.Workload.AdmittedAt. A workload without it is not protected.
	Admission Start = iota
	// Reservation: workload.Workload.ReservedAt. A workload without it is not protected.
	Reservation
)

// Of returns the last instant at which a workload that is not being evicted is protected for a
// duration, and whether it ever is: it has started.
func (p *Protection) Of(duration time.Duration, reserved, admitted time.Time) (last time.Time, ok bool) {
	start := admitted
	if p.From == Reservation {
		start = reserved
	}
	return start.Add(duration - 1), duration > 0 && !start.IsZero()
}

// Validate adds what is wrong to the faults, with paths that begin with path.
func (p *Protection) Validate(path string, faults *fault.List) {
	for _, d := range [...]struct {
		name string
		d    time.Duration
	}{{"Preempt", p.Preempt}, {"Reclaim", p.Reclaim}, {"FairSharing", p.FairSharing}} {
		if d.d < 0 {
			faults.Add(path+"."+d.name, "%v is negative", d.d)
		}
	}
	if p.From > Reservation {
		faults.Add(path+".From", "%v is unknown", p.From)
	}
}
