package kubernetes

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/internal/kept"
)

// Node is the object of the core API.
type Node struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     NodeSpec        `json:"spec"`
	Status   NodeStatus      `json:"status"`
}

// NodeSpec is the spec of a Node.
type NodeSpec struct {
	Unschedulable bool           `json:"unschedulable"`
	Taints        []bridge.Taint `json:"taints"`
}

// NodeStatus is the status of a Node.
type NodeStatus struct {
	Allocatable bridge.ResourceList `json:"allocatable"`
	Capacity    bridge.ResourceList `json:"capacity"` // counts where allocatable is nil
}

// Pod is the object of the core API.
type Pod struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     bridge.PodSpec  `json:"spec"`
	Status   PodStatus       `json:"status"`
}

// PodStatus is the status of a Pod.
type PodStatus struct {
	Phase             string    `json:"phase"`
	NominatedNodeName string    `json:"nominatedNodeName"`
	StartTime         time.Time `json:"startTime"` // zero: not started
	// ResourceClaimStatuses name the claims that were made of templates.
	ResourceClaimStatuses []bridge.ResourceClaimStatus `json:"resourceClaimStatuses"`
	bridge.PodStatus
}

// PodDisruptionBudget is the object of group policy.
type PodDisruptionBudget struct {
	Metadata bridge.Metadata           `json:"metadata"`
	Spec     PodDisruptionBudgetSpec   `json:"spec"`
	Status   PodDisruptionBudgetStatus `json:"status"`
}

// PodDisruptionBudgetSpec is the spec of a PodDisruptionBudget.
type PodDisruptionBudgetSpec struct {
	Selector *bridge.LabelSelector `json:"selector"` // nil: no pod
}

// PodDisruptionBudgetStatus is the status of a PodDisruptionBudget.
type PodDisruptionBudgetStatus struct {
	DisruptionsAllowed int64                `json:"disruptionsAllowed"`
	DisruptedPods      map[string]time.Time `json:"disruptedPods"` // by name
}

// PriorityClass is the object of group scheduling.k8s.io.
type PriorityClass struct {
	Metadata         bridge.Metadata `json:"metadata"`
	Value            int32           `json:"value"`
	GlobalDefault    bool            `json:"globalDefault"`
	PreemptionPolicy string          `json:"preemptionPolicy"` // Never, or PreemptLowerPriority (or empty)
}

// PodGroup is the object of group scheduling.k8s.io.
type PodGroup struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     PodGroupSpec    `json:"spec"`
}

// PodGroupSpec is the spec of a PodGroup.
type PodGroupSpec struct {
	GroupSpec
	SchedulingPolicy SchedulingPolicy `json:"schedulingPolicy"`
}

// GroupSpec is what a PodGroup and a CompositePodGroup have in common.
type GroupSpec struct {
	Priority          *int32         `json:"priority"` // nil: that of the class
	PriorityClassName string         `json:"priorityClassName"`
	PreemptionPolicy  string         `json:"preemptionPolicy"` // empty: that of the class
	DisruptionMode    DisruptionMode `json:"disruptionMode"`
	Constraints       Constraints    `json:"schedulingConstraints"`
	Parent            string         `json:"parentCompositePodGroupName"` // empty: none
}

// CompositePodGroup is the object of group scheduling.k8s.io: a group of groups.
type CompositePodGroup struct {
	Metadata bridge.Metadata       `json:"metadata"`
	Spec     CompositePodGroupSpec `json:"spec"`
}

// CompositePodGroupSpec is the spec of a CompositePodGroup.
type CompositePodGroupSpec struct {
	GroupSpec
	SchedulingPolicy CompositeSchedulingPolicy `json:"schedulingPolicy"`
}

// CompositeSchedulingPolicy says how the groups of a composite group are scheduled.
type CompositeSchedulingPolicy struct {
	Gang *CompositeGang `json:"gang"` // nil: each by itself
}

// CompositeGang is a policy: a number of the groups directly below must run together.
type CompositeGang struct {
	MinGroupCount int `json:"minGroupCount"`
}

// Constraints say where the pods of a group are together.
type Constraints struct {
	Topology []TopologyConstraint `json:"topology"`
}

// TopologyConstraint says that all run on nodes with one value of a label.
type TopologyConstraint struct {
	Key string `json:"key"`
}

// SchedulingPolicy says how the pods of a group are scheduled.
type SchedulingPolicy struct {
	Gang           *Gang          `json:"gang"`           // nil: each by itself
	DisruptionMode DisruptionMode `json:"disruptionMode"` // where KEP-5710 has it
}

