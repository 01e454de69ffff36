package queue

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/quota"
)

// Validate returns everything that is wrong with a configuration, as an error that lists each
// fault with its path ("queues[3].quotas[0].nominal"):
//   - an empty or duplicate name, an unknown cohort or parent, a cycle of cohorts, a label
//     with an empty key;
//   - a quota entry or a reserved amount without flavor or resource, two entries for one
//     column, a negative amount or limit;
//   - a borrowing or lending limit on a queue without cohort or a cohort without
//     parent, a queue that may lend more than its nominal quota;
//   - a policy that its field does not allow, and contradictory policies:
//     borrowWithinCohort with reclaimWithinCohort Never, a minAdmitDuration without
//     LowerOrNewerEqualPriority; a minAdmitDuration under one minute, a negative
//     minimum runtime;
//   - a flavor fungibility that its field does not allow, PreemptionOverBorrowing
//     where the search may stop at the first possible flavor;
//   - a fair weight that is negative or not finite;
//   - an unknown queueing strategy.
func Validate(cohorts []Cohort, queues []Queue) error {
	var faults fault.List
	cohortAt := make(map[string]int, len(cohorts))
	for i := range cohorts {
		unique(&faults, "cohorts", i, cohorts[i].Name, cohortAt)
	}
	for i := range cohorts {
		c, path := &cohorts[i], pathTo{"cohorts", i}
		if _, known := cohortAt[c.Parent]; c.Parent != "" && !known {
			faults.Add(path.to(".parent"), "unknown cohort %q (cohort %q)", c.Parent, c.Name)
		}
		validateQuotas(&faults, path, "cohort", c.Name, c.Parent != "", c.Quotas)
		validateReserved(&faults, path, "cohort", c.Name, c.Reserved)
		validateFairWeight(&faults, path, "cohort", c.Name, c.FairWeight)
		validateMinRuntime(&faults, path, "cohort", c.Name, c.MinRuntime)
	}
	validateAcyclic(&faults, cohorts, cohortAt)
	queueAt := make(map[string]int, len(queues))
	for i := range queues {
		q, path := &queues[i], pathTo{"queues", i}
		unique(&faults, "queues", i, q.Name, queueAt)
		if _, known := cohortAt[q.Cohort]; q.Cohort != "" && !known {
			faults.Add(path.to(".cohort"), "unknown cohort %q (queue %q)", q.Cohort, q.Name)
		}
		validateQuotas(&faults, path, "queue", q.Name, q.Cohort != "", q.Quotas)
		for j := range q.Quotas {
			e := &q.Quotas[j]
			if limit, ok := e.LendingLimit.Get(); ok && limit > e.Nominal {
				faults.Add(path.to(".quotas[%d].lendingLimit", j),
					"%d is more than the nominal %d of %v (queue %q)", limit, e.Nominal, e.FlavorResource(), q.Name)
			}
		}
		if value, has := q.Labels[""]; has {
			faults.Add(path.to(".labels"), "has an empty key, with value %q (queue %q)", value, q.Name)
		}
		if q.Strategy > StrictFIFO {
			faults.Add(path.to(".strategy"), "%v is unknown (queue %q)", q.Strategy, q.Name)
		}
		validatePreemption(&faults, path, q)
		validateFungibility(&faults, path, q)
		validateReserved(&faults, path, "queue", q.Name, q.Reserved)
		validateFairWeight(&faults, path, "queue", q.Name, q.FairWeight)
		validateMinRuntime(&faults, path, "queue", q.Name, q.MinRuntime)
	}
	return faults.Err()
}

// pathTo is an entry of a list. Its text is made for faults alone: that costs more than to
// look for them.
type pathTo struct {
	list string
	i    int
}

func (p pathTo) to(field string, args ...any) string {
	return fmt.Sprintf("%s[%d]", p.list, p.i) + fmt.Sprintf(field, args...)
}

func validateFairWeight(faults *fault.List, path pathTo, kind, name string, w quota.OptionalFloat64) {
	if weight := w.Or(1); !(weight >= 0) || math.IsInf(weight, 1) { // not a number is neither
		faults.Add(path.to(".fairWeight"), "%v is negative or not finite (%s %q)", w, kind, name)
	}
}

