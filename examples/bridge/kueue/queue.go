package kueue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/optional"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Queue returns the queue for a state or for Snapshot.SetQueue, with notes on what is left
// out. It fails on an unknown policy and on what [queue.Validate] refuses of the queue alone.
func (c *ClusterQueue) Queue() (queue.Queue, []bridge.Note, error) {
	q, notes, err := c.queue()
	if err == nil {
		err = validQueue(q)
	}
	if err != nil {
		return queue.Queue{}, nil, err
	}
	return q, notes, nil
}

func validQueue(q queue.Queue) error {
	var cohorts []queue.Cohort
	if q.Cohort != "" {
		cohorts = []queue.Cohort{{Name: q.Cohort}}
	}
	return queue.Validate(cohorts, []queue.Queue{q})
}

func (c *ClusterQueue) queue() (queue.Queue, []bridge.Note, error) {
	n := noter{object: "ClusterQueue " + c.Metadata.Name}
	where := fmt.Sprintf("ClusterQueue %q", c.Metadata.Name)
	q := queue.Queue{Name: c.Metadata.Name, Cohort: c.Spec.CohortName, FairWeight: c.Spec.FairSharing.weight(), Inactive: c.inactive(),
		Labels: maps.Clone(c.Metadata.Labels), Rules: c.rulesName()}
	if q.Cohort == "" {
		q.Cohort = c.Spec.Cohort
	}
	if err := q.Strategy.UnmarshalText([]byte(c.Spec.QueueingStrategy)); err != nil {
		return q, nil, fmt.Errorf("spec.queueingStrategy: %w", err)
	}
	q.Quotas = quotas(&n, where, q.Cohort != "", c.Spec.ResourceGroups)
	for i := range q.Quotas {
		e := &q.Quotas[i]
		if limit, ok := e.LendingLimit.Get(); ok && limit > e.Nominal {
			e.LendingLimit = quota.AtMost(e.Nominal)
			n.add("spec.resourceGroups", "%s: lendingLimit of %v is more than its nominalQuota: taken as that", where, e.FlavorResource())
		}
	}
	var err error
	if q.Preemption, err = c.Spec.Preemption.read(&n, where); err != nil {
		return q, nil, err
	}
	q.FlavorFungibility, err = c.Spec.FlavorFungibility.read(where)
	return q, n.notes, err
}

// Cohort returns the cohort for a state or for Snapshot.SetCohort, with notes on what is left
// out. It fails on what [queue.Validate] refuses of the cohort alone.
func (c *Cohort) Cohort() (queue.Cohort, []bridge.Note, error) {
	out, notes := c.cohort()
	if err := validCohort(out); err != nil {
		return queue.Cohort{}, nil, err
	}
	return out, notes, nil
}

func validCohort(c queue.Cohort) error {
	alone := []queue.Cohort{c}
	if c.Parent != "" {
		alone[0].Name += " " // no name: it is not its own parent here
		alone = append(alone, queue.Cohort{Name: c.Parent})
	}
	return queue.Validate(alone, nil)
}

func (c *Cohort) cohort() (queue.Cohort, []bridge.Note) {
	n := noter{object: "Cohort " + c.Metadata.Name}
	out := queue.Cohort{Name: c.Metadata.Name, Parent: c.Spec.ParentName, FairWeight: c.Spec.FairSharing.weight()}
	if out.Parent == "" {
		out.Parent = c.Spec.Parent
	}
	out.Quotas = quotas(&n, fmt.Sprintf("Cohort %q", c.Metadata.Name), out.Parent != "", c.Spec.ResourceGroups)
	return out, n.notes
}

// weight returns the weight; unset, which counts as 1, if none is given.
func (f *FairSharing) weight() optional.Float64 {
	if f.Weight == nil {
		return optional.Float64{}
	}
	return quota.WeightOf(f.Weight.Float64())
}

// quotas keeps the order of groups, flavors and resources. Limits of a node without parent
// have no effect and are left out.
func quotas(n *noter, where string, hasParent bool, groups []ResourceGroup) []quota.Quota {
	var quotas []quota.Quota
	dropped := 0
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				e := quota.Quota{Flavor: f.Name, Resource: r.Name, Nominal: r.NominalQuota.Amount(r.Name)}
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
		n.add("spec.resourceGroups", "%s: it is in no cohort: its borrowing and lending limits (%d) are left out", where, dropped)
	}
	return quotas
}

func limit(resource string, q *bridge.Quantity) optional.Int64 {
	if q == nil {
		return optional.Int64{}
	}
	return quota.AtMost(q.Amount(resource))
}

