package api_test

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// resource is of a KAI queue.
type resource struct {
	Quota           leaf `json:"quota"`
	Limit           leaf `json:"limit"`
	OverQuotaWeight leaf `json:"overQuotaWeight"`
}

// KAIQueue is KAI's Queue of v2.
type KAIQueue struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		DisplayName leaf `json:"displayName"`
		ParentQueue leaf `json:"parentQueue"`
		Resources   *struct {
			GPU    resource `json:"gpu"`
			CPU    resource `json:"cpu"`
			Memory resource `json:"memory"`
		} `json:"resources"`
		Priority          leaf `json:"priority"`
		PreemptMinRuntime leaf `json:"preemptMinRuntime"`
		ReclaimMinRuntime leaf `json:"reclaimMinRuntime"`
	} `json:"spec"`
	Status leaf `json:"status"`
}

// KAIPodGroup is KAI's PodGroup of v2alpha2.
type KAIPodGroup struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		MinMember            leaf `json:"minMember"`
		MinSubGroup          leaf `json:"minSubGroup"`
		Queue                leaf `json:"queue"`
		PriorityClassName    leaf `json:"priorityClassName"`
		Preemptibility       leaf `json:"preemptibility"`
		PreemptionDelay      leaf `json:"preemptionDelay"`
		StalenessGracePeriod leaf `json:"stalenessGracePeriod"`
		BackoffLimit         leaf `json:"backoffLimit"`
		MarkUnschedulable    leaf `json:"markUnschedulable"`
		SchedulingBackoff    leaf `json:"schedulingBackoff"`
		TopologyConstraint   leaf `json:"topologyConstraint"`
		SubGroups            leaf `json:"subGroups"`
	} `json:"spec"`
	Status leaf `json:"status"`
}

var kai = map[string]any{"kai.Queue": KAIQueue{}, "kai.PodGroup": KAIPodGroup{}}