func unique(faults *fault.List, list string, i int, name string, at map[string]int) {
	path := pathTo{list, i}
	if name == "" {
		faults.Add(path.to(".name"), "is empty")
		return
	}
	if first, taken := at[name]; taken {
		faults.Add(path.to(".name"), "%q is also the name of %s[%d]", name, list, first)
		return
	}
	at[name] = i
}

func validateQuotas(faults *fault.List, path pathTo, kind, name string, hasParent bool, quotas []quota.Quota) {
	validateColumns(faults, path, kind, name, "quotas", quotas)
	for j := range quotas {
		e := &quotas[j]
		if e.Nominal < 0 {
			faults.Add(path.to(".quotas[%d].nominal", j), "%d is negative (%s %q)", e.Nominal, kind, name)
		}
		for _, l := range [...]struct {
			field string
			limit quota.OptionalInt64
		}{{"borrowingLimit", e.BorrowingLimit}, {"lendingLimit", e.LendingLimit}} {
			limit, ok := l.limit.Get()
			if ok && limit < 0 {
				faults.Add(path.to(".quotas[%d].%s", j, l.field), "%d is negative (%s %q)", limit, kind, name)
			}
			if ok && !hasParent {
				faults.Add(path.to(".quotas[%d].%s", j, l.field), "%d has no meaning: %s %q is in no cohort", limit, kind, name)
			}
		}
	}
}

// column is an entry of a list that names a flavor and a resource.
type column interface{ FlavorResource() quota.FlavorResource }

// validateColumns checks that each entry of a list names a flavor and a resource, and no two
// the same.
func validateColumns[C column](faults *fault.List, path pathTo, kind, name, list string, entries []C) {
	first := firstEntries(entries)
	for j, e := range entries {
		fr := e.FlavorResource()
		if fr.Flavor == "" {
			faults.Add(path.to(".%s[%d].flavor", list, j), "is empty (%s %q)", kind, name)
		}
		if fr.Resource == "" {
			faults.Add(path.to(".%s[%d].resource", list, j), "is empty (%s %q)", kind, name)
		}
		if at := first(j); at < j {
			faults.Add(path.to(".%s[%d]", list, j), "%v has an entry already, %s[%d] (%s %q)", fr, list, at, kind, name)
		}
	}
}

// fewEntries are compared with each other sooner than hashed.
const fewEntries = 8

// firstEntries returns a function that gives, for an entry, the first one of the same flavor
// and resource.
func firstEntries[C column](entries []C) func(j int) int {
	if len(entries) <= fewEntries {
		return func(j int) int {
			fr := entries[j].FlavorResource()
			return slices.IndexFunc(entries[:j+1], func(e C) bool { return e.FlavorResource() == fr })
		}
	}
	at := make(map[quota.FlavorResource]int, len(entries))
	for j, e := range slices.Backward(entries) {
		at[e.FlavorResource()] = j
	}
	return func(j int) int { return at[entries[j].FlavorResource()] }
}

func validateReserved(faults *fault.List, path pathTo, kind, name string, reserved []quota.Amount) {
	validateColumns(faults, path, kind, name, "reserved", reserved)
	for j, a := range reserved {
		if a.Amount < 0 || a.Amount > quota.MaxUsage {
			faults.Add(path.to(".reserved[%d].amount", j), "%d is not within 0 and %d (%s %q)", a.Amount, quota.MaxUsage, kind, name)
		}
	}
}

func validateMinRuntime(faults *fault.List, path pathTo, kind, name string, s minruntime.Settings) {
	if d, _ := s.Preempt.Get(); d < 0 {
		faults.Add(path.to(".minRuntime.preempt"), "%v is negative (%s %q)", d, kind, name)
	}
	if d, _ := s.Reclaim.Get(); d < 0 {
		faults.Add(path.to(".minRuntime.reclaim"), "%v is negative (%s %q)", d, kind, name)
	}
}

