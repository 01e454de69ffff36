package gate

import (
	"cmp"
	"time"

	"github.com/cedesched/cede/quota"
)

// Progress says how far a replica has come. The zero value is NotEvaluated.
type Progress uint8

const (
	// NotEvaluated: the scheduler has not looked at the replica yet.
	NotEvaluated Progress = iota
	// Pending: the scheduler looked at the replica, which has no quota.
	Pending
	// Reserved: the replica has its quota.
	Reserved
	// Preempting: the victims of the replica were told to stop, and some have not left yet.
	Preempting
)

// Replica is one copy of a workload, in one cluster, as the manager last saw it. The caller
// leaves out replicas that do not exist yet, are deactivated or finished. A replica that the
// manager does not reach is [Replica.Lost]; leave none out because of that.
type Replica struct {
	// Name is the name of the cluster or variant, unique among the replicas.
	Name     string
	Gates    Gates
	Progress Progress
	// Since is, for Preempting, when the victims were told to stop; it must then be set.
	Since time.Time
	// Evicted is when the workload last had to stop, anywhere; zero: never, or it is not known. A
	// signal from before is stale, and none: it was missed when the signals were set back
	// (KEP-8303, MultiKueue Controller, last paragraph).
	Evicted time.Time
	// Lost says that the manager does not reach the cluster. The replica is not opened and not
	// waited for, but its last known opening counts until its timeout ends: it may be preempting.
	Lost bool
	// Offer is the cost of opening the gate, if the cluster reports it (see
	// preemption.Decision with outcome Gated). The zero value is unknown.
	Offer Offer
}

// Offer is the cost of a preemption by a replica. The zero value is unknown.
type Offer struct {
	// Victims is the number of workloads that would be evicted; zero is unknown.
	Victims int
	// LostWork is the sum of the times that the victims have run.
	LostWork time.Duration
	// Lost is what the victims lose by a cost that all clusters share (preemption.Decision.Lost).
	// If it is set it counts before the others; a replica without comes after those with it.
	Lost quota.OptionalInt64
}

func (o Offer) compare(other Offer) int {
	return cmp.Or(compareBool(o.Victims == 0, other.Victims == 0), compareBool(o.Lost.IsZero(), other.Lost.IsZero()),
		cmp.Compare(o.Lost.Or(0), other.Lost.Or(0)), cmp.Compare(o.Victims, other.Victims), cmp.Compare(o.LostWork, other.LostWork))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
