package offline

import (
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
)

// HasGroups reports whether the input has pod groups, or pods of some. Without the feature GenericWorkload, which is off by
// default, kube-scheduler v1.37 does not look at them.
func (o *Objects) HasGroups() bool {
	if o.Len("PodGroup") > 0 || o.Len("CompositePodGroup") > 0 {
		return true
	}
	for p := range o.Pods() {
		if p.Spec.SchedulingGroup != nil && p.Spec.SchedulingGroup.PodGroupName != nil {
			return true
		}
	}
	return false
}

// SetFeatures sets the features of kube-scheduler: its defaults, and with groups those that the groups of the input need.
// It is for the whole process. Victims are told within the attempt, not beside it, so that they are known.
func (o *Objects) SetFeatures(groups bool) error {
	composite := groups && o.Len("CompositePodGroup") > 0
	topology, claims := composite, false
	for g := range All[*schedulingv1beta1.PodGroup](o, "PodGroup") {
		topology = topology || groups && g.Spec.SchedulingConstraints != nil
		claims = claims || groups && len(g.Spec.ResourceClaims) > 0
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{
		string(features.SchedulerAsyncPreemption):        false,
		string(features.GenericWorkload):                 groups,
		string(features.TopologyAwareWorkloadScheduling): topology,
		string(features.CompositePodGroup):               composite,
		string(features.DRAWorkloadResourceClaims):       claims,
	})
}

// Waits reports whether a pod waits for a node.
func Waits(p *v1.Pod) bool {
	return p.Spec.NodeName == "" && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed
}