// Gang is a policy: a number of the pods must run together.
type Gang struct {
	MinCount       int            `json:"minCount"`
	DisruptionMode DisruptionMode `json:"disruptionMode"` // where older versions have it
}

// DisruptionMode says how the pods of a group yield: "Pod" each by itself, "PodGroup" all
// together; empty is unset. In JSON it is also "Single", "All", or an object with the key
// single or all. Other text is kept as it is.
type DisruptionMode string

// The disruption modes.
const (
	DisruptionModePod      DisruptionMode = "Pod"
	DisruptionModePodGroup DisruptionMode = "PodGroup"
)

// UnmarshalJSON reads any of the forms. It never fails on JSON.
func (m *DisruptionMode) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		switch text {
		case "Single":
			text = string(DisruptionModePod)
		case "All":
			text = string(DisruptionModePodGroup)
		case "":
			if string(data) != "null" {
				text = string(DisruptionModePod)
			}
		}
		*m = DisruptionMode(text)
		return nil
	}
	var object struct{ Single, All *struct{} }
	switch err := json.Unmarshal(data, &object); {
	case err == nil && object.All != nil && object.Single == nil:
		*m = DisruptionModePodGroup
	case err == nil && object.All == nil && (object.Single != nil || string(data) == "{}"):
		*m = DisruptionModePod
	default:
		*m = DisruptionMode(data)
	}
	return nil
}

// Namespace is the object of the core API.
type Namespace struct {
	Metadata bridge.Metadata `json:"metadata"`
}

// Object is one of *[Node], *[Pod], *[PodDisruptionBudget], *[PriorityClass], *[PodGroup], *[CompositePodGroup],
// *[Namespace], *[ResourceClaim], *[ResourceSlice] and *[DeviceClass].
type Object interface {
	addTo(*Objects, bool) bool
	key() string
}

// Objects holds the latest version of each object. The zero value is empty. It is not safe for use by
// several goroutines at once.
type Objects struct {
	nodes      kept.List[Node]
	pods       kept.List[Pod]
	budgets    kept.List[PodDisruptionBudget]
	classes    kept.List[PriorityClass]
	groups     kept.List[PodGroup]
	composites kept.List[CompositePodGroup]
	namespaces kept.List[Namespace]
	claims     kept.List[ResourceClaim]
	slices     kept.List[ResourceSlice]

	deviceClasses kept.List[DeviceClass]

	unread map[string]unread              // by kind and name
	lost   []bridge.Note                  // what may be any object
	faults map[string][]bridge.FieldFault // likewise
}

// Add adds an object, or replaces the one with its kind and name; replaced says which. The faults are of
// its fields, which the caller found. The caller must not change what the object refers to afterwards.
func (o *Objects) Add(one Object, faults ...bridge.FieldFault) (replaced bool) {
	delete(o.unread, one.key())
	delete(o.faults, one.key())
	if len(faults) > 0 {
		if o.faults == nil {
			o.faults = map[string][]bridge.FieldFault{}
		}
		o.faults[one.key()] = faults
	}
	return one.addTo(o, true)
}

// Lose keeps that something of the input may be any object and cannot be read: every answer is in doubt.
func (o *Objects) Lose(n bridge.Note) { o.lost = append(o.lost, n) }

// Remove removes the object with the kind and name of the given one, if there is one.
func (o *Objects) Remove(one Object) {
	delete(o.unread, one.key())
	delete(o.faults, one.key())
	one.addTo(o, false)
}

func (n *Node) addTo(o *Objects, add bool) bool { return o.nodes.Set(n.Metadata.Name, n, add) }

// addTo keeps the status only where it says something: it takes most of the memory.
func (p *Pod) addTo(o *Objects, add bool) bool {
	kept := *p
	if add && slices.Equal(p.Spec.Requests(nil), p.Spec.Requests(&p.Status.PodStatus)) {
		kept.Status.ContainerStatuses, kept.Status.InitContainerStatuses = nil, nil
	}
	return o.pods.Set(p.Metadata.ID(), &kept, add)
}

func (b *PodDisruptionBudget) addTo(o *Objects, add bool) bool {
	return o.budgets.Set(b.Metadata.ID(), b, add)
}

func (c *PriorityClass) addTo(o *Objects, add bool) bool {
	return o.classes.Set(c.Metadata.Name, c, add)
}

func (g *PodGroup) addTo(o *Objects, add bool) bool { return o.groups.Set(g.Metadata.ID(), g, add) }

func (g *CompositePodGroup) addTo(o *Objects, add bool) bool {
	return o.composites.Set(g.Metadata.ID(), g, add)
}

func (n *Namespace) addTo(o *Objects, add bool) bool {
	return o.namespaces.Set(n.Metadata.Name, n, add)
}
