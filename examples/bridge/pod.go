package bridge

// PodSpec holds the fields of a pod's spec that a bridge reads.
type PodSpec struct {
	NodeName          string             `json:"nodeName"`
	SchedulerName     string             `json:"schedulerName"`
	Priority          *int32             `json:"priority"` // nil: that of the class
	PriorityClassName string             `json:"priorityClassName"`
	PreemptionPolicy  string             `json:"preemptionPolicy"` // Never, or PreemptLowerPriority; empty: that of the class
	NodeSelector      map[string]string  `json:"nodeSelector"`
	Affinity          *Affinity          `json:"affinity"`
	Tolerations       []Toleration       `json:"tolerations"`
	SchedulingGroup   SchedulingGroup    `json:"schedulingGroup"`
	WorkloadRef       *struct{}          `json:"workloadRef"` // of Kubernetes 1.35: only whether there is one
	Containers        []Container        `json:"containers"`
	InitContainers    []Container        `json:"initContainers"`
	Overhead          ResourceList       `json:"overhead"`
	Resources         *Resources         `json:"resources"` // of the pod as a whole
	SchedulingGates   []NamedGate        `json:"schedulingGates"`
	Volumes           []Volume           `json:"volumes"`
	TopologySpread    []SpreadConstraint `json:"topologySpreadConstraints"`
	ResourceClaims    []ResourceClaim    `json:"resourceClaims"`
}

// ResourceList holds quantities by resource.
type ResourceList map[string]Quantity

// Resources are what a container takes.
type Resources struct {
	Requests ResourceList `json:"requests"`
	Limits   ResourceList `json:"limits"` // stand for requests that are missing
}

// Container is what a container takes of its node.
type Container struct {
	Name          string    `json:"name"`
	Resources     Resources `json:"resources"`
	RestartPolicy string    `json:"restartPolicy"` // Always makes an init container a sidecar
	Ports         []Port    `json:"ports"`
}

// Port is a port of a container. Only host ports are read.
type Port struct {
	HostPort int32  `json:"hostPort"` // zero: none
	HostIP   string `json:"hostIP"`   // empty: all addresses
	Protocol string `json:"protocol"` // empty: TCP
}

// SchedulingGroup names the PodGroup of a pod, in the namespace of the pod.
type SchedulingGroup struct {
	PodGroupName string `json:"podGroupName"` // empty: none
}

// NamedGate is a scheduling gate.
type NamedGate struct {
	Name string `json:"name"`
}

// Volume is a volume of a pod.
type Volume struct {
	PersistentVolumeClaim *struct{} `json:"persistentVolumeClaim"` // that it is claimed
}

// SpreadConstraint has no fields: only its presence is read.
type SpreadConstraint struct{}

// ResourceClaim is a claim of devices that a pod holds.
type ResourceClaim struct {
	Name              string `json:"name"`              // in the pod
	ResourceClaimName string `json:"resourceClaimName"` // empty: it is made of a template, and the status of the pod names it
}

// ResourceClaimStatus says which claim was made of a template.
type ResourceClaimStatus struct {
	Name              string `json:"name"`
	ResourceClaimName string `json:"resourceClaimName"`
}

// PodStatus holds the fields of a pod's status on which its requests depend.
type PodStatus struct {
	Conditions            []PodCondition    `json:"conditions"`
	ContainerStatuses     []ContainerStatus `json:"containerStatuses"`
	InitContainerStatuses []ContainerStatus `json:"initContainerStatuses"`
}

// PodCondition is a condition of a pod.
type PodCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"` // True, False or Unknown
	Reason string `json:"reason"`
}

// ContainerStatus holds what a container has. It differs from the requests while the pod is
// resized in place.
type ContainerStatus struct {
	Name               string       `json:"name"`
	AllocatedResources ResourceList `json:"allocatedResources"`
	Resources          *Resources   `json:"resources"`
}
