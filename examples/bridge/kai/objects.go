package kai

import (
	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/internal/kept"
	"github.com/cedesched/cede/quota"
)

// Group is the API group of KAI's objects, and OwnGroup that of its own settings.
const (
	Group    = "scheduling.run.ai"
	OwnGroup = "kai.scheduler"
)

// Queue is KAI's object (v2).
type Queue struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     QueueSpec       `json:"spec"`
}

// QueueSpec is the spec of a Queue.
type QueueSpec struct {
	ParentQueue       string                 `json:"parentQueue"` // empty: a root
	Priority          *int64                 `json:"priority"`    // nil: 100
	PreemptMinRuntime quota.OptionalDuration `json:"preemptMinRuntime"`
	ReclaimMinRuntime quota.OptionalDuration `json:"reclaimMinRuntime"`
	Resources         QueueResources         `json:"resources"`
}

// QueueResources holds the quotas of a queue.
type QueueResources struct {
	CPU    QueueResource `json:"cpu"`    // in milli-CPU
	Memory QueueResource `json:"memory"` // in megabytes (10^6 bytes)
	GPU    QueueResource `json:"gpu"`    // in devices
}

// QueueResource is what a queue may have of a resource. The zero value: nothing.
type QueueResource struct {
	Quota           float64  `json:"quota"` // -1: unlimited
	Limit           *float64 `json:"limit"` // -1: unlimited; nil: nothing may be used
	OverQuotaWeight float64  `json:"overQuotaWeight"`
}

// PodGroup is KAI's object (v2alpha2).
type PodGroup struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     PodGroupSpec    `json:"spec"`
	Status   PodGroupStatus  `json:"status"`
}

// PodGroupSpec is the spec of a PodGroup.
type PodGroupSpec struct {
	Queue              string              `json:"queue"`
	PriorityClassName  string              `json:"priorityClassName"`
	Preemptibility     string              `json:"preemptibility"`  // preemptible or non-preemptible; empty: by the priority
	MinMember          *int64              `json:"minMember"`       // nil: 1
	PreemptionDelay    *string             `json:"preemptionDelay"` // as in "2m"; nil: none
	TopologyConstraint *TopologyConstraint `json:"topologyConstraint"`
}

// TopologyConstraint has no fields here: only whether it is set is read.
type TopologyConstraint struct{}

// PodGroupStatus is the status of a PodGroup.
type PodGroupStatus struct {
	ResourcesStatus ResourcesStatus `json:"resourcesStatus"`
}

// ResourcesStatus holds what the pods of a group hold and request, in sum.
type ResourcesStatus struct {
	Allocated bridge.ResourceList `json:"allocated"`
	Requested bridge.ResourceList `json:"requested"`
}

// Pod is a pod; an annotation of KAI names its group.
type Pod struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     bridge.PodSpec  `json:"spec"`
	Status   PodStatus       `json:"status"`

	part *part // of a GPU that it shares; nil: none
}

// ended reports whether the pod holds nothing any more.
func (p *Pod) ended() bool { return p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" }

// ending reports whether the pod was told to stop.
func (p *Pod) ending() bool { return p.Metadata.DeletionTimestamp != nil }

// Holds reports whether the pod has a node.
func (p *Pod) Holds() bool { return p.Spec.NodeName != "" }

// group is the ID of the pod's group; empty: it has none.
func (p *Pod) group() string {
	if name := p.Metadata.Annotations[GroupAnnotation]; name != "" {
		return p.Metadata.Namespace + "/" + name
	}
	return ""
}

// Node is the object of the core API.
type Node struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     NodeSpec        `json:"spec"`
	Status   NodeStatus      `json:"status"`
}

// NodeSpec is that of a Node.
type NodeSpec struct {
	Unschedulable bool           `json:"unschedulable"`
	Taints        []bridge.Taint `json:"taints"`
}

// NodeStatus is that of a Node.
type NodeStatus struct {
	Allocatable bridge.ResourceList   `json:"allocatable"`
	Conditions  []bridge.PodCondition `json:"conditions"`
}

