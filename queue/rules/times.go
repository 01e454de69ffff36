package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// Times bound how long a candidate has run and how long ago it was created. The zero value
// accepts every workload. All bounds hold strictly: a minimum is passed one nanosecond after it, and up to
// then a maximum holds. A time that is not known counts as now. (KEP-13396, future work.)
type Times struct {
	// MinExecutionDuration and MaxExecutionDuration bound the time since the candidate's
	// reservation. Unset: no bound.
	MinExecutionDuration quota.OptionalDuration `json:"minExecutionDuration,omitzero"`
	MaxExecutionDuration quota.OptionalDuration `json:"maxExecutionDuration,omitzero"`
	// ExecutionTimeRelation compares that time with the preemptor's, which is zero unless the
	// preemptor holds quota. Empty: they are not compared.
	ExecutionTimeRelation Comparison `json:"executionTimeRelation,omitempty"`
	// MinTimeFromCreationDuration, MaxTimeFromCreationDuration and TimeFromCreationRelation do the
	// same for the time since creation.
	MinTimeFromCreationDuration quota.OptionalDuration `json:"minTimeFromCreationDuration,omitzero"`
	MaxTimeFromCreationDuration quota.OptionalDuration `json:"maxTimeFromCreationDuration,omitzero"`
	TimeFromCreationRelation    Comparison             `json:"timeFromCreationRelation,omitempty"`
}

// IsZero reports whether the times accept every workload.
func (t Times) IsZero() bool { return t == Times{} }

func (t *Times) validate(faults *fault.List, path string) {
	if t.IsZero() {
		return
	}
	for _, d := range [...]struct {
		field       string
		least, most quota.OptionalDuration
		compare     Comparison
	}{
		{"ExecutionDuration", t.MinExecutionDuration, t.MaxExecutionDuration, t.ExecutionTimeRelation},
		{"TimeFromCreationDuration", t.MinTimeFromCreationDuration, t.MaxTimeFromCreationDuration, t.TimeFromCreationRelation},
	} {
		least, most := d.least.Or(0), d.most.Or(0)
		if least < 0 {
			faults.Add(path+".min"+d.field, "%v is negative", least)
		}
		if most < 0 {
			faults.Add(path+".max"+d.field, "%v is negative", most)
		}
		if most, set := d.most.Get(); set && least > most {
			faults.Add(path+".min"+d.field, "%v is more than the max%s %v", least, d.field, most)
		}
	}
	t.ExecutionTimeRelation.validate(faults, path+".executionTimeRelation")
	t.TimeFromCreationRelation.validate(faults, path+".timeFromCreationRelation")
}

// Observation says since when a trigger has been observed without a break, for one workload. The
// zero value is not valid.
type Observation struct {
	Trigger Trigger   `json:"trigger"`
	Since   time.Time `json:"since"`
}

// Observe returns the observations after a decision at now about the same workload, in which the
// triggers hold: those that held before keep their time, others begin now, and those that do not
// hold are gone. The result is in the order of [Triggers]. before does not change.
func Observe(before []Observation, holding []Trigger, now time.Time) (after []Observation) {
	for _, trigger := range Triggers() {
		if !slices.Contains(holding, trigger) {
			continue
		}
		o := Observation{trigger, now}
		if at := slices.IndexFunc(before, func(b Observation) bool { return b.Trigger == trigger }); at >= 0 {
			o = before[at]
		}
		after = append(after, o)
	}
	return after
}

// ValidateObservations returns everything that is wrong with observations: a trigger that is
// unknown or comes twice, a time that is not set or not within the years 1678 to 2262. path is that
// of the list.
func ValidateObservations(path string, list []Observation) error {
	var faults fault.List
	var seen []Trigger // known ones
	for i, o := range list {
		path := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case !slices.Contains(Triggers(), o.Trigger):
			faults.Add(path+".trigger", "%q is none of %q", o.Trigger, Triggers())
		case slices.Contains(seen, o.Trigger):
			faults.Add(path+".trigger", "%q has an entry already", o.Trigger)
		default:
			seen = append(seen, o.Trigger)
		}
		switch {
		case o.Since.IsZero():
			faults.Add(path+".since", "is not set")
		case !instant.Valid(o.Since):
			faults.Add(path+".since", "%v is not within %s", o.Since, instant.Range)
		}
	}
	return faults.Err()
}
