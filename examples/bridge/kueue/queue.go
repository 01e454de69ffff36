package kueue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Queue returns the queue for a state or for Snapshot.SetQueue, with notes on what is left
// out. It fails on an unknown policy and on what [queue.Validate] refuses of the queue alone.
func (c *ClusterQueue) Queue() (queue.Queue, []bridge.Note, error) {
	q, notes, err := c.queue()
	if err == nil {
		err = inWords(validQueue(q), quotaPathsOf(c.Spec.ResourceGroups), "")
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
		return q, nil, unknown("spec.queueingStrategy", c.Spec.QueueingStrategy, "BestEffortFIFO", "StrictFIFO")
	}
	q.Quotas = quotas(c.Spec.ResourceGroups)
	q = normalized(&n, where, q)
	var err error
	if q.Preemption, err = c.Spec.Preemption.read(&n, where); err != nil {
		return q, nil, err
	}
	q = normalized(&n, where, q)
	q.FlavorFungibility, err = c.Spec.FlavorFungibility.read()
	return q, n.notes, err
}

// Cohort returns the cohort for a state or for Snapshot.SetCohort, with notes on what is left
// out. It fails on what [queue.Validate] refuses of the cohort alone.
func (c *Cohort) Cohort() (queue.Cohort, []bridge.Note, error) {
	out, notes := c.cohort()
	if err := inWords(validCohort(out), quotaPathsOf(c.Spec.ResourceGroups), ""); err != nil {
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
	out.Quotas = quotas(c.Spec.ResourceGroups)
	out, changes := out.Normalize("")
	noteLimits(&n, fmt.Sprintf("Cohort %q", c.Metadata.Name), changes)
	return out, n.notes
}

// weight returns the weight; unset, which counts as 1, if none is given.
func (f *FairSharing) weight() quota.OptionalFloat64 {
	if f.Weight == nil {
		return quota.OptionalFloat64{}
	}
	return quota.WeightOf(f.Weight.Float64())
}

// quotas keeps the order of groups, flavors and resources.
func quotas(groups []ResourceGroup) (quotas []quota.Quota) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				quotas = append(quotas, quota.Quota{
					Flavor: f.Name, Resource: r.Name, Nominal: r.NominalQuota.Amount(r.Name),
					BorrowingLimit: limit(r.Name, r.BorrowingLimit), LendingLimit: limit(r.Name, r.LendingLimit),
				})
			}
		}
	}
	return quotas
}

// normalized is the queue as Kueue takes it, with notes on what that changes.
func normalized(n *noter, where string, q queue.Queue) queue.Queue {
	out, changes := q.Normalize("")
	noteLimits(n, where, changes)
	for i, e := range out.Quotas {
		if limit, ok := e.LendingLimit.Get(); ok && q.Quotas[i].LendingLimit != quota.AtMost(limit) {
			n.add("spec.resourceGroups", "%s: lendingLimit of %v is more than its nominalQuota: taken as that", where, e.FlavorResource())
		}
	}
	if out.Preemption.BorrowWithinCohort.Policy != q.Preemption.BorrowWithinCohort.Policy {
		n.add("spec.preemption.borrowWithinCohort", "%s: borrowWithinCohort is left out: reclaimWithinCohort is Never", where)
	}
	return out
}

// noteLimits adds a note on limits that have no effect without a parent.
func noteLimits(n *noter, where string, changes []queue.Change) {
	dropped := map[string]bool{} // by quota
	for _, c := range changes {
		if at, _, isQuota := strings.Cut(c.Path, "]."); isQuota && c.To == "" {
			dropped[at] = true
		}
	}
	if len(dropped) > 0 {
		n.add("spec.resourceGroups", "%s: it is in no cohort: its borrowing and lending limits (%d) are left out", where, len(dropped))
	}
}

func limit(resource string, q *bridge.Quantity) quota.OptionalInt64 {
	if q == nil {
		return quota.OptionalInt64{}
	}
	return quota.AtMost(q.Amount(resource))
}

