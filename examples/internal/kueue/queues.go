package kueue

import (
	"fmt"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/pods"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

func (b *Builder) addClusterQueue(o *input.Object) error {
	var spec clusterQueueSpec
	var status queueStatus
	if err := o.Read(&spec, &status); err != nil {
		return err
	}
	q := queue.Queue{Name: o.Metadata.Name, Cohort: spec.CohortName, Strategy: spec.QueueingStrategy}
	if q.Cohort == "" {
		q.Cohort = spec.Cohort
	}
	where := fmt.Sprintf("ClusterQueue %q", q.Name)
	q.Quotas = b.quotas(where, q.Cohort != "", spec.ResourceGroups)
	for i := range q.Quotas {
		e := &q.Quotas[i]
		if limit, ok := e.LendingLimit.Get(); ok && limit > e.Nominal {
			e.LendingLimit = quota.AtMost(e.Nominal)
			b.warn("%s: lendingLimit of %v is more than its nominalQuota: taken as that", where, e.FlavorResource())
		}
	}
	var err error
	if q.Preemption, err = b.preemption(where, spec.Preemption); err != nil {
		return err
	}
	q.FairWeight = spec.FairSharing.weight()
	q.FlavorFungibility, err = spec.FlavorFungibility.read(where)
	if err != nil {
		return err
	}
	b.noteStops(o, &spec, &status)
	b.noteSharing(where, &spec.FairSharing, &status)
	b.c.Queues = append(b.c.Queues, q)
	return nil
}

func (b *Builder) addCohort(o *input.Object) error {
	var spec cohortSpec
	var status queueStatus
	if err := o.Read(&spec, &status); err != nil {
		return err
	}
	c := queue.Cohort{Name: o.Metadata.Name, Parent: spec.ParentName}
	if c.Parent == "" {
		c.Parent = spec.Parent
	}
	c.Quotas = b.quotas(fmt.Sprintf("Cohort %q", c.Name), c.Parent != "", spec.ResourceGroups)
	c.FairWeight = spec.FairSharing.weight()
	b.noteSharing(fmt.Sprintf("Cohort %q", c.Name), &spec.FairSharing, &status)
	b.c.Cohorts = append(b.c.Cohorts, c)
	return nil
}

// weight is unset, which is 1, where none is given.
func (f *fairSharing) weight() quota.Weight {
	if f.Weight == nil {
		return quota.Weight{}
	}
	return quota.WeightOf(f.Weight.AsApproximateFloat64())
}

func (b *Builder) note(queueName, format string, args ...any) {
	b.c.QueueNotes[queueName] = append(b.c.QueueNotes[queueName],
		fmt.Sprintf("ClusterQueue %s ", queueName)+fmt.Sprintf(format, args...))
}

// quotas keeps the order of groups, flavors and resources. Limits of a node
// without parent bound nothing and are left out.
func (b *Builder) quotas(where string, hasParent bool, groups []resourceGroup) []quota.Quota {
	var quotas []quota.Quota
	dropped := 0
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				e := quota.Quota{Flavor: f.Name, Resource: r.Name, Nominal: pods.Amount(r.Name, r.NominalQuota.Quantity)}
				if hasParent {
					e.BorrowingLimit = limit(r.Name, r.BorrowingLimit)
					e.LendingLimit = limit(r.Name, r.LendingLimit)
				} else if r.BorrowingLimit != nil || r.LendingLimit != nil {
					dropped++
				}
				quotas = append(quotas, e)
			}
		}
	}
	if dropped > 0 {
		b.warn("%s: it is in no cohort: its borrowing and lending limits (%d) are left out", where, dropped)
	}
	return quotas
}

func limit(resource string, q *pods.Quantity) quota.Limit {
	if q == nil {
		return quota.Limit{}
	}
	return quota.AtMost(pods.Amount(resource, q.Quantity))
}

func (b *Builder) preemption(where string, spec preemptionSpec) (queue.PreemptionPolicy, error) {
	var p queue.PreemptionPolicy
	for _, f := range []struct {
		field string
		text  string
		into  *queue.VictimPolicy
	}{
		{"withinClusterQueue", spec.WithinClusterQueue, &p.WithinClusterQueue},
		{"reclaimWithinCohort", spec.ReclaimWithinCohort, &p.ReclaimWithinCohort},
		{"borrowWithinCohort.policy", spec.BorrowWithinCohort.Policy, &p.BorrowWithinCohort.Policy},
	} {
		if err := f.into.UnmarshalText([]byte(f.text)); err != nil {
			return p, fmt.Errorf("%s: spec.preemption.%s: %w", where, f.field, err)
		}
	}
	p.MinAdmitDuration = spec.WithinClusterQueueConfig.MinAdmitDuration
	switch {
	case p.BorrowWithinCohort.Policy == queue.Never:
	case p.ReclaimWithinCohort == queue.Never:
		b.warn("%s: borrowWithinCohort is left out: reclaimWithinCohort is Never", where)
		p.BorrowWithinCohort = queue.BorrowWithinCohort{}
	case spec.BorrowWithinCohort.MaxPriorityThreshold != nil:
		p.BorrowWithinCohort.MaxPriorityThreshold = queue.AtMostPriority(*spec.BorrowWithinCohort.MaxPriorityThreshold)
	}
	return p, nil
}

// read reads the policies, also by the names that v1beta1 had for MayStopSearch.
func (f flavorFungibility) read(where string) (queue.FlavorFungibility, error) {
	var out queue.FlavorFungibility
	for _, p := range []struct {
		field, text, old string
		into             *queue.FungibilityPolicy
	}{
		{"whenCanBorrow", f.WhenCanBorrow, "Borrow", &out.WhenCanBorrow},
		{"whenCanPreempt", f.WhenCanPreempt, "Preempt", &out.WhenCanPreempt},
	} {
		if p.text == p.old {
			p.text = queue.MayStopSearch.String()
		}
		if err := p.into.UnmarshalText([]byte(p.text)); err != nil {
			return out, fmt.Errorf("%s: spec.flavorFungibility.%s: %w", where, p.field, err)
		}
	}
	if err := out.Preference.UnmarshalText([]byte(f.Preference)); err != nil {
		return out, fmt.Errorf("%s: spec.flavorFungibility.preference: %w", where, err)
	}
	return out, nil
}
