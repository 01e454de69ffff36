package kueue

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/resources"
	info "sigs.k8s.io/kueue/pkg/workload"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func cohortOf(o *api.Cohort) queue.Cohort {
	out := queue.Cohort{Name: o.Name, Parent: string(o.Spec.ParentName), Quotas: quotasOf(o.Spec.ResourceGroups), FairWeight: weightOf(o.Spec.FairSharing)}
	out, _ = out.Normalize("")
	return out
}

func clusterQueueOf(o *api.ClusterQueue) queue.Queue {
	out := queue.Queue{Name: o.Name}
	if o.Spec.Preemption != nil {
		out = queueOf(o.Name, *o.Spec.Preemption)
	}
	out.Cohort, out.Quotas, out.FairWeight = string(o.Spec.CohortName), quotasOf(o.Spec.ResourceGroups), weightOf(o.Spec.FairSharing)
	out.Inactive = ptr.Deref(o.Spec.StopPolicy, api.None) != api.None || o.DeletionTimestamp != nil ||
		apimeta.IsStatusConditionFalse(o.Status.Conditions, api.ClusterQueueActive)
	read(string(o.Spec.QueueingStrategy), &out.Strategy)
	if f := o.Spec.FlavorFungibility; f != nil {
		read(string(f.WhenCanBorrow), &out.FlavorFungibility.WhenCanBorrow)
		read(string(f.WhenCanPreempt), &out.FlavorFungibility.WhenCanPreempt)
		if f.Preference != nil {
			read(string(*f.Preference), &out.FlavorFungibility.Preference)
		}
	}
	out, _ = out.Normalize("")
	return out
}

// flavorOf returns a flavor with the levels of its topology, if that is known.
func (m *Mirror) flavorOf(o *api.ResourceFlavor) queue.Flavor {
	out := queue.Flavor{Name: o.Name, NodeLabels: o.Spec.NodeLabels, Tolerations: tolerationsOf(o.Spec.Tolerations)}
	for _, t := range o.Spec.NodeTaints {
		taint := workload.Taint{Key: t.Key, Value: t.Value}
		read(string(t.Effect), &taint.Effect)
		out.NodeTaints = append(out.NodeTaints, taint)
	}
	if name := o.Spec.TopologyName; name != nil {
		out.Topology.Name = string(*name)
		if t := m.topologies[out.Topology.Name]; t != nil {
			for _, l := range t.Spec.Levels {
				out.Topology.Levels = append(out.Topology.Levels, l.NodeLabel)
			}
		}
	}
	return out
}

// waiting returns a workload without flavors: the decision assigns them.
func (m *Mirror) waiting(o *api.Workload, clusterQueue string) workload.Workload {
	in := info.NewInfo(o, m.options...)
	in.ClusterQueue = api.ClusterQueueReference(clusterQueue)
	w := m.workload(in, nil)
	for i := range w.PodSets { // not totals: it may start with fewer replicas
		p, of := &w.PodSets[i], &in.TotalRequests[i]
		p.Totals, p.Requests = false, nil
		for name, n := range requests(of) {
			p.Requests = append(p.Requests, quota.Amount{Resource: string(name), Amount: n / max(1, int64(of.Count))})
		}
		slices.SortFunc(p.Requests, func(a, b quota.Amount) int { return cmp.Compare(a.Resource, b.Resource) })
		p.NodeConstraints = constraintsOf(&o.Spec.PodSets[i])
	}
	return w
}

// minCounts permits partial admission, where a pod set has fewer pods at least.
func minCounts(o *api.Workload) (list []preemption.Replicas) {
	for i := range o.Spec.PodSets {
		if p := &o.Spec.PodSets[i]; p.MinCount != nil && *p.MinCount < p.Count {
			list = append(list, preemption.Replicas{PodSet: string(p.Name), Count: int64(*p.MinCount)})
		}
	}
	return list
}

func constraintsOf(p *api.PodSet) *workload.NodeConstraints {
	spec := &p.Template.Spec
	out := &workload.NodeConstraints{NodeSelector: spec.NodeSelector, Tolerations: tolerationsOf(spec.Tolerations)}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			var term workload.NodeSelectorTerm
			for _, e := range t.MatchExpressions {
				r := workload.LabelRequirement{Key: e.Key, Values: e.Values}
				read(string(e.Operator), &r.Operator)
				term.MatchExpressions = append(term.MatchExpressions, r)
			}
			out.NodeAffinity = append(out.NodeAffinity, term)
		}
	}
	if t := p.TopologyRequest; t != nil {
		out.Topology = workload.TopologyRequest{Required: ptr.Deref(t.Required, ""), Preferred: ptr.Deref(t.Preferred, ""), Unconstrained: ptr.Deref(t.Unconstrained, false),
			SliceRequired: ptr.Deref(t.PodSetSliceRequiredTopology, "")}
	}
	return out
}

func tolerationsOf(list []corev1.Toleration) (out []workload.Toleration) {
	for _, t := range list {
		one := workload.Toleration{Key: t.Key, Value: t.Value}
		read(string(t.Operator), &one.Operator)
		read(string(t.Effect), &one.Effect)
		out = append(out, one)
	}
	return out
}

// quotasOf returns quotas in the order of the object: flavors are tried in it.
func quotasOf(groups []api.ResourceGroup) (list []quota.Quota) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				q := quota.Quota{Flavor: string(f.Name), Resource: string(r.Name), Nominal: resources.AmountFromQuantity(r.Name, r.NominalQuota).Int64()}
				if r.BorrowingLimit != nil {
					q.BorrowingLimit = quota.AtMost(resources.AmountFromQuantity(r.Name, *r.BorrowingLimit).Int64())
				}
				if r.LendingLimit != nil {
					q.LendingLimit = quota.AtMost(resources.AmountFromQuantity(r.Name, *r.LendingLimit).Int64())
				}
				list = append(list, q)
			}
		}
	}
	return list
}

func weightOf(fs *api.FairSharing) quota.OptionalFloat64 {
	if fs == nil || fs.Weight == nil {
		return quota.OptionalFloat64{}
	}
	return quota.WeightOf(fs.Weight.AsApproximateFloat64())
}
