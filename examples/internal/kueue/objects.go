package kueue

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cedesched/cede/examples/internal/pods"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
)

// The structs hold the fields that a decision depends on, of v1beta1 and v1beta2
// alike: where the versions differ, both names are here.

type clusterQueueSpec struct {
	Cohort            string                `json:"cohort"`     // v1beta1
	CohortName        string                `json:"cohortName"` // v1beta2
	ResourceGroups    []resourceGroup       `json:"resourceGroups"`
	Preemption        preemptionSpec        `json:"preemption"`
	FlavorFungibility flavorFungibility     `json:"flavorFungibility"`
	FairSharing       fairSharing           `json:"fairSharing"`
	StopPolicy        string                `json:"stopPolicy"`
	QueueingStrategy  queue.Strategy        `json:"queueingStrategy"`
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
	admissionChecks
}

type cohortSpec struct {
	Parent         string          `json:"parent"` // v1alpha1
	ParentName     string          `json:"parentName"`
	ResourceGroups []resourceGroup `json:"resourceGroups"`
	FairSharing    fairSharing     `json:"fairSharing"`
}

type fairSharing struct {
	Weight *pods.Quantity `json:"weight"`
}

type resourceGroup struct {
	Flavors []struct {
		Name      string          `json:"name"`
		Resources []resourceQuota `json:"resources"`
	} `json:"flavors"`
}

type resourceQuota struct {
	Name           string         `json:"name"`
	NominalQuota   pods.Quantity  `json:"nominalQuota"`
	BorrowingLimit *pods.Quantity `json:"borrowingLimit"`
	LendingLimit   *pods.Quantity `json:"lendingLimit"`
}

type preemptionSpec struct {
	WithinClusterQueue  string `json:"withinClusterQueue"`
	ReclaimWithinCohort string `json:"reclaimWithinCohort"`
	// WithinClusterQueueConfig is of KEP-8522.
	WithinClusterQueueConfig struct {
		MinAdmitDuration minruntime.Setting `json:"minAdmitDuration"`
	} `json:"withinClusterQueueConfig"`
	BorrowWithinCohort struct {
		Policy               string `json:"policy"`
		MaxPriorityThreshold *int64 `json:"maxPriorityThreshold"`
	} `json:"borrowWithinCohort"`
}

type flavorFungibility struct {
	WhenCanBorrow  string `json:"whenCanBorrow"`
	WhenCanPreempt string `json:"whenCanPreempt"`
	Preference     string `json:"preference"`
}

type localQueueSpec struct {
	ClusterQueue string `json:"clusterQueue"`
	StopPolicy   string `json:"stopPolicy"`
}

type workloadSpec struct {
	QueueName       string `json:"queueName"`
	Active          *bool  `json:"active"`
	Priority        int64  `json:"priority"`
	PreemptionGates []struct {
		Name string `json:"name"`
	} `json:"preemptionGates"`
	PodSets []podSetSpec `json:"podSets"`
}

type podSetSpec struct {
	Name     string          `json:"name"`
	Count    *int64          `json:"count"`
	MinCount *int64          `json:"minCount"`
	Template json.RawMessage `json:"template"` // read only where it is needed
}

type workloadStatus struct {
	Conditions []condition `json:"conditions"`
	Admission  *struct {
		ClusterQueue      string             `json:"clusterQueue"`
		PodSetAssignments []podSetAssignment `json:"podSetAssignments"`
	} `json:"admission"`
	ReclaimablePods []struct {
		Name  string `json:"name"`
		Count int64  `json:"count"`
	} `json:"reclaimablePods"`
	ResourceRequests []struct {
		Name      string                   `json:"name"`
		Resources map[string]pods.Quantity `json:"resources"`
	} `json:"resourceRequests"`
	PreemptionGates []struct {
		Name               string    `json:"name"`
		Position           string    `json:"position"`
		State              string    `json:"state"` // as KEP-8303 calls the position
		LastTransitionTime time.Time `json:"lastTransitionTime"`
	} `json:"preemptionGates"`
	RequeueState struct {
		RequeueAt time.Time `json:"requeueAt"`
	} `json:"requeueState"`
	AdmissionChecks []struct {
		Name  string `json:"name"`
		State string `json:"state"`
	} `json:"admissionChecks"`
}

type podSetAssignment struct {
	Name          string                   `json:"name"`
	Count         *int64                   `json:"count"`
	Flavors       map[string]string        `json:"flavors"`
	ResourceUsage map[string]pods.Quantity `json:"resourceUsage"`
}

type condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// condition returns the condition of a type if it is true.
func (s *workloadStatus) condition(name string) (condition, bool) {
	for _, c := range s.Conditions {
		if c.Type == name {
			return c, c.Status == "True"
		}
	}
	return condition{}, false
}

// reclaimed is how many replicas of a pod set gave their quota back.
func (s *workloadStatus) reclaimed(podSet string) int64 {
	for _, r := range s.ReclaimablePods {
		if r.Name == podSet {
			return max(0, r.Count)
		}
	}
	return 0
}
