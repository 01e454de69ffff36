package api_test

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// leaf is a value whose inside is not looked at.
type leaf = any

// Conditions are those of any object.
type Conditions = []metav1.Condition

// Constraints are those of groups of both kinds.
type Constraints struct {
	Topology []struct {
		Key leaf `json:"key"`
	} `json:"topology"`
}

// PodGroup is that of v1alpha1 to v1beta1: where versions have different forms, the inside is not looked at.
type PodGroup struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		PodGroupTemplateRef leaf `json:"podGroupTemplateRef"`
		SchedulingPolicy    *struct {
			Basic leaf `json:"basic"`
			Gang  *struct {
				MinCount       leaf `json:"minCount"`
				DisruptionMode leaf `json:"disruptionMode"`
			} `json:"gang"`
			DisruptionMode leaf `json:"disruptionMode"`
		} `json:"schedulingPolicy"`
		SchedulingConstraints       *Constraints `json:"schedulingConstraints"`
		ResourceClaims              leaf         `json:"resourceClaims"`
		DisruptionMode              leaf         `json:"disruptionMode"`
		PriorityClassName           leaf         `json:"priorityClassName"`
		Priority                    leaf         `json:"priority"`
		PreemptionPolicy            leaf         `json:"preemptionPolicy"`
		ParentCompositePodGroupName leaf         `json:"parentCompositePodGroupName"`
		WorkloadRef                 leaf         `json:"workloadRef"`
	} `json:"spec"`
	Status leaf `json:"status"`
}

// CompositePodGroup is that of v1alpha3. Where the inside of its disruption mode is another object, it is not looked at.
type CompositePodGroup struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		SchedulingPolicy *struct {
			Basic leaf `json:"basic"`
			Gang  *struct {
				MinGroupCount leaf `json:"minGroupCount"`
			} `json:"gang"`
		} `json:"schedulingPolicy"`
		SchedulingConstraints       *Constraints `json:"schedulingConstraints"`
		DisruptionMode              leaf         `json:"disruptionMode"`
		PriorityClassName           leaf         `json:"priorityClassName"`
		Priority                    leaf         `json:"priority"`
		PreemptionPolicy            leaf         `json:"preemptionPolicy"`
		ParentCompositePodGroupName leaf         `json:"parentCompositePodGroupName"`
		WorkloadRef                 leaf         `json:"workloadRef"`
	} `json:"spec"`
	Status leaf `json:"status"`
}

// kubernetes are the kinds of Kubernetes.
var kubernetes = map[string]any{
	"Node": corev1.Node{}, "Pod": corev1.Pod{}, "Namespace": corev1.Namespace{},
	"PodDisruptionBudget": policyv1.PodDisruptionBudget{}, "PriorityClass": schedulingv1.PriorityClass{}, "scheduling.PodGroup": PodGroup{},
	"CompositePodGroup":      CompositePodGroup{},
	"resource.ResourceClaim": resourcev1.ResourceClaim{}, "ResourceSlice": resourcev1.ResourceSlice{}, "DeviceClass": resourcev1.DeviceClass{},
}
