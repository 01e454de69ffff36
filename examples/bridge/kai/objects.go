package kai

import (
	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/internal/kept"
	"github.com/cedesched/cede/optional"
)

// Group is the API group of KAI's objects.
const Group = "scheduling.run.ai"

// Queue is KAI's object (v2).
type Queue struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     QueueSpec       `json:"spec"`
}

// QueueSpec is that of a Queue.
type QueueSpec struct {
	ParentQueue       string            `json:"parentQueue"` // empty: a root
	PreemptMinRuntime optional.Duration `json:"preemptMinRuntime"`
	ReclaimMinRuntime optional.Duration `json:"reclaimMinRuntime"`
	Resources         QueueResources    `json:"resources"`
}

// QueueResources is what a queue has quota for.
type QueueResources struct {
	CPU    QueueResource `json:"cpu"`    // in milli-CPU
	Memory QueueResource `json:"memory"` // in megabytes (10^6 bytes)
	GPU    QueueResource `json:"gpu"`    // in devices, of which fractions are rounded up
}

// QueueResource is the quota of a resource. The zero value: none, and no limit.
type QueueResource struct {
	Quota float64  `json:"quota"` // less than zero: unlimited
	Limit *float64 `json:"limit"` // nil or less than zero: none
}

// PodGroup is KAI's object (v2alpha2).
type PodGroup struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     PodGroupSpec    `json:"spec"`
	Status   PodGroupStatus  `json:"status"`
}

// PodGroupSpec is that of a PodGroup.
type PodGroupSpec struct {
	Queue              string              `json:"queue"`
	PriorityClassName  string              `json:"priorityClassName"`
	Preemptibility     string              `json:"preemptibility"`  // preemptible or non-preemptible; empty: by the priority
	MinMember          *int64              `json:"minMember"`       // nil: 1
	PreemptionDelay    *string             `json:"preemptionDelay"` // as in "2m"; nil: none
	TopologyConstraint *TopologyConstraint `json:"topologyConstraint"`
}

// TopologyConstraint is there; nothing of it is read.
type TopologyConstraint struct{}

// PodGroupStatus is that of a PodGroup.
type PodGroupStatus struct {
	ResourcesStatus ResourcesStatus `json:"resourcesStatus"`
}

// ResourcesStatus is what the pods of a group hold and ask for together.
type ResourcesStatus struct {
	Allocated bridge.ResourceList `json:"allocated"`
	Requested bridge.ResourceList `json:"requested"`
}

// Pod is a pod, of which KAI has an annotation that names its group.
type Pod struct {
	Metadata bridge.Metadata `json:"metadata"`
	Status   PodStatus       `json:"status"`
}

// PodStatus is that of a pod.
type PodStatus struct {
	Phase string `json:"phase"`
}

// PriorityClass is the object of scheduling.k8s.io.
type PriorityClass struct {
	Metadata bridge.Metadata `json:"metadata"`
	Value    int64           `json:"value"`
}

// Object is one of *[Queue], *[PodGroup], *[Pod] and *[PriorityClass].
type Object interface{ addTo(*Objects, bool) bool }

// Objects are the last states of objects. The zero value is empty. It is not safe for use by
// several goroutines at once.
type Objects struct {
	queues  kept.List[Queue]
	groups  kept.List[PodGroup]
	classes kept.List[PriorityClass]
	running kept.List[string] // the groups of pods that run, by ID of the pod
}

// Add takes an object in place of the one of its kind and name, if there is one: replaced says
// so. What the object refers to must not be changed afterwards.
func (o *Objects) Add(one Object) (replaced bool) { return one.addTo(o, true) }

// Remove forgets the object of the kind and name of the given one, if there is one.
func (o *Objects) Remove(one Object) { one.addTo(o, false) }

func (q *Queue) addTo(o *Objects, add bool) bool { return o.queues.Set(q.Metadata.ID(), q, add) }

func (g *PodGroup) addTo(o *Objects, add bool) bool { return o.groups.Set(g.Metadata.ID(), g, add) }

func (c *PriorityClass) addTo(o *Objects, add bool) bool {
	return o.classes.Set(c.Metadata.ID(), c, add)
}

// addTo counts the pods of a group that run; one that is terminating does not.
func (p *Pod) addTo(o *Objects, add bool) bool {
	group := p.Metadata.Annotations[GroupAnnotation]
	if group != "" {
		group = p.Metadata.Namespace + "/" + group
	}
	runs := group != "" && p.Status.Phase == "Running" && p.Metadata.DeletionTimestamp == nil
	return o.running.Set(p.Metadata.ID(), &group, add && runs)
}
