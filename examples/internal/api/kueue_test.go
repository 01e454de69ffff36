package api_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// ClusterQueueSpec is that of Kueue's ClusterQueue.
type ClusterQueueSpec struct {
	ResourceGroups          []ResourceGroup `json:"resourceGroups"`
	CohortName              leaf            `json:"cohortName"`
	Cohort                  leaf            `json:"cohort"`
	QueueingStrategy        leaf            `json:"queueingStrategy"`
	NamespaceSelector       *LabelSelector  `json:"namespaceSelector"`
	FlavorFungibility       *Fungibility    `json:"flavorFungibility"`
	Preemption              *Preemption     `json:"preemption"`
	AdmissionChecks         leaf            `json:"admissionChecks"`
	AdmissionChecksStrategy *CheckStrategy  `json:"admissionChecksStrategy"`
	StopPolicy              leaf            `json:"stopPolicy"`
	FairSharing             *FairSharing    `json:"fairSharing"`
	AdmissionScope          *struct {
		AdmissionMode leaf `json:"admissionMode"`
	} `json:"admissionScope"`
}

// LabelSelector is that of Kubernetes.
type LabelSelector struct {
	MatchLabels      leaf `json:"matchLabels"`
	MatchExpressions []struct {
		Key      leaf `json:"key"`
		Operator leaf `json:"operator"`
		Values   leaf `json:"values"`
	} `json:"matchExpressions"`
}

// ResourceGroup is of a ClusterQueue or a Cohort.
type ResourceGroup struct {
	CoveredResources leaf `json:"coveredResources"`
	Flavors          []struct {
		Name      leaf `json:"name"`
		Resources []struct {
			Name           leaf `json:"name"`
			NominalQuota   leaf `json:"nominalQuota"`
			BorrowingLimit leaf `json:"borrowingLimit"`
			LendingLimit   leaf `json:"lendingLimit"`
		} `json:"resources"`
	} `json:"flavors"`
}

// Fungibility is of a ClusterQueue.
type Fungibility struct {
	WhenCanBorrow  leaf `json:"whenCanBorrow"`
	WhenCanPreempt leaf `json:"whenCanPreempt"`
	Preference     leaf `json:"preference"`
}

// Preemption is of a ClusterQueue; withinClusterQueueConfig is of KEP-8522.
type Preemption struct {
	ReclaimWithinCohort leaf `json:"reclaimWithinCohort"`
	BorrowWithinCohort  *struct {
		Policy               leaf `json:"policy"`
		MaxPriorityThreshold leaf `json:"maxPriorityThreshold"`
	} `json:"borrowWithinCohort"`
	WithinClusterQueue       leaf `json:"withinClusterQueue"`
	WithinClusterQueueConfig *struct {
		MinAdmitDuration leaf `json:"minAdmitDuration"`
	} `json:"withinClusterQueueConfig"`
}

// CheckStrategy is of a ClusterQueue.
type CheckStrategy struct {
	AdmissionChecks []struct {
		Name      leaf `json:"name"`
		OnFlavors leaf `json:"onFlavors"`
	} `json:"admissionChecks"`
}

// FairSharing is of a ClusterQueue, a Cohort or a LocalQueue.
type FairSharing struct {
	Weight leaf `json:"weight"`
}

// FairSharingStatus is of a ClusterQueue, a Cohort or a LocalQueue.
type FairSharingStatus struct {
	WeightedShare              leaf `json:"weightedShare"`
	AdmissionFairSharingStatus leaf `json:"admissionFairSharingStatus"`
}

// ClusterQueueStatus is that of a ClusterQueue.
type ClusterQueueStatus struct {
	FlavorsReservation     leaf               `json:"flavorsReservation"`
	FlavorsUsage           leaf               `json:"flavorsUsage"`
	PendingWorkloads       leaf               `json:"pendingWorkloads"`
	ReservingWorkloads     leaf               `json:"reservingWorkloads"`
	AdmittedWorkloads      leaf               `json:"admittedWorkloads"`
	Conditions             Conditions         `json:"conditions"`
	PendingWorkloadsStatus leaf               `json:"pendingWorkloadsStatus"`
	FairSharing            *FairSharingStatus `json:"fairSharing"`
}

// CohortSpec is that of a Cohort.
type CohortSpec struct {
	ParentName     leaf            `json:"parentName"`
	Parent         leaf            `json:"parent"`
	ResourceGroups []ResourceGroup `json:"resourceGroups"`
	FairSharing    *FairSharing    `json:"fairSharing"`
}

// CohortStatus is that of a Cohort.
type CohortStatus struct {
	FairSharing *FairSharingStatus `json:"fairSharing"`
	Conditions  Conditions         `json:"conditions"`
}

// LocalQueueSpec is that of a LocalQueue.
type LocalQueueSpec struct {
	ClusterQueue leaf         `json:"clusterQueue"`
	StopPolicy   leaf         `json:"stopPolicy"`
	FairSharing  *FairSharing `json:"fairSharing"`
}