// PodStatus is the status of a Pod.
type PodStatus struct {
	Phase string `json:"phase"`
}

// PriorityClass is the object of scheduling.k8s.io.
type PriorityClass struct {
	Metadata      bridge.Metadata `json:"metadata"`
	Value         int64           `json:"value"`
	GlobalDefault bool            `json:"globalDefault"`
}

// BindRequest is KAI's object (v1alpha2): a pod that is about to get a node.
type BindRequest struct {
	Metadata bridge.Metadata   `json:"metadata"`
	Spec     BindRequestSpec   `json:"spec"`
	Status   BindRequestStatus `json:"status"`
}

// BindRequestSpec is the spec of a BindRequest.
type BindRequestSpec struct {
	PodName      string `json:"podName"` // in the namespace of the request
	SelectedNode string `json:"selectedNode"`
	// SelectedGPUGroups are the GPUs that the pod shares; empty: none.
	SelectedGPUGroups []string `json:"selectedGPUGroups"`
}

// BindRequestStatus is the status of a BindRequest.
type BindRequestStatus struct {
	Phase string `json:"phase"`
}

// SchedulingShard is KAI's settings of a scheduler (kai.scheduler/v1), of which the default minimum runtimes are read.
type SchedulingShard struct {
	Metadata bridge.Metadata     `json:"metadata"`
	Spec     SchedulingShardSpec `json:"spec"`
}

// SchedulingShardSpec is the spec of a SchedulingShard.
type SchedulingShardSpec struct {
	MinRuntime ShardMinRuntime `json:"minRuntime"`
}

// ShardMinRuntime has the minimum runtimes where no queue sets one.
type ShardMinRuntime struct {
	PreemptMinRuntime quota.OptionalDuration `json:"preemptMinRuntime"`
	ReclaimMinRuntime quota.OptionalDuration `json:"reclaimMinRuntime"`
}

// Object is one of *[Queue], *[PodGroup], *[Pod], *[Node], *[PriorityClass], *[BindRequest] and *[SchedulingShard].
type Object interface{ addTo(*Objects, bool) bool }

// Objects holds the latest version of each object. The zero value is empty. It is not safe for use by
// several goroutines at once.
type Objects struct {
	queues  kept.List[Queue]
	groups  kept.List[PodGroup]
	classes kept.List[PriorityClass]
	pods    kept.List[Pod]
	nodes   kept.List[Node]
	binds   kept.List[BindRequest]
	shards  kept.List[SchedulingShard]
}

// Add adds an object, or replaces the one with its kind and name; replaced says which. The
// caller must not change what the object refers to afterwards.
func (o *Objects) Add(one Object) (replaced bool) { return one.addTo(o, true) }

// Remove removes the object with the kind and name of the given one, if there is one.
func (o *Objects) Remove(one Object) { one.addTo(o, false) }

// HasGroup reports whether a pod group is there.
func (o *Objects) HasGroup(id string) bool { return o.groups.Get(id) != nil }

// HasNode reports whether a pod is there and has a node.
func (o *Objects) HasNode(id string) bool {
	p := o.pods.Get(id)
	return p != nil && p.Holds()
}

func (q *Queue) addTo(o *Objects, add bool) bool { return o.queues.Set(q.Metadata.Name, q, add) }

func (g *PodGroup) addTo(o *Objects, add bool) bool { return o.groups.Set(g.Metadata.ID(), g, add) }

func (c *PriorityClass) addTo(o *Objects, add bool) bool {
	return o.classes.Set(c.Metadata.Name, c, add)
}

func (p *Pod) addTo(o *Objects, add bool) bool { return o.pods.Set(p.Metadata.ID(), p, add) }

func (n *Node) addTo(o *Objects, add bool) bool { return o.nodes.Set(n.Metadata.Name, n, add) }

func (b *BindRequest) addTo(o *Objects, add bool) bool { return o.binds.Set(b.Metadata.ID(), b, add) }

func (s *SchedulingShard) addTo(o *Objects, add bool) bool {
	return o.shards.Set(s.Metadata.Name, s, add)
}