func (spec *Preemption) read(n *noter, where string) (queue.PreemptionPolicy, error) {
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
		n.add("spec.preemption.borrowWithinCohort", "%s: borrowWithinCohort is left out: reclaimWithinCohort is Never", where)
		p.BorrowWithinCohort = queue.BorrowWithinCohort{}
	case spec.BorrowWithinCohort.MaxPriorityThreshold != nil:
		p.BorrowWithinCohort.MaxPriorityThreshold = queue.AtMostPriority(*spec.BorrowWithinCohort.MaxPriorityThreshold)
	}
	return p, nil
}

// read reads the policies, also by the names that v1beta1 had for MayStopSearch.
func (f FlavorFungibility) read(where string) (queue.FlavorFungibility, error) {
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

// Flavor returns the flavor for a state or for Snapshot.SetFlavor, with notes on what is left
// out. It fails on a taint with an unknown effect and on what [queue.ValidateFlavors]
// refuses.
func (f *ResourceFlavor) Flavor() (queue.Flavor, []bridge.Note, error) {
	n := noter{object: "ResourceFlavor " + f.Metadata.Name}
	out := queue.Flavor{Name: f.Metadata.Name, NodeLabels: f.Spec.NodeLabels}
	for _, t := range f.Spec.NodeTaints {
		taint := workload.Taint{Key: t.Key, Value: t.Value}
		if err := taint.Effect.UnmarshalText([]byte(t.Effect)); err != nil {
			return queue.Flavor{}, nil, fmt.Errorf("spec.nodeTaints %q: %w", t.Key, err)
		}
		out.NodeTaints = append(out.NodeTaints, taint)
	}
	for i, t := range f.Spec.Tolerations {
		one, err := tolerationOf(t)
		if err != nil {
			n.add(fmt.Sprintf("spec.tolerations[%d]", i), "ResourceFlavor %s: %v", out.Name, err)
			continue
		}
		out.Tolerations = append(out.Tolerations, one)
	}
	if err := queue.ValidateFlavors([]queue.Flavor{out}); err != nil {
		return queue.Flavor{}, nil, err
	}
	return out, n.notes, nil
}

// What keeps Kueue from admitting although there is quota is a note. Only that a queue is not
// active is also in the state.

// inactive reports whether the queue admits nothing, and nobody preempts from it.
func (c *ClusterQueue) inactive() bool {
	return isStopped(c.Spec.StopPolicy) || c.Metadata.DeletionTimestamp != nil || c.Status.inactive() != ""
}

// stops adds notes on what keeps a queue from admitting anything, and on what comes after
// quota.
func (c *ClusterQueue) stops() []bridge.Note {
	n := noter{object: "ClusterQueue " + c.Metadata.Name}
	add := func(path, format string, args ...any) {
		n.stop(path, "ClusterQueue %s "+format, append([]any{c.Metadata.Name}, args...)...)
	}
	if isStopped(c.Spec.StopPolicy) {
		add("spec.stopPolicy", "is stopped (stopPolicy %s) and admits nothing for now", c.Spec.StopPolicy)
	}
	if c.Metadata.DeletionTimestamp != nil {
		add("metadata.deletionTimestamp", "is being deleted and admits nothing")
	}
	if why := c.Status.inactive(); why != "" {
		add("status.conditions", "is inactive and admits nothing: %s", why)
	}
	checks := slices.Clone(c.Spec.AdmissionChecks)
	path := "spec.admissionChecks"
	for _, check := range c.Spec.AdmissionChecksStrategy.AdmissionChecks {
		checks, path = append(checks, check.Name), "spec.admissionChecksStrategy"
	}
	if len(checks) > 0 {
		n.add(path, "ClusterQueue %s admits a workload with quota only when its admission checks are ready: %s", c.Metadata.Name, strings.Join(checks, ", "))
	}
	return n.notes
}

// local returns the LocalQueue, with notes on what keeps it from admitting.
func (l *LocalQueue) local() bridge.LocalQueue {
	n := noter{object: "LocalQueue " + l.Metadata.ID()}
	if isStopped(l.Spec.StopPolicy) {
		n.stop("spec.stopPolicy", "%s is stopped (stopPolicy %s)", n.object, l.Spec.StopPolicy)
	}
	if l.Metadata.DeletionTimestamp != nil {
		n.stop("metadata.deletionTimestamp", "%s is being deleted", n.object)
	}
	if why := l.Status.inactive(); why != "" {
		n.stop("status.conditions", "%s is inactive: %s", n.object, why)
	}
	return bridge.LocalQueue{Namespace: l.Metadata.Namespace, Name: l.Metadata.Name, ClusterQueue: l.Spec.ClusterQueue, Notes: n.notes}
}

func isStopped(policy string) bool { return policy != "" && policy != "None" }

// inactive says why the queue is not active; empty if it is, or if nothing says so.
func (s *QueueStatus) inactive() string {
	for _, c := range s.Conditions {
		if c.Type == "Active" && c.Status == "False" {
			return strings.TrimSuffix(strings.TrimPrefix(c.Reason+": "+c.Message, ": "), ": ")
		}
	}
	return ""
}