// LocalQueueStatus is that of a LocalQueue.
type LocalQueueStatus struct {
	PendingWorkloads   leaf               `json:"pendingWorkloads"`
	ReservingWorkloads leaf               `json:"reservingWorkloads"`
	AdmittedWorkloads  leaf               `json:"admittedWorkloads"`
	Conditions         Conditions         `json:"conditions"`
	FlavorsReservation leaf               `json:"flavorsReservation"`
	FlavorsUsage       leaf               `json:"flavorsUsage"`
	FlavorUsage        leaf               `json:"flavorUsage"`
	Flavors            leaf               `json:"flavors"`
	FairSharing        *FairSharingStatus `json:"fairSharing"`
}

// ResourceFlavorSpec is that of a ResourceFlavor.
type ResourceFlavorSpec struct {
	NodeLabels   leaf                `json:"nodeLabels"`
	NodeTaints   []corev1.Taint      `json:"nodeTaints"`
	Tolerations  []corev1.Toleration `json:"tolerations"`
	TopologyName leaf                `json:"topologyName"`
}

// TopologySpec is that of a Topology.
type TopologySpec struct {
	Levels []struct {
		NodeLabel leaf `json:"nodeLabel"`
	} `json:"levels"`
}

// WorkloadSpec is that of Kueue's Workload. The template is that of a pod.
type WorkloadSpec struct {
	PodSets                     []PodSet     `json:"podSets"`
	QueueName                   leaf         `json:"queueName"`
	PriorityClassRef            *ClassRef    `json:"priorityClassRef"`
	PriorityClassName           leaf         `json:"priorityClassName"`
	PriorityClassSource         leaf         `json:"priorityClassSource"`
	Priority                    leaf         `json:"priority"`
	Active                      leaf         `json:"active"`
	MaximumExecutionTimeSeconds leaf         `json:"maximumExecutionTimeSeconds"`
	PreemptionGates             []NamedThing `json:"preemptionGates"`
}

// ClassRef names a priority class.
type ClassRef struct {
	Group leaf `json:"group"`
	Kind  leaf `json:"kind"`
	Name  leaf `json:"name"`
}

// NamedThing has a name and nothing else.
type NamedThing struct {
	Name leaf `json:"name"`
}

// PodSet is of a Workload.
type PodSet struct {
	Name            leaf                    `json:"name"`
	Template        *corev1.PodTemplateSpec `json:"template"`
	Count           leaf                    `json:"count"`
	MinCount        leaf                    `json:"minCount"`
	TopologyRequest *TopologyRequest        `json:"topologyRequest"`
}

// TopologyRequest is of a pod set.
type TopologyRequest struct {
	Required                    leaf `json:"required"`
	Preferred                   leaf `json:"preferred"`
	Unconstrained               leaf `json:"unconstrained"`
	PodIndexLabel               leaf `json:"podIndexLabel"`
	SubGroupIndexLabel          leaf `json:"subGroupIndexLabel"`
	SubGroupCount               leaf `json:"subGroupCount"`
	PodSetGroupName             leaf `json:"podSetGroupName"`
	PodSetSliceRequiredTopology leaf `json:"podSetSliceRequiredTopology"`
	PodSetSliceSize             leaf `json:"podSetSliceSize"`
	SliceConstraints            leaf `json:"podsetSliceRequiredTopologyConstraints"`
}

// WorkloadStatus is that of a Workload.
type WorkloadStatus struct {
	Conditions      Conditions `json:"conditions"`
	Admission       *Admission `json:"admission"`
	ReclaimablePods []struct {
		Name  leaf `json:"name"`
		Count leaf `json:"count"`
	} `json:"reclaimablePods"`
	AdmissionChecks []struct {
		Name                leaf `json:"name"`
		State               leaf `json:"state"`
		LastTransitionTime  leaf `json:"lastTransitionTime"`
		Message             leaf `json:"message"`
		PodSetUpdates       leaf `json:"podSetUpdates"`
		RequeueAfterSeconds leaf `json:"requeueAfterSeconds"`
		RetryCount          leaf `json:"retryCount"`
	} `json:"admissionChecks"`
	ResourceRequests []struct {
		Name      leaf `json:"name"`
		Resources leaf `json:"resources"`
	} `json:"resourceRequests"`
	RequeueState *struct {
		Count     leaf `json:"count"`
		RequeueAt leaf `json:"requeueAt"`
	} `json:"requeueState"`
	PreemptionGates []struct {
		Name               leaf `json:"name"`
		Position           leaf `json:"position"`
		State              leaf `json:"state"` // as KEP-8303 calls the position
		LastTransitionTime leaf `json:"lastTransitionTime"`
	} `json:"preemptionGates"`
	AccumulatedPastExecutionTimeSeconds leaf `json:"accumulatedPastExecutionTimeSeconds"`
	AccumulatedTimeOfV1beta1            leaf `json:"accumulatedPastExexcutionTimeSeconds"` // as v1beta1 spells it
	SchedulingStats                     leaf `json:"schedulingStats"`
	NominatedClusterNames               leaf `json:"nominatedClusterNames"`
	ClusterName                         leaf `json:"clusterName"`
	UnhealthyNodes                      leaf `json:"unhealthyNodes"`
}

