package workload

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// Loss is what is known of what a workload loses if it yields. Rules do not read it; costs
// do, see preemption.Cost. The zero value: nothing is known.
type Loss struct {
	// LastCheckpoint is when the workload last saved its work. Zero: never since it started.
	LastCheckpoint time.Time `json:"lastCheckpoint,omitzero"`
	// Restart is how long the workload takes to get back to where it was saved. Unset is
	// zero; negative is an error.
	Restart quota.OptionalDuration `json:"restart,omitzero"`
	// PerReplica is the cost of one replica as its owner states it, in a unit that all owners
	// share. Negative is an error.
	PerReplica int64 `json:"perReplica,omitzero"`
	// Milestones is the cost of the whole workload by its running time, in the unit of
	// PerReplica, which must then be zero. Between two milestones the cost is interpolated,
	// rounded down; before the first it rises from 0, after the last it stays (KEP-83, Inform
	// how costly is to interrupt a Workload). Times must rise; negative ones are an error.
	Milestones []Milestone `json:"milestones,omitempty"`
}

// Milestone is a cost after some running time.
type Milestone struct {
	After quota.OptionalDuration `json:"after"` // unset is zero
	Cost  int64                  `json:"cost"`
}

// IsZero reports whether nothing is known.
func (l Loss) IsZero() bool {
	return l.LastCheckpoint.IsZero() && l.Restart.IsZero() && l.PerReplica == 0 && len(l.Milestones) == 0
}

// Clone returns a copy that shares nothing with l.
func (l Loss) Clone() Loss {
	l.Milestones = slices.Clone(l.Milestones)
	return l
}

// CostAfter returns the cost by the milestones after some running time; 0 without milestones.
func (l Loss) CostAfter(running time.Duration) int64 {
	before := Milestone{}
	for _, m := range l.Milestones {
		if running < m.After.Or(0) {
			return between(before, m, max(0, running))
		}
		before = m
	}
	return before.Cost
}

// between interpolates. The running time is after a and before b.
func between(a, b Milestone, running time.Duration) int64 {
	from, to := a.After.Or(0), b.After.Or(0)
	part := func(cost int64, of time.Duration) int64 { // exactly
		hi, lo := bits.Mul64(uint64(cost), uint64(of))
		quotient, _ := bits.Div64(hi, lo, uint64(to-from))
		return int64(quotient)
	}
	if b.Cost >= a.Cost {
		return a.Cost + part(b.Cost-a.Cost, running-from)
	}
	return b.Cost + part(a.Cost-b.Cost, to-running)
}

// validate appends what is wrong with l.
func (l *Loss) validate(path string, faults *fault.List) {
	if !instant.Valid(l.LastCheckpoint) {
		faults.Add(path+".lastCheckpoint", "%v is not within %s", l.LastCheckpoint, instant.Range)
	}
	if d := l.Restart.Or(0); d < 0 {
		faults.Add(path+".restart", "%v is negative", d)
	}
	if l.PerReplica < 0 {
		faults.Add(path+".perReplica", "%d is negative", l.PerReplica)
	}
	if l.PerReplica != 0 && len(l.Milestones) > 0 {
		faults.Add(path+".perReplica", "is set besides milestones")
	}
	last := time.Duration(math.MinInt64)
	for i, m := range l.Milestones {
		at := fmt.Sprintf("%s.milestones[%d]", path, i)
		after := m.After.Or(0)
		if after < 0 || m.Cost < 0 {
			faults.Add(at, "cost %d after %v: negative", m.Cost, after)
		}
		if after <= last {
			faults.Add(at+".after", "%v is not after the one before it", after)
		}
		last = after
	}
}