// validateAcyclic reports each cycle of cohorts once, at its first member.
func validateAcyclic(faults *fault.List, cohorts []Cohort, at map[string]int) {
	seen := make([]int, len(cohorts)) // 0: not yet; n: on the walk from n-1; done
	const done = -1
	for i := range cohorts {
		var walk []int
		for j, known := i, true; known && seen[j] == 0; j, known = at[cohorts[j].Parent] {
			seen[j] = i + 1
			walk = append(walk, j)
			if parent, ok := at[cohorts[j].Parent]; ok && seen[parent] == i+1 {
				cycle := walk[slices.Index(walk, parent):]
				names := []string{}
				for _, k := range cycle[:min(len(cycle), 10)] {
					names = append(names, cohorts[k].Name)
				}
				more := ""
				if len(cycle) > len(names) {
					more = fmt.Sprintf(" and %d more", len(cycle)-len(names))
				}
				faults.Add(fmt.Sprintf("cohorts[%d].parent", slices.Min(cycle)), "cohorts %q%s are a cycle", names, more)
			}
		}
		for _, j := range walk {
			seen[j] = done
		}
	}
}

func validatePreemption(faults *fault.List, path pathTo, q *Queue) {
	p := q.Preemption
	for _, f := range [...]struct {
		field  string
		policy VictimPolicy
		known  []VictimPolicy
	}{
		{"withinClusterQueue", p.WithinClusterQueue, []VictimPolicy{Never, LowerPriority, LowerOrNewerEqualPriority}},
		{"reclaimWithinCohort", p.ReclaimWithinCohort, []VictimPolicy{Never, LowerPriority, Any}},
		{"borrowWithinCohort.policy", p.BorrowWithinCohort.Policy, []VictimPolicy{Never, LowerPriority}},
	} {
		if !slices.Contains(f.known, f.policy) {
			faults.Add(path.to(".preemption.%s", f.field), "%v is none of %v (queue %q)", f.policy, f.known, q.Name)
		}
	}
	if d, ok := p.MinAdmitDuration.Get(); ok {
		if d < time.Minute { // KEP-8522, Webhook Validation, 1
			faults.Add(path.to(".preemption.minAdmitDuration"), "%v is less than %v (queue %q)", d, time.Minute, q.Name)
		}
		if p.WithinClusterQueue != LowerOrNewerEqualPriority {
			faults.Add(path.to(".preemption.minAdmitDuration"), "%v needs withinClusterQueue LowerOrNewerEqualPriority, not %v (queue %q)",
				d, p.WithinClusterQueue, q.Name)
		}
	}
	if p.BorrowWithinCohort.Policy != Never && p.ReclaimWithinCohort == Never {
		faults.Add(path.to(".preemption.borrowWithinCohort.policy"),
			"%v contradicts reclaimWithinCohort Never (queue %q)", p.BorrowWithinCohort.Policy, q.Name)
	}
}

func validateFungibility(faults *fault.List, path pathTo, q *Queue) {
	f := q.FlavorFungibility
	known := [...]FungibilityPolicy{MayStopSearch, TryNextFlavor}
	for _, p := range [...]struct {
		field  string
		policy FungibilityPolicy
	}{{"whenCanBorrow", f.WhenCanBorrow}, {"whenCanPreempt", f.WhenCanPreempt}} {
		if p.policy > TryNextFlavor {
			faults.Add(path.to(".flavorFungibility.%s", p.field), "%v is none of %v (queue %q)", p.policy, known, q.Name)
		}
	}
	switch {
	case f.Preference > PreemptionOverBorrowing:
		faults.Add(path.to(".flavorFungibility.preference"), "%v is none of %v (queue %q)",
			f.Preference, []FlavorPreference{BorrowingOverPreemption, PreemptionOverBorrowing}, q.Name)
	case f.Preference != BorrowingOverPreemption && (f.MayStopBorrowing() || f.MayStopPreempting()):
		faults.Add(path.to(".flavorFungibility.preference"), "%v needs whenCanBorrow and whenCanPreempt TryNextFlavor (queue %q)", f.Preference, q.Name)
	}
}
