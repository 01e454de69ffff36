package kueue

import (
	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/quota"
)

// The types hold the fields that a decision depends on, for v1alpha1, v1beta1 and v1beta2
// together: where the versions have different names, both fields are here. Fill one of them.

// ClusterQueue is Kueue's object. Its ID is its name.
type ClusterQueue struct {
	Metadata bridge.Metadata  `json:"metadata"`
	Spec     ClusterQueueSpec `json:"spec"`
	Status   QueueStatus      `json:"status"`
}

// ClusterQueueSpec is that of a ClusterQueue.
type ClusterQueueSpec struct {
	CohortName        string            `json:"cohortName"` // v1beta2
	Cohort            string            `json:"cohort"`     // v1beta1
	ResourceGroups    []ResourceGroup   `json:"resourceGroups"`
	Preemption        Preemption        `json:"preemption"`
	FlavorFungibility FlavorFungibility `json:"flavorFungibility"`
	FairSharing       FairSharing       `json:"fairSharing"`
	StopPolicy        string            `json:"stopPolicy"`       // None (or empty), Hold or HoldAndDrain
	QueueingStrategy  string            `json:"queueingStrategy"` // BestEffortFIFO (or empty) or StrictFIFO
	// NamespaceSelector: nil admits workloads of no namespace, the zero value those of all.
	NamespaceSelector       *bridge.LabelSelector   `json:"namespaceSelector"`
	AdmissionChecks         []string                `json:"admissionChecks"` // v1beta1
	AdmissionChecksStrategy AdmissionChecksStrategy `json:"admissionChecksStrategy"`
	AdmissionScope          *AdmissionScope         `json:"admissionScope"` // nil: usage of LocalQueues orders nothing
}

// AdmissionScope says whether the usage of LocalQueues orders workloads.
type AdmissionScope struct {
	AdmissionMode string `json:"admissionMode"`
}

// ResourceGroup is a set of resources that are assigned together, by flavor.
type ResourceGroup struct {
	CoveredResources []string       `json:"coveredResources"` // those of each flavor
	Flavors          []FlavorQuotas `json:"flavors"`
}

// FlavorQuotas holds the quotas in one flavor.
type FlavorQuotas struct {
	Name      string          `json:"name"`
	Resources []ResourceQuota `json:"resources"`
}

// ResourceQuota is the quota of a resource; nil limits are no limits.
type ResourceQuota struct {
	Name           string           `json:"name"`
	NominalQuota   bridge.Quantity  `json:"nominalQuota"`
	BorrowingLimit *bridge.Quantity `json:"borrowingLimit"`
	LendingLimit   *bridge.Quantity `json:"lendingLimit"`
}

// Preemption holds the policies of a queue; an empty policy is Never.
type Preemption struct {
	WithinClusterQueue       string                    `json:"withinClusterQueue"`
	ReclaimWithinCohort      string                    `json:"reclaimWithinCohort"`
	WithinClusterQueueConfig *WithinClusterQueueConfig `json:"withinClusterQueueConfig"` // KEP-8522
	BorrowWithinCohort       BorrowWithinCohort        `json:"borrowWithinCohort"`
}

// WithinClusterQueueConfig is of KEP-8522.
type WithinClusterQueueConfig struct {
	MinAdmitDuration quota.OptionalDuration `json:"minAdmitDuration"`
}

// BorrowWithinCohort says which workloads one that borrows may preempt.
type BorrowWithinCohort struct {
	Policy               string `json:"policy"`
	MaxPriorityThreshold *int64 `json:"maxPriorityThreshold"` // nil: none
}

// FlavorFungibility says when the search for a flavor stops; empty is the default.
type FlavorFungibility struct {
	WhenCanBorrow  string `json:"whenCanBorrow"`
	WhenCanPreempt string `json:"whenCanPreempt"`
	Preference     string `json:"preference"`
}

// FairSharing is the weight of a queue or cohort; nil is 1.
type FairSharing struct {
	Weight *bridge.Quantity `json:"weight"`
}

// AdmissionChecksStrategy names the admission checks of a queue.
type AdmissionChecksStrategy struct {
	AdmissionChecks []AdmissionCheckRule `json:"admissionChecks"`
}

// AdmissionCheckRule names an admission check.
type AdmissionCheckRule struct {
	Name      string   `json:"name"`
	OnFlavors []string `json:"onFlavors"` // empty: all
}

// QueueStatus is that of a ClusterQueue, a Cohort or a LocalQueue.
type QueueStatus struct {
	Conditions  []QueueCondition `json:"conditions"`
	FairSharing *struct{}        `json:"fairSharing"` // that there is one: Kueue writes it with fair sharing alone
}

// QueueCondition is a condition of a queue. Only Active is read.
type QueueCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // True, False or Unknown
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Cohort is Kueue's object.
type Cohort struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     CohortSpec      `json:"spec"`
	Status   QueueStatus     `json:"status"`
}

// CohortSpec is that of a Cohort.
type CohortSpec struct {
	ParentName     string          `json:"parentName"` // v1beta1, v1beta2
	Parent         string          `json:"parent"`     // v1alpha1
	ResourceGroups []ResourceGroup `json:"resourceGroups"`
	FairSharing    FairSharing     `json:"fairSharing"`
}

// LocalQueue is Kueue's object.
type LocalQueue struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     LocalQueueSpec  `json:"spec"`
	Status   QueueStatus     `json:"status"`
}

// LocalQueueSpec is that of a LocalQueue.
type LocalQueueSpec struct {
	ClusterQueue string `json:"clusterQueue"`
	StopPolicy   string `json:"stopPolicy"`
}

// ResourceFlavor is Kueue's object.
type ResourceFlavor struct {
	Metadata bridge.Metadata    `json:"metadata"`
	Spec     ResourceFlavorSpec `json:"spec"`
}

// ResourceFlavorSpec is that of a ResourceFlavor.
type ResourceFlavorSpec struct {
	NodeLabels   map[string]string   `json:"nodeLabels"`
	NodeTaints   []bridge.Taint      `json:"nodeTaints"`
	Tolerations  []bridge.Toleration `json:"tolerations"`
	TopologyName string              `json:"topologyName"`
}

// Namespace is the object of the core API.
type Namespace struct {
	Metadata bridge.Metadata `json:"metadata"`
}

// LimitRange is the object of the core API. Kueue adds its defaults to requests, and refuses what it refuses.
type LimitRange struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     LimitRangeSpec  `json:"spec"`
}

// LimitRangeSpec is that of a LimitRange.
type LimitRangeSpec struct {
	Limits []LimitRangeItem `json:"limits"`
}

// LimitRangeItem bounds objects of a type.
type LimitRangeItem struct {
	Type string `json:"type"` // Pod and Container bear on workloads
}