// Admission is of a Workload.
type Admission struct {
	ClusterQueue      leaf `json:"clusterQueue"`
	PodSetAssignments []struct {
		Name                   leaf `json:"name"`
		Flavors                leaf `json:"flavors"`
		ResourceUsage          leaf `json:"resourceUsage"`
		Count                  leaf `json:"count"`
		TopologyAssignment     leaf `json:"topologyAssignment"`
		DelayedTopologyRequest leaf `json:"delayedTopologyRequest"`
	} `json:"podSetAssignments"`
}

type kueueObject[S, T any] struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     S                 `json:"spec"`
	Status   T                 `json:"status"`
}

// Configuration is Kueue's own. Of what no decision depends on only the sections are known.
type Configuration struct {
	Namespace                    leaf `json:"namespace"`
	Webhook                      leaf `json:"webhook"`
	LeaderElection               leaf `json:"leaderElection"`
	Metrics                      leaf `json:"metrics"`
	Health                       leaf `json:"health"`
	PprofBindAddress             leaf `json:"pprofBindAddress"`
	Controller                   leaf `json:"controller"`
	SyncPeriod                   leaf `json:"syncPeriod"`
	CacheNamespace               leaf `json:"cacheNamespace"`
	GracefulShutDown             leaf `json:"gracefulShutDown"`
	TLS                          leaf `json:"tls"`
	VisibilityServer             leaf `json:"visibilityServer"`
	ManageJobsWithoutQueueName   leaf `json:"manageJobsWithoutQueueName"`
	ManagedJobsNamespaceSelector leaf `json:"managedJobsNamespaceSelector"`
	InternalCertManagement       leaf `json:"internalCertManagement"`
	WaitForPodsReady             leaf `json:"waitForPodsReady"`
	ClientConnection             leaf `json:"clientConnection"`
	Integrations                 leaf `json:"integrations"`
	QueueVisibility              leaf `json:"queueVisibility"`
	MultiKueue                   leaf `json:"multiKueue"`
	FeatureGates                 leaf `json:"featureGates"`
	ObjectRetentionPolicies      leaf `json:"objectRetentionPolicies"`
	FairSharing                  *struct {
		Enable               leaf `json:"enable"`
		PreemptionStrategies leaf `json:"preemptionStrategies"`
	} `json:"fairSharing"`
	AdmissionFairSharing *struct {
		UsageHalfLifeTime     leaf `json:"usageHalfLifeTime"`
		UsageSamplingInterval leaf `json:"usageSamplingInterval"`
		ResourceWeights       leaf `json:"resourceWeights"`
	} `json:"admissionFairSharing"`
	Resources *struct {
		ExcludeResourcePrefixes leaf `json:"excludeResourcePrefixes"`
		Transformations         []struct {
			Input      leaf `json:"input"`
			Strategy   leaf `json:"strategy"`
			Outputs    leaf `json:"outputs"`
			MultiplyBy leaf `json:"multiplyBy"`
		} `json:"transformations"`
		DeviceClassMappings leaf `json:"deviceClassMappings"`
	} `json:"resources"`
}

var kueue = map[string]any{
	"Configuration": Configuration{},
	"ClusterQueue":  kueueObject[ClusterQueueSpec, ClusterQueueStatus]{}, "Cohort": kueueObject[CohortSpec, CohortStatus]{},
	"LocalQueue": kueueObject[LocalQueueSpec, LocalQueueStatus]{}, "ResourceFlavor": kueueObject[ResourceFlavorSpec, leaf]{},
	"Topology": kueueObject[TopologySpec, leaf]{}, "Workload": kueueObject[WorkloadSpec, WorkloadStatus]{},
	"PreemptionConfig": kueueObject[PreemptionConfigSpec, leaf]{}, "PreemptionLimit": kueueObject[PreemptionLimitSpec, leaf]{},
}

// KEP-13396 plans two kinds, which this project knows by its own types.
type (
	PreemptionConfigSpec struct {
		Rules    []rules.Rule     `json:"rules"`
		Ordering []rules.Ordering `json:"ordering"`
	}
	PreemptionLimitSpec struct {
		Scope            leaf                    `json:"scope"`
		Configs          []string                `json:"configs"`
		Rules            []string                `json:"rules"`
		PreemptingQueues *workload.LabelSelector `json:"preemptingClusterQueueSelector"`
		PreemptedQueues  *workload.LabelSelector `json:"preemptedClusterQueueSelector"`
		Limit            leaf                    `json:"limit"`
		Window           leaf                    `json:"window"`
	}
)