func (spec *Preemption) read(n *noter, where string) (queue.PreemptionPolicy, error) {
	var p queue.PreemptionPolicy
	for _, f := range []struct {
		field string
		text  string
		into  *queue.VictimPolicy
		want  []string
	}{
		{"withinClusterQueue", spec.WithinClusterQueue, &p.WithinClusterQueue, []string{"Never", "LowerPriority", "LowerOrNewerEqualPriority"}},
		{"reclaimWithinCohort", spec.ReclaimWithinCohort, &p.ReclaimWithinCohort, []string{"Never", "LowerPriority", "Any"}},
		{"borrowWithinCohort.policy", spec.BorrowWithinCohort.Policy, &p.BorrowWithinCohort.Policy, []string{"Never", "LowerPriority"}},
	} {
		if err := f.into.UnmarshalText([]byte(f.text)); err != nil {
			return p, unknown("spec.preemption."+f.field, f.text, f.want...)
		}
	}
	if config := spec.WithinClusterQueueConfig; config != nil {
		p.MinAdmitDuration = config.MinAdmitDuration
		if _, set := config.MinAdmitDuration.Get(); !set && p.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
			n.add("spec.preemption.withinClusterQueueConfig", "%s: withinClusterQueueConfig has no effect: withinClusterQueue is %v, and it is for LowerOrNewerEqualPriority", where, p.WithinClusterQueue)
		}
	}
	if threshold := spec.BorrowWithinCohort.MaxPriorityThreshold; threshold != nil && p.BorrowWithinCohort.Policy != queue.Never {
		p.BorrowWithinCohort.MaxPriorityThreshold = queue.AtMostPriority(*threshold)
	}
	return p, nil
}

// read reads the policies, also by the names that v1beta1 had for MayStopSearch.
func (f FlavorFungibility) read() (queue.FlavorFungibility, error) {
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
			return out, unknown("spec.flavorFungibility."+p.field, p.text, "MayStopSearch", "TryNextFlavor")
		}
	}
	if err := out.Preference.UnmarshalText([]byte(f.Preference)); err != nil {
		return out, unknown("spec.flavorFungibility.preference", f.Preference, "BorrowingOverPreemption", "PreemptionOverBorrowing")
	}
	return out, nil
}

// Flavor returns the flavor for a state or for Snapshot.SetFlavor, with notes on what is left
// out. The levels of its topology are not known yet. It fails on a taint with an unknown effect and on
// what [queue.ValidateFlavors] refuses.
func (f *ResourceFlavor) Flavor() (queue.Flavor, []bridge.Note, error) {
	n := noter{object: "ResourceFlavor " + f.Metadata.Name}
	out := queue.Flavor{Name: f.Metadata.Name, NodeLabels: f.Spec.NodeLabels, Topology: queue.Topology{Name: f.Spec.TopologyName}}
	for i, t := range f.Spec.NodeTaints {
		taint := workload.Taint{Key: t.Key, Value: t.Value}
		if err := taint.Effect.UnmarshalText([]byte(t.Effect)); err != nil {
			return queue.Flavor{}, nil, unknown(fmt.Sprintf("spec.nodeTaints[%d].effect", i), t.Effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
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
		return queue.Flavor{}, nil, inWords(err, nil, "")
	}
	return out, n.notes, nil
}

// What keeps Kueue from admitting although there is quota is a note. Only that a queue is not
// active is also in the state.

// inactive reports whether the queue admits nothing, and no workload preempts from it.
func (c *ClusterQueue) inactive() bool {
	return isStopped(c.Spec.StopPolicy) || c.Metadata.DeletionTimestamp != nil
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

// active reports whether the status says that the queue is active.
func (s *QueueStatus) active() bool {
	return slices.ContainsFunc(s.Conditions, func(c QueueCondition) bool { return c.Type == "Active" && c.Status == "True" })
}
